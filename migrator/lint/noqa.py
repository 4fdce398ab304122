"""`# noqa` comments: what they silence."""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Iterable, Sequence

from migrator.lint.examined import Directive
from migrator.lint.finding import Finding
from migrator.source.document import Document

_NOQA = re.compile(
  r"#\s*noqa(?P<colon>:\s*(?P<codes>[A-Z]+[0-9]+(?:[,\s]+[A-Z]+[0-9]+)*))?(?![\w:])", re.I
)


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
