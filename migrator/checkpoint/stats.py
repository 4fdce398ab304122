"""Statistics of values, read in pieces, so that memory does not grow with the checkpoint."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, Callable, Optional

import numpy as np

from migrator.runtime import bundle
from migrator.runtime.bundle import Entry
from migrator.runtime.contents import Variable

_CHUNK = 16 * 2**20  # bytes


def statistics(
  prefix: str,
  index: bundle.Index,
  keys: tuple[str, ...],
  advance: Callable[[int], None],
) -> Optional[dict[str, Any]]:
  """Returns what the values of one variable are like.

  Args:
    prefix: of the checkpoint.
    index: its index.
    keys: where the variable is: one key, or those of its parts.
    advance: is told the bytes that have been read.

  Returns:
    min, max, mean, std (the square root of the mean squared deviation, in float64), zeros, nans and
    infs, of what is finite; for strings the lengths in place of the values. None for types without
    numbers, and without any element.

  Raises:
    bundle.DamagedIndexError: if the data file ends too early.
  """
  sums = _Sums()
  for key in keys:
    for _, piece in index.pieces(key):
      if piece.dtype == "string":
        lengths = [len(text) for text in bundle.read_strings(prefix, index, piece)]
        sums.add(np.array(lengths, np.float64))
        advance(piece.size)
        continue
      for data in _chunks(prefix, index, piece):
        values = _numbers(data, piece.dtype, index.little_endian)
        if values is None:
          return None
        sums.add(values)
        advance(len(data))
  return sums.result()


def greatest_difference(first: Any, second: Any, one: Variable, other: Variable) -> Optional[float]:
  """Returns the greatest absolute difference between two variables of one dtype and shape.

  Args:
    first: the inspection of one checkpoint.
    second: that of the other.
    one: a variable of the first.
    other: the one of the second.

  Returns:
    The difference; inf if one is NaN or a text where the other is not the same; None for types without
    numbers.

  Raises:
    bundle.DamagedIndexError: if a data file ends too early.
  """
  if one.dtype == "string":
    texts = [
      [
        bundle.read_strings(i.prefix, i.index, piece)
        for k in v.keys
        for _, piece in i.index.pieces(k)
      ]
      for i, v in ((first, one), (second, other))
    ]
    return 0.0 if texts[0] == texts[1] else math.inf
  greatest = 0.0
  values = [_whole(first, one), _whole(second, other)]
  if values[0] is None or values[1] is None:
    return None
  for begin in range(0, values[0].size, _CHUNK):
    a, b = (v[begin : begin + _CHUNK] for v in values)
    same = (a == b) | ((a != a) & (b != b))
    if same.all():
      continue
    wide = np.complex128 if a.dtype.kind == "c" else np.float64
    apart = np.abs(a[~same].astype(wide) - b[~same].astype(wide))
    greatest = max(greatest, float(np.where(np.isnan(apart), np.inf, apart).max()))
  return greatest


def _whole(inspection: Any, variable: Variable) -> Any:
  """Returns all values of a variable in a row, shape [n]; None for a type that has no numbers."""
  index = inspection.index
  result = None
  for key in variable.keys:
    for bounds, piece in index.pieces(key):
      data = b"".join(_chunks(inspection.prefix, index, piece))
      values = _numbers(data, piece.dtype, index.little_endian)
      if values is None:
        return None
      if result is None:
        result = np.empty(variable.shape, values.dtype)
      place = tuple(slice(start, start + length) for start, length in bounds)
      result[place] = values.reshape([length for _, length in bounds])
  return result.reshape(-1) if result is not None else None


class _Sums:
  """Moments that are added up piece by piece.

  Chan, Golub and LeVeque, "Updating Formulae and a Pairwise Algorithm for Computing Sample Variances"
  (1979), for the deviations of two pieces together.
  """

  def __init__(self) -> None:
    self.count = self.nans = self.infs = self.zeros = 0
    self.mean = self.deviations = 0.0
    self.low, self.high = math.inf, -math.inf

  def add(self, values: Any) -> None:
    """Adds the values of an array."""
    if values.dtype.kind == "c":
      values = np.abs(values)
    if values.dtype.kind == "f":
      finite = np.isfinite(values)
      nans = int(np.isnan(values).sum())
      self.nans += nans
      self.infs += int(values.size - finite.sum()) - nans
      if not finite.all():
        values = values[finite]
    if not values.size:
      return
    self.zeros += int(values.size - np.count_nonzero(values))
    self.low, self.high = min(self.low, values.min().item()), max(self.high, values.max().item())
    mean = float(values.mean(dtype=np.float64))
    centred = values.astype(np.float64) - mean
    total = self.count + values.size
    apart = mean - self.mean
    self.deviations += float(np.dot(centred, centred))
    self.deviations += apart * apart * self.count * values.size / total
    self.mean += apart * values.size / total
    self.count = total

  def result(self) -> Optional[dict[str, Any]]:
    """Returns the statistics, None if there was no value at all."""
    if not self.count and not self.nans and not self.infs:
      return None
    known = bool(self.count)
    return {
      "min": self.low if known else None,
      "max": self.high if known else None,
      "mean": self.mean if known else None,
      "std": math.sqrt(self.deviations / self.count) if known else None,
      "zeros": self.zeros,
      "nans": self.nans,
      "infs": self.infs,
    }


def _chunks(prefix: str, index: bundle.Index, piece: Entry) -> Iterator[bytes]:
  """Yields the bytes of a piece, some at a time."""
  path = bundle.shard_path(prefix, piece.shard, index.num_shards)
  item = bundle.item_size(piece.dtype) or 1
  step = _CHUNK // item * item
  with open(path, "rb") as file:
    file.seek(piece.offset)
    left = piece.size
    while left:
      data = file.read(min(step, left))
      if not data:
        raise bundle.DamagedIndexError(f"needs {piece.size} bytes at {piece.offset} of {path}")
      left -= len(data)
      yield data


def _numbers(data: bytes, dtype: str, little_endian: bool) -> Any:
  """Returns bytes as an array, shape [n]; None for a type that has no numbers."""
  order = "<" if little_endian else ">"
  if dtype == "bfloat16":  # The upper half of a float32.
    halves = np.frombuffer(data, order + "u2").astype(np.uint32)
    return (halves << 16).view(np.float32)
  name = dtype[1:] if dtype.startswith(("qint", "quint")) else dtype
  try:
    values = np.frombuffer(data, np.dtype(name).newbyteorder(order))
  except TypeError:
    return None
  return values.view(np.uint8) if values.dtype.kind == "b" else values
