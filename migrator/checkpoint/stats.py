"""Statistics of values, read in pieces, so that memory does not grow with the checkpoint."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import Any, Callable, Optional, Union

import numpy as np

from migrator.checkpoint.inspection import Inspection
from migrator.runtime import bundle, bundle_values, files
from migrator.runtime.bundle import Bounds, Entry
from migrator.runtime.errors import CheckpointError

_CHUNK = 16 * 2**20  # bytes that are read at a time
_BLOCK = 2**18  # numbers that are added up at a time: they stay near the processor
_NUMERIC = re.compile(r"u?int(8|16|32|64)|float(16|32|64)|complex(64|128)|bool")


def statistics(
  inspection: Inspection, keys: tuple[str, ...], advance: Callable[[int], None]
) -> Optional[dict[str, Any]]:
  """Returns what the values of one variable are like.

  Args:
    inspection: the checkpoint.
    keys: where the variable is: one key, or those of its parts.
    advance: is told the bytes that have been read.

  Returns:
    min, max, mean, std (the square root of the mean squared deviation, in float64), zeros, nans and
    infs, of what is finite; for strings the lengths in place of the values, for complex numbers the
    magnitudes. None for types without numbers, and without any element.

  Raises:
    CheckpointError: if the data file ends too early.
    OSError: if it cannot be read.
  """
  sums = _Sums()
  for _, piece in _pieces(inspection, keys):
    if piece.dtype == "string":
      sums.add(np.array([len(text) for text in _strings(inspection, piece)], np.float64))
      advance(piece.size)
      continue
    for data in _chunks(inspection, piece):
      values = _numbers(data, piece.dtype, inspection.index.little_endian)
      advance(len(data))
      if values is not None:
        sums.add(values)
  return sums.result()


def greatest_difference(
  first: Inspection,
  first_keys: tuple[str, ...],
  second: Inspection,
  second_keys: tuple[str, ...],
  advance: Callable[[int], None],
) -> Union[int, float]:
  """Returns the greatest absolute difference between two tensors of one dtype and shape.

  NaN is equal to NaN.

  Args:
    first: a checkpoint.
    first_keys: where the tensor is in it.
    second: another checkpoint.
    second_keys: where the tensor is in that.
    advance: is told the bytes that have been read of the first.

  Returns:
    The difference, an exact int for integers; inf where values differ that have no difference: NaN
    and a number, texts, or types without numbers.

  Raises:
    CheckpointError: if a data file ends too early.
    OSError: if it cannot be read.
  """
  if first.index.entries[first_keys[0]].dtype == "string":
    texts = []
    for inspection, keys in ((first, first_keys), (second, second_keys)):
      pieces = [piece for _, piece in _pieces(inspection, keys)]
      texts.append([text for piece in pieces for text in _strings(inspection, piece)])
    advance(sum(piece.size for _, piece in _pieces(first, first_keys)))
    return 0 if texts[0] == texts[1] else math.inf
  greatest: Union[int, float] = 0
  for a, b in _aligned(_in_order(first, first_keys), _in_order(second, second_keys)):
    greatest = max(greatest, _difference(a, b))
    advance(a.nbytes)
  return greatest


def _difference(a: Any, b: Any) -> Union[int, float]:
  """Returns the greatest absolute difference of two arrays of one dtype, shape [n]."""
  if a.dtype.kind == "V":
    return 0 if a.tobytes() == b.tobytes() else math.inf
  apart = (a != b) & ((a == a) | (b == b))
  if not apart.any():
    return 0
  a, b = a[apart], b[apart]
  if a.dtype.kind in "iu":
    # Modulo 2**64, where the difference of any two integers has its place.
    high, low = np.maximum(a, b), np.minimum(a, b)
    wide = np.int64 if a.dtype.kind == "i" else np.uint64
    return int((high.astype(wide).view(np.uint64) - low.astype(wide).view(np.uint64)).max())
  kind = np.complex128 if a.dtype.kind == "c" else np.float64
  with np.errstate(invalid="ignore", over="ignore"):
    found = np.abs(a.astype(kind) - b.astype(kind))
  return float(np.where(np.isnan(found), np.inf, found).max())


def _aligned(one: Iterator[Any], two: Iterator[Any]) -> Iterator[tuple[Any, Any]]:
  """Yields two sequences of arrays in pairs of one length, whatever the lengths of the arrays."""
  a = b = None
  while True:
    a = a if a is not None and a.size else next(one, None)
    b = b if b is not None and b.size else next(two, None)
    if a is None or b is None:
      return
    count = min(a.size, b.size)
    yield a[:count], b[:count]
    a, b = a[count:], b[count:]


def _in_order(inspection: Inspection, keys: tuple[str, ...]) -> Iterator[Any]:
  """Yields the values of a tensor row by row, as arrays of shape [n]."""
  index = inspection.index
  shape = index.entries[keys[0]].shape
  pieces = sorted(_pieces(inspection, keys), key=lambda item: item[0])
  if all(bounds[1:] == tuple((0, size) for size in shape[1:]) for bounds, _ in pieces):
    for _, piece in pieces:
      for data in _chunks(inspection, piece):
        yield _values(data, piece.dtype, index.little_endian)
    return
  # Parts along another axis: their rows have to be put together.
  whole = None
  for bounds, piece in pieces:
    data = b"".join(_chunks(inspection, piece))
    values = _values(data, piece.dtype, index.little_endian)
    if whole is None:
      whole = np.empty(shape, values.dtype)
    place = tuple(slice(start, start + length) for start, length in bounds)
    whole[place] = values.reshape([length for _, length in bounds])
  if whole is not None and whole.size:
    yield whole.reshape(-1)


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
    """Adds the values of an array, shape [n]."""
    for begin in range(0, values.size, _BLOCK):
      self._add(values[begin : begin + _BLOCK])

  def _add(self, values: Any) -> None:
    if values.dtype.kind == "c":
      values = np.abs(values)
    if values.dtype.kind == "f":
      finite = np.isfinite(values)
      if not finite.all():
        nans = int(np.isnan(values).sum())
        self.nans += nans
        self.infs += int(values.size - finite.sum()) - nans
        values = values[finite]
    if not values.size:
      return
    self.zeros += int(values.size - np.count_nonzero(values))
    self.low, self.high = min(self.low, values.min().item()), max(self.high, values.max().item())
    # The squares of what a float64 can just hold are beyond it: the sums are inf then.
    with np.errstate(over="ignore", invalid="ignore"):
      mean = float(values.mean(dtype=np.float64))
      centred = values.astype(np.float64)
      centred -= mean
      deviations = float(np.dot(centred, centred))
    total = self.count + values.size
    apart = mean - self.mean
    self.deviations += deviations + apart * apart * (self.count * values.size / total)
    self.mean += apart * (values.size / total)
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


def _pieces(inspection: Inspection, keys: tuple[str, ...]) -> list[tuple[Bounds, Entry]]:
  """Returns where the values under some keys lie."""
  return [item for key in keys for item in inspection.index.pieces(key)]


def _strings(inspection: Inspection, piece: Entry) -> list[bytes]:
  try:
    return bundle_values.read_strings(inspection.prefix, inspection.index, piece)
  except bundle.DamagedIndexError as error:
    raise CheckpointError(f"{inspection.prefix}.index {error}.") from error


def _chunks(inspection: Inspection, piece: Entry) -> Iterator[bytes]:
  """Yields the bytes of a piece, some at a time."""
  path = bundle.shard_path(inspection.prefix, piece.shard, inspection.index.num_shards)
  step = _CHUNK  # A multiple of the size of every element.
  for done in range(0, piece.size, step):
    length = min(step, piece.size - done)
    data = files.read(path, piece.offset + done, length)
    if len(data) != length:
      raise CheckpointError(f"{path} ends within the {piece.size} bytes at {piece.offset}.")
    yield data


def _values(data: bytes, dtype: str, little_endian: bool) -> Any:
  """Returns bytes as an array of numbers, or of elements that can only be compared, shape [n]."""
  values = _numbers(data, dtype, little_endian)
  return values if values is not None else np.frombuffer(data, "V1")


def _numbers(data: bytes, dtype: str, little_endian: bool) -> Any:
  """Returns bytes as an array, shape [n]; None for a type that has no numbers."""
  order = "<" if little_endian else ">"
  if dtype == "bfloat16":  # The upper half of a float32.
    halves = np.frombuffer(data, order + "u2").astype(np.uint32)
    return (halves << 16).view(np.float32)
  name = dtype[1:] if dtype.startswith(("qint", "quint")) else dtype
  # Not what numpy knows: TensorFlow's import adds types to it, and the answer has to be the same.
  if not _NUMERIC.fullmatch(name):
    return None
  values = np.frombuffer(data, np.dtype(name).newbyteorder(order))
  return values.view(np.uint8) if values.dtype.kind == "b" else values
