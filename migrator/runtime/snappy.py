"""Decompresses blocks of an index: some checkpoints, BERT's published ones among them, have such.

The format: https://github.com/google/snappy/blob/main/format_description.txt
"""

from __future__ import annotations

from migrator.runtime.wire import varint


def decompress(data: bytes) -> bytes:
  """Returns the content of a raw Snappy block.

  Raises:
    ValueError: if it is damaged.
    IndexError: if it is truncated.
  """
  length, position = varint(data, 0)
  out = bytearray()
  while position < len(data):
    tag = data[position]
    position += 1
    kind = tag & 3
    if kind == 0:  # The bytes themselves.
      size = tag >> 2
      if size >= 60:
        extra = size - 59
        size = int.from_bytes(data[position : position + extra], "little")
        position += extra
      size += 1
      if position + size > len(data):
        raise IndexError("ends within a literal")
      out += data[position : position + size]
      position += size
    else:  # Some of what came before.
      if kind == 1:
        size = (tag >> 2 & 7) + 4
        offset = (tag >> 5) << 8 | data[position]
        position += 1
      else:
        size = (tag >> 2) + 1
        width = 2 if kind == 2 else 4
        offset = int.from_bytes(data[position : position + width], "little")
        position += width
      if not 0 < offset <= len(out):
        raise ValueError("refers to bytes before its beginning")
      start = len(out) - offset
      # It may overlap with what it adds: the same few bytes again and again.
      while size > 0:
        piece = out[start : start + min(size, offset)]
        out += piece
        size -= len(piece)
    if len(out) > length:
      raise ValueError("is longer than it says")
  if len(out) != length:
    raise ValueError(f"has {len(out)} bytes, {length} were announced")
  return bytes(out)
