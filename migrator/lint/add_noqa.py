"""Adds `# noqa` comments, so that a code base can begin with no findings."""

from __future__ import annotations

import codecs
import collections
import dataclasses
import io
import re
import tokenize
from collections.abc import Iterable, Sequence

from migrator.lint import noqa, selection
from migrator.lint.examined import Directive
from migrator.lint.finding import Finding
from migrator.lint.layout import layout
from migrator.source import cells, errors, newlines
from migrator.source.document import Document

_LINE = re.compile(r"\r\n|\r|\n")


@dataclasses.dataclass(frozen=True)
class Added:
  """A file with comments.

  Attributes:
    data: its bytes; those of the document when nothing was added.
    count: how many findings the new comments silence.
    left: findings that could not be silenced without harm.
  """

  data: bytes
  count: int
  left: tuple[Finding, ...] = ()


def add(document: Document, findings: Iterable[Finding]) -> Added:
  """Silences findings of a document by comments that name their codes.

  A comment stands at the end of the finding's first line, or where the string or the backslash
  ends that goes on there. A noqa comment with codes gets the codes that it lacks. Only the lines
  with findings change. What could not be checked at all cannot be silenced, an unused noqa comment
  should be removed, and what a comment silences already needs no other: such are passed over.

  Args:
    document: the file.
    findings: those to be silenced.
  """
  directives = noqa.parse(document)
  todo = [f for f in findings if not f.is_error and f.code != selection.UNUSED_NOQA]
  todo = noqa.silence(todo, directives)
  if not todo:
    return Added(document.raw, 0)
  insertions: list[cells.Insertion] = []
  for part in document.parts():
    insertions += _insertions(part, [f for f in todo if _is_in(f, part)], directives)
  try:
    data = _inserted(document, insertions)
    changed = Document.from_bytes(data, document.path)
  except (errors.SourceError, UnicodeError):
    return Added(document.raw, 0, tuple(todo))
  if not _same_program(document, changed):
    return Added(document.raw, 0, tuple(todo))
  left = noqa.silence(todo, noqa.parse(changed))
  return Added(data, len(todo) - len(left), tuple(left))


def _is_in(finding: Finding, part: Document) -> bool:
  """Whether a finding is one of a part of the document; see `Document.parts`."""
  if part.notebook is None:
    return True
  elsewhere = {cell.number for file in part.notebook.files for cell in file.cells}
  numbers = {cell.number for cell in part.notebook.cells}
  return finding.cell in numbers - elsewhere


def _insertions(
  part: Document, findings: Sequence[Finding], directives: Sequence[Directive]
) -> list[cells.Insertion]:
  """What to put where; the cell is 0 in a .py file."""
  if not findings:
    return []
  text = newlines.unify(part.text)
  lines = text.split("\n")
  joined = layout(text).joined
  codes: dict[int, set[str]] = collections.defaultdict(set)
  for finding in findings:
    row = finding.span.line
    if part.notebook is not None and finding.cell is not None:
      row = part.notebook.row(finding.cell, row)
    while row in joined:
      row += 1
    codes[row].add(finding.code)
  found = []
  for row, added in sorted(codes.items()):
    cell, line = part.locate(row)
    names = ", ".join(sorted(added))
    for directive in directives:
      if (
        (directive.cell, directive.line) == (cell, line) and directive.codes and not directive.whole
      ):
        place, new = directive.end_column, f", {names}"
        break
    else:
      place = len(lines[row - 1])
      blanks = place - len(lines[row - 1].rstrip(" \t"))
      new = " " * (2 - blanks) + f"# noqa: {names}"
    found.append(cells.Insertion(cell or 0, line, place, new))
  return found


def _inserted(document: Document, insertions: Sequence[cells.Insertion]) -> bytes:
  """The bytes of the file with the insertions.

  Raises:
    UnicodeError: the encoding does not give the file's bytes back, so that others would change.
  """
  body = document.raw[len(codecs.BOM_UTF8) :] if document.bom else document.raw
  text = body.decode(document.encoding)
  if text.encode(document.encoding) != body:
    raise UnicodeError(f"{document.path}: {document.encoding} does not give its bytes back")
  if document.is_notebook:
    text = cells.insert(text, insertions)
  else:
    starts = [0, *(match.end() for match in _LINE.finditer(text))]
    for insertion in reversed(insertions):
      place = starts[insertion.line - 1] + insertion.column
      text = text[:place] + insertion.text + text[place:]
  return (codecs.BOM_UTF8 if document.bom else b"") + text.encode(document.encoding)


def _same_program(old: Document, new: Document) -> bool:
  """Whether the documents differ in comments only."""
  try:
    pairs = zip(old.parts(), new.parts())
    return all(_tokens(a.text) == _tokens(b.text) for a, b in pairs)
  except (tokenize.TokenError, SyntaxError):
    return False


def _tokens(text: str) -> list[tuple[int, str]]:
  tokens = tokenize.generate_tokens(io.StringIO(newlines.unify(text)).readline)
  return [(t.type, t.string) for t in tokens if t.type not in (tokenize.COMMENT, tokenize.NL)]
