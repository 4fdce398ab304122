"""What lint knows of a file. Light: what a cache holds is read without the analysis."""

from __future__ import annotations

import dataclasses
from typing import Optional

from migrator.lint.finding import Finding


@dataclasses.dataclass(frozen=True)
class Directive:
  """One `# noqa` comment.

  Attributes:
    line: 1-based line, within the cell for a notebook.
    column, end_column: 0-based place of the comment's noqa part, in characters.
    codes: the codes that it names, as they are spelled but in capitals; None for all.
    cell: 1-based number of the notebook cell; None in a .py file.
    source: the text of the line, without its line end.
  """

  line: int
  column: int
  end_column: int
  codes: Optional[tuple[str, ...]] = None
  cell: Optional[int] = None
  source: str = ""

  def covers(self, finding: Finding) -> bool:
    """Whether it stands in the first or the last line of a finding and names its code."""
    if self.cell != finding.cell or self.line not in (finding.span.line, finding.span.end_line):
      return False
    return self.codes is None or finding.code in self.codes


@dataclasses.dataclass(frozen=True)
class Examined:
  """What lint knows of one file before anything is selected or silenced.

  Attributes:
    path: the file as the user named it.
    findings: all of them, in order.
    directives: its `# noqa` comments.
  """

  path: str
  findings: tuple[Finding, ...] = ()
  directives: tuple[Directive, ...] = ()
