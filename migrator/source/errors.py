"""What can be wrong with a file itself."""

from __future__ import annotations

from typing import Optional

SYNTAX = "EM001"
PYTHON_2 = "EM002"
ENCODING = "EM003"
NOTEBOOK_CELL = "EM004"
NOTEBOOK_NOT_REWRITTEN = "EM005"


class SourceError(Exception):
  """A file, or a cell of a notebook, that cannot be read as Python.

  Attributes:
    code: the rule, one of the constants of this module.
    path: the file as the user named it.
    reason: what is wrong; fills the placeholder of the rule's message.
    line: 1-based line, within the cell for a notebook.
    column: 0-based column in characters.
    cell: 1-based number of the notebook cell, counting all cells; None for a .py file.
  """

  def __init__(
    self,
    code: str,
    path: str,
    reason: str,
    line: int = 1,
    column: int = 0,
    cell: Optional[int] = None,
  ):
    super().__init__(code, path, reason, line, column, cell)
    self.code = code
    self.path = path
    self.reason = reason
    self.line = line
    self.column = column
    self.cell = cell

  def __str__(self) -> str:
    cell = f"cell {self.cell}:" if self.cell is not None else ""
    return f"{self.path}:{cell}{self.line}:{self.column + 1}: {self.code} {self.reason}"
