"""`# noqa` comments: what they silence."""

from __future__ import annotations

import dataclasses
import io
import re
import tokenize
from collections.abc import Iterable, Sequence
from typing import Optional

from migrator.lint.finding import Finding
from migrator.source.document import Document

_NOQA = re.compile(
  r"#\s*noqa(?P<colon>:\s*(?P<codes>[A-Z]+[0-9]+(?:[,\s]+[A-Z]+[0-9]+)*))?(?![\w:])", re.I
)


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


def parse(document: Document) -> tuple[Directive, ...]:
  """The `# noqa` comments of a document, in order."""
  if "noqa" not in document.text.lower():
    return ()
  found = []
  try:
    for token in tokenize.generate_tokens(io.StringIO(document.text).readline):
      match = _NOQA.search(token.string) if token.type == tokenize.COMMENT else None
      if match is None:
        continue
      codes = match["codes"]
      cell, line = document.locate(token.start[0])
      column = token.start[1]
      found.append(
        Directive(
          line,
          column + match.start(),
          column + match.end(),
          tuple(re.split(r"[,\s]+", codes.upper())) if codes else None,
          cell,
          token.line.splitlines()[0] if token.line else "",
        )
      )
  except (tokenize.TokenError, IndentationError):
    pass  # Python parsed what its tokenizer does not read: the comments so far count
  return tuple(found)


def silence(findings: Iterable[Finding], directives: Sequence[Directive]) -> list[Finding]:
  """The findings that no comment silences."""
  return [f for f in findings if not any(d.covers(f) for d in directives)]
