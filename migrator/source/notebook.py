"""The code of a notebook: its cells joined to one text, with a way back to cell and line."""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Sequence
from typing import Any

from migrator.source import errors, parse

# Cell magics whose body is Python of this program; any other hands the body to something else.
_PYTHON_CELLS = frozenset(("capture", "time", "timeit", "prun"))
_MAGIC = re.compile(r"^(?P<indent>\s*)(?:[\w, ]+=\s*)?(?:[%!?]|[\w.]+\?{1,2}\s*$)")


@dataclasses.dataclass(frozen=True)
class Cell:
  """A code cell.

  Attributes:
    number: 1-based, counting all cells of the notebook.
    text: the source as it stands in the notebook.
    code: the same number of lines as Python; magics are replaced by `pass`.
  """

  number: int
  text: str
  code: str


@dataclasses.dataclass(frozen=True)
class Notebook:
  """The code cells of a notebook, and what is wrong with the others."""

  cells: tuple[Cell, ...]
  errors: tuple[errors.SourceError, ...]

  @property
  def text(self) -> str:
    """The code of all cells, one after the other, as one text."""
    return "".join(cell.code + "\n" for cell in self.cells)

  def locate(self, line: int) -> tuple[int, int]:
    """Returns the cell's number and the line in it for a line of `text`."""
    first = 1
    for cell in self.cells:
      count = cell.code.count("\n") + 1
      if line < first + count:
        return cell.number, line - first + 1
      first += count
    last = self.cells[-1] if self.cells else Cell(1, "", "")
    return last.number, last.code.count("\n") + 1


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
  found, faults = [], []
  for number, cell in enumerate(cells, start=1):
    if not isinstance(cell, dict) or cell.get("cell_type") != "code":
      continue
    source = cell.get("source", cell.get("input", ""))
    if isinstance(source, list):
      source = "".join(line for line in source if isinstance(line, str))
    if not isinstance(source, str):
      continue
    code, fault = _as_python(source, path, number)
    if fault is not None:
      faults.append(fault)
    found.append(Cell(number, source, code))
  return Notebook(tuple(found), tuple(faults))


def _cells(data: Any):
  """The list of cells, of nbformat 4 or 3; None when there is none."""
  if not isinstance(data, dict):
    return None
  cells = data.get("cells")
  worksheets = data.get("worksheets")
  if cells is None and isinstance(worksheets, list):
    cells = [c for w in worksheets if isinstance(w, dict) for c in w.get("cells", [])]
  return cells if isinstance(cells, list) else None


def _as_python(source: str, path: str, number: int):
  """Returns Python with as many lines as the source, and an error or None."""
  lines = re.split(r"\r\n|\r|\n", source)
  blank = "\n" * (len(lines) - 1)
  first = next((i for i, line in enumerate(lines) if line.strip()), 0)
  if lines[first].startswith("%%"):
    if re.split(r"\W", lines[first][2:])[0] not in _PYTHON_CELLS:
      return blank, None
    lines[first] = "pass"
  plain = "\n".join(lines)
  fault = parse.check(plain, path)
  if fault is None:
    return plain, None
  # Only now: a line of a valid cell may begin with % as an operator.
  code = "\n".join(_without_magics(lines))
  fault = parse.check(code, path)
  if fault is None:
    return code, None
  reason = fault.reason
  if fault.code == errors.PYTHON_2:
    reason = f"Python 2 syntax ({reason})"
  return blank, errors.SourceError(
    errors.NOTEBOOK_CELL, path, reason, fault.line, fault.column, number
  )


def _without_magics(lines: Sequence[str]) -> list[str]:
  result = []
  continued = False
  for line in lines:
    match = _MAGIC.match(line)
    if continued:
      result.append("")
    elif match:
      result.append(match["indent"] + "pass")
    else:
      result.append(line)
      continue
    continued = line.rstrip().endswith("\\")
  return result
