"""Reads the values of tensors through TensorFlow, which compares their checksums."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import Any, Optional

import numpy as np
import tensorflow as tf

from migrator.runtime.bundle import DamagedIndexError, Index
from migrator.runtime.errors import CheckpointError


class Reader:
  """Returns the values of one checkpoint, each as an array of its dtype and full shape."""

  def __init__(self, prefix: str, index: Index, keys: Optional[Mapping[str, str]] = None):
    """Makes a reader; nothing is opened before the first value is asked for.

    Args:
      prefix: of the checkpoint.
      index: its index.
      keys: name in the index -> key in the file, where these differ.
    """
    self._keys = keys or {}
    self._prefix = prefix
    self._index = index

  @functools.cached_property
  def _reader(self) -> Any:
    return tf.train.load_checkpoint(self._prefix)

  def read(self, keys: Sequence[str]) -> np.ndarray:
    """Returns the value of one key, or of several that hold the parts of one tensor.

    Raises:
      CheckpointError: if the data are damaged, or the parts do not make up the whole.
    """
    try:
      if len(keys) == 1 and self._is_whole(keys[0]):
        return np.asarray(self._reader.get_tensor(self._keys.get(keys[0], keys[0])))
      return self._parts(keys)
    except (tf.errors.OpError, IndexError, RuntimeError, DamagedIndexError) as e:
      raise CheckpointError(f"{keys[0]} of {self._prefix} cannot be read: {e}") from e

  def _is_whole(self, key: str) -> bool:
    """Returns whether one key holds the whole tensor."""
    entry = self._index.entries[key]
    pieces = self._index.pieces(key)
    return sum(_count(bounds) for bounds, _ in pieces) == _count([(0, n) for n in entry.shape])

  def _parts(self, keys: Sequence[str]) -> np.ndarray:
    """Returns the parts that lie under several keys, put together by their bounds."""
    entry = self._index.entries[keys[0]]
    dtype = tf.as_dtype(entry.dtype)
    value = np.empty(entry.shape, dtype.as_numpy_dtype)
    sizes = " ".join(map(str, entry.shape))
    filled = 0
    for key in keys:
      for bounds, _ in self._index.pieces(key):
        extents = ":".join(f"{start},{length}" for start, length in bounds)
        part = tf.raw_ops.RestoreV2(
          prefix=self._prefix,
          tensor_names=[key],
          shape_and_slices=[f"{sizes} {extents}"],
          dtypes=[dtype],
        )[0].numpy()
        value[tuple(slice(start, start + length) for start, length in bounds)] = part
        filled += part.size
    if filled != value.size:
      raise CheckpointError(f"The parts of {keys[0]} in {self._prefix} do not make up the whole.")
    return value


def _count(bounds: Any) -> int:
  """Returns how many elements lie within some bounds."""
  count = 1
  for _, length in bounds:
    count *= length
  return count
