"""Reads values of the source through TensorFlow, which compares their checksums."""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf

from migrator.checkpoint.source import Source
from migrator.checkpoint.tensors import Tensor
from migrator.runtime.errors import CheckpointError


class Reader:
  """Returns the values of tensors, one at a time."""

  def __init__(self, source: Source):
    self._source = source
    self._reader = tf.train.load_checkpoint(source.prefix)

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
    try:
      if tensor.compute is not None:
        return tensor.compute()
      if len(tensor.keys) == 1 and not self._is_part(tensor.keys[0]):
        return np.asarray(self._reader.get_tensor(tensor.keys[0]))
      return self._parts(tensor)
    except (tf.errors.OpError, IndexError, RuntimeError) as error:
      raise CheckpointError(
        f"{tensor.keys[0]} of {self._source.prefix} cannot be read: {error}"
      ) from error

  def _is_part(self, key: str) -> bool:
    """Returns whether a key holds one part of a tensor of which others hold the rest."""
    index = self._source.index
    bounds = [bounds for bounds, _ in index.pieces(key)]
    return bool(index.entries[key].slices) and len(bounds) == 1

  def _parts(self, tensor: Tensor) -> Any:
    """Returns the parts that lie under several keys as one array."""
    index = self._source.index
    result = np.empty(tensor.shape, tf.as_dtype(tensor.dtype).as_numpy_dtype)
    sizes = " ".join(map(str, tensor.shape))
    for key in tensor.keys:
      for bounds, _ in index.pieces(key):
        extents = ":".join(f"{start},{length}" for start, length in bounds)
        part = tf.raw_ops.RestoreV2(
          prefix=self._source.prefix,
          tensor_names=[key],
          shape_and_slices=[f"{sizes} {extents}"],
          dtypes=[tf.as_dtype(tensor.dtype)],
        )[0].numpy()
        result[tuple(slice(start, start + length) for start, length in bounds)] = part
    return result
