"""Files that are too large to be parsed: searched in blocks, and named if a rule may be about them."""

from __future__ import annotations

from typing import BinaryIO

from migrator.analysis.span import Span
from migrator.lint.examined import Examined
from migrator.lint.finding import Finding

CODE = "EM007"
# A syntax tree takes 50 to 100 times the size of its text; of a notebook mostly outputs are large,
# which are no code.
LIMIT = 4_000_000
NOTEBOOK_LIMIT = 32_000_000
_BLOCK = 1 << 20
# Longer than any word of a rule, so that none is missed at the border of two blocks.
_OVERLAP = 256


def is_too_large(path: str, size: int) -> bool:
  """Whether a file of so many bytes is not parsed."""
  return size > (NOTEBOOK_LIMIT if path.endswith(".ipynb") else LIMIT)


def examine(path: str, size: int) -> Examined:
  """Searches a file for what rules are about: EM007 if it is there, else nothing.

  Raises:
    OSError: the file cannot be read.
  """
  with open(path, "rb") as file:
    return examine_stream(file, path, size)


def examine_stream(file: BinaryIO, path: str, size: int) -> Examined:
  """The same for an open file."""
  from migrator.lint import engine

  rest = b""
  while block := file.read(_BLOCK):
    block = rest + block
    if engine.passes_gate(block):
      return Examined(path, (_finding(path, size),))
    rest = block[-_OVERLAP:]
  return Examined(path)


def _finding(path: str, size: int) -> Finding:
  from migrator.lint import rules

  limit = NOTEBOOK_LIMIT if path.endswith(".ipynb") else LIMIT
  size_text, limit_text = f"{size / 1e6:.1f}", f"{limit / 1e6:.0f}"
  return rules.finding(CODE, Span(1, 0, 1, 1), path, size=size_text, limit=limit_text)
