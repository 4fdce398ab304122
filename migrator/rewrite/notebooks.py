"""The cells of a notebook as one module to rewrite, and the way back into the cells."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Optional

from migrator.analysis.comments import CELL_MARKER
from migrator.analysis.span import Span
from migrator.lint.finding import Finding
from migrator.rewrite.notebook_cells import (
  MAGIC,
  RESERVED,
  LeftWholeError,
  Section,
  bare,
  foreign,
  section_of,
  source_of,
)
from migrator.source.document import Document
from migrator.source.notebook import Notebook

_MARKER = "# <migrator cell {}>"
_END = [_MARKER.format("end"), "pass  " + MAGIC.format("end")]
_LINES = re.compile(r"\b(lines?) (\d+)(?:-(\d+))?\b((?:, \d+\b)*)")
# How IPython puts the value of a variable into a command.
_INSERTED = r"(?:\$|\{{[^{{}}\n]*\b){}\b"


class Joined:
  """The code cells of a notebook, or those of a file that it writes, as one module.

  A comment stands where a cell begins, and a `pass` with a comment for a magic, so that each
  statement of the rewritten text is known to be of a cell, and no magic to be lost.

  Args:
    notebook: the cells.

  Attributes:
    text: the module.

  Raises:
    LeftWholeError: the code has such comments of its own.
  """

  def __init__(self, notebook: Notebook):
    self._sections: dict[int, Section] = {}
    # The cell and the line in it of each line of the text.
    self._places: list[tuple[int, int]] = []
    lines: list[str] = []
    for cell in notebook.cells:
      if RESERVED in cell.text:
        raise LeftWholeError(f"it has a comment that begins with `{RESERVED.strip()}`", cell.number)
      section, numbers = section_of(cell, len(lines))
      self._sections[cell.number] = section
      lines += [_MARKER.format(cell.number), *section.lines]
      self._places += [(cell.number, number) for number in (1, *numbers)]
    self.text = "\n".join([*lines, *_END]) + "\n"

  def locate(self, line: int) -> tuple[int, int]:
    """The cell, and the line in it, of a line of the text."""
    return self._places[min(line, len(self._places)) - 1]

  def relocate(self, finding: Finding, rewritten: str, *, new: bool = False) -> Finding:
    """A finding in the text, or in what was made of it, as one in a cell.

    Args:
      finding: its place is one of the text, unless only the rewritten one has its line there.
      rewritten: the text after the rewrite.
      new: whether its place, and the lines that it names, are certainly of the rewritten text.
    """
    line = finding.span.line
    if new or (finding.source and finding.source != _line(self.text, line)):
      line = self._old_line(line, rewritten)
    cell, first = self.locate(line)
    last = first + finding.span.end_line - finding.span.line

    def place(match: re.Match[str]) -> str:
      begin, end = int(match[2]), int(match[3] or match[2])
      if new:
        begin, end = self._old_line(begin, rewritten), self._old_line(end, rewritten)
      number, first = self.locate(begin)
      lines = f"{first}-{self.locate(end)[1]}" if match[3] else f"{first}"
      others = [int(found) for found in re.findall(r"\d+", match[4])]
      if new:
        others = [self._old_line(other, rewritten) for other in others]
      rest = "".join(f", {at} of cell {other}" for other, at in map(self.locate, others))
      return f"{match[1]} {lines} of cell {number}{rest}"

    proposal = finding.proposal
    return finding._replace(
      span=Span(first, finding.span.column, last, finding.span.end_column),
      cell=cell,
      message=_LINES.sub(place, finding.message),
      proposal=None if proposal is None else _LINES.sub(place, proposal),
    )

  def _old_line(self, line: int, rewritten: str) -> int:
    """The line of the text in whose cell a line of the rewritten text stands, as far down."""
    above = rewritten.split("\n")[:line]
    markers = [i for i, text in enumerate(above) if CELL_MARKER.fullmatch(text)]
    if not markers or above[markers[-1]] == _END[0]:
      return line
    start = self.text.split("\n").index(above[markers[-1]]) + 1
    cell = self._places[start - 1][0]
    length = len(self._sections[cell].lines)
    return start + min(max(len(above) - markers[-1] - 1, 0), length)

  def split(self, rewritten: str) -> dict[int, str]:
    """The new sources of the cells that a rewrite of the text changed, by their numbers.

    Raises:
      LeftWholeError: a cell or a magic was lost, or what is no Python needs what is gone.
    """
    found: dict[int, list[str]] = {}
    current: Optional[list[str]] = None
    order = []
    for line in rewritten.split("\n")[:-1]:
      marker = CELL_MARKER.fullmatch(line)
      if marker:
        order.append(line)
        current = found.setdefault(-1 if marker[1] == "end" else int(marker[1]), [])
      elif current is None:
        raise LeftWholeError("new code would stand before its first cell")
      else:
        current.append(line)
    if order != [*map(_MARKER.format, self._sections), _END[0]] or found.pop(-1) != _END[1:]:
      raise LeftWholeError("a statement of one of its cells would move to another one")
    changed = {}
    for number, lines in found.items():
      section = self._sections[number]
      if bare(lines) != bare(section.lines):
        changed[number] = source_of(section, lines)
    return changed

  def check_names(self, names: Iterable[str]) -> None:
    """Looks for names whose meaning changes in what is no Python and therefore stays.

    Raises:
      LeftWholeError: there is one.
    """
    for number, section in self._sections.items():
      for lines in foreign(section):
        for name in names:
          text = "\n".join(lines)
          pattern = rf"\b{re.escape(name)}\b"
          if text.lstrip().startswith("!") or " --" in text:
            pattern = _INSERTED.format(re.escape(name))
          if re.search(pattern, text):
            reason = f"`{name}` changes, and is read where cell {number} is no Python"
            raise LeftWholeError(reason, number)


def programs(text: str) -> list[str]:
  """The cells of a joined text, each after as many blank lines as stand above it there."""
  found: list[list[str]] = [[]]
  for number, line in enumerate(text.split("\n")):
    if CELL_MARKER.fullmatch(line):
      found.append([""] * number)
    found[-1].append(line)
  return ["\n".join(lines) + "\n" for lines in found]


def check_written(before: Document, after: Document, cells: Mapping[int, str]) -> None:
  """Reads a notebook again after it was rewritten.

  Args:
    before: the notebook as it was.
    after: as it is now.
    cells: the new sources of the cells that were to change.

  Raises:
    LeftWholeError: other cells changed as well, or one of the new ones is not read as Python.
  """
  assert before.notebook is not None
  if after.notebook is None or after.check() is not None:
    raise LeftWholeError("it could not be read again")
  known, faults = before.notebook, {fault.cell for fault in before.notebook.errors}
  expected = {cell.number: cells.get(cell.number, cell.text) for cell in known.cells}
  if {cell.number: cell.text for cell in after.notebook.cells} != expected:
    raise LeftWholeError("its cells could not be changed alone")
  broken = sorted({fault.cell or 0 for fault in after.notebook.errors if fault.cell not in faults})
  if broken:
    raise LeftWholeError(f"cell {broken[0]} could not be read again", broken[0])


def bound_names(text: str) -> set[str]:
  """The names that the statements of a module bind at its top level."""
  found: set[str] = set()
  for node in _top_level(ast.parse(text)):
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
      found.add(node.id)
    elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
      found.add(node.name)
    elif isinstance(node, (ast.Import, ast.ImportFrom)):
      found.update(alias.asname or alias.name.split(".")[0] for alias in node.names)
  return found


def _top_level(node: ast.AST) -> Iterator[ast.AST]:
  for child in ast.iter_child_nodes(node):
    yield child
    if not isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)):
      yield from _top_level(child)


def _line(text: str, number: int) -> str:
  lines = text.split("\n")
  return lines[number - 1] if number <= len(lines) else ""
