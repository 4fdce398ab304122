"""Counts steps per second."""

from __future__ import annotations

from typing import Any, Optional

import tensorflow as tf

from migrator.runtime import steps, summaries
from migrator.runtime.callbacks.base import HookCallback, write_scalar


class StepCounter(HookCallback):
  """Logs the steps per second, and writes them to an event file; for `tf.train.StepCounterHook`.

  The clock runs on from one training to the next, as in the hook.
  """

  def __init__(
    self,
    every_n_steps: Optional[int] = 100,
    every_n_secs: Optional[float] = None,
    output_dir: Optional[str] = None,
    summary_writer: Any = None,
  ):
    """Makes the callback.

    Args:
      every_n_steps: log every this many steps; None if by seconds.
      every_n_secs: log every this many seconds.
      output_dir: where the event file is, if no writer is given; None writes none.
      summary_writer: a `tf.compat.v1.summary.FileWriter`, or what `tf.summary.create_file_writer`
        makes.

    Raises:
      ValueError: with the hook's message, unless exactly one interval is given.
    """
    super().__init__()
    if (every_n_steps is None) == (every_n_secs is None):
      raise ValueError("exactly one of every_n_steps and every_n_secs should be provided.")
    self._timer = tf.compat.v1.train.SecondOrStepTimer(
      every_steps=every_n_steps, every_secs=every_n_secs
    )
    self._summary_writer = summary_writer
    self._output_dir = output_dir
    self._summary_tag = f"{steps.GLOBAL_STEP}/sec"
    self._last_global_step: Optional[int] = None
    self._stale_global_step: Optional[int] = None

  def on_train_begin(self, logs: Optional[dict] = None) -> None:
    """Opens the event file."""
    if self._summary_writer is None and self._output_dir:
      self._summary_writer = summaries.event_writer(self._output_dir)

  def on_train_batch_begin(self, batch: int, logs: Optional[dict] = None) -> None:
    """Notes the step before this one is counted."""
    self._stale_global_step = steps.global_step(self.model)

  def on_train_batch_end(self, batch: int, logs: Optional[dict] = None) -> None:
    """Counts, and logs if it is time."""
    step = steps.global_step(self.model)
    if self._timer.should_trigger_for_step(step):
      seconds, count = self._timer.update_last_triggered_step(step)
      if seconds is not None:
        self._log_and_record(count, seconds, step)
    if self._stale_global_step == self._last_global_step:
      tf.compat.v1.logging.log_first_n(
        tf.compat.v1.logging.WARN,
        "It seems that the global step has not been increased. Current value (could be stable): %s vs "
        "previous value: %s.",
        5,
        self._stale_global_step,
        self._last_global_step,
      )
    self._last_global_step = self._stale_global_step

  def on_train_end(self, logs: Optional[dict] = None) -> None:
    """Writes out what is still in memory."""
    if self._summary_writer is not None:
      self._summary_writer.flush()

  def _log_and_record(self, elapsed_steps: int, elapsed_time: float, global_step: int) -> None:
    """Logs and writes the rate; subclasses may do something else with it.

    Args:
      elapsed_steps: the steps since the last call.
      elapsed_time: the seconds since then.
      global_step: the present step.
    """
    rate = elapsed_steps / elapsed_time
    if self._summary_writer is not None:
      write_scalar(self._summary_writer, self._summary_tag, rate, global_step)
    tf.get_logger().info("%s: %g", self._summary_tag, rate)
