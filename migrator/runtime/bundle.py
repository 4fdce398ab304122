"""Reads the `.index` file of a checkpoint: what each tensor is, where it lies and its checksum.

The index is a small sorted table in the format of LevelDB (`table_format.md` of that project). Its keys
are tensor names, its values protocol buffers (`BundleEntryProto`); the empty key holds the number of
data files. Reading it costs nothing next to the tensors, needs no TensorFlow, and tells a damaged
checkpoint from a whole one before anything is loaded. `bundle_writer` writes such files.
"""

from __future__ import annotations

import dataclasses
import struct
from collections.abc import Iterator

from migrator.runtime import files, ordered_code, snappy
from migrator.runtime.crc32c import crc32c, masked
from migrator.runtime.wire import messages_of, number_of, parse_fields, varint

MAGIC = 0xDB4775248B80FB57
FOOTER_SIZE = 48
_SNAPPY = 1
TRAILER_SIZE = 5  # After each block: one byte for the compression, four for the checksum.

Bounds = tuple[tuple[int, int], ...]
"""Of a part of a tensor: start and length along each axis; a length of -1 is the whole axis."""

# The values of the DataType enumeration: tensorflow/core/framework/types.proto.
DTYPES = {
  1: "float32",
  2: "float64",
  3: "int32",
  4: "uint8",
  5: "int16",
  6: "int8",
  7: "string",
  8: "complex64",
  9: "int64",
  10: "bool",
  11: "qint8",
  12: "quint8",
  13: "qint32",
  14: "bfloat16",
  15: "qint16",
  16: "quint16",
  17: "uint16",
  18: "complex128",
  19: "float16",
  20: "resource",
  21: "variant",
  22: "uint32",
  23: "uint64",
  24: "float8_e5m2",
  25: "float8_e4m3fn",
}
DTYPE_NUMBERS = {name: number for number, name in DTYPES.items()}
_ITEM_SIZES = {
  **dict.fromkeys(("uint8", "int8", "bool", "qint8", "quint8"), 1),
  **dict.fromkeys(("float8_e5m2", "float8_e4m3fn"), 1),
  **dict.fromkeys(("int16", "uint16", "qint16", "quint16", "float16", "bfloat16"), 2),
  **dict.fromkeys(("float32", "int32", "uint32", "qint32"), 4),
  **dict.fromkeys(("float64", "int64", "uint64", "complex64"), 8),
  "complex128": 16,
}


class DamagedIndexError(Exception):
  """The file is not a complete index; the message says what is missing."""


@dataclasses.dataclass(frozen=True)
class Entry:
  """One tensor of a checkpoint, or one part of it.

  Attributes:
    dtype: its name, e.g. "float32" or "string".
    shape: the full shape, also of a partitioned variable; of a part, the shape of the part.
    shard: which data file holds it.
    offset: where it begins in that file, in bytes.
    size: its length in bytes; 0 for a partitioned variable, whose parts have their own entries.
    crc32c: the masked checksum of its bytes.
    slices: for a partitioned variable the bounds of each part.
  """

  dtype: str
  shape: tuple[int, ...]
  shard: int = 0
  offset: int = 0
  size: int = 0
  crc32c: int = 0
  slices: tuple[Bounds, ...] = ()


@dataclasses.dataclass(frozen=True)
class Index:
  """The content of an `.index` file.

  Attributes:
    num_shards: the number of data files.
    entries: the tensors by name.
    parts: the parts of partitioned tensors, by the key under which the index holds each.
    data_sizes: shard -> the length in bytes that the file has at least.
    little_endian: whether numbers are stored so.
  """

  num_shards: int
  entries: dict[str, Entry]
  parts: dict[bytes, Entry]
  data_sizes: dict[int, int]
  little_endian: bool = True

  def pieces(self, name: str) -> list[tuple[Bounds, Entry]]:
    """Returns where the values of one tensor lie: its bounds and entry, or those of each part.

    A slot of one part of a partitioned variable (`<variable>/t_0/Adagrad`) has the shape of the whole
    and one piece. Bounds are complete: no length is -1.

    Raises:
      DamagedIndexError: if the index lists a part without an entry.
      KeyError: if there is no such tensor.
    """
    entry = self.entries[name]
    if not entry.slices:
      return [(tuple((0, length) for length in entry.shape), entry)]
    result = []
    for bounds in entry.slices:
      part = self.parts.get(ordered_code.slice_key(name, bounds))
      if part is None:
        raise DamagedIndexError(f"lists a part {bounds} of {name} that it has no entry for")
      complete = tuple(
        (start, length if length >= 0 else size)
        for (start, length), size in zip(bounds, entry.shape)
      )
      result.append((complete, part))
    return result

  def num_bytes(self, name: str) -> int:
    """Returns how many bytes of the data files belong to one tensor, all parts together."""
    return sum(piece.size for _, piece in self.pieces(name))


def item_size(dtype: str) -> int:
  """Returns the bytes of one element; 0 for "string" and other types of no fixed size."""
  return _ITEM_SIZES.get(dtype, 0)


def shard_path(prefix: str, shard: int, num_shards: int) -> str:
  """Returns the path of one data file of the checkpoint `prefix`."""
  return f"{prefix}.data-{shard:05d}-of-{num_shards:05d}"


def read_index(prefix: str) -> Index:
  """Reads `<prefix>.index`.

  Raises:
    DamagedIndexError: if it is truncated, altered, or no index at all.
    FileNotFoundError, tf.errors.NotFoundError: if there is no such file.
  """
  data = files.read(prefix + ".index")
  if files.is_lfs_pointer(data):
    raise DamagedIndexError("is a pointer of Git LFS: `git lfs pull` brings the file")
  if len(data) < FOOTER_SIZE:
    raise DamagedIndexError(f"is {len(data)} bytes long, an index has at least {FOOTER_SIZE}")
  footer = data[-FOOTER_SIZE:]
  if struct.unpack("<Q", footer[40:])[0] != MAGIC:
    raise DamagedIndexError(f"does not end as an index does (it is {len(data)} bytes long)")
  try:
    return _parse(data, footer)
  except (IndexError, ValueError, struct.error) as e:
    raise DamagedIndexError(f"cannot be read as an index: {e}") from e


def _parse(data: bytes, footer: bytes) -> Index:
  """Returns the index of the file content `data`, whose last bytes are `footer`."""
  position = 0
  handles = []
  for _ in range(4):  # Offset and size of the (unused) meta-index, then of the block index.
    value, position = varint(footer, position)
    handles.append(value)
  num_shards = 1
  little_endian = True
  entries = {}
  parts = {}
  data_sizes: dict[int, int] = {}
  for _, handle in _block(data, handles[2], handles[3]):
    offset, position = varint(handle, 0)
    size, _ = varint(handle, position)
    for key, message in _block(data, offset, size):
      fields = parse_fields(message)
      if not key:
        num_shards = number_of(fields, 1, 1)
        little_endian = not number_of(fields, 2, 0)
        continue
      entry = _entry(fields)
      data_sizes[entry.shard] = max(data_sizes.get(entry.shard, 0), entry.offset + entry.size)
      # Keys that begin with a zero byte are the parts of a partitioned variable.
      if key[:1] == b"\0":
        parts[key] = entry
      else:
        entries[key.decode()] = entry
  return Index(num_shards, entries, parts, data_sizes, little_endian)


def _block(data: bytes, offset: int, size: int) -> Iterator[tuple[bytes, bytes]]:
  """Yields the (key, value) pairs of the table block at `offset`."""
  if offset + size + TRAILER_SIZE > len(data):
    raise DamagedIndexError(f"ends within a block (it is {len(data)} bytes long)")
  (checksum,) = struct.unpack("<I", data[offset + size + 1 : offset + size + TRAILER_SIZE])
  if masked(crc32c(data[offset : offset + size + 1])) != checksum:
    raise DamagedIndexError(f"is damaged: the checksum of the {size} bytes at {offset} differs")
  block = data[offset : offset + size]
  compression = data[offset + size]
  if compression == _SNAPPY:
    block = snappy.decompress(block)
  elif compression:
    raise DamagedIndexError(f"has a block of compression {compression}, which is unknown")
  end = len(block) - 4 - 4 * struct.unpack("<I", block[-4:])[0]
  position = 0
  key = b""
  while position < end:
    shared, position = varint(block, position)
    unshared, position = varint(block, position)
    length, position = varint(block, position)
    key = key[:shared] + block[position : position + unshared]
    position += unshared
    yield key, block[position : position + length]
    position += length


def _entry(fields: dict[int, list]) -> Entry:
  """Returns the entry of a `BundleEntryProto`: dtype, shape, shard, offset, size, crc, slices."""
  number = number_of(fields, 1, 0)
  shape = tuple(
    number_of(dim, 1, 0) for proto in messages_of(fields, 2)[:1] for dim in messages_of(proto, 2)
  )
  slices = tuple(
    tuple((number_of(extent, 1, 0), number_of(extent, 2, -1)) for extent in messages_of(part, 1))
    for part in messages_of(fields, 7)
  )
  if any(len(bounds) != len(shape) for bounds in slices):
    raise ValueError(f"a part of {len(shape)} axes has the bounds {slices}")
  checksum = fields.get(6, [b""])[0]
  if not isinstance(checksum, bytes):
    raise ValueError(f"field 6 is {checksum!r}")
  return Entry(
    dtype=DTYPES.get(number, f"dtype {number}"),
    shape=shape,
    shard=number_of(fields, 3, 0),
    offset=number_of(fields, 4, 0),
    size=number_of(fields, 5, 0),
    crc32c=int.from_bytes(checksum, "little"),
    slices=slices,
  )
