"""Profiles single steps."""

from __future__ import annotations

import os
from typing import Optional

import tensorflow as tf

from migrator.runtime import steps
from migrator.runtime.callbacks.base import HookCallback


class Profiler(HookCallback):
  """Profiles a step every N steps or seconds, not the first of a session; for `tf.train.ProfilerHook`.

  The format differs: where the hook wrote a trace for Chrome to `timeline-<step>.json`, this writes what
  TensorBoard's profile page shows to the directory `timeline-<step>`. Nothing is added to the
  event file.
  """

  def __init__(
    self,
    save_steps: Optional[int] = None,
    save_secs: Optional[float] = None,
    output_dir: str = "",
    show_dataflow: bool = True,
    show_memory: bool = False,
  ):
    """Makes the callback.

    Args:
      save_steps: profile a step every this many steps.
      save_secs: profile a step every this many seconds.
      output_dir: where to; by default the current directory.
      show_dataflow: has no effect any more; TensorBoard shows what the profile has.
      show_memory: has no effect any more.

    Raises:
      ValueError: unless exactly one interval is given.
    """
    super().__init__()
    self._output_file = os.path.join(output_dir, "timeline-{}")
    self._timer = tf.compat.v1.train.SecondOrStepTimer(every_secs=save_secs, every_steps=save_steps)
    self._next_step: Optional[int] = None
    self._stale_global_step = 0
    self._requested = False
    self._running = False

  def on_train_begin(self, logs: Optional[dict] = None) -> None:
    """Begins a session: the interval counts from its first step."""
    self._abandon()
    self._next_step = None

  def on_train_batch_begin(self, batch: int, logs: Optional[dict] = None) -> None:
    """Starts the profiler, if this step is to be profiled."""
    self._abandon()
    self._stale_global_step = steps.global_step(self.model)
    self._requested = self._next_step is not None and self._timer.should_trigger_for_step(
      self._next_step
    )
    if self._requested:
      try:
        tf.profiler.experimental.start(self._output_file.format(self._stale_global_step + 1))
        self._running = True
      except tf.errors.AlreadyExistsError:
        tf.get_logger().warning(
          "Step %d is not profiled: another profiler is running.", self._stale_global_step + 1
        )

  def on_train_batch_end(self, batch: int, logs: Optional[dict] = None) -> None:
    """Writes the profile of the step."""
    if self._next_step is None:
      self._timer.update_last_triggered_step(self._stale_global_step)
    step = self._stale_global_step + 1
    if self._requested:
      step = steps.global_step(self.model)
      self._timer.update_last_triggered_step(step)
    if self._running:
      tf.get_logger().info(
        "Saving timeline for %d into '%s'.", step, self._output_file.format(step)
      )
      self._running = False
      tf.profiler.experimental.stop()
    self._next_step = step + 1

  def on_train_end(self, logs: Optional[dict] = None) -> None:
    """Drops the profile of a step that did not take place, as the input had ended."""
    self._abandon()

  def _abandon(self) -> None:
    """Stops a profiler whose step did not come to its end."""
    if self._running:
      self._running = False
      tf.profiler.experimental.stop(save=False)
