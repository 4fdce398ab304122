"""Compressed blocks: BERT's published checkpoints, for one, have them in their index."""

import struct

import pytest

from migrator.runtime import bundle, bundle_writer, snappy, wire
from migrator.runtime.bundle import Entry
from migrator.runtime.crc32c import crc32c, masked


def literal(data):
  """Returns the tag and the bytes of a literal of up to 65536 bytes."""
  if len(data) <= 60:
    return bytes([len(data) - 1 << 2]) + data
  return bytes([61 << 2]) + struct.pack("<H", len(data) - 1) + data


def compress(data):
  """Compresses as an encoder may: runs of one byte as overlapping copies, the rest as literals."""
  out = bytearray(wire.encode_varint(len(data)))
  position = 0
  while position < len(data):
    end = position
    while end < len(data) and data[end] == data[position] and end - position < 60:
      end += 1
    out += literal(data[position : position + 1])
    if end - position >= 5:
      out += bytes([(end - position - 2) << 2 | 2, 1, 0])
      position = end
    else:
      position += 1
  return bytes(out)


@pytest.mark.parametrize(
  "compressed, content",
  [
    (b"\x00", b""),
    (b"\x03\x08abc", b"abc"),
    (b"\x09\x08abc\x09\x03", b"abcabcabc"),  # 1-byte offset, longer than the offset.
    (b"\x08\x08abc\x12\x03\x00", b"abcabcab"),  # 2-byte offset.
    (b"\x08\x08abc\x13\x03\x00\x00\x00", b"abcabcab"),  # 4-byte offset.
    (b"\x0b\x00a\x26\x01\x00", b"a" * 11),  # Each byte is the one before.
    (
      b"\xc8\x01\xf0\xc7" + bytes(200),
      bytes(200),
    ),  # The length of the literal in a byte of its own.
  ],
)
def test_every_kind_of_element_is_read(compressed, content):
  assert snappy.decompress(compressed) == content


@pytest.mark.parametrize(
  "data", [b"", b"a", b"a" * 1000, bytes(range(256)) * 40, b"ab" * 7 + bytes(99)]
)
def test_what_was_compressed_comes_back(data):
  assert snappy.decompress(compress(data)) == data


@pytest.mark.parametrize(
  "damaged",
  [
    b"",
    b"\x05\x08abc",
    b"\x03\x08ab",
    b"\x03\x00a\x05\x02",
    b"\x02\x08abc",
    b"\xff",
    b"\x04\x08abc\x01",
  ],
)
def test_damaged_blocks_are_refused(damaged):
  with pytest.raises((ValueError, IndexError)):
    snappy.decompress(damaged)


def test_an_index_with_compressed_blocks_is_read(tmp_path):
  entries = {
    f"bert/layer_{i}/kernel": Entry("float32", (i, 4), offset=i, size=4) for i in range(50)
  }
  prefix = str(tmp_path / "plain")
  bundle_writer.write_index(prefix, 1, entries, {})
  data = (tmp_path / "plain.index").read_bytes()
  footer = data[-bundle.FOOTER_SIZE :]
  position = 0
  handles = []
  for _ in range(4):
    value, position = wire.varint(footer, position)
    handles.append(value)
  # One block of entries, then the meta-index, then the index of blocks: all are compressed anew.
  out = bytearray()
  new_handles = []

  def append(block):
    body = compress(block) + b"\x01"
    handle = wire.encode_varint(len(out)) + wire.encode_varint(len(body) - 1)
    out.extend(body + struct.pack("<I", masked(crc32c(body))))
    new_handles.append(handle)
    return handle

  first = data[: handles[0] - bundle.TRAILER_SIZE]
  handle = append(first)
  append(data[handles[0] : handles[0] + handles[1]])
  key = b"bert/layer_9/kernel"
  row = b"\x00" + bytes([len(key), len(handle)]) + key + handle
  append(row + struct.pack("<II", 0, 1))
  footer = new_handles[1] + new_handles[2]
  out += footer + bytes(bundle.FOOTER_SIZE - 8 - len(footer)) + struct.pack("<Q", bundle.MAGIC)
  (tmp_path / "compressed.index").write_bytes(out)
  assert bundle.read_index(str(tmp_path / "compressed")).entries == entries
