"""The key under which an index holds one part of a partitioned tensor.

Such a key sorts as the tuple (0, name, number of axes, start, length, start, length, ...) does, which is
TensorFlow's OrderedCode (`tensorflow/core/lib/strings/ordered_code.h`).
"""

from __future__ import annotations


def slice_key(name: str, bounds: tuple[tuple[int, int], ...]) -> bytes:
  """Returns the key of one part.

  Args:
    name: of the tensor.
    bounds: start and length along each axis, as the index lists them: -1 is the whole axis.
  """
  key = _unsigned(0) + _string(name.encode()) + _unsigned(len(bounds))
  return key + b"".join(_signed(start) + _signed(length) for start, length in bounds)


def _unsigned(value: int) -> bytes:
  """A byte with the length, then the number without leading zeros, the highest byte first."""
  length = (value.bit_length() + 7) // 8
  return bytes([length]) + value.to_bytes(length, "big")


def _string(value: bytes) -> bytes:
  """The bytes 0 and 255 are escaped, so that the end can be told and the order stays."""
  escaped = b"".join({0: b"\0\xff", 255: b"\xff\0"}.get(byte, bytes([byte])) for byte in value)
  return escaped + b"\0\x01"


def _signed(value: int) -> bytes:
  """As many leading ones as there are bytes, then the sign, then the number."""
  magnitude = ~value if value < 0 else value
  length = magnitude.bit_length() // 7 + 1
  if length == 1:
    return bytes([0x80 ^ (value & 0xFF)])
  # The first `length` bits are inverted: 1s before a number that is not negative.
  header = ((1 << length) - 1) << (8 * length - length)
  return ((value & ((1 << 8 * length) - 1)) ^ header).to_bytes(length, "big")
