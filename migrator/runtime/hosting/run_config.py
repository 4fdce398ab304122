"""`RunConfig`: how a model is trained and saved; as `tf.estimator.RunConfig`."""

from __future__ import annotations

import copy
import os
from typing import Any, Callable

import tensorflow as tf

from migrator.runtime import policy
from migrator.runtime.hosting import arguments, cluster

_REPLACEABLE = (
  "model_dir",
  "tf_random_seed",
  "save_summary_steps",
  "save_checkpoints_steps",
  "save_checkpoints_secs",
  "session_config",
  "keep_checkpoint_max",
  "keep_checkpoint_every_n_hours",
  "log_step_count_steps",
  "train_distribute",
  "device_fn",
  "protocol",
  "eval_distribute",
  "experimental_distribute",
  "experimental_max_worker_delay_secs",
  "session_creation_timeout_secs",
  "checkpoint_save_graph_def",
)


def _plain(name: str) -> property:
  """Returns the property of a value that is as it was given."""
  return property(lambda self: getattr(self, f"_{name}"), doc=f"The `{name}` that was given.")


class RunConfig:
  """What an Estimator's RunConfig says, for one process.

  The cadences, the seed and the rest mean what they mean there; see `policy.make_policy` for the
  checkpoints.
  """

  model_dir = _plain("model_dir")
  tf_random_seed = _plain("tf_random_seed")
  save_summary_steps = _plain("save_summary_steps")
  save_checkpoints_steps = _plain("save_checkpoints_steps")
  save_checkpoints_secs = _plain("save_checkpoints_secs")
  session_config = _plain("session_config")
  keep_checkpoint_max = _plain("keep_checkpoint_max")
  keep_checkpoint_every_n_hours = _plain("keep_checkpoint_every_n_hours")
  log_step_count_steps = _plain("log_step_count_steps")
  device_fn = _plain("device_fn")
  protocol = _plain("protocol")
  experimental_max_worker_delay_secs = _plain("experimental_max_worker_delay_secs")
  session_creation_timeout_secs = _plain("session_creation_timeout_secs")
  checkpoint_save_graph_def = _plain("checkpoint_save_graph_def")

  def __init__(
    self,
    model_dir: Any = None,
    tf_random_seed: Any = None,
    save_summary_steps: Any = 100,
    save_checkpoints_steps: Any = policy.UNSET,
    save_checkpoints_secs: Any = policy.UNSET,
    session_config: Any = None,
    keep_checkpoint_max: Any = 5,
    keep_checkpoint_every_n_hours: Any = 10000,
    log_step_count_steps: Any = 100,
    train_distribute: Any = None,
    device_fn: Any = None,
    protocol: Any = None,
    eval_distribute: Any = None,
    experimental_distribute: Any = None,
    experimental_max_worker_delay_secs: Any = None,
    session_creation_timeout_secs: Any = 7200,
    checkpoint_save_graph_def: Any = True,
  ):
    """Makes a configuration.

    Args:
      model_dir: where the old program kept its checkpoints; the new ones are kept in its sub-directory `tf2`.
      tf_random_seed: the seed of the graphs.
      save_summary_steps: how often summaries are written; 0 or None for never.
      save_checkpoints_steps: save after this many steps.
      save_checkpoints_secs: save after this many seconds; 600 if neither is given.
      session_config: a `tf.compat.v1.ConfigProto`.
      keep_checkpoint_max: how many of the newest checkpoints are kept; 0 and None keep all.
      keep_checkpoint_every_n_hours: keeps one besides, whenever this many hours have passed.
      log_step_count_steps: how often loss and speed are logged; None for never.
      train_distribute: a strategy of one replica, or None.
      device_fn: op -> device.
      protocol: without meaning in one process.
      eval_distribute: as `train_distribute`, for evaluations.
      experimental_distribute: an object with these two, in place of them.
      experimental_max_worker_delay_secs: without meaning in one process.
      session_creation_timeout_secs: without meaning in one process.
      checkpoint_save_graph_def: whether the graph is written along with the checkpoints.

    Raises:
      ValueError: with the Estimator's messages, for values that it refuses; and where TF_CONFIG or a strategy
        means more than one process or replica.
    """
    rules = policy.make_policy(
      save_checkpoints_steps,
      save_checkpoints_secs,
      keep_checkpoint_max,
      keep_checkpoint_every_n_hours,
    )
    self._task = cluster.read()
    values = {
      "model_dir": _model_dir(model_dir, self._task.model_dir),
      "tf_random_seed": tf_random_seed,
      "save_summary_steps": save_summary_steps,
      "save_checkpoints_steps": rules.save_checkpoints_steps,
      "save_checkpoints_secs": rules.save_checkpoints_secs,
      "session_config": session_config,
      "keep_checkpoint_max": keep_checkpoint_max,
      "keep_checkpoint_every_n_hours": keep_checkpoint_every_n_hours,
      "log_step_count_steps": log_step_count_steps,
      "train_distribute": train_distribute,
      "device_fn": device_fn,
      "protocol": protocol,
      "eval_distribute": eval_distribute,
      "experimental_distribute": experimental_distribute,
      "experimental_max_worker_delay_secs": experimental_max_worker_delay_secs,
      "session_creation_timeout_secs": session_creation_timeout_secs,
      "checkpoint_save_graph_def": checkpoint_save_graph_def,
    }
    for name, value in values.items():
      setattr(self, f"_{name}", value)
    self._validate()

  @property
  def _both(self) -> Any:
    """The object that has both strategies, or None."""
    return getattr(self, "_experimental_distribute", None)

  def replace(self, **kwargs: Any) -> RunConfig:
    """Returns a copy with other values.

    Of the two cadences of checkpoints, one that is given takes the place of the other.

    Raises:
      ValueError: with the Estimator's messages, for unknown names and values that it refuses.
    """
    new = copy.deepcopy(self)
    new._assign(kwargs)
    return new

  def _assign(self, values: dict[str, Any]) -> None:
    """Sets some of the values."""
    for name, value in values.items():
      if name not in _REPLACEABLE:
        raise ValueError(
          f"Replacing {name} is not supported. Allowed properties are {list(_REPLACEABLE)}."
        )
      setattr(self, f"_{name}", os.fspath(value) if name == "model_dir" and value else value)
    steps, secs = "save_checkpoints_steps", "save_checkpoints_secs"
    if steps in values and secs in values:
      if values[steps] is not None and values[secs] is not None:
        raise ValueError(f"`{steps}` and `{secs}` cannot be both set.")
    elif values.get(steps) is not None:
      self._save_checkpoints_secs = None
    elif values.get(secs) is not None:
      self._save_checkpoints_steps = None
    self._validate()

  def _validate(self) -> None:
    """Raises the Estimator's ValueError for a value that it refuses."""
    rules: list[tuple[str, Callable[[Any], bool], str]] = [
      ("model_dir", bool, "model_dir should be non-empty"),
      ("save_summary_steps", _not_negative, "save_summary_steps should be >= 0"),
      ("save_checkpoints_steps", _not_negative, "save_checkpoints_steps should be >= 0"),
      ("save_checkpoints_secs", _not_negative, "save_checkpoints_secs should be >= 0"),
      (
        "session_config",
        lambda v: isinstance(v, tf.compat.v1.ConfigProto),
        "session_config must be instance of ConfigProto",
      ),
      ("keep_checkpoint_max", _not_negative, "keep_checkpoint_max should be >= 0"),
      ("keep_checkpoint_every_n_hours", _positive, "keep_checkpoint_every_n_hours should be > 0"),
      ("log_step_count_steps", _positive, "log_step_count_steps should be > 0"),
      ("tf_random_seed", _is_int, "tf_random_seed must be integer."),
      (
        "experimental_max_worker_delay_secs",
        _is_int,
        "experimental_max_worker_delay_secs must be an integer if set.",
      ),
      ("session_creation_timeout_secs", _positive, "session_creation_timeout_secs should be > 0"),
      (
        "device_fn",
        lambda v: callable(v) and arguments.names_of(v) == ("op",),
        'device_fn must be callable with exactly one argument "op".',
      ),
      ("protocol", lambda v: v in ("grpc", "grpc+verbs"), "protocol should be grpc or grpc+verbs"),
    ]
    for name, fits, message in rules:
      value = getattr(self, f"_{name}")
      if value is not None and not fits(value):
        raise ValueError(message)
    for name in ("train_distribute", "eval_distribute"):
      replicas = getattr(getattr(self, name), "num_replicas_in_sync", 1)
      if replicas > 1:
        raise ValueError(
          f"{name} has {replicas} replicas. A model_fn runs on one device here: leave the strategy out, or "
          "write the training step as a tf.function under the strategy."
        )

  def _distributed(self, name: str) -> Any:
    """Returns a strategy, wherever it was given."""
    given = getattr(self, f"_{name}")
    return given if given is not None else getattr(self._both, name, None)

  @property
  def train_distribute(self) -> Any:
    """The strategy of trainings, or None."""
    return self._distributed("train_distribute")

  @property
  def eval_distribute(self) -> Any:
    """The strategy of evaluations, or None."""
    return self._distributed("eval_distribute")

  @property
  def cluster_spec(self) -> Any:
    """A `tf.train.ClusterSpec` of the cluster of TF_CONFIG."""
    return tf.train.ClusterSpec(self._task.cluster)

  @property
  def evaluation_master(self) -> str:
    """The session to evaluate in; "" for one in this process."""
    return self._task.evaluation_master

  @property
  def is_chief(self) -> bool:
    """Whether this process saves."""
    return self._task.is_chief

  @property
  def master(self) -> str:
    """The session to train in; "" for one in this process."""
    return self._task.master

  @property
  def num_ps_replicas(self) -> int:
    """How many parameter servers there are."""
    return self._task.num_ps_replicas

  @property
  def num_worker_replicas(self) -> int:
    """How many processes train."""
    return self._task.num_worker_replicas

  @property
  def task_id(self) -> int:
    """The number of this process in its job."""
    return self._task.task_id

  @property
  def task_type(self) -> str:
    """The job of this process."""
    return self._task.task_type

  @property
  def global_id_in_cluster(self) -> Any:
    """The number of this process in the cluster."""
    return self._task.global_id

  @property
  def service(self) -> Any:
    """What TF_CONFIG says of the service, or None."""
    return self._task.service


def default_session_config() -> Any:
  """Returns the session's configuration of an Estimator that has none: soft placement, graphs optimized once."""
  config = tf.compat.v1.ConfigProto(allow_soft_placement=True)
  rewriting = config.graph_options.rewrite_options
  rewriting.meta_optimizer_iterations = rewriting.ONE
  return config


def _model_dir(given: Any, of_environment: Any) -> Any:
  """Returns the model directory of the argument or of TF_CONFIG.

  Raises:
    ValueError: with the Estimator's messages, if it is empty or they differ.
  """
  given = os.fspath(given) if hasattr(given, "__fspath__") else given
  if given == "":
    raise ValueError("model_dir should be non-empty.")
  if given and of_environment and given != of_environment:
    raise ValueError(
      "`model_dir` provided in RunConfig construct, if set, must have the same value as the model_dir in "
      f'TF_CONFIG. model_dir: {given}\nTF_CONFIG["model_dir"]: {of_environment}.\n'
    )
  return given or of_environment


def _not_negative(value: Any) -> bool:
  return value >= 0


def _positive(value: Any) -> bool:
  return value > 0


def _is_int(value: Any) -> bool:
  return isinstance(value, int)
