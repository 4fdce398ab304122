"""Writes the `.index` file of a checkpoint over data files that exist already.

The counterpart of `bundle.read_index`. The file appears at once or not at all.
"""

from __future__ import annotations

import os
import struct

from migrator.runtime import files, ordered_code
from migrator.runtime.bundle import (
  DTYPE_NUMBERS,
  FOOTER_SIZE,
  MAGIC,
  Bounds,
  Entry,
)
from migrator.runtime.crc32c import crc32c, masked
from migrator.runtime.wire import encode_field, encode_number, encode_varint

_BLOCK_SIZE = 65536  # bytes
_RESTART_INTERVAL = 16
_PRODUCER = 1  # kTensorBundleVersion of TensorFlow.


def write_index(
  prefix: str,
  num_shards: int,
  entries: dict[str, Entry],
  pieces: dict[str, list[tuple[Bounds, Entry]]],
) -> None:
  """Writes `<prefix>.index`.

  Args:
    prefix: of the checkpoint.
    num_shards: the number of its data files.
    entries: the tensors by name. An entry without `slices` says where its bytes are.
    pieces: for each entry with `slices`: the bounds of each part, as they stand in `slices`, and the
      entry that says where the bytes of the part are.

  Raises:
    OSError: if the file cannot be written.
    ValueError: if a dtype has no number, or an entry with slices has no pieces.
  """
  rows = [(b"", _header(num_shards))]
  for name, entry in entries.items():
    rows.append((name.encode(), encode_entry(entry)))
    if entry.slices:
      if sorted(bounds for bounds, _ in pieces.get(name, ())) != sorted(entry.slices):
        raise ValueError(f"the parts of {name} are not those of its entry")
      rows += [
        (ordered_code.slice_key(name, bounds), encode_entry(piece))
        for bounds, piece in pieces[name]
      ]
  data = _table(sorted(rows))
  temporary = prefix + ".index.tmp"
  try:
    with open(temporary, "wb") as file:
      file.write(data)
    files.rename(temporary, prefix + ".index")
  except OSError:
    if os.path.exists(temporary):
      os.remove(temporary)
    raise


def encode_entry(entry: Entry) -> bytes:
  """Returns an entry as a `BundleEntryProto`.

  Raises:
    ValueError: if its dtype has no number.
  """
  if entry.dtype not in DTYPE_NUMBERS:
    raise ValueError(f"there is no dtype {entry.dtype}")
  shape = b"".join(
    encode_field(2, encode_number(1, length, always=False)) for length in entry.shape
  )
  message = encode_number(1, DTYPE_NUMBERS[entry.dtype]) + encode_field(2, shape)
  message += (
    encode_number(3, entry.shard) + encode_number(4, entry.offset) + encode_number(5, entry.size)
  )
  if not entry.slices:
    message += encode_varint(6 << 3 | 5) + struct.pack("<I", entry.crc32c)
  for bounds in entry.slices:
    extents = b"".join(
      encode_field(
        1, encode_number(1, start) + (encode_number(2, length, always=True) if length >= 0 else b"")
      )
      for start, length in bounds
    )
    message += encode_field(7, extents)
  return message


def _header(num_shards: int) -> bytes:
  """Returns the `BundleHeaderProto`: the number of data files, little endian, the version."""
  return encode_number(1, num_shards) + encode_field(3, encode_number(1, _PRODUCER))


def _table(rows: list[tuple[bytes, bytes]]) -> bytes:
  """Returns a whole table file with the given rows, which are sorted by key."""
  out = bytearray()
  handles = []
  begin = 0
  size = 0
  for i, (key, value) in enumerate(rows):
    size += len(key) + len(value)
    if size > _BLOCK_SIZE or i == len(rows) - 1:
      handles.append((key, _append(out, rows[begin : i + 1])))
      begin, size = i + 1, 0
  meta = _append(out, [])
  top = _append(out, handles)
  footer = meta + top
  return bytes(out) + footer + bytes(FOOTER_SIZE - 8 - len(footer)) + struct.pack("<Q", MAGIC)


def _append(out: bytearray, rows: list[tuple[bytes, bytes]]) -> bytes:
  """Appends one block to a table; returns its handle."""
  block = bytearray()
  restarts = []
  previous = b""
  for i, (key, value) in enumerate(rows):
    shared = 0
    if i % _RESTART_INTERVAL:
      shared = len(os.path.commonprefix([previous, key]))
    else:
      restarts.append(len(block))
    rest = key[shared:]
    block += encode_varint(shared) + encode_varint(len(rest)) + encode_varint(len(value))
    block += rest + value
    previous = key
  restarts = restarts or [0]
  block += struct.pack(f"<{len(restarts) + 1}I", *restarts, len(restarts))
  handle = encode_varint(len(out)) + encode_varint(len(block))
  block.append(0)  # Not compressed.
  out += block + struct.pack("<I", masked(crc32c(bytes(block))))
  return handle
