"""The hooks that a TPUEstimator added on CPU and GPU."""

from __future__ import annotations

from typing import Any, Optional

import tensorflow as tf

_WRITERS = ("CreateSummaryFileWriter", "CreateSummaryDbWriter")
_RATE = "global_step/sec"
_EXAMPLES = "examples/sec"


class HostCallHook(tf.compat.v1.train.SessionRunHook):
  """Runs the tensors of a `host_call` with each step, and keeps its summary writers open."""

  def __init__(self, tensors: Any):
    """Makes the hook.

    Args:
      tensors: what the function of the `host_call` returned; any structure that a session fetches.
    """
    self._tensors = tensors

  def begin(self) -> None:
    """Finds the writers that the program made in the graph."""
    operations = tf.compat.v1.get_default_graph().get_operations()
    self._openers = [operation for operation in operations if operation.type in _WRITERS]
    with tf.device("cpu:0"):
      self._flushes = [
        tf.raw_ops.FlushSummaryWriter(writer=operation.inputs[0]) for operation in self._openers
      ]

  def after_create_session(self, session: Any, coord: Any) -> None:
    """Opens the writers."""
    session.run(self._openers)

  def before_run(self, run_context: Any) -> Any:
    """Asks for the tensors."""
    return tf.compat.v1.train.SessionRunArgs(self._tensors)

  def end(self, session: Any) -> None:
    """Writes what is left."""
    session.run(self._flushes)


class ExamplesPerSecondHook(tf.compat.v1.train.SessionRunHook):
  """Logs and writes steps and examples per second, in the place of the StepCounterHook of other Estimators."""

  def __init__(
    self,
    batch_size: Optional[int],
    every_n_steps: Optional[int] = 100,
    every_n_secs: Optional[float] = None,
    output_dir: Optional[str] = None,
  ):
    """Makes the hook.

    Args:
      batch_size: rows per step; None leaves out the examples.
      every_n_steps: how often; None if by seconds.
      every_n_secs: how often; None if by steps.
      output_dir: of the event file; None writes none.

    Raises:
      ValueError: unless exactly one interval is given.
    """
    if (every_n_steps is None) == (every_n_secs is None):
      raise ValueError("exactly one of every_n_steps and every_n_secs should be provided.")
    self._batch_size = batch_size
    self._timer = tf.compat.v1.train.SecondOrStepTimer(
      every_steps=every_n_steps, every_secs=every_n_secs
    )
    self._output_dir = output_dir

  def begin(self) -> None:
    """Finds the global step.

    Raises:
      RuntimeError: with the message of the hook before, if there is none.
    """
    self._writer = (
      tf.compat.v1.summary.FileWriterCache.get(self._output_dir) if self._output_dir else None
    )
    self._global_step = tf.compat.v1.train.get_global_step()
    if self._global_step is None:
      raise RuntimeError("Global step should be created to use StepCounterHook.")

  def before_run(self, run_context: Any) -> Any:
    """Asks for the step before the run."""
    return tf.compat.v1.train.SessionRunArgs(self._global_step)

  def after_run(self, run_context: Any, run_values: Any) -> None:
    """Counts, if it is time."""
    if not self._timer.should_trigger_for_step(run_values.results + 1):
      return
    # The fetched step may be from before or after the update.
    step = run_context.session.run(self._global_step)
    if not self._timer.should_trigger_for_step(step):
      return
    seconds, steps = self._timer.update_last_triggered_step(step)
    if seconds is not None:
      self._report(steps / seconds, step)

  def _report(self, rate: float, step: int) -> None:
    """Logs and writes the rates."""
    rates = {_RATE: rate}
    if self._batch_size is not None:
      rates[_EXAMPLES] = self._batch_size * rate
    for tag, value in rates.items():
      if self._writer is not None:
        summary = tf.compat.v1.Summary(
          value=[tf.compat.v1.Summary.Value(tag=tag, simple_value=value)]
        )
        self._writer.add_summary(summary, step)
      tf.compat.v1.logging.info("%s: %g", tag, value)
