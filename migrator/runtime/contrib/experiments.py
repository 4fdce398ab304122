"""`Experiment` of `tf.contrib.learn`, for one process."""

from __future__ import annotations

import inspect
import os
import time
from collections.abc import Callable, Iterable
from typing import Any, Optional

import tensorflow as tf

from migrator.runtime.contrib import export_strategies as strategies

v1 = tf.compat.v1

__all__ = ["Experiment"]


class _Validation(tf.compat.v1.train.SessionRunHook):
  """Evaluates each new checkpoint in the middle of the training.

  It looks for one after the first step and then after every so many, unless it has just looked.

  Args:
    estimator: is evaluated.
    evaluate: does it.
    steps: how many steps are between two looks.
    seconds: how many seconds there are at least; None for any.
  """

  def __init__(self, estimator: Any, evaluate: Callable[[], Any], steps: int, seconds: Any):
    self._estimator = estimator
    self._evaluate = evaluate
    self._steps = steps
    self._seconds = seconds
    self._looked: Optional[float] = None
    self._checkpoint: Optional[str] = None
    self._last_active = 0
    self._step: Optional[int] = None

  def begin(self) -> None:
    self._step = None
    self._global_step = v1.train.get_global_step()

  def before_run(self, run_context: Any) -> None:
    if self._step is None:
      self._step = run_context.session.run(self._global_step) + 1

  def after_run(self, run_context: Any, run_values: Any) -> None:
    assert self._step is not None
    if self._step >= self._steps + self._last_active:
      self._look()
      self._last_active = self._step
    # Asked for with the step, a variable might be read before it is counted up.
    self._step = run_context.session.run(self._global_step) + 1

  def _look(self) -> None:
    now = time.time()
    if None not in (self._seconds, self._looked) and now - self._looked <= self._seconds:  # type: ignore[operator]
      return
    self._looked = now
    checkpoint = self._estimator.latest_checkpoint()
    if checkpoint is not None and checkpoint != self._checkpoint:
      self._checkpoint = checkpoint
      self._evaluate()


class Experiment:
  """An estimator with what it is trained and evaluated on.

  Args:
    estimator: a `runtime.ModelFn`.
    train_input_fn: gives the examples of the training.
    eval_input_fn: those of evaluations.
    eval_metrics: None; metrics belong to the model_fn.
    train_steps: the global step at which the training ends; None for the end of its examples.
    eval_steps: how many batches are evaluated; None for all.
    train_monitors: hooks of the training.
    eval_hooks: hooks of evaluations.
    local_eval_frequency: `min_eval_frequency` of `local_run`.
    eval_delay_secs: how long `evaluate` waits.
    continuous_eval_throttle_secs: for a schedule that is not offered.
    min_eval_frequency: after how many steps `train_and_evaluate` looks for a new checkpoint to evaluate;
      0 for the end only, None for 1.
    delay_workers_by_global_step: of workers, of which there is one.
    export_strategies: an `ExportStrategy`, or some, that export after the last evaluation.
    train_steps_per_iteration: how many steps `continuous_train_and_eval` trains between evaluations; by
      default a tenth of `train_steps`, or 1000.
    checkpoint_and_export: False; with True checkpoints were saved by a hook of the Experiment.
    saving_listeners: of the training.
    check_interval_secs: how many seconds are at least between two looks for a new checkpoint.

  Raises:
    ValueError: for what is not offered, and for what TF1 refused.
  """

  def __init__(
    self,
    estimator: Any,
    train_input_fn: Any,
    eval_input_fn: Any,
    eval_metrics: Any = None,
    train_steps: Optional[int] = None,
    eval_steps: Optional[int] = 100,
    train_monitors: Optional[list] = None,
    eval_hooks: Optional[list] = None,
    local_eval_frequency: Optional[int] = None,
    eval_delay_secs: float = 120,
    continuous_eval_throttle_secs: float = 60,
    min_eval_frequency: Optional[int] = None,
    delay_workers_by_global_step: bool = False,
    export_strategies: Any = None,
    train_steps_per_iteration: Optional[int] = None,
    checkpoint_and_export: bool = False,
    saving_listeners: Optional[list] = None,
    check_interval_secs: Optional[float] = 5,
  ):
    del continuous_eval_throttle_secs, delay_workers_by_global_step
    if eval_metrics is not None:
      raise ValueError(
        "`eval_metrics` must be `None`: metrics belong to the model_fn's EstimatorSpec."
      )
    if checkpoint_and_export:
      raise ValueError(
        "checkpoint_and_export=True is not offered: give exporters to `runtime.train_and_evaluate`."
      )
    if train_steps_per_iteration is not None and not isinstance(train_steps_per_iteration, int):
      raise ValueError("`train_steps_per_iteration` must be an integer.")
    self._estimator = estimator
    self._train_input_fn = train_input_fn
    self._eval_input_fn = eval_input_fn
    self._train_steps = train_steps
    self._eval_steps = eval_steps
    self._hooks = list(train_monitors or ())
    self._eval_hooks = list(eval_hooks or ())
    self._local_eval_frequency = local_eval_frequency
    self._eval_delay_secs = eval_delay_secs
    self._min_eval_frequency = 1 if min_eval_frequency is None else min_eval_frequency
    self._steps_per_iteration = train_steps_per_iteration
    self._listeners = saving_listeners
    self._check_interval_secs = check_interval_secs
    self._strategies = strategies.checked(export_strategies)

  @property
  def estimator(self) -> Any:
    return self._estimator

  @property
  def eval_metrics(self) -> None:
    return None

  @property
  def train_steps(self) -> Optional[int]:
    return self._train_steps

  @property
  def eval_steps(self) -> Optional[int]:
    return self._eval_steps

  def extend_train_hooks(self, additional_hooks: Iterable[Any]) -> None:
    """Adds hooks of the training."""
    self._hooks.extend(additional_hooks)

  def reset_export_strategies(self, new_export_strategies: Any = None) -> tuple:
    """Replaces the export strategies, and returns the old ones."""
    old, self._strategies = self._strategies, strategies.checked(new_export_strategies)
    return old

  # -- schedules ---------------------------------------------------------------------

  def train(self, delay_secs: Optional[float] = None) -> Any:
    """Trains up to `train_steps` after so many seconds, and returns the estimator."""
    if delay_secs:
      time.sleep(delay_secs)
    return self._train(self._hooks, max_steps=self._train_steps)

  def evaluate(self, delay_secs: Optional[float] = None, name: Optional[str] = None) -> dict:
    """Evaluates the newest checkpoint after `eval_delay_secs`, and returns the results."""
    delay = self._eval_delay_secs if delay_secs is None else delay_secs
    if delay:
      time.sleep(delay)
    return self._evaluate(self._eval_steps, name or "one_pass")

  def train_and_evaluate(self) -> tuple[dict, list]:
    """Trains with evaluations of new checkpoints, and evaluates and exports at the end.

    Returns:
      The results of the last evaluation, and those of the exports.
    """
    return self._train_and_evaluate(self._min_eval_frequency)

  def local_run(self) -> tuple[dict, list]:
    """`train_and_evaluate` with `local_eval_frequency` in the place of `min_eval_frequency`."""
    return self._train_and_evaluate(self._local_eval_frequency)

  def _train_and_evaluate(self, frequency: Optional[int]) -> tuple[dict, list]:
    hooks = list(self._hooks)
    if frequency:

      def evaluate() -> dict:
        return self._evaluate(self._eval_steps, None)

      hooks.append(_Validation(self._estimator, evaluate, frequency, self._check_interval_secs))
    self._train(hooks, max_steps=self._train_steps)
    found = self._evaluate(self._eval_steps, None)
    return found, self._export(found)

  def continuous_train_and_eval(
    self, continuous_eval_predicate_fn: Optional[Callable[..., bool]] = None
  ) -> tuple[Optional[dict], Optional[list]]:
    """Trains a number of steps, evaluates and exports, and so on up to `train_steps`.

    Args:
      continuous_eval_predicate_fn: gets the results of the last evaluation, at first None, and, if it takes
        `checkpoint_path`, the checkpoint; False ends it.

    Returns:
      The results of the last evaluation, and those of its exports.
    """
    steps = self._steps_per_iteration
    if steps is None:
      steps = 1000 if self._train_steps is None else int(self._train_steps / 10)
    goes_on = _predicate(continuous_eval_predicate_fn)
    checkpoint: Optional[str] = None
    found: Optional[dict] = None
    exports: Optional[list] = None
    while goes_on(found, checkpoint if found else None):
      if found and self._train_steps and found.get("global_step", 0) >= self._train_steps:
        break
      self._train(self._hooks, steps=steps)
      checkpoint = self._estimator.latest_checkpoint()
      found = self._evaluate(self._eval_steps, "one_pass", checkpoint)
      exports = self._export(found)
    return found, exports

  def test(self) -> dict:
    """Trains, evaluates and exports one step, and returns the results of the evaluation."""
    self._train(self._hooks, steps=1)
    found = self._evaluate(1, "one_pass")
    self._export(found)
    return found

  # -- what they are made of -----------------------------------------------------------

  def _train(self, hooks: list, **steps: Optional[int]) -> Any:
    return self._estimator.train(
      self._train_input_fn, hooks=list(hooks), saving_listeners=self._listeners, **steps
    )

  def _evaluate(self, steps: Any, name: Optional[str], checkpoint: Optional[str] = None) -> dict:
    return self._estimator.evaluate(
      self._eval_input_fn,
      steps=steps,
      hooks=self._eval_hooks,
      checkpoint_path=checkpoint,
      name=name,
    )

  def _export(self, found: dict) -> list:
    base = os.path.join(os.fsencode(self._estimator.model_dir), b"export")
    return [
      one.export(self._estimator, os.path.join(base, one.name.encode()), eval_result=found)
      for one in self._strategies
    ]


def _predicate(function: Optional[Callable[..., bool]]) -> Callable[..., bool]:
  if function is None:
    return lambda found, checkpoint: True
  if not callable(function):
    raise ValueError("`continuous_eval_predicate_fn` must be a callable, or None.")
  if "checkpoint_path" in inspect.signature(function).parameters:
    return lambda found, checkpoint: function(found, checkpoint_path=checkpoint)
  return lambda found, checkpoint: function(found)
