"""Reads values of the source through TensorFlow, which compares their checksums."""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf

from migrator.checkpoint.source import Source
from migrator.checkpoint.tensors import Tensor
from migrator.runtime import tensor_values


class Reader:
  """Returns the values of tensors, one at a time."""

  def __init__(self, source: Source):
    self._values = tensor_values.Reader(source.prefix, source.index)

  def value(self, tensor: Tensor) -> Any:
    """Returns the value of a tensor as an array of its dtype and shape.

    Raises:
      CheckpointError: if the data of the source are damaged.
    """
    if tensor.data is not None:
      if tensor.dtype == "string":
        raise ValueError(f"{tensor.name} is a new string, which is only part of checkpoints")
      return np.frombuffer(tensor.data, tf.as_dtype(tensor.dtype).as_numpy_dtype).reshape(
        tensor.shape
      )
    if tensor.compute is not None:
      return tensor.compute()
    return self._values.read(tensor.keys)
