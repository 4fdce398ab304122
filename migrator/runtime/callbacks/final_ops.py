"""Reads values at the end."""

from __future__ import annotations

from typing import Any, Optional

from migrator.runtime.callbacks.base import HookCallback, fetched


class FinalOps(HookCallback):
  """Reads values when a session has come to its end; for `tf.train.FinalOpsHook`.

  Not after an exception, as the hook. Results such as the loss are those of the last step; the hook
  computed them anew, of one more batch.
  """

  def __init__(self, final_ops: Any, final_ops_feed_dict: Any = None):
    """Makes the callback.

    Args:
      final_ops: what to read, as in `runtime.fetch`.
      final_ops_feed_dict: must be empty; nothing can be fed without a graph.

    Raises:
      ValueError: if something is to be fed.
    """
    super().__init__()
    if final_ops_feed_dict:
      raise ValueError("final_ops_feed_dict must be empty: there are no placeholders to feed.")
    self._final_ops = final_ops
    self._final_ops_values: Any = None
    self._last_logs: dict = {}

  @property
  def final_ops_values(self) -> Any:
    """The values, in the structure of `final_ops`; None before the end."""
    return self._final_ops_values

  def on_train_begin(self, logs: Optional[dict] = None) -> None:
    """Forgets the results of an earlier session."""
    self._last_logs = {}

  def on_train_batch_end(self, batch: int, logs: Optional[dict] = None) -> None:
    """Keeps the results of the step."""
    self._last_logs = dict(logs or {})

  def on_train_end(self, logs: Optional[dict] = None) -> None:
    """Reads the values."""
    if self._final_ops is not None:
      logs = {**self._last_logs, **(logs or {})}
      self._final_ops_values = fetched(self._final_ops, self.model, logs)
