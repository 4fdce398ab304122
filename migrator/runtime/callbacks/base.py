"""What the callbacks share: one set of methods for all uses, and values as a session gave them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Optional

import numpy as np
import tensorflow as tf

from migrator.runtime import steps, summaries


class HookCallback(tf.keras.callbacks.Callback):
  """Does in evaluation and prediction what it does in training, as a hook with its one set of methods."""

  _stop_flag = "stop_training"

  def _request_stop(self) -> None:
    """Ends the training, evaluation or prediction after this step."""
    setattr(self.model, self._stop_flag, True)

  def _end_batch(self, flag: str, batch: int, logs: Optional[dict]) -> None:
    """Calls `on_train_batch_end` outside of training."""
    self._stop_flag = flag
    try:
      self.on_train_batch_end(batch, logs)
    finally:
      del self._stop_flag

  def on_test_begin(self, logs: Optional[dict] = None) -> None:
    """Does what `on_train_begin` does."""
    self.on_train_begin(logs)

  def on_test_batch_begin(self, batch: int, logs: Optional[dict] = None) -> None:
    """Does what `on_train_batch_begin` does."""
    self.on_train_batch_begin(batch, logs)

  def on_test_batch_end(self, batch: int, logs: Optional[dict] = None) -> None:
    """Does what `on_train_batch_end` does; a request to stop ends the evaluation."""
    self._end_batch("stop_evaluating", batch, logs)

  def on_test_end(self, logs: Optional[dict] = None) -> None:
    """Does what `on_train_end` does."""
    self.on_train_end(logs)

  def on_predict_begin(self, logs: Optional[dict] = None) -> None:
    """Does what `on_train_begin` does."""
    self.on_train_begin(logs)

  def on_predict_batch_begin(self, batch: int, logs: Optional[dict] = None) -> None:
    """Does what `on_train_batch_begin` does."""
    self.on_train_batch_begin(batch, logs)

  def on_predict_batch_end(self, batch: int, logs: Optional[dict] = None) -> None:
    """Does what `on_train_batch_end` does; a request to stop ends the prediction."""
    self._end_batch("stop_predicting", batch, logs)

  def on_predict_end(self, logs: Optional[dict] = None) -> None:
    """Does what `on_train_end` does."""
    self.on_train_end(logs)


def fetched(fetches: Any, model: Any, logs: Optional[Mapping[str, Any]]) -> Any:
  """Returns the values of a step, as `steps.fetch`, with the types that a session gave them.

  Keras hands the number 0.1, a float32, on as 0.10000000149011612, and so would it be printed.

  Args:
    fetches: as in `steps.fetch`.
    model: the callback's `self.model`.
    logs: what the callback's method got.

  Raises:
    KeyError: if there is no such value.
    TypeError: for what cannot be fetched.
  """
  return _of_session(steps.fetch(fetches, model, logs))


def _of_session(value: Any) -> Any:
  """Returns numbers as numpy's, of the types that they had in the graph; tensors as arrays."""
  if isinstance(value, dict):
    return {key: _of_session(item) for key, item in value.items()}
  if isinstance(value, (list, tuple)):
    items = [_of_session(item) for item in value]
    return type(value)(*items) if hasattr(value, "_fields") else type(value)(items)
  if type(value) is float:
    with np.errstate(over="ignore"):
      single = np.float32(value)
    return single if single == value or np.isnan(value) else value
  if type(value) is int:
    return np.int64(value)
  return value.numpy() if hasattr(value, "numpy") else value


def is_result(leaf: Any) -> bool:
  """Whether a leaf of fetches is a value of `logs`, which is known only after the step."""
  return isinstance(leaf, str) and leaf.partition(":")[0] != steps.GLOBAL_STEP


def write_scalar(writer: Any, tag: str, value: float, step: int) -> None:
  """Writes one number to an event file.

  Args:
    writer: a `tf.compat.v1.summary.FileWriter`, or what `tf.summary.create_file_writer` makes.
    tag: its name.
    value: the number.
    step: the global step.
  """
  if hasattr(writer, "add_summary"):
    writer.add_summary(summaries.scalar(tag, value), step)
  else:
    # Not tf.summary.scalar, which needs TensorBoard.
    metadata = tf.compat.v1.SummaryMetadata()
    metadata.plugin_data.plugin_name = "scalars"
    with writer.as_default():
      tf.summary.write(tag, tf.constant(value, tf.float32), step=step, metadata=metadata)
