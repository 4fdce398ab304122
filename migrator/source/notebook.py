"""The code of a notebook: its cells joined to one text, with a way back to cell and line."""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Sequence
from typing import Any, Optional

from migrator.source import errors, magics, newlines, parse

_PYTHON = re.compile(r"i?py", re.I)  # also of kernels: ipython, python3, pyspark
# Before a cell whose first line is indented, which IPython allows.
_INDENT = re.compile(r"(?:[ \t]*\n)*([ \t]+)\S")
_HEADER = "if True:\n"
_IMPORT = re.compile(r"(?:import|from)[ \t]+[\w.]+")


@dataclasses.dataclass(frozen=True)
class Cell:
  """A code cell.

  Attributes:
    number: 1-based, counting all cells of the notebook.
    text: the source as it stands in the notebook.
    code: the same number of lines as Python; magics are replaced by `pass`.
    header: a line before the code in the text of the notebook that is in no cell, or "".
  """

  number: int
  text: str
  code: str
  header: str = ""

  @property
  def lines(self) -> int:
    """How many lines it has."""
    return self.code.count("\n") + 1


@dataclasses.dataclass(frozen=True)
class Notebook:
  """The code of a notebook.

  Attributes:
    cells: its code cells; of those that are not Python of this program, the code is empty, and of
      those that cannot be read only the imports are left, which the other cells need.
    errors: what is wrong with cells that cannot be read.
    files: programs that cells write to files (`%%writefile task.py`), each with its cells.
  """

  cells: tuple[Cell, ...]
  errors: tuple[errors.SourceError, ...] = ()
  files: tuple[Notebook, ...] = ()

  @property
  def text(self) -> str:
    """The code of all cells, one after the other, as one text."""
    return "".join(cell.header + cell.code + "\n" for cell in self.cells)

  def locate(self, line: int) -> tuple[int, int]:
    """Returns the cell's number and the line in it for a line of `text`."""
    first = 1
    for cell in self.cells:
      first += cell.header.count("\n")
      if line < first + cell.lines:
        return cell.number, max(line - first, 0) + 1
      first += cell.lines
    last = self.cells[-1] if self.cells else Cell(1, "", "")
    return last.number, last.lines

  def source_line(self, number: int, line: int) -> str:
    """Returns a line of a code cell as it stands in the notebook, without its line end.

    Raises:
      KeyError: there is no code cell with this number.
    """
    for cell in self.cells:
      if cell.number == number:
        return newlines.unify(cell.text).split("\n")[line - 1]
    raise KeyError(number)

  def row(self, number: int, line: int) -> int:
    """Returns the line of `text` for a line of a code cell: what `locate` undoes.

    Raises:
      KeyError: there is no code cell with this number.
    """
    first = 1
    for cell in self.cells:
      first += cell.header.count("\n")
      if cell.number == number:
        return first + line - 1
      first += cell.lines
    raise KeyError(number)


def read(text: str, path: str) -> Notebook:
  """Reads the JSON of a notebook.

  Raises:
    SourceError: EM001, it is no notebook: not JSON, or without a list of cells.
  """
  try:
    data = json.loads(text)
  except json.JSONDecodeError as error:
    reason = f"no valid notebook: {error.msg}, line {error.lineno}"
    raise errors.SourceError(errors.SYNTAX, path, reason, error.lineno, error.colno - 1) from error
  except RecursionError as error:
    raise errors.SourceError(errors.SYNTAX, path, "no valid notebook: too deep") from error
  cells = _cells(data)
  if cells is None:
    raise errors.SourceError(errors.SYNTAX, path, "no valid notebook: it has no list of cells")
  found: list[Cell] = []
  faults: list[errors.SourceError] = []
  if not _is_python(data):
    return Notebook(())
  for number, cell in enumerate(cells, start=1):
    if not isinstance(cell, dict) or cell.get("cell_type") != "code":
      continue
    source = cell.get("source", cell.get("input", ""))
    if isinstance(source, list):
      source = "".join(line for line in source if isinstance(line, str))
    if not isinstance(source, str):
      continue
    read_cell, fault = _as_python(source, path, number)
    if fault is not None:
      faults.append(fault)
    found.append(read_cell)
  files, file_faults = _files(found, path)
  faults = sorted([*faults, *file_faults], key=lambda fault: fault.cell or 0)
  return Notebook(tuple(found), tuple(faults), files)


def _cells(data: Any) -> Optional[list[Any]]:
  """The list of cells, of nbformat 4 or 3; None when there is none."""
  if not isinstance(data, dict):
    return None
  cells = data.get("cells")
  worksheets = data.get("worksheets")
  if cells is None and isinstance(worksheets, list):
    cells = []
    for sheet in worksheets:
      listed = sheet.get("cells") if isinstance(sheet, dict) else None
      if not isinstance(listed, list):
        return None
      cells += listed
  return cells if isinstance(cells, list) else None


def _files(
  cells: Sequence[Cell], path: str
) -> tuple[tuple[Notebook, ...], list[errors.SourceError]]:
  """The Python files that cells write, and what is wrong with them.

  What goes to a name in a variable and is no Python is taken for another kind of file.
  """
  written: list[list[Cell]] = []
  newest: dict[str, list[Cell]] = {}
  uncertain: set[int] = set()
  for cell in cells:
    lines = newlines.unify(cell.text).split("\n")
    index, _ = magics.cell_magic(lines)
    target = magics.written_file(lines[index]) if index >= 0 else None
    if target is None:
      continue
    name, appends = target
    if not appends or name not in newest:
      newest[name] = []
      written.append(newest[name])
    if not name.endswith(".py"):
      uncertain.add(cell.number)
    code = "\n" * (index + 1) + "\n".join(lines[index + 1 :])
    newest[name].append(Cell(cell.number, cell.text, code))
  files, faults = [], []
  for parts in written:
    if parse.check(Notebook(tuple(parts)).text, path) is not None:
      checked = [(part, parse.check(part.code, path)) for part in parts]
      for part, fault in checked:
        if fault is not None and part.number not in uncertain:
          faults.append(_cell_fault(fault, part.number))
      parts = [part for part, fault in checked if fault is None]
    files.append(Notebook(tuple(parts)))
  return tuple(files), faults


def _is_python(data: dict[str, Any]) -> bool:
  """Whether a notebook's kernel runs Python, as far as it says."""
  metadata = data.get("metadata")
  for key, name in (("language_info", "name"), ("kernelspec", "language")):
    place = metadata.get(key) if isinstance(metadata, dict) else None
    language = place.get(name) if isinstance(place, dict) else None
    if isinstance(language, str) and language:
      return _PYTHON.match(language) is not None
  return True


def _as_python(source: str, path: str, number: int) -> tuple[Cell, Optional[errors.SourceError]]:
  """Returns the cell, with no code or only its imports if it is no Python; an error or None."""
  lines = re.split(r"\r\n|\r|\n", source)
  blank = Cell(number, source, "\n" * (len(lines) - 1))
  magic, is_python = magics.cell_magic(lines)
  if not is_python:
    return blank, None
  rest = "\n".join(lines[magic + 1 :])
  indent = _INDENT.match(rest)
  if magic >= 0:
    lines[magic] = "" if indent else "pass"
  tried = []
  for code in magics.readings("\n".join(lines)):
    for header in () if code in tried else ("", _HEADER) if indent else ("",):
      if parse.check(header + code, path) is None:
        return Cell(number, source, code, header), None
    tried.append(code)
  kept = Cell(number, source, "\n".join(_import(line) for line in lines))
  return kept, _fault(tried[magics.PLAIN], indent[1] if indent else "", path, number)


def _import(line: str) -> str:
  """The line if it is an import of its own, else an empty one."""
  return line if _IMPORT.match(line) and parse.check(line, "") is None else ""


def _fault(code: str, indent: str, path: str, number: int) -> errors.SourceError:
  """Why the code of a cell is no Python; IPython takes the indent of the first line from all."""
  fault = parse.check(re.sub(f"(?m)^{indent}", "", code), path)
  assert fault is not None
  fault.column += len(indent)
  return _cell_fault(fault, number)


def _cell_fault(fault: errors.SourceError, number: int) -> errors.SourceError:
  reason = fault.reason
  if fault.code == errors.PYTHON_2:
    reason = f"Python 2 syntax ({reason})"
  return errors.SourceError(
    errors.NOTEBOOK_CELL, fault.path, reason, fault.line, fault.column, number
  )
