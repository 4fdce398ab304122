"""Only findings in what was changed since a revision: for merge requests in old code bases."""

from __future__ import annotations

import dataclasses
import difflib
import os
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple, Optional

from migrator.lint import git
from migrator.lint.finding import Finding
from migrator.lint.layout import layout
from migrator.source import errors, newlines, notebook
from migrator.source.document import Document

Rows = tuple[int, int]  # first and last, 1-based


class ChangedError(ValueError):
  """What has changed cannot be told. The message says why."""


def changed_lines(base: str, root: str = ".") -> ChangedLines:
  """What differs between the working tree and the commit at which HEAD left `base`.

  So it is what a merge request for `base` would show, with what is not committed yet: work on
  `base` itself since then does not count.

  Args:
    base: a revision, for example "origin/main".
    root: a folder in the repository.

  Raises:
    ChangedError: no repository, no git, no such revision, or nothing in common with it.
  """
  try:
    top = git.root(root)
    diffs = git.diffs(top, git.merge_base(top, base))
    return ChangedLines(top, diffs, frozenset(git.tracked(top)))
  except git.GitError as error:
    raise ChangedError(f"cannot tell what changed since {base!r}: {error}") from error


@dataclasses.dataclass(frozen=True)
class ChangedLines:
  """The changes in a working tree.

  Attributes:
    top: the top folder of the repository, without symlinks.
    diffs: files that changed, by path relative to it.
    tracked: all files under version control.
  """

  top: str
  diffs: Mapping[str, git.Diff]
  tracked: frozenset[str]

  def filter(self, findings: Iterable[Finding]) -> list[Finding]:
    """The findings whose statement has a line that was added or changed, or lost a line.

    All findings of a file stay that is not under version control, is outside of the
    repository, or can no longer be read. So do the EM0xx errors of every file that changed.
    """
    texts: dict[str, Optional[_Text]] = {}
    kept = []
    for finding in findings:
      if finding.path not in texts:
        texts[finding.path] = self._text(finding.path)
      text = texts[finding.path]
      if text is None or text.touches(finding):
        kept.append(finding)
    return kept

  def _text(self, path: str) -> Optional[_Text]:
    """What changed in a file; None: all of it."""
    real = os.path.realpath(path)
    name = os.path.relpath(real, self.top).replace(os.sep, "/")
    diff = self.diffs.get(name)
    if diff is None:
      return _Text() if name in self.tracked else None
    try:
      document = Document.read(real)
      if document.notebook is None:
        return None if diff.binary else _of_python(document.text, diff)
      old = git.blob(self.top, real, diff.blob) if diff.blob else b""
      return _of_notebook(document, Document.from_bytes(old, "old.ipynb"))
    except (OSError, errors.SourceError, git.GitError):
      return None


class _Text(NamedTuple):
  """Changes by row of a document's text, and its statements."""

  added: Sequence[Rows] = ()
  removed: Sequence[int] = ()
  statements: Sequence[Rows] = ()
  book: Optional[notebook.Notebook] = None
  changed: bool = False

  def touches(self, finding: Finding) -> bool:
    if finding.is_error:
      return self.changed
    if not self.added and not self.removed:
      return False
    first, last = finding.span.line, finding.span.end_line
    if self.book is not None and finding.cell is not None:
      first, last = (self.book.row(finding.cell, line) for line in (first, last))
    for begin, end in self.statements:
      if begin <= first <= end:
        first = begin
      if begin <= last <= end:
        last = end
    return any(begin <= last and first <= end for begin, end in self.added) or any(
      first <= row < last for row in self.removed
    )


def _of_python(text: str, diff: git.Diff) -> _Text:
  added, removed = diff.added, diff.removed
  if "\r" in text.replace("\r\n", ""):  # line ends that git does not take for such
    starts = [1]
    for line in text.split("\n"):
      starts.append(starts[-1] + 1 + line[:-1].count("\r"))
    starts += [starts[-1]]
    added = [(starts[a - 1], starts[b] - 1) for a, b in added]
    removed = [starts[row] - 1 for row in removed]
  return _Text(added, removed, layout(newlines.unify(text)).statements, changed=True)


def _of_notebook(document: Document, old: Document) -> _Text:
  """Compares the sources of the code cells: how JSON lays them out does not matter."""
  assert document.notebook is not None and old.notebook is not None
  book = document.notebook
  before, after = ([c.text for c in b.cells] for b in (old.notebook, book))
  added: list[Rows] = []
  removed: list[int] = []
  cells = difflib.SequenceMatcher(None, before, after, autojunk=False)
  for kind, i, j, k, m in cells.get_opcodes():
    if kind == "equal" or k == m:  # a cell that is gone touches no statement
      continue
    rows = [(cell.number, line) for cell in book.cells[k:m] for line in range(1, cell.lines + 1)]
    places = [book.row(*place) for place in rows]
    was = [line for text in before[i:j] for line in newlines.unify(text).split("\n")]
    now = [line for text in after[k:m] for line in newlines.unify(text).split("\n")]
    lines = difflib.SequenceMatcher(None, was, now, autojunk=False)
    for change, _, _, first, end in lines.get_opcodes():
      if change in ("replace", "insert"):
        added += [(place, place) for place in places[first:end]]
      elif change == "delete" and first:
        removed.append(places[first - 1])
  return _Text(added, removed, layout(document.text).statements, book, changed=True)
