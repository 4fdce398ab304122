"""The wire format of protocol buffers, as far as the index of a checkpoint needs it.

https://protobuf.dev/programming-guides/encoding
"""

from __future__ import annotations

from typing import Union


def varint(data: bytes, position: int) -> tuple[int, int]:
  """Returns the variable-length integer at `position`, and the position after it."""
  value = shift = 0
  while True:
    byte = data[position]
    position += 1
    value |= (byte & 127) << shift
    if byte < 128:
      return value, position
    shift += 7


def parse_fields(message: bytes) -> dict[int, list]:
  """Returns the fields of a protocol buffer: number -> values (int, or bytes)."""
  fields: dict[int, list] = {}
  position = 0
  while position < len(message):
    tag, position = varint(message, position)
    kind = tag & 7
    value: Union[int, bytes]
    if kind == 0:
      value, position = varint(message, position)
    elif kind == 2:
      length, position = varint(message, position)
      value = message[position : position + length]
      position += length
    else:
      length = 8 if kind == 1 else 4
      value = message[position : position + length]
      position += length
    fields.setdefault(tag >> 3, []).append(value)
  return fields


def number_of(fields: dict[int, list], field: int, default: int) -> int:
  """Returns the value of a field that is a number.

  Raises:
    ValueError: if it is none, or negative: nothing in an index is.
  """
  value = fields.get(field, [default])[0]
  if not isinstance(value, int) or value >= 1 << 63:
    raise ValueError(f"field {field} is {value!r}")
  return value


def messages_of(fields: dict[int, list], field: int) -> list[dict[int, list]]:
  """Returns the values of a field that is a message, or several, parsed.

  Raises:
    ValueError: if one is none.
  """
  values = fields.get(field, [])
  if not all(isinstance(value, bytes) for value in values):
    raise ValueError(f"field {field} is {values!r}")
  return [parse_fields(value) for value in values]


def encode_field(number: int, value: bytes) -> bytes:
  """Returns one field of a protocol buffer that is bytes, a string or a message."""
  return encode_varint(number << 3 | 2) + encode_varint(len(value)) + value


def encode_varint(value: int) -> bytes:
  """Returns a number of variable length."""
  result = bytearray()
  while value > 127:
    result.append(value & 127 | 128)
    value >>= 7
  result.append(value)
  return bytes(result)


def encode_number(number: int, value: int, always: bool = False) -> bytes:
  """Returns one field of a protocol buffer that is a number; zero is left out unless asked for."""
  if not value and not always:
    return b""
  return encode_varint(number << 3) + encode_varint(value)
