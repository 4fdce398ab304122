"""`# noqa` comments: what they silence."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Optional

from migrator.lint import rules
from migrator.lint.examined import Directive
from migrator.lint.finding import Finding

if TYPE_CHECKING:
  from migrator.source.document import Document

_DIRECTIVE = (
  r"#\s*(?P<own>migrator\s*:\s*)?noqa"
  r"(?:\s*:\s*(?P<codes>[A-Z]+[0-9]+(?:[,\s]+[A-Z]+[0-9]+)*)(?!\w)|(?!\w|\s*:))"
)


def mentions(raw: bytes) -> bool:
  """Whether the bytes of a file may hold a noqa comment that names rules of ours. Cheap."""
  if b"noqa" not in raw and b"NOQA" not in raw:
    return False
  prefixes = frozenset(code.rstrip("0123456789") for code in rules.load())
  return _named(prefixes).search(raw) is not None


@functools.cache
def _named(prefixes: frozenset[str]) -> re.Pattern[bytes]:
  letters = "|".join(map(re.escape, sorted(prefixes)))
  return re.compile(rf"noqa\s*:[^\r\n]*\b(?:{letters})[0-9]".encode(), re.I)


def parse(document: Document) -> tuple[Directive, ...]:
  """The `# noqa` comments of a document, in order."""
  found = [d for part in document.parts() for d in _directives(part)]
  return tuple(sorted(found, key=lambda d: (d.cell or 0, d.line, d.column)))


def _directives(document: Document) -> Iterator[Directive]:
  if "noqa" not in document.text.lower():
    return
  # Only here: what a cache holds is silenced without them.
  from migrator.lint.layout import layout
  from migrator.source import newlines

  text = newlines.unify(document.text)
  lines = text.split("\n")
  for comment in layout(text).comments:
    for match in re.finditer(_DIRECTIVE, comment.text, re.I):  # compiled at its first use only
      cell, line = document.locate(comment.row)
      codes = match["codes"]
      first = line - (comment.row - comment.first) if comment.first < comment.row else 0
      yield Directive(
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


def silence(findings: Iterable[Finding], directives: Sequence[Directive]) -> list[Finding]:
  """The findings that no comment silences."""
  if not directives:
    return list(findings)
  anywhere = [d for d in directives if d.whole]
  # Cell and line -> comments that count there: a file may have thousands of both.
  there: dict[tuple[Optional[int], int], list[Directive]] = {}
  for directive in directives:
    for line in range(directive.first or directive.line, directive.line + 1):
      there.setdefault((directive.cell, line), []).append(directive)

  def is_covered(finding: Finding) -> bool:
    lines = {finding.span.line, finding.span.end_line}
    near = (d for line in lines for d in there.get((finding.cell, line), ()))
    return any(d.covers(finding) for d in (*anywhere, *near))

  return [f for f in findings if not is_covered(f)]
