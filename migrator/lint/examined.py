"""What lint knows of a file. Light: what a cache holds is read without the analysis."""

from __future__ import annotations

from typing import NamedTuple, Optional

from migrator.lint.finding import Finding


class Directive(NamedTuple):
  """One `# noqa` comment.

  Attributes:
    line: 1-based line, within the cell for a notebook.
    column, end_column: 0-based place of the comment's noqa part, in characters.
    codes: the codes that it names, as they are spelled but in capitals; None for all.
    cell: 1-based number of the notebook cell; None in a .py file.
    source: the text of the line, without its line end.
    first: the first line that it counts for, where that is not its own: at the end of a
      statement all lines of the statement; behind a string or a backslash that joins lines,
      those lines. 0: its own line only.
    whole: a `# migrator: noqa` on a line of its own, for the whole file.
    raises: it stands in a `raise` statement. Another linter checks messages of exceptions
      there, with codes that look like ours.
  """

  line: int
  column: int
  end_column: int
  codes: Optional[tuple[str, ...]] = None
  cell: Optional[int] = None
  source: str = ""
  first: int = 0
  whole: bool = False
  raises: bool = False

  def covers(self, finding: Finding) -> bool:
    """Whether it names the code of a finding and counts for its first or its last line.

    What could not be checked at all is never covered.
    """
    if finding.is_error or (self.codes is not None and finding.code not in self.codes):
      return False
    if self.whole:
      return True
    if self.cell != finding.cell:
      return False
    first, span = self.first or self.line, finding.span
    return first <= span.line <= self.line or first <= span.end_line <= self.line


class Examined(NamedTuple):
  """What lint knows of one file before anything is selected or silenced.

  Attributes:
    path: the file as the user named it.
    findings: all of them, in order.
    directives: its `# noqa` comments.
  """

  path: str
  findings: tuple[Finding, ...] = ()
  directives: tuple[Directive, ...] = ()
