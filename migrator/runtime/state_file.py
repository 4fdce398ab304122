"""Parses the text file `checkpoint` of a model directory, without TensorFlow.

It is a `CheckpointState` protocol buffer as text:
https://github.com/tensorflow/tensorflow/blob/master/tensorflow/python/training/checkpoint_state.proto
"""

from __future__ import annotations

import dataclasses
import re

from migrator.runtime import files

_TOKEN = re.compile(
  rb"""(?P<space>[\s,;]+|\#[^\n]*)
  |(?P<string>"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')
  |(?P<word>[\w.+-]+)
  |(?P<sign>[:\[\]])""",
  re.VERBOSE | re.DOTALL,
)
_ESCAPE = re.compile(rb"\\(x[0-9a-fA-F]{1,2}|[0-7]{1,3}|.)", re.DOTALL)
_LETTERS = {
  b"n": b"\n",
  b"t": b"\t",
  b"r": b"\r",
  b"a": b"\a",
  b"b": b"\b",
  b"f": b"\f",
  b"v": b"\v",
}


@dataclasses.dataclass(frozen=True)
class State:
  """What a state file says.

  Attributes:
    model_checkpoint_path: the newest checkpoint, as it is written there; "" if it is not.
    all_model_checkpoint_paths: the ones that are kept, oldest first.
  """

  model_checkpoint_path: str
  all_model_checkpoint_paths: tuple[str, ...]


def parse(text: bytes) -> State:
  """Returns what a state file says.

  Raises:
    ValueError: if it is empty, or not of this form.
  """
  if files.is_lfs_pointer(text):
    raise ValueError("it is a pointer of Git LFS: `git lfs pull` brings the file.")
  if not text.strip():
    raise ValueError(f"it is empty ({len(text)} bytes).")
  paths: dict[str, list[str]] = {"model_checkpoint_path": [], "all_model_checkpoint_paths": []}
  field = ""
  joined = False  # Neighbouring strings are one.
  for kind, token in _tokens(text):
    if kind == "word" and not field.endswith(":"):
      field, joined = token.decode("utf-8"), False
    elif kind == "sign":
      if token == b":":
        field += ":"
    elif kind == "string" and field:
      value = _unescaped(token[1:-1])
      values = paths.get(field.rstrip(":"), [])
      if joined:
        values[-1:] = [values[-1] + value] if values else []
      else:
        values.append(value)
      field, joined = field.rstrip(":"), True
    elif kind == "word":
      field, joined = field.rstrip(":"), False  # A number.
    else:
      raise ValueError(f"it has {token.decode('utf-8', 'replace')!r} where a field should be.")
  newest = paths["model_checkpoint_path"]
  return State(newest[-1] if newest else "", tuple(paths["all_model_checkpoint_paths"]))


def _tokens(text: bytes):
  """Yields (kind, text) of the parts of a state file."""
  position = 0
  while position < len(text):
    match = _TOKEN.match(text, position)
    if match is None:
      line = text.count(b"\n", 0, position) + 1
      raise ValueError(f"line {line} cannot be read.")
    position = match.end()
    if match.lastgroup != "space":
      yield match.lastgroup, match.group()


def _unescaped(value: bytes) -> str:
  """Returns a string without the escapes of C."""

  def one(match: re.Match) -> bytes:
    escape = match.group(1)
    if escape[:1] == b"x" and len(escape) > 1:
      return bytes([int(escape[1:], 16)])
    if escape[:1].isdigit():
      return bytes([int(escape, 8) & 255])
    return _LETTERS.get(escape, escape)

  try:
    return _ESCAPE.sub(one, value).decode("utf-8")
  except UnicodeDecodeError as e:
    raise ValueError(f"a path in it is not UTF-8: {e}.") from e
