"""Writes the event files that an Estimator wrote: the same tags, at the same steps."""

from __future__ import annotations

import os
from typing import Any, Optional

import numpy as np
import tensorflow as tf

from migrator.runtime.policy import Timer, check_not_negative, check_positive

_Summary = tf.compat.v1.Summary
_SessionLog = tf.compat.v1.SessionLog


def event_writer(directory: str) -> tf.compat.v1.summary.FileWriter:
  """Returns the writer of a directory; there is one per process, as with the Estimator."""
  # The summaries of TF2 have another form, which readers of the old ones do not know.
  with tf.Graph().as_default():
    return tf.compat.v1.summary.FileWriterCache.get(os.fspath(directory))


def scalar(tag: str, value: float) -> Any:
  """Returns a summary of one number."""
  return _Summary(value=[_Summary.Value(tag=tag, simple_value=value)])


class SummarySaver(tf.keras.callbacks.Callback):
  """Writes `loss` and `global_step/sec`, and logs the loss, at the Estimator's steps.

  A Keras callback, for `fit` or for a loop that calls the methods. `logs["loss"]` must be the loss of
  the step itself; the step counter must have been counted up before `on_train_batch_end`.
  """

  def __init__(
    self,
    model_dir: str,
    step: Any,
    *,
    save_summary_steps: Optional[int] = 100,
    log_step_count_steps: Optional[int] = 100,
  ):
    """Makes the callback.

    Args:
      model_dir: where the event files go.
      step: the global step, a `tf.Variable`, int64, shape [].
      save_summary_steps: write the loss every this many steps, beginning with the first of a
        session; None and 0 never.
      log_step_count_steps: write and log `global_step/sec` every this many steps, and log the loss;
        None never.

    Raises:
      ValueError: with RunConfig's message, for arguments that it refuses.
    """
    super().__init__()
    check_not_negative("save_summary_steps", save_summary_steps)
    check_positive("log_step_count_steps", log_step_count_steps)
    self._directory = os.fspath(model_dir)
    self._step = step
    self._summary_steps = save_summary_steps
    self._log_steps = log_step_count_steps

  def on_train_begin(self, logs: Optional[dict] = None) -> None:
    """Begins a session: the cadences count from its first step."""
    self._summary_timer = Timer(self._summary_steps)
    self._count_timer = Timer(self._log_steps)
    self._log_timer = Timer(self._log_steps)
    self._iteration = 0
    self._writer = event_writer(self._directory)

  def on_train_batch_end(self, batch: int, logs: Optional[dict] = None) -> None:
    """Writes what is due at this step; the callbacks after it get numbers as hooks did."""
    if logs:
      # Keras gives Python floats to all callbacks; a hook got float32, which prints otherwise.
      logs.update({k: np.float32(v) for k, v in logs.items() if isinstance(v, float)})
    step = int(self._step.numpy())
    loss = float((logs or {}).get("loss", float("nan")))
    if self._log_steps and self._count_timer.due(step):
      seconds, steps = self._count_timer.mark(step)
      if seconds is not None:
        rate = steps / max(seconds, 1e-9)
        self._writer.add_summary(scalar("global_step/sec", rate), step)
        tf.get_logger().info("global_step/sec: %g", rate)
    if self._summary_steps and self._summary_timer.due(step):
      if self._summary_timer.last_step is None:
        # Tells readers to drop what an interrupted run wrote after its last checkpoint.
        self._writer.add_session_log(_SessionLog(status=_SessionLog.START), step)
      self._summary_timer.mark(step)
      self._writer.add_summary(scalar("loss", loss), step)
    if self._log_steps and self._log_timer.due(self._iteration):
      seconds, _ = self._log_timer.mark(self._iteration)
      suffix = "" if seconds is None else f" ({seconds:.3f} sec)"
      # With the digits of a float32, as the Estimator wrote it.
      tf.get_logger().info("loss = %s, step = %d%s", np.float32(loss), step - 1, suffix)
    self._iteration += 1

  def on_train_end(self, logs: Optional[dict] = None) -> None:
    """Writes out what is still in memory."""
    self._writer.flush()


def log_checkpoint(directory: str, path: str, step: int) -> None:
  """Records in the event file that a checkpoint was written."""
  log = _SessionLog(status=_SessionLog.CHECKPOINT, checkpoint_path=path)
  event_writer(directory).add_session_log(log, step)


def _summary(tag: str, value: Any) -> Any:
  """Returns the summary of a result: a number, or an array as a tensor, which no chart shows."""
  if np.ndim(value):
    return _Summary.Value(tag=tag, node_name=tag, tensor=tf.make_tensor_proto(value))
  return _Summary.Value(tag=tag, simple_value=float(value))


def write_results(directory: str, results: dict, step: int, checkpoint: Optional[str]) -> None:
  """Writes the results of an evaluation, and which checkpoint they are of.

  Args:
    directory: where to.
    results: name -> number, or array; `global_step` is left out, as the Estimator did.
    step: the global step.
    checkpoint: its prefix, or None.
  """
  text = ", ".join(f"{key} = {value!s}" for key, value in sorted(results.items()))
  tf.get_logger().info("Saving dict for global step %d: %s", step, text)
  writer = event_writer(directory)
  values = [_summary(key, value) for key, value in results.items() if key != "global_step"]
  writer.add_summary(_Summary(value=values), step)
  if checkpoint is not None:
    tensor = tf.make_tensor_proto(checkpoint, dtype=tf.string)
    value = _Summary.Value(tag="checkpoint_path", tensor=tensor)
    writer.add_summary(_Summary(value=[value]), step)
  writer.flush()
