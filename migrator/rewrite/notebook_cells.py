"""A cell of a notebook as lines of Python that are rewritten, and the way back."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable, Iterator
from typing import Optional

from migrator.source import newlines
from migrator.source.notebook import Cell

# How the comments begin that hold the place of what is not rewritten.
RESERVED = "# <migrator "
MAGIC = RESERVED + "magic {}>"
# What stands for `%time` and `%timeit`; see `magics`.
_TIMED = re.compile(r"\s*0; +")


class LeftWholeError(Exception):
  """A notebook cannot be taken apart again, or would not be the program that was meant.

  Args:
    reason: a sentence without a full stop.
    cell: where.
  """

  def __init__(self, reason: str, cell: Optional[int] = None):
    super().__init__(reason)
    self.reason = reason
    self.cell = cell


@dataclasses.dataclass(frozen=True)
class Section:
  """A cell in the joined text.

  Attributes:
    cell: the cell.
    lines: its lines there; none for a cell without Python.
    magics: lines of it that stand for lines of the cell which are no Python, and those.
    timed: what lines of the cell have in place of `0;`, in their order.
  """

  cell: Cell
  lines: tuple[str, ...]
  magics: dict[str, tuple[str, ...]]
  timed: tuple[str, ...]


def section_of(cell: Cell, serial: int) -> tuple[Section, list[int]]:
  """A cell's lines in the joined text, and for each of them its line in the cell.

  Args:
    cell: the cell.
    serial: a number that no other cell has, to tell the magics apart.
  """
  if not cell.code.strip():
    return Section(cell, (), {}, ()), []
  code, text = cell.code.split("\n"), newlines.unify(cell.text).split("\n")
  lines = [line for line in cell.header.split("\n") if line]
  numbers = [1] * len(lines)
  magics: dict[str, tuple[str, ...]] = {}
  timed: list[str] = []
  i = 0
  while i < len(code):
    numbers.append(i + 1)
    end = i + 1
    match = _TIMED.match(code[i])
    if code[i] == text[i]:
      lines.append(code[i])
    elif match:
      timed.append(text[i][: match.end()])
      lines.append(code[i])
    else:
      # A magic, with the lines that backslashes join to it, or lines that cannot be read.
      is_pass = bool(code[i].strip())
      while end < len(code) and not code[end].strip() and (not is_pass or _goes_on(text[end - 1])):
        if not is_pass and code[end] == text[end]:
          break
        end += 1
      comment = MAGIC.format(serial + len(lines))
      lines.append(f"{code[i]}  {comment}" if is_pass else comment)
      magics[lines[-1]] = tuple(text[i:end])
    i = end
  return Section(cell, tuple(lines), magics, tuple(timed)), numbers


def _goes_on(line: str) -> bool:
  return line.rstrip(" \t").endswith("\\")


def foreign(section: Section) -> Iterator[tuple[str, ...]]:
  """The lines of a cell that are no Python but may read names of the program."""
  yield from section.magics.values()
  text = newlines.unify(section.cell.text)
  if not section.lines and not re.match(r"\s*(#.*\s+)*%", text):
    yield tuple(text.split("\n"))


def bare(lines: Iterable[str]) -> list[str]:
  """The lines without blank ones at the begin and the end."""
  return "\n".join(lines).strip("\n \t").split("\n")


def _blanks(lines: list[str]) -> int:
  """How many blank lines there are before the first other one."""
  return next((i for i, line in enumerate(lines) if line.strip()), len(lines))


def source_of(section: Section, new: list[str]) -> str:
  """The new source of a cell.

  Args:
    section: the cell in the joined text.
    new: its lines in the rewritten one.

  Raises:
    LeftWholeError: a magic of it was lost.
  """
  number = section.cell.number
  old, lines = list(section.lines), list(new)
  if section.cell.header:
    if not lines or lines[0] != old[0]:
      raise LeftWholeError(f"the indented code of cell {number} would not stay together", number)
    old, lines = old[1:], lines[1:]
  if [line for line in lines if RESERVED in line] != list(section.magics):
    raise LeftWholeError(f"a magic of cell {number} stands in code that is rewritten", number)
  times = [i for i, line in enumerate(lines) if _TIMED.match(line)]
  if len(times) != len(section.timed):
    raise LeftWholeError(f"what cell {number} measures would be rewritten", number)
  for i, prefix in zip(times, section.timed):
    lines[i] = prefix + lines[i][len(prefix) :]
  kept = _blanks(old)
  lines = lines[max(_blanks(lines) - kept, 0) :]
  while lines and not lines[-1].strip():
    lines.pop()
  tail = _blanks(old[::-1])
  if lines:
    lines += old[len(old) - tail :]
  restored = [line for one in lines for line in section.magics.get(one, (one,))]
  text = section.cell.text
  newline = "\r\n" if "\r\n" in text else "\r" if "\r" in text and "\n" not in text else "\n"
  return newlines.restore(text, "\n".join(restored), newline)
