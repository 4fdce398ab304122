"""Stops the training at a step."""

from __future__ import annotations

from typing import Optional

from migrator.runtime import steps
from migrator.runtime.callbacks.base import HookCallback


class StopAtStep(HookCallback):
  """Stops at a global step, or after a number of steps; for `tf.train.StopAtStepHook`.

  At least one step is made, as with the hook. With `num_steps` the last step is fixed when the object is
  used first: in a second training it is the same one.
  """

  def __init__(self, num_steps: Optional[int] = None, last_step: Optional[int] = None):
    """Makes the callback.

    Args:
      num_steps: how many steps to make.
      last_step: the global step after which to stop.

    Raises:
      ValueError: unless exactly one of them is given.
    """
    super().__init__()
    if num_steps is None and last_step is None:
      raise ValueError("One of num_steps or last_step must be specified.")
    if num_steps is not None and last_step is not None:
      raise ValueError("Only one of num_steps or last_step can be specified.")
    self._num_steps = num_steps
    self._last_step = last_step

  def on_train_begin(self, logs: Optional[dict] = None) -> None:
    """Fixes the last step."""
    if self._last_step is None:
      assert self._num_steps is not None
      self._last_step = steps.global_step(self.model) + self._num_steps

  def on_train_batch_end(self, batch: int, logs: Optional[dict] = None) -> None:
    """Requests the stop, if this is the last step."""
    assert self._last_step is not None
    if steps.global_step(self.model) >= self._last_step:
      self._request_stop()
