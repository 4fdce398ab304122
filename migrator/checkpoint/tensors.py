"""What is to be written: each tensor of the output, and where its value comes from."""

from __future__ import annotations

import dataclasses
import math
import struct
from collections.abc import Iterable, Sequence
from typing import Any, Callable, Optional

from migrator.runtime import bundle, wire
from migrator.runtime.bundle import Bounds, Entry
from migrator.runtime.crc32c import crc32c, masked
from migrator.runtime.errors import CheckpointError
from migrator.runtime.wire import encode_varint


@dataclasses.dataclass(frozen=True)
class Tensor:
  """One tensor of the output. Its value is one of three: bytes of the source, new bytes, or computed.

  Attributes:
    name: its name in the output.
    dtype: e.g. "float32".
    shape: the full shape.
    keys: the keys of the source that it comes from; () for a value that the source does not have.
    pieces: bounds and entry of each part in the source's data files, if its bytes do not change.
    data: its bytes as a data file holds them, if the value is new.
    compute: returns the value as an array of this dtype and shape, if the source's value changes.
    changes: what is done to the source's value, in words; () if its bytes do not change.
    slot: whether it is a slot.
  """

  name: str
  dtype: str
  shape: tuple[int, ...]
  keys: tuple[str, ...] = ()
  pieces: tuple[tuple[Bounds, Entry], ...] = ()
  data: Optional[bytes] = None
  compute: Optional[Callable[[], Any]] = None
  changes: tuple[str, ...] = ()
  slot: bool = False

  @property
  def renamed(self) -> bool:
    """Whether it comes from a key of another name."""
    return bool(self.keys) and self.keys != (self.name,)

  @property
  def num_bytes(self) -> int:
    """How many bytes of a data file it takes."""
    if self.data is not None:
      return len(self.data)
    if self.pieces:
      return sum(piece.size for _, piece in self.pieces)
    return math.prod(self.shape) * bundle.item_size(self.dtype)


@dataclasses.dataclass(frozen=True)
class Selection:
  """What an output consists of.

  Attributes:
    values: its tensors.
    stamp: what tells the runtime that a checkpoint is one of its own; None for no such checkpoint.
    variables: how many of the values are variables of the model.
    unused: keys of the source that nothing takes.
    missing: names of the model that the source does not have.
    notes: sentences for the report.
  """

  values: tuple[Tensor, ...]
  stamp: Optional[Tensor]
  variables: int
  unused: tuple[str, ...] = ()
  missing: tuple[str, ...] = ()
  notes: tuple[str, ...] = ()


def number(name: str, value: int) -> Tensor:
  """Returns a new int64 of shape []."""
  return Tensor(name, "int64", (), data=struct.pack("<q", value))


def text(name: str, value: bytes) -> Tensor:
  """Returns a new string of shape []."""
  return Tensor(name, "string", (), data=string_data(value)[0])


def checksum(tensor: Tensor) -> int:
  """Returns the checksum that the index has to hold of a tensor with new bytes.

  Raises:
    ValueError: if the bytes are not new.
  """
  if tensor.data is None:
    raise ValueError(f"the bytes of {tensor.name} are not new")
  if tensor.dtype != "string":
    return masked(crc32c(tensor.data))
  length, position = wire.varint(tensor.data, 0)
  return string_data(tensor.data[position + 4 : position + 4 + length])[1]


def string_data(value: bytes) -> tuple[bytes, int]:
  """Returns a scalar string as a data file holds it, and its checksum.

  The length, a checksum of the length, the bytes; the checksum of all covers the length as a number of
  four bytes (`WriteStringTensor` of tensorflow/core/util/tensor_bundle/tensor_bundle.cc).
  """
  length = struct.pack("<I", len(value))
  length_checksum = struct.pack("<I", masked(crc32c(length)))
  data = encode_varint(len(value)) + length_checksum + value
  return data, masked(crc32c(length + length_checksum + value))


def joined(
  prefix: str, index: bundle.Index, keys: Sequence[str]
) -> tuple[tuple[Bounds, Entry], ...]:
  """Returns the pieces of one tensor that the source holds under one or several keys.

  Args:
    prefix: the source, for the message.
    index: its index.
    keys: one key, or those of the parts of a partitioned slot.

  Raises:
    CheckpointError: if the pieces do not make up the whole.
  """
  pieces: list[tuple[Bounds, Entry]] = []
  for key in keys:
    pieces += index.pieces(key)
  pieces.sort(key=lambda piece: piece[0])
  first = index.entries[keys[0]]
  same = all(
    (index.entries[k].dtype, index.entries[k].shape) == (first.dtype, first.shape) for k in keys
  )
  bounds = [bounds for bounds, _ in pieces]
  if not same or _volume(bounds) != math.prod(first.shape) or _overlap(bounds):
    raise CheckpointError(
      f"The parts of {keys[0]} in {prefix} do not make up the whole of {list(first.shape)}."
    )
  return tuple(pieces)


def _volume(bounds: Iterable[Bounds]) -> int:
  return sum(math.prod(length for _, length in one) for one in bounds)


def _overlap(bounds: Sequence[Bounds]) -> bool:
  """Returns whether two parts have an element in common. `bounds` is sorted."""
  for i, one in enumerate(bounds):
    for other in bounds[i + 1 :]:
      if one and other[0][0] >= one[0][0] + one[0][1]:
        break  # Those that follow begin behind `one`, too.
      if all(a < b + m and b < a + n for (a, n), (b, m) in zip(one, other)):
        return True
  return False
