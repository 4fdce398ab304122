"""`tf.estimator.experimental`'s hooks, for the trainings of a `runtime.ModelFn`."""

from __future__ import annotations

from typing import Any, Callable, Optional

import tensorflow as tf

from migrator.runtime.callbacks import early_stopping
from migrator.runtime.hosting.in_memory import InMemoryEvaluatorHook

__all__ = [
  "InMemoryEvaluatorHook",
  "make_early_stopping_hook",
  "make_stop_at_checkpoint_step_hook",
  "stop_if_higher_hook",
  "stop_if_lower_hook",
  "stop_if_no_decrease_hook",
  "stop_if_no_increase_hook",
]


def make_early_stopping_hook(
  estimator: Any,
  should_stop_fn: Callable[[], bool],
  run_every_secs: Optional[float] = 60,
  run_every_steps: Optional[int] = None,
) -> tf.compat.v1.train.SessionRunHook:
  """Returns a hook that stops the training when a function says so.

  The function is called after the first step of the training, then at the interval. As before, the hook adds the
  variable `signal_early_stopping/STOP` to the graph and so to the checkpoints.

  Args:
    estimator: the `runtime.ModelFn`.
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


def stop_if_higher_hook(
  estimator: Any,
  metric_name: str,
  threshold: float,
  eval_dir: Optional[str] = None,
  min_steps: int = 0,
  run_every_secs: Optional[float] = 60,
  run_every_steps: Optional[int] = None,
) -> tf.compat.v1.train.SessionRunHook:
  """Returns a hook that stops when a metric has been higher than a threshold.

  Args:
    estimator: the `runtime.ModelFn`.
    metric_name: a key of the evaluation's results, as "accuracy".
    threshold: what it has to exceed.
    eval_dir: where the results are read; by default `estimator.eval_dir()`.
    min_steps: results of earlier steps do not count.
    run_every_secs: look every this many seconds; None if by steps.
    run_every_steps: look every this many steps.

  Raises:
    ValueError: unless exactly one interval is given.
  """
  stop = _threshold(estimator, metric_name, threshold, True, eval_dir, min_steps)
  return make_early_stopping_hook(estimator, stop, run_every_secs, run_every_steps)


def stop_if_lower_hook(
  estimator: Any,
  metric_name: str,
  threshold: float,
  eval_dir: Optional[str] = None,
  min_steps: int = 0,
  run_every_secs: Optional[float] = 60,
  run_every_steps: Optional[int] = None,
) -> tf.compat.v1.train.SessionRunHook:
  """Returns a hook that stops when a metric has been lower than a threshold; see `stop_if_higher_hook`."""
  stop = _threshold(estimator, metric_name, threshold, False, eval_dir, min_steps)
  return make_early_stopping_hook(estimator, stop, run_every_secs, run_every_steps)


def stop_if_no_increase_hook(
  estimator: Any,
  metric_name: str,
  max_steps_without_increase: int,
  eval_dir: Optional[str] = None,
  min_steps: int = 0,
  run_every_secs: Optional[float] = 60,
  run_every_steps: Optional[int] = None,
) -> tf.compat.v1.train.SessionRunHook:
  """Returns a hook that stops when a metric has not increased for so many steps.

  Args:
    estimator: the `runtime.ModelFn`.
    metric_name: a key of the evaluation's results, as "accuracy".
    max_steps_without_increase: training steps between the evaluation with the best value and one that
      is not better, from which on to stop.
    eval_dir: where the results are read; by default `estimator.eval_dir()`.
    min_steps: results of earlier steps do not count.
    run_every_secs: look every this many seconds; None if by steps.
    run_every_steps: look every this many steps.

  Raises:
    ValueError: unless exactly one interval is given.
  """
  limit = max_steps_without_increase
  stop = _improvement(estimator, metric_name, limit, True, eval_dir, min_steps)
  return make_early_stopping_hook(estimator, stop, run_every_secs, run_every_steps)


def stop_if_no_decrease_hook(
  estimator: Any,
  metric_name: str,
  max_steps_without_decrease: int,
  eval_dir: Optional[str] = None,
  min_steps: int = 0,
  run_every_secs: Optional[float] = 60,
  run_every_steps: Optional[int] = None,
) -> tf.compat.v1.train.SessionRunHook:
  """Returns a hook that stops when a metric has not decreased; see `stop_if_no_increase_hook`."""
  limit = max_steps_without_decrease
  stop = _improvement(estimator, metric_name, limit, False, eval_dir, min_steps)
  return make_early_stopping_hook(estimator, stop, run_every_secs, run_every_steps)


def make_stop_at_checkpoint_step_hook(
  estimator: Any, last_step: int, wait_after_file_check_secs: float = 30
) -> tf.compat.v1.train.SessionRunHook:
  """Returns a hook that stops at a step.

  Args:
    estimator: the `runtime.ModelFn`; it saves in the same process, so that no checkpoint has to be waited for.
    last_step: the global step.
    wait_after_file_check_secs: had a meaning for other workers only.
  """
  return tf.compat.v1.train.StopAtStepHook(last_step=last_step)


class _StopOnPredicate(tf.compat.v1.train.SessionRunHook):
  """Asks a function from time to time whether to stop."""

  def __init__(
    self,
    should_stop_fn: Callable[[], bool],
    run_every_secs: Optional[float],
    run_every_steps: Optional[int],
  ):
    if not callable(should_stop_fn):
      raise TypeError("`should_stop_fn` must be callable.")
    self._should_stop_fn = should_stop_fn
    # It runs on from one training to the next.
    self._timer = tf.compat.v1.train.SecondOrStepTimer(
      every_secs=run_every_secs, every_steps=run_every_steps
    )

  def begin(self) -> None:
    """Makes the variable that told other workers to stop: the checkpoints of before hold it."""
    self._global_step = tf.compat.v1.train.get_global_step()
    with tf.compat.v1.variable_scope("signal_early_stopping", reuse=tf.compat.v1.AUTO_REUSE):
      stop = tf.compat.v1.get_variable(
        "STOP",
        shape=[],
        dtype=tf.bool,
        initializer=tf.compat.v1.constant_initializer(False),
        collections=[tf.compat.v1.GraphKeys.GLOBAL_VARIABLES],
        trainable=False,
      )
    self._note_stop = tf.compat.v1.assign(stop, True)

  def before_run(self, run_context: Any) -> Any:
    """Asks for the step."""
    return tf.compat.v1.train.SessionRunArgs(self._global_step)

  def after_run(self, run_context: Any, run_values: Any) -> None:
    """Asks the function, if it is time."""
    step = run_values.results
    if not self._timer.should_trigger_for_step(step):
      return
    self._timer.update_last_triggered_step(step)
    if self._should_stop_fn():
      tf.compat.v1.logging.info("Requesting early stopping at global step %d", step)
      run_context.session.run(self._note_stop)
      run_context.request_stop()


def _threshold(
  estimator: Any,
  metric_name: str,
  threshold: float,
  higher: bool,
  eval_dir: Optional[str],
  min_steps: int,
) -> Callable[[], bool]:
  """Returns a function that says whether a value lies beyond the threshold."""
  directory = estimator.eval_dir() if eval_dir is None else eval_dir
  return early_stopping.threshold_reached(
    estimator.model_dir, metric_name, threshold, higher, directory, min_steps
  )


def _improvement(
  estimator: Any,
  metric_name: str,
  max_steps: int,
  higher: bool,
  eval_dir: Optional[str],
  min_steps: int,
) -> Callable[[], bool]:
  """Returns a function that says whether a metric has not become better for `max_steps` steps."""
  directory = estimator.eval_dir() if eval_dir is None else eval_dir
  return early_stopping.improvement_missing(
    estimator.model_dir, metric_name, max_steps, higher, directory, min_steps
  )
