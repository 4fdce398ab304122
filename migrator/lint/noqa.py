"""`# noqa` comments: what they silence."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from migrator.lint.examined import Directive
from migrator.lint.finding import Finding
from migrator.lint.layout import layout
from migrator.source import newlines
from migrator.source.document import Document

_DIRECTIVE = re.compile(
  r"#\s*(?P<own>migrator\s*:\s*)?noqa"
  r"(?:\s*:\s*(?P<codes>[A-Z]+[0-9]+(?:[,\s]+[A-Z]+[0-9]+)*)(?!\w)|(?!\w|\s*:))",
  re.I,
)
_NAMED = re.compile(rb"noqa\s*:[^\r\n]*[A-Z][0-9]{3}", re.I)


def mentions(raw: bytes) -> bool:
  """Whether the bytes of a file may hold a noqa comment that names codes. Cheap."""
  return (b"noqa" in raw or b"NOQA" in raw) and _NAMED.search(raw) is not None


def parse(document: Document) -> tuple[Directive, ...]:
  """The `# noqa` comments of a document, in order."""
  if "noqa" not in document.text.lower():
    return ()
  text = newlines.unify(document.text)
  lines = text.split("\n")
  found = []
  for comment in layout(text).comments:
    for match in _DIRECTIVE.finditer(comment.text):
      cell, line = document.locate(comment.row)
      codes = match["codes"]
      first = line - (comment.row - comment.first) if comment.first < comment.row else 0
      found.append(
        Directive(
          line,
          comment.column + match.start(),
          comment.column + match.end(),
          tuple(re.split(r"[,\s]+", codes.upper())) if codes else None,
          cell,
          lines[comment.row - 1],
          first,
          whole=match["own"] is not None and comment.alone,
          raises=comment.raises,
        )
      )
  return tuple(found)


def silence(findings: Iterable[Finding], directives: Sequence[Directive]) -> list[Finding]:
  """The findings that no comment silences."""
  if not directives:
    return list(findings)
  return [f for f in findings if not any(d.covers(f) for d in directives)]
