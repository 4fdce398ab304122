"""Stops a training by the results of its evaluations, as `tf.estimator.experimental` did.

Not as `tf.keras.callbacks.EarlyStopping`: the results are read from the event files of the evaluations,
whoever wrote them, and counted in steps.
"""

from __future__ import annotations

import collections
import operator
import os
from collections.abc import Iterator
from typing import Any, Callable, Optional

import tensorflow as tf

from migrator.runtime import steps


class _StopOnPredicate(tf.keras.callbacks.Callback):
  """Asks a function from time to time whether to stop."""

  def __init__(
    self,
    should_stop_fn: Callable[[], bool],
    run_every_secs: Optional[float],
    run_every_steps: Optional[int],
  ):
    super().__init__()
    if not callable(should_stop_fn):
      raise TypeError("`should_stop_fn` must be callable.")
    self._should_stop_fn = should_stop_fn
    # It runs on from one training to the next, as in the hook.
    self._timer = tf.compat.v1.train.SecondOrStepTimer(
      every_secs=run_every_secs, every_steps=run_every_steps
    )
    self._global_step = 0

  def on_train_batch_begin(self, batch: int, logs: Optional[dict] = None) -> None:
    """Notes the step from before this one, which TF 2's hook counted and logged."""
    self._global_step = steps.global_step(self.model)

  def on_train_batch_end(self, batch: int, logs: Optional[dict] = None) -> None:
    """Asks, if it is time."""
    if not self._timer.should_trigger_for_step(self._global_step):
      return
    self._timer.update_last_triggered_step(self._global_step)
    if self._should_stop_fn():
      tf.get_logger().info("Requesting early stopping at global step %d", self._global_step)
      self.model.stop_training = True


def make_early_stopping(
  model_dir: Optional[str],
  should_stop_fn: Callable[[], bool],
  run_every_secs: Optional[float] = 60,
  run_every_steps: Optional[int] = None,
) -> tf.keras.callbacks.Callback:
  """Returns a callback that stops the training when a function says so.

  For `tf.estimator.experimental.make_early_stopping_hook`. The function is called after the first step of the
  training, then at the interval. The step in the log is the one before the last step, as with TF 2's
  Estimator; in TF 1.15 it was the last.

  Args:
    model_dir: the model directory, in the place of the Estimator; nothing is read there.
    should_stop_fn: called without arguments; True stops.
    run_every_secs: call it every this many seconds; None if by steps.
    run_every_steps: call it every this many steps.

  Raises:
    ValueError: with the hook's message, unless exactly one interval is given.
    TypeError: if `should_stop_fn` cannot be called.
  """
  if run_every_secs is not None and run_every_steps is not None:
    raise ValueError("Only one of `run_every_secs` and `run_every_steps` must be set.")
  return _StopOnPredicate(should_stop_fn, run_every_secs, run_every_steps)


def stop_if_higher(
  model_dir: str,
  metric_name: str,
  threshold: float,
  eval_dir: Optional[str] = None,
  min_steps: int = 0,
  run_every_secs: Optional[float] = 60,
  run_every_steps: Optional[int] = None,
) -> tf.keras.callbacks.Callback:
  """Returns a callback that stops when a metric has been higher than a threshold.

  Args:
    model_dir: the model directory.
    metric_name: a key of the evaluation's results, as "accuracy".
    threshold: what it has to exceed.
    eval_dir: where the results are read; by default `<model_dir>/eval`.
    min_steps: results of earlier steps do not count.
    run_every_secs: look every this many seconds; None if by steps.
    run_every_steps: look every this many steps.

  Raises:
    ValueError: unless exactly one interval is given.
  """
  stop = threshold_reached(model_dir, metric_name, threshold, True, eval_dir, min_steps)
  return make_early_stopping(model_dir, stop, run_every_secs, run_every_steps)


def stop_if_lower(
  model_dir: str,
  metric_name: str,
  threshold: float,
  eval_dir: Optional[str] = None,
  min_steps: int = 0,
  run_every_secs: Optional[float] = 60,
  run_every_steps: Optional[int] = None,
) -> tf.keras.callbacks.Callback:
  """Returns a callback that stops when a metric has been lower than a threshold; see `stop_if_higher`."""
  stop = threshold_reached(model_dir, metric_name, threshold, False, eval_dir, min_steps)
  return make_early_stopping(model_dir, stop, run_every_secs, run_every_steps)


def stop_if_no_increase(
  model_dir: str,
  metric_name: str,
  max_steps_without_increase: int,
  eval_dir: Optional[str] = None,
  min_steps: int = 0,
  run_every_secs: Optional[float] = 60,
  run_every_steps: Optional[int] = None,
) -> tf.keras.callbacks.Callback:
  """Returns a callback that stops when a metric has not increased for so many steps.

  Args:
    model_dir: the model directory.
    metric_name: a key of the evaluation's results, as "accuracy".
    max_steps_without_increase: training steps between the evaluation with the best value and one that
      is not better, from which on to stop.
    eval_dir: where the results are read; by default `<model_dir>/eval`.
    min_steps: results of earlier steps do not count.
    run_every_secs: look every this many seconds; None if by steps.
    run_every_steps: look every this many steps.

  Raises:
    ValueError: unless exactly one interval is given.
  """
  limit = max_steps_without_increase
  stop = improvement_missing(model_dir, metric_name, limit, True, eval_dir, min_steps)
  return make_early_stopping(model_dir, stop, run_every_secs, run_every_steps)


def stop_if_no_decrease(
  model_dir: str,
  metric_name: str,
  max_steps_without_decrease: int,
  eval_dir: Optional[str] = None,
  min_steps: int = 0,
  run_every_secs: Optional[float] = 60,
  run_every_steps: Optional[int] = None,
) -> tf.keras.callbacks.Callback:
  """Returns a callback that stops when a metric has not decreased; see `stop_if_no_increase`."""
  limit = max_steps_without_decrease
  stop = improvement_missing(model_dir, metric_name, limit, False, eval_dir, min_steps)
  return make_early_stopping(model_dir, stop, run_every_secs, run_every_steps)


def threshold_reached(
  model_dir: str,
  metric_name: str,
  threshold: float,
  higher: bool,
  eval_dir: Optional[str],
  min_steps: int,
) -> Callable[[], bool]:
  """Returns a function that says whether a value lies beyond the threshold."""
  beyond = operator.gt if higher else operator.lt
  values = _reader(model_dir, metric_name, eval_dir, min_steps)

  def should_stop() -> bool:
    for step, value in values():
      if beyond(value, threshold):
        tf.get_logger().info(
          'At step %s, metric "%s" has value %s which is %s the configured threshold (%s) for early '
          "stopping.",
          step,
          metric_name,
          value,
          "greater than" if higher else "less than",
          threshold,
        )
        return True
    return False

  return should_stop


def improvement_missing(
  model_dir: str,
  metric_name: str,
  max_steps: int,
  higher: bool,
  eval_dir: Optional[str],
  min_steps: int,
) -> Callable[[], bool]:
  """Returns a function that says whether a metric has not become better for `max_steps` steps."""
  better = operator.gt if higher else operator.lt
  values = _reader(model_dir, metric_name, eval_dir, min_steps)

  def should_stop() -> bool:
    best: Any = None
    best_step = 0
    for step, value in values():
      if best is None or better(value, best):
        best, best_step = value, step
      if step - best_step >= max_steps:
        tf.get_logger().info(
          'No %s in metric "%s" for %s steps, which is greater than or equal to max steps (%s) '
          "configured for early stopping.",
          "increase" if higher else "decrease",
          metric_name,
          step - best_step,
          max_steps,
        )
        return True
    return False

  return should_stop


def _reader(
  model_dir: str, metric_name: str, eval_dir: Optional[str], min_steps: int
) -> Callable[[], Iterator[tuple[int, float]]]:
  """Returns a function that gives the steps and values of a metric, by step."""
  directory = os.path.join(model_dir, "eval") if eval_dir is None else eval_dir

  def values() -> Iterator[tuple[int, float]]:
    for step, metrics in _results(directory).items():
      if step < min_steps:
        continue
      if metric_name not in metrics:
        raise KeyError(
          f"The evaluation of step {step} in {directory} has no {metric_name!r}; it has "
          f"{sorted(metrics)}."
        )
      yield step, metrics[metric_name]

  return values


def _results(directory: str) -> dict[int, dict[str, float]]:
  """Returns the numbers in the event files of a directory: step -> name -> value, by step."""
  results: dict[int, dict[str, float]] = collections.defaultdict(dict)
  for event in _events(directory):
    numbers = {v.tag: v.simple_value for v in event.summary.value if v.HasField("simple_value")}
    if numbers:
      results[event.step].update(numbers)
  return dict(sorted(results.items()))


def _events(directory: str) -> Iterator[Any]:
  """Yields the events of a directory; of a damaged file those before the damage, with a warning."""
  if not tf.io.gfile.exists(directory):
    return
  for path in tf.io.gfile.glob(os.path.join(directory, "events.out.tfevents.*")):
    try:
      yield from tf.compat.v1.train.summary_iterator(path)
    except tf.errors.DataLossError as error:
      tf.get_logger().warning("The rest of %s is left out, as it is damaged: %s", path, error)
