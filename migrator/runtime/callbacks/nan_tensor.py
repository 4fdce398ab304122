"""Ends a training that diverged."""

from __future__ import annotations

from typing import Any, Optional

import numpy as np
import tensorflow as tf

from migrator.runtime.callbacks.base import HookCallback, fetched


class NanTensor(HookCallback):
  """Raises, or stops the training, when the loss is NaN; for `tf.train.NanTensorHook`.

  `BackupAndRestore` raises when the loss is NaN, as the Estimator did, whatever this callback does before.
  """

  def __init__(self, loss_tensor: Any = "loss", fail_on_nan_loss: bool = True):
    """Makes the callback.

    Args:
      loss_tensor: the key of the loss in the training's `logs`, or another leaf of `runtime.fetch`.
      fail_on_nan_loss: whether to raise `NanLossDuringTrainingError`; else the training stops.
    """
    super().__init__()
    self._loss_tensor = loss_tensor
    self._fail_on_nan_loss = fail_on_nan_loss

  def on_train_batch_end(self, batch: int, logs: Optional[dict] = None) -> None:
    """Looks at the loss.

    Raises:
      tf.compat.v1.train.NanLossDuringTrainingError: if it is NaN.
    """
    if not np.isnan(fetched(self._loss_tensor, self.model, logs)):
      return
    message = "Model diverged with loss = NaN."
    if self._fail_on_nan_loss:
      tf.get_logger().error(message)
      raise tf.compat.v1.train.NanLossDuringTrainingError
    tf.get_logger().warning(message)
    self._request_stop()
