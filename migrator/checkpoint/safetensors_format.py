"""Writes and reads back a safetensors file: a header in JSON, then the bytes of each tensor.

The format: https://github.com/huggingface/safetensors#format. One tensor at a time is in memory.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Sequence
from typing import Callable, Protocol

from migrator.checkpoint.tensors import Tensor
from migrator.runtime import bundle
from migrator.runtime.errors import CheckpointError

DTYPES = {
  "float64": "F64",
  "float32": "F32",
  "float16": "F16",
  "bfloat16": "BF16",
  "int64": "I64",
  "int32": "I32",
  "int16": "I16",
  "int8": "I8",
  "uint64": "U64",
  "uint32": "U32",
  "uint16": "U16",
  "uint8": "U8",
  "bool": "BOOL",
  "float8_e5m2": "F8_E5M2",
  "float8_e4m3fn": "F8_E4M3",
}
_METADATA = "__metadata__"
_ALIGNMENT = 8


class Values(Protocol):
  """What gives the value of a tensor as an array: see `reading.Reader`."""

  def value(self, tensor: Tensor): ...


def representable(values: Sequence[Tensor], skip_strings: bool) -> tuple[list[Tensor], list[str]]:
  """Returns the tensors that go into the file, and the names of those that were left out.

  Raises:
    CheckpointError: naming all whose type the format does not have; strings only if they are not to
      be skipped.
  """
  skipped = [t.name for t in values if t.dtype == "string"] if skip_strings else []
  kept = [t for t in values if not (skip_strings and t.dtype == "string")]
  bad = [t for t in kept if t.dtype not in DTYPES]
  if bad:
    named = ", ".join(f"{t.name} ({t.dtype})" for t in bad)
    advice = (
      " --skip-strings leaves strings out."
      if any(t.dtype == "string" for t in bad)
      else " --format checkpoint keeps them."
    )
    raise CheckpointError(f"safetensors has no type for {named}.{advice}")
  if any(t.name == _METADATA for t in kept):
    raise CheckpointError(f"safetensors cannot hold a variable called {_METADATA}.")
  return kept, skipped


def write(
  path: str,
  values: Sequence[Tensor],
  reader: Values,
  metadata: dict[str, str],
  advance: Callable[[int], None],
) -> int:
  """Writes the file.

  Args:
    path: of the new file.
    values: what goes into it, see `representable`.
    reader: gives their values.
    metadata: texts for the header.
    advance: is told how many bytes more are written.

  Returns:
    The length of the file in bytes.

  Raises:
    OSError: if it cannot be written.
    CheckpointError: if a value cannot be read.
  """
  # Wide types first, so that every tensor is aligned to its elements.
  ordered = sorted(values, key=lambda t: (-bundle.item_size(t.dtype), t.name))
  header: dict[str, object] = {_METADATA: metadata}
  end = 0
  for tensor in ordered:
    begin, end = end, end + tensor.num_bytes
    header[tensor.name] = {
      "dtype": DTYPES[tensor.dtype],
      "shape": list(tensor.shape),
      "data_offsets": [begin, end],
    }
  text = json.dumps(header, ensure_ascii=False).encode()
  text += b" " * (-len(text) % _ALIGNMENT)
  with open(path, "xb") as file:
    file.write(struct.pack("<Q", len(text)) + text)
    for tensor in ordered:
      value = reader.value(tensor)
      if value.nbytes != tensor.num_bytes or tuple(value.shape) != tensor.shape:
        raise CheckpointError(
          f"{tensor.name} should have the shape {list(tensor.shape)}, its value has "
          f"{list(value.shape)}."
        )
      file.write(value.tobytes())
      advance(tensor.num_bytes)
  return len(text) + 8 + end


def verify(
  path: str, values: Sequence[Tensor], reader: Values, advance: Callable[[int], None]
) -> int:
  """Reads the file back and compares every tensor with its source, bit for bit.

  Returns:
    The number of bytes compared.

  Raises:
    CheckpointError: if anything differs.
  """
  total = 0
  with open(path, "rb") as file:
    (length,) = struct.unpack("<Q", file.read(8))
    header = json.loads(file.read(length))
    header.pop(_METADATA)
    names = {tensor.name for tensor in values}
    if set(header) != names:
      raise CheckpointError("Reading back shows other tensors than were written.")
    for tensor in values:
      entry = header[tensor.name]
      begin, end = entry["data_offsets"]
      file.seek(8 + length + begin)
      same = (entry["dtype"], entry["shape"]) == (DTYPES[tensor.dtype], list(tensor.shape))
      if not same or file.read(end - begin) != reader.value(tensor).tobytes():
        raise CheckpointError(f"Reading back shows a difference in {tensor.name}.")
      total += end - begin
      advance(end - begin)
  return total
