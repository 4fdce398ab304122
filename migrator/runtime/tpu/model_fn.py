"""`TPUModelFn`: a program for a TPUEstimator, on CPU and GPU."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Optional

import tensorflow as tf

from migrator.runtime.hosting import arguments
from migrator.runtime.hosting.model_fn import ModelFn
from migrator.runtime.hosting.modes import ModeKeys
from migrator.runtime.tpu.config import InputPipelineConfig, RunConfig, check_positive, iterations
from migrator.runtime.tpu.hooks import ExamplesPerSecondHook
from migrator.runtime.tpu.spec import TPUEstimatorSpec

_BATCH_SIZE = "batch_size"
_CONTEXT = "context"
_USE_TPU = "use_tpu"


class TPUModelFn(ModelFn):
  """A `runtime.ModelFn` whose batch sizes are in `params["batch_size"]`, as a TPUEstimator's.

  It runs as the TPUEstimator did with `use_tpu=False`: one step per run of the session, nothing is padded.
  """

  def __init__(
    self,
    model_fn: Optional[Callable[..., Any]] = None,
    model_dir: Any = None,
    config: Any = None,
    params: Any = None,
    use_tpu: bool = True,
    train_batch_size: Optional[int] = None,
    eval_batch_size: Optional[int] = None,
    predict_batch_size: Optional[int] = None,
    batch_axis: Any = None,
    eval_on_tpu: bool = True,
    export_to_tpu: bool = True,
    export_to_cpu: bool = True,
    warm_start_from: Any = None,
    embedding_config_spec: Any = None,
    export_saved_model_api_version: Any = 1,
  ):
    """Makes a model.

    Args:
      model_fn: as in `runtime.ModelFn`, but it must take `params`; may return a `runtime.tpu.TPUEstimatorSpec`.
      model_dir: as in `runtime.ModelFn`.
      config: a `runtime.tpu.RunConfig`.
      params: as in `runtime.ModelFn`, without `batch_size` and `context`.
      use_tpu: if True, only exports and evaluations that are not for a TPU work; all else raises.
      train_batch_size: what input_fn and model_fn get as `params["batch_size"]` in a training; None for nothing.
      eval_batch_size: the same in an evaluation.
      predict_batch_size: the same in a prediction.
      batch_axis: had a meaning on a TPU only.
      eval_on_tpu: whether `use_tpu` is meant for evaluations, too.
      export_to_tpu: the graph for TPUs is left out of exports, with a warning.
      export_to_cpu: must be True to export.
      warm_start_from: as in `runtime.ModelFn`.
      embedding_config_spec: must be None.
      export_saved_model_api_version: 1 or 2, of the graph for TPUs.

    Raises:
      ValueError: with TPUEstimator's messages, for what it refuses, and if embeddings are to be on a TPU.
      TypeError: with TPUEstimator's messages, for batch sizes that are no integers.
    """
    if config is None or not isinstance(config, RunConfig):
      raise ValueError("`config` must be provided with type `tpu_config.RunConfig`")
    reserved = [_BATCH_SIZE, _CONTEXT]
    if params is not None and any(key in params for key in reserved):
      raise ValueError(f"{reserved} are reserved keys but existed in params {params}.")
    sizes = {
      ModeKeys.TRAIN: train_batch_size,
      ModeKeys.EVAL: eval_batch_size,
      ModeKeys.PREDICT: predict_batch_size,
    }
    if use_tpu:
      _check_for_tpu(config, *sizes.values())
    if embedding_config_spec is not None:
      raise ValueError(
        "embedding_config_spec puts tables on a TPU; there is none here. Make the embeddings in the model_fn."
      )
    if getattr(export_saved_model_api_version, "value", export_saved_model_api_version) not in (
      1,
      2,
    ):
      raise ValueError(
        f"export_saved_model_api_version should be 1 or 2; got {export_saved_model_api_version}."
      )
    arguments.check_model_fn(model_fn, params)
    self._program: Any = model_fn
    self._batch_sizes = sizes
    self._use_tpu = use_tpu
    self._eval_on_tpu = eval_on_tpu
    self._export_to_tpu = export_to_tpu
    self._export_to_cpu = export_to_cpu
    self._is_exporting = False
    self._log_interval = _log_interval(config)
    super().__init__(
      self._run_program,
      model_dir=model_dir,
      # Loss and speed are logged by another hook, or not at all.
      config=config.replace(log_step_count_steps=None),
      params=params or {},
      warm_start_from=warm_start_from,
    )

  def _run_program(self, features: Any, labels: Any, mode: str, config: Any, params: Any) -> Any:
    """Calls the program's model_fn; returns an EstimatorSpec.

    Raises:
      ValueError: with TPUEstimator's messages, for a signature that it refuses.
      RuntimeError: if the mode is for a TPU.
    """
    names = arguments.names_of(self._program)
    if labels is not None and "labels" not in names:
      raise ValueError("model_fn does not take labels, but input_fn returns labels.")
    if "params" not in names:
      raise ValueError(
        f"model_fn ({self._program}) does not include params argument, required by TPUEstimator to "
        "pass batch size as params['batch_size']"
      )
    if not self._is_exporting:
      self._check_mode(mode)
      _set(params, _BATCH_SIZE, self._batch_sizes[mode])
    _set(params, _USE_TPU, False)
    offered = {"labels": labels, "mode": mode, "config": config, "params": params}
    tf.compat.v1.logging.info("Running %s on CPU/GPU", mode)
    spec = self._program(
      features=features, **{name: value for name, value in offered.items() if name in names}
    )
    if isinstance(spec, TPUEstimatorSpec):
      spec = spec.as_estimator_spec()
    if self._log_interval is None or mode != ModeKeys.TRAIN:
      return spec
    hook = ExamplesPerSecondHook(
      self._batch_sizes[ModeKeys.TRAIN],
      output_dir=self.model_dir if config.save_summary_steps else None,
      **self._log_interval,
    )
    return spec._replace(training_hooks=(*spec.training_hooks, hook))

  def _call_input_fn(self, input_fn: Callable[..., Any], mode: str) -> Any:
    """Calls an input_fn with the batch size.

    Raises:
      ValueError: with TPUEstimator's messages, if it takes no params, or the input was to be sliced.
      RuntimeError: if the mode is for a TPU.
    """
    names = arguments.names_of(input_fn)
    if "params" not in names:
      raise ValueError(
        f"input_fn ({input_fn}) does not include params argument, required by TPUEstimator to pass "
        'batch size as params["batch_size"]'
      )
    self._check_mode(mode)
    sliced = InputPipelineConfig.SLICED
    configured = self._config.tpu_config.eval_training_input_configuration
    if mode != ModeKeys.TRAIN and configured == sliced:
      raise ValueError(
        "Invalid TPUConfig `eval_training_input_configuration` value. SLICED mode only works on "
        "use_tpu = True."
      )
    params = self.params
    _set(params, _BATCH_SIZE, self._batch_sizes[mode])
    offered: dict[str, Any] = {"params": params, "config": self.config, "mode": mode}
    offered["input_context"] = None
    with tf.device("/cpu:0"):
      return input_fn(**{name: value for name, value in offered.items() if name in names})

  def _create_global_step(self, graph: tf.Graph) -> Any:
    """Creates the global step as a resource, as a TPUEstimator did, even where other variables are none.

    What a program has read of it, as for a `host_call`, then stays as it was when the step moves.
    """
    v1 = tf.compat.v1
    with graph.as_default(), graph.name_scope(None):
      return v1.get_variable(
        v1.GraphKeys.GLOBAL_STEP,
        shape=[],
        dtype=tf.int64,
        initializer=v1.zeros_initializer(),
        trainable=False,
        use_resource=True,
        collections=[v1.GraphKeys.GLOBAL_VARIABLES, v1.GraphKeys.GLOBAL_STEP],
      )

  def _build_for_export(self, features: Any, labels: Any, mode: str) -> Any:
    """Builds the graph of an export, in which there is no batch size.

    Raises:
      ValueError: if nothing is to be exported for CPU and GPU.
    """
    if not self._export_to_cpu:
      raise ValueError(
        "export_to_cpu=False leaves nothing to export: graphs for TPUs are not made here. Leave it out."
      )
    if self._export_to_tpu:
      tf.compat.v1.logging.warning(
        "The export has the graph for CPU and GPU only, not the one for TPUs that export_to_tpu=True added."
      )
    self._is_exporting = True
    try:
      return super()._build_for_export(features, labels, mode)
    finally:
      self._is_exporting = False

  def _check_mode(self, mode: str) -> None:
    """Raises RuntimeError if something was to run on a TPU."""
    if self._use_tpu and (mode != ModeKeys.EVAL or self._eval_on_tpu):
      raise RuntimeError(
        f"use_tpu=True, but a runtime.TPUModelFn has no TPU to run {mode!r} on. Pass use_tpu=False to run on CPU "
        "or GPU."
      )


def _check_for_tpu(config: RunConfig, train_size: Any, eval_size: Any, predict_size: Any) -> None:
  """Raises TPUEstimator's errors for arguments that it refused with `use_tpu=True`."""
  if train_size is None:
    raise ValueError("`train_batch_size` cannot be `None`")
  check_positive(train_size, "train_batch_size")
  tpu = config.tpu_config
  by_shard = tpu.per_host_input_for_training == InputPipelineConfig.PER_SHARD_V1
  if by_shard and tpu.num_cores_per_replica:
    raise ValueError(
      "Model parallelism only supports per host input for training. Please adjust "
      "TPURunconfig.per_host_input_for_training."
    )
  if eval_size is not None:
    check_positive(eval_size, "eval_batch_size")
  if predict_size is not None:
    check_positive(predict_size, "predict_batch_size")


def _log_interval(config: RunConfig) -> Optional[dict[str, Any]]:
  """Returns how often the speed is logged: the interval of the RunConfig was counted in loops on the TPU."""
  number, in_seconds = iterations(config.tpu_config.iterations_per_loop)
  if in_seconds:
    return {"every_n_steps": None, "every_n_secs": number}
  if config.log_step_count_steps is None:
    return None
  return {"every_n_steps": math.ceil(config.log_step_count_steps / number)}


def _set(params: Any, name: str, value: Any) -> None:
  """Puts a value among the parameters, a dict or HParams; None leaves them as they are."""
  if value is None:
    return
  if hasattr(params, "set_hparam"):
    if name in params:
      params.set_hparam(name, value)
    else:
      params.add_hparam(name, value)
  else:
    params[name] = value
