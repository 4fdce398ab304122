"""The session of an evaluation, and its results."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from typing import Any, Optional

import tensorflow as tf

from migrator.runtime.hosting import saver_hooks, savers

v1 = tf.compat.v1

GLOBAL_STEP = "global_step"
LOSS = "loss"
_COUNT = "eval_step"


def with_loss(metrics: Mapping[str, Any], loss: Any) -> dict[str, Any]:
  """Returns the metrics of a model_fn together with the mean of its loss.

  Raises:
    ValueError: with the Estimator's messages, if the program has metrics of the names that are taken.
  """
  if LOSS in metrics:
    raise ValueError(_taken(f'"{LOSS}"'))
  return {**metrics, LOSS: v1.metrics.mean(loss)}


def updates_and_values(metrics: Mapping[str, Any]) -> tuple[Any, dict[str, Any]]:
  """Returns the operation of a batch, and the values to be read at the end, with the global step.

  Raises:
    ValueError: with the Estimator's message, for a metric called `global_step`.
  """
  updates, values = [], {}
  for name, (value, update) in sorted(metrics.items()):
    values[name] = value
    updates.append(update)
  if GLOBAL_STEP in values:
    raise ValueError(_taken(f"`{GLOBAL_STEP}`"))
  values[GLOBAL_STEP] = v1.train.get_global_step()
  return tf.group(*updates), values


def _taken(name: str) -> str:
  return (
    f"Metric with name {name} is not allowed, because Estimator already defines a default metric "
    "with the same name."
  )


class StopAfterBatches(tf.compat.v1.train.SessionRunHook):
  """Ends an evaluation after so many batches, and logs how far it is."""

  def __init__(self, steps: int):
    """Makes a hook.

    Raises:
      ValueError: with the Estimator's message, if there are none.
    """
    if steps <= 0:
      raise ValueError(f"Must specify steps > 0, given: {steps}")
    self._steps = steps
    self._interval = 1 if steps < 20 else steps // 10
    self.count: Any = None
    """The tensor that says how many batches have been evaluated, after this one."""

  def before_run(self, run_context: Any) -> Any:
    return v1.train.SessionRunArgs(self.count)

  def after_run(self, run_context: Any, run_values: Any) -> None:
    done = int(run_values.results)
    if done % self._interval == 0 or done >= self._steps:
      v1.logging.info("Evaluation [%d/%d]", done, self._steps)
    if done >= self._steps:
      run_context.request_stop()


def run(
  spec: Any,
  update: Any,
  values: Mapping[str, Any],
  *,
  config: Any,
  model_dir: str,
  checkpoint: Optional[str],
  hooks: Iterable[Any],
) -> dict[str, Any]:
  """Evaluates to the end; returns the values.

  Args:
    spec: of the evaluation.
    update: the operation of a batch.
    values: what is read at the end.
    config: the RunConfig.
    model_dir: of the program.
    checkpoint: what to restore, None to initialize.
    hooks: of the input, the caller and the spec.
  """
  # In a training the same graph may be evaluated again and again.
  with v1.variable_scope(v1.get_variable_scope(), reuse=v1.AUTO_REUSE, auxiliary_name_scope=False):
    count = v1.get_variable(
      _COUNT,
      shape=[],
      dtype=tf.int64,
      initializer=v1.zeros_initializer(),
      trainable=False,
      collections=[v1.GraphKeys.LOCAL_VARIABLES, "eval_step"],
    )
  scaffold = spec.scaffold
  if scaffold.local_init_op is not None:
    # What metrics and the count have been given since is not in the program's own one.
    scaffold = v1.train.Scaffold(
      local_init_op=tf.group(scaffold.local_init_op, v1.train.Scaffold.default_local_init_op()),
      copy_from_scaffold=scaffold,
    )
  counted = v1.assign_add(count, 1, use_locking=True)
  with tf.control_dependencies([update, counted]):
    done = tf.identity(count.read_value())
  hooks = list(hooks)
  for hook in hooks:
    if isinstance(hook, StopAfterBatches):
      hook.count = done
  final = v1.train.FinalOpsHook(dict(values))
  hooks.append(final)
  v1.logging.info("Starting evaluation at %s", time.strftime("%Y-%m-%dT%H:%M:%S", time.localtime()))
  started = time.time()
  session = make_session(
    scaffold,
    config=config,
    master=config.evaluation_master,
    model_dir=model_dir,
    checkpoint=checkpoint,
    hooks=hooks,
  )
  with session:
    while not session.should_stop():
      session.run([update, counted])
  v1.logging.info("Inference Time : %0.5fs", time.time() - started)
  v1.logging.info("Finished evaluation at %s", time.strftime("%Y-%m-%d-%H:%M:%S", time.localtime()))
  return final.final_ops_values


def make_session(
  scaffold: Any,
  *,
  config: Any,
  master: str,
  model_dir: str,
  checkpoint: Optional[str],
  hooks: Iterable[Any],
) -> Any:
  """Returns the monitored session of an evaluation or a prediction.

  Args:
    scaffold: of the spec.
    config: the RunConfig.
    master: the session's place.
    model_dir: of the program.
    checkpoint: what to restore, None to initialize.
    hooks: all of them.
  """
  host = savers.Host(model_dir, write_graph=config.checkpoint_save_graph_def)
  host.take([savers.session_saver(scaffold, allow_empty=True)])
  hooks = list(hooks)
  creator = savers.Creator(scaffold, lambda: checkpoint, master, config.session_config, host)
  return v1.train.MonitoredSession(creator, hooks=[*hooks, saver_hooks.Taking(host, hooks)])
