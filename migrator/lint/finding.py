"""A finding: one rule at one place."""

from __future__ import annotations

from typing import Any, NamedTuple, Optional

from migrator.analysis.span import Span

# What they report could not be checked at all. EM006, an unused noqa, is an ordinary finding.
ERRORS = frozenset(("EM001", "EM002", "EM003", "EM004", "EM005", "EM007"))


class Finding(NamedTuple):
  """One rule at one place.

  Attributes:
    code: the rule, for example "EM101".
    name: the rule's name, for example "run-config".
    message: one sentence with the values of this place.
    path: the file as the user named it.
    span: the place, 1-based lines and 0-based columns; within the cell, for a notebook.
    fix: "safe", "review" or "manual": what a rewrite of this place needs from a person.
    cell: 1-based number of the notebook cell, counting all cells; None for a .py file.
    source: the text of the span's first line, without its line end.
    replacement: what the text of the span becomes, where a fix is that simple; else None.
    proposal: code for a person to put in its place once what its comments say is done; else None.
  """

  code: str
  name: str
  message: str
  path: str
  span: Span
  fix: str
  cell: Optional[int] = None
  source: str = ""
  replacement: Optional[str] = None
  proposal: Optional[str] = None

  @property
  def is_error(self) -> bool:
    """Whether something could not be checked at all: never silenced, and exit code 2."""
    return self.code in ERRORS

  def __str__(self) -> str:
    cell = f"cell {self.cell}:" if self.cell is not None else ""
    place = f"{self.path}:{cell}{self.span.line}:{self.span.column + 1}"
    return f"{place}: {self.code} {self.message}"

  def sort_key(self) -> tuple:
    """Orders findings by file, place and code."""
    span = self.span
    return (self.path, self.cell or 0, span.line, span.column, self.code, self.message)

  def to_json(self) -> dict[str, Any]:
    """Returns plain values; lines and columns are 1-based, the end column is exclusive."""
    proposal = {} if self.proposal is None else {"proposal": self.proposal}
    return {
      "code": self.code,
      "name": self.name,
      "message": self.message,
      "path": self.path,
      "cell": self.cell,
      "line": self.span.line,
      "column": self.span.column + 1,
      "end_line": self.span.end_line,
      "end_column": self.span.end_column + 1,
      "fix": self.fix,
      **proposal,
    }
