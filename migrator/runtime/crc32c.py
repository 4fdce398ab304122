"""The checksum of checkpoint files (CRC-32C, Castagnoli), in the masked form of LevelDB.

Byte by byte: fine for an index or a scalar (about 0.1 s per megabyte), far too slow for weights.
"""

from __future__ import annotations

_POLYNOMIAL = 0x82F63B78  # RFC 3720, appendix B.4, bits reversed.


def _make_table() -> tuple[int, ...]:
  table = []
  for byte in range(256):
    for _ in range(8):
      byte = (byte >> 1) ^ _POLYNOMIAL if byte & 1 else byte >> 1
    table.append(byte)
  return tuple(table)


_TABLE = _make_table()


def crc32c(data: bytes) -> int:
  """Returns the CRC-32C of `data`."""
  table = _TABLE
  crc = 0xFFFFFFFF
  for byte in data:
    crc = table[(crc ^ byte) & 255] ^ (crc >> 8)
  return crc ^ 0xFFFFFFFF


def masked(crc: int) -> int:
  """Returns the form in which LevelDB and TensorFlow store a checksum (`crc32c::Mask`)."""
  return (((crc >> 15) | (crc << 17)) + 0xA282EAD8) & 0xFFFFFFFF
