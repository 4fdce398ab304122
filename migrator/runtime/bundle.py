"""Reads the `.index` file of a checkpoint: what each tensor is, and how long the data files must be.

The index is a small sorted table in the format of LevelDB. Its keys are tensor names, its values
protocol buffers (`BundleEntryProto`); the empty key holds the number of data files. Reading it costs
nothing next to the tensors, and tells a damaged checkpoint from a whole one before anything is loaded.
"""

from __future__ import annotations

import dataclasses
import struct
from typing import Union

import tensorflow as tf

_MAGIC = 0xDB4775248B80FB57
_FOOTER_SIZE = 48
_BLOCK_TRAILER_SIZE = 5  # One byte for the compression, four for the checksum.


class DamagedIndexError(Exception):
  """The file is not a complete index; the message says what is missing."""


@dataclasses.dataclass(frozen=True)
class Entry:
  """One tensor of a checkpoint.

  Attributes:
    shape: the full shape, also of a partitioned variable.
    shard: which data file holds it.
    offset: where it begins in that file, in bytes.
    size: its length in bytes.
    slices: for a partitioned variable, the start and length of each part along each axis; a length of
      -1 is the whole axis.
  """

  shape: tuple[int, ...]
  shard: int
  offset: int
  size: int
  slices: tuple[tuple[tuple[int, int], ...], ...]


@dataclasses.dataclass(frozen=True)
class Index:
  """The content of an `.index` file: the number of data files, and the tensors by name."""

  num_shards: int
  entries: dict[str, Entry]
  data_sizes: dict[int, int]


def shard_path(prefix: str, shard: int, num_shards: int) -> str:
  """Returns the path of one data file of the checkpoint `prefix`."""
  return f"{prefix}.data-{shard:05d}-of-{num_shards:05d}"


def read_index(prefix: str) -> Index:
  """Reads `<prefix>.index`.

  Raises:
    DamagedIndexError: if it is truncated, or no index at all.
    tf.errors.NotFoundError: if there is no such file.
  """
  with tf.io.gfile.GFile(prefix + ".index", "rb") as file:
    data = file.read()
  if len(data) < _FOOTER_SIZE:
    raise DamagedIndexError(f"is {len(data)} bytes long, an index has at least {_FOOTER_SIZE}")
  footer = data[-_FOOTER_SIZE:]
  if struct.unpack("<Q", footer[40:])[0] != _MAGIC:
    raise DamagedIndexError(f"does not end as an index does (it is {len(data)} bytes long)")
  try:
    return _parse(data, footer)
  except (IndexError, struct.error, UnicodeDecodeError) as e:
    raise DamagedIndexError(f"cannot be read as an index: {e}") from e


def _parse(data: bytes, footer: bytes) -> Index:
  """Returns the index of the file content `data`, whose last bytes are `footer`."""
  position = 0
  handles = []
  for _ in range(4):  # Offset and size of the (unused) meta-index, then of the block index.
    value, position = _varint(footer, position)
    handles.append(value)
  num_shards = 1
  entries = {}
  data_sizes: dict[int, int] = {}
  for _, handle in _block(data, handles[2], handles[3]):
    offset, position = _varint(handle, 0)
    size, _ = _varint(handle, position)
    for key, value in _block(data, offset, size):
      fields = _fields(value)
      if not key:
        num_shards = fields.get(1, [1])[0]
        continue
      entry = _entry(fields)
      data_sizes[entry.shard] = max(data_sizes.get(entry.shard, 0), entry.offset + entry.size)
      # Keys that begin with a zero byte are the parts of a partitioned variable.
      if key[:1] != b"\0":
        entries[key.decode()] = entry
  return Index(num_shards, entries, data_sizes)


def _varint(data: bytes, position: int) -> tuple[int, int]:
  """Returns the variable-length integer at `position`, and the position after it."""
  value = shift = 0
  while True:
    byte = data[position]
    position += 1
    value |= (byte & 127) << shift
    if byte < 128:
      return value, position
    shift += 7


def _block(data: bytes, offset: int, size: int):
  """Yields the (key, value) pairs of the table block at `offset`."""
  if offset + size + _BLOCK_TRAILER_SIZE > len(data):
    raise DamagedIndexError(f"ends within a block (it is {len(data)} bytes long)")
  if data[offset + size]:
    raise DamagedIndexError("is compressed, which TensorFlow does not do")
  block = data[offset : offset + size]
  end = size - 4 - 4 * struct.unpack("<I", block[-4:])[0]
  position = 0
  key = b""
  while position < end:
    shared, position = _varint(block, position)
    unshared, position = _varint(block, position)
    length, position = _varint(block, position)
    key = key[:shared] + block[position : position + unshared]
    position += unshared
    yield key, block[position : position + length]
    position += length


def _fields(message: bytes) -> dict[int, list]:
  """Returns the fields of a protocol buffer: number -> values (int, or bytes)."""
  fields: dict[int, list] = {}
  position = 0
  while position < len(message):
    tag, position = _varint(message, position)
    kind = tag & 7
    value: Union[int, bytes]
    if kind == 0:
      value, position = _varint(message, position)
    elif kind == 2:
      length, position = _varint(message, position)
      value = message[position : position + length]
      position += length
    else:
      length = 8 if kind == 1 else 4
      value = message[position : position + length]
      position += length
    fields.setdefault(tag >> 3, []).append(value)
  return fields


def _entry(fields: dict[int, list]) -> Entry:
  """Returns the entry of a `BundleEntryProto`: dtype, shape, shard, offset, size, crc, slices."""
  shape = tuple(_fields(dim).get(1, [0])[0] for dim in _fields(fields.get(2, [b""])[0]).get(2, []))
  slices = tuple(
    tuple((_fields(e).get(1, [0])[0], _fields(e).get(2, [-1])[0]) for e in _fields(s).get(1, []))
    for s in fields.get(7, [])
  )
  return Entry(
    shape=shape,
    shard=fields.get(3, [0])[0],
    offset=fields.get(4, [0])[0],
    size=fields.get(5, [0])[0],
    slices=slices,
  )
