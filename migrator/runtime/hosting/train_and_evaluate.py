"""Trains and evaluates in one process, as `tf.estimator.train_and_evaluate` did."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any, Callable, NamedTuple, Optional, Union

import tensorflow as tf

from migrator.runtime.export.exporters import checked
from migrator.runtime.hosting.model_fn import ModelFn

_GLOBAL_STEP = "global_step"


class _TrainFields(NamedTuple):
  """The fields of a TrainSpec."""

  input_fn: Callable[..., Any]
  max_steps: Optional[int]
  hooks: tuple
  saving_listeners: tuple


class TrainSpec(_TrainFields):
  """How `train_and_evaluate` trains.

  Attributes:
    input_fn: gives the batches, as in `ModelFn.train`.
    max_steps: the global step at which the training ends; None if the input ends it.
    hooks: SessionRunHooks.
    saving_listeners: CheckpointSaverListeners; they run before the evaluation.
  """

  __slots__ = ()

  def __new__(
    cls,
    input_fn: Callable[..., Any],
    max_steps: Optional[int] = None,
    hooks: Optional[Iterable[Any]] = None,
    saving_listeners: Optional[Iterable[Any]] = None,
  ) -> TrainSpec:
    """Returns the specification.

    Raises:
      TypeError: with the Estimator's messages, for arguments of other types.
      ValueError: with the Estimator's message, if `max_steps` is not positive.
    """
    _check_input_fn(input_fn)
    if max_steps is not None and max_steps <= 0:
      raise ValueError(f"Must specify max_steps > 0, given: {max_steps}")
    listeners = tuple(saving_listeners or ())
    for listener in listeners:
      if not isinstance(listener, tf.compat.v1.train.CheckpointSaverListener):
        raise TypeError(
          f"All saving_listeners must be `CheckpointSaverListener` instances, given: {listener}"
        )
    return super().__new__(cls, input_fn, max_steps, _checked_hooks(hooks), listeners)


class _EvalFields(NamedTuple):
  """The fields of an EvalSpec."""

  input_fn: Callable[..., Any]
  steps: Optional[int]
  name: Optional[str]
  hooks: tuple
  exporters: tuple
  start_delay_secs: Union[int, float]
  throttle_secs: Union[int, float]


class EvalSpec(_EvalFields):
  """How `train_and_evaluate` evaluates.

  Attributes:
    input_fn: gives the batches, as in `ModelFn.evaluate`; it is called for each evaluation.
    steps: how many batches; None takes all.
    name: of the evaluation; its events go to `<model_dir>/eval_<name>`.
    hooks: SessionRunHooks of the evaluations.
    exporters: they run after each evaluation.
    start_delay_secs: it had no effect in one process, and has none.
    throttle_secs: a checkpoint is left out if the last evaluation began less than this ago.
  """

  __slots__ = ()

  def __new__(
    cls,
    input_fn: Callable[..., Any],
    steps: Optional[int] = 100,
    name: Optional[str] = None,
    hooks: Optional[Iterable[Any]] = None,
    exporters: Any = None,
    start_delay_secs: Union[int, float] = 120,
    throttle_secs: Union[int, float] = 600,
  ) -> EvalSpec:
    """Returns the specification.

    Args:
      input_fn: as above, like the others.
      steps: as above.
      name: as above.
      hooks: as above.
      exporters: one of `runtime.export`'s exporters, several, or None.
      start_delay_secs: as above.
      throttle_secs: as above.

    Raises:
      TypeError: with the Estimator's messages, for arguments of other types.
      ValueError: with the Estimator's messages, for numbers and names that it refuses.
    """
    _check_input_fn(input_fn)
    if steps is not None and steps <= 0:
      raise ValueError(f"Must specify steps > 0, given: {steps}")
    if name is not None and not isinstance(name, str):
      raise TypeError(f"`name` must be string, given: {name}")
    hooks = _checked_hooks(hooks)
    exporters = checked(exporters)
    if start_delay_secs < 0:
      raise ValueError(f"Must specify start_delay_secs >= 0, given: {start_delay_secs}")
    if throttle_secs < 0:
      raise ValueError(f"Must specify throttle_secs >= 0, given: {throttle_secs}")
    return super().__new__(
      cls, input_fn, steps, name, hooks, exporters, start_delay_secs, throttle_secs
    )


def train_and_evaluate(
  estimator: ModelFn, train_spec: TrainSpec, eval_spec: EvalSpec
) -> Optional[tuple[Optional[dict], Optional[list]]]:
  """Trains, and evaluates and exports after saves.

  After each save except the one with which the training begins, unless the last evaluation began less than
  `throttle_secs` ago; and in the end, unless that step has been evaluated. Exporters hear of the final export
  where the global step has reached `max_steps`.

  Args:
    estimator: a `runtime.ModelFn`.
    train_spec: how to train.
    eval_spec: how to evaluate.

  Returns:
    The metrics of the last evaluation and a list of what each exporter returned; (None, None) if there was none,
    which is so where the training had been finished before. None where TF_CONFIG makes this process a task.

  Raises:
    TypeError: with the Estimator's messages, for specifications of other types.
    ValueError: if TF_CONFIG tells of several workers or of parameter servers.
  """
  if not isinstance(eval_spec, EvalSpec):
    raise TypeError(f"`eval_spec` must have type `tf.estimator.EvalSpec`. Got: {type(eval_spec)}")
  if not isinstance(estimator, ModelFn):
    raise TypeError(f"`estimator` must have type `tf.estimator.Estimator`. Got: {type(estimator)}")
  if not isinstance(train_spec, TrainSpec):
    raise TypeError(
      f"`train_spec` must have type `tf.estimator.TrainSpec`. Got: {type(train_spec)}"
    )
  config = estimator.config
  if config.num_worker_replicas > 1 or config.num_ps_replicas > 0:
    raise ValueError(
      f"TF_CONFIG tells of {config.num_worker_replicas} workers and {config.num_ps_replicas} parameter servers; "
      "this program trains in one process. Remove TF_CONFIG from the environment."
    )
  evaluator = _Evaluator(estimator, eval_spec, train_spec.max_steps)
  listeners = list(train_spec.saving_listeners)
  # The chief of a cluster left evaluations to another task, its master did not.
  if not config.cluster_spec or config.task_type == "master":
    listeners.append(_EvaluationListener(evaluator, eval_spec.throttle_secs))
  tf.compat.v1.logging.info(
    "Start train and evaluate loop. The evaluate will happen after every checkpoint. Checkpoint "
    "frequency is determined based on RunConfig arguments: save_checkpoints_steps %s or "
    "save_checkpoints_secs %s.",
    config.save_checkpoints_steps,
    config.save_checkpoints_secs,
  )
  estimator.train(
    input_fn=train_spec.input_fn,
    max_steps=train_spec.max_steps,
    hooks=list(train_spec.hooks),
    saving_listeners=listeners,
  )
  # A task of a cluster returned nothing, even if it was the only one.
  return None if config.cluster_spec else (evaluator.metrics, evaluator.export_results)


class _Evaluator:
  """Evaluates and exports the newest checkpoint.

  Attributes:
    metrics: those of the last evaluation; None if there was none.
    export_results: what each exporter returned; None if there was no evaluation.
  """

  def __init__(self, estimator: Any, spec: EvalSpec, max_steps: Optional[int]):
    self._estimator = estimator
    self._spec = spec
    self._max_steps = max_steps
    self._previous: Optional[str] = None
    self.metrics: Optional[dict] = None
    self.export_results: Optional[list] = None

  def run(self) -> str:
    """Evaluates the newest checkpoint; returns how that went.

    Returns:
      "evaluated", or why not: "missing checkpoint", "no new checkpoint".
    """
    path = self._estimator.latest_checkpoint()
    if not path:
      self.metrics, self.export_results = None, []
      return "missing checkpoint"
    if path == self._previous:
      self.metrics, self.export_results = None, []
      return "no new checkpoint"
    spec = self._spec
    metrics = self._estimator.evaluate(
      input_fn=spec.input_fn,
      steps=spec.steps,
      name=spec.name,
      checkpoint_path=path,
      hooks=spec.hooks,
    )
    if not isinstance(metrics, dict) or _GLOBAL_STEP not in metrics:
      raise ValueError(f"evaluate should return a dict with {_GLOBAL_STEP!r}. Given {metrics}")
    directory = os.path.join(os.fspath(self._estimator.model_dir), "export")
    results = [
      exporter.export(
        estimator=self._estimator,
        export_path=os.path.join(directory, exporter.name),
        checkpoint_path=path,
        eval_result=metrics,
        is_the_final_export=self._is_final(metrics),
      )
      for exporter in spec.exporters
    ]
    self.metrics, self.export_results, self._previous = metrics, results, path
    return "evaluated"

  def _is_final(self, metrics: dict) -> bool:
    """Returns whether the training has reached its end."""
    return bool(self._max_steps) and bool(metrics[_GLOBAL_STEP] >= self._max_steps)


class _EvaluationListener(tf.compat.v1.train.CheckpointSaverListener):
  """Evaluates after saves."""

  def __init__(self, evaluator: _Evaluator, throttle_secs: Union[int, float]):
    self._evaluator = evaluator
    self._throttle_secs = throttle_secs

  def begin(self) -> None:
    """Begins a session, whose first save is not evaluated: nothing has been trained."""
    self._timer = tf.compat.v1.train.SecondOrStepTimer(every_secs=self._throttle_secs)
    self._is_first_save = True

  def after_save(self, session: Any, global_step_value: int) -> None:
    """Evaluates, if it is time."""
    if self._is_first_save:
      self._is_first_save = False
    elif self._timer.should_trigger_for_step(global_step_value):
      self._evaluate(global_step_value)
    else:
      tf.compat.v1.logging.info(
        "Skip the current checkpoint eval due to throttle secs (%s secs).", self._throttle_secs
      )

  def end(self, session: Any, global_step_value: int) -> None:
    """Evaluates the last checkpoint, unless that has been done."""
    if global_step_value != self._timer.last_triggered_step():
      self._evaluate(global_step_value)

  def _evaluate(self, step: int) -> None:
    """Evaluates.

    Raises:
      RuntimeError: with the Estimator's words, if there is no other checkpoint than the last time.
    """
    self._timer.update_last_triggered_step(step)
    status = self._evaluator.run()
    if status != "evaluated":
      raise RuntimeError(f"There was no new checkpoint after the training. Eval status: {status}")


def _check_input_fn(input_fn: Any) -> None:
  """Raises the Estimator's TypeError for what cannot be called."""
  if not callable(input_fn):
    raise TypeError(f"`input_fn` must be callable, given: {input_fn}")


def _checked_hooks(hooks: Optional[Iterable[Any]]) -> tuple:
  """Returns hooks as a tuple; raises the Estimator's TypeError for anything else."""
  found = tuple(hooks or ())
  for hook in found:
    if not isinstance(hook, tf.compat.v1.train.SessionRunHook):
      raise TypeError(f"All hooks must be `SessionRunHook` instances, given: {hook}")
  return found
