"""Reads values of a checkpoint from its data files, without TensorFlow."""

from __future__ import annotations

import struct
from typing import Union

from migrator.runtime import files
from migrator.runtime.bundle import DamagedIndexError, Entry, Index, shard_path
from migrator.runtime.crc32c import crc32c, masked
from migrator.runtime.wire import varint


def read_piece(prefix: str, index: Index, piece: Entry) -> bytes:
  """Returns the bytes of a whole tensor or of one part, row by row as they are stored.

  Checks nothing but the length; for scalars and other small values `read_checked` does.

  Raises:
    DamagedIndexError: if the data file ends before.
  """
  path = shard_path(prefix, piece.shard, index.num_shards)
  data = files.read(path, piece.offset, piece.size)
  if len(data) != piece.size:
    raise DamagedIndexError(f"needs {piece.size} bytes at {piece.offset} of {path}")
  return data


def read_checked(prefix: str, index: Index, piece: Entry) -> bytes:
  """As `read_piece`, and compares the checksum: for small values, as this takes 0.1 s per megabyte.

  Raises:
    DamagedIndexError: if the data file ends before, or the bytes are not the ones that were written.
  """
  data = read_piece(prefix, index, piece)
  # The checksum of strings covers their lengths in another form than the one stored.
  if piece.dtype != "string" and masked(crc32c(data)) != piece.crc32c:
    path = shard_path(prefix, piece.shard, index.num_shards)
    raise DamagedIndexError(
      f"does not agree with {path}: the checksum of {piece.size} bytes differs"
    )
  return data


def read_strings(prefix: str, index: Index, piece: Entry) -> list[bytes]:
  """Returns the elements of a tensor of strings, in the order in which they are stored.

  Raises:
    DamagedIndexError: if the data file ends before.
  """
  data = read_piece(prefix, index, piece)
  count = 1
  for length in piece.shape:
    count *= length
  lengths = []
  position = 0
  try:
    for _ in range(count):
      length, position = varint(data, position)
      lengths.append(length)
  except IndexError as e:
    raise DamagedIndexError(f"has a damaged tensor of strings: {e}") from e
  position += 4  # The checksum of the lengths.
  strings = []
  for length in lengths:
    strings.append(data[position : position + length])
    position += length
  return strings


def read_scalar(prefix: str, index: Index, name: str) -> Union[int, float]:
  """Returns the value of a number, shape [], e.g. `global_step`.

  Raises:
    DamagedIndexError: if the data are damaged.
    KeyError: if there is no such tensor.
    ValueError: if it is not a number of shape [].
  """
  entry = index.entries[name]
  order = "<" if index.little_endian else ">"
  codes = {
    "float32": "f",
    "float64": "d",
    "float16": "e",
    "int64": "q",
    "int32": "i",
    "uint64": "Q",
    "uint32": "I",
    "int16": "h",
    "int8": "b",
    "uint8": "B",
  }
  if entry.shape or entry.dtype not in (*codes, "bfloat16"):
    raise ValueError(f"{name} is {entry.dtype} of shape {list(entry.shape)}, no number")
  ((_, piece),) = index.pieces(name)
  data = read_checked(prefix, index, piece)
  if entry.dtype == "bfloat16":  # The upper half of a float32.
    return struct.unpack("<f", b"\0\0" + (data if index.little_endian else data[::-1]))[0]
  return struct.unpack(order + codes[entry.dtype], data)[0]
