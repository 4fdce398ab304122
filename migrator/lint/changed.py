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
from migrator.source import errors, newlines
from migrator.source.document import Document

Place = tuple[int, int]  # cell (0 in a .py file) and line, 1-based
Range = tuple[Place, Place]  # first and last


class ChangedError(ValueError):
  """What has changed cannot be told. The message says why."""


def changed_lines(base: str, root: str = ".") -> ChangedLines:
  """What differs between the working tree and the commit at which HEAD left `base`.

  So it is what a merge request for `base` would show, with what is not committed yet: work on
  `base` itself since then does not count.

  Args:
    base: a revision, for example "origin/main".
    root: a folder in the repository. In a submodule it is the submodule that counts when the
      current folder is in it too, else the repository that it is part of.

  Raises:
    ChangedError: no repository, no git, no such revision, or nothing in common with it.
  """
  try:
    here = os.path.realpath(os.curdir)
    tops = git.roots(root)
    top = next((top for top in tops if _is_in(here, top)), tops[0])
    diffs = git.diffs(top, git.merge_base(top, base))
    return ChangedLines(top, diffs, frozenset(git.tracked(top)))
  except git.GitError as error:
    raise ChangedError(f"cannot tell what changed since {base!r}: {error}") from error


def _is_in(path: str, folder: str) -> bool:
  return os.path.join(path, "").startswith(os.path.join(folder, ""))


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

  def concerns(self, path: str) -> bool:
    """Whether `filter` may keep a finding of a file: it changed, or is not under version control."""
    name = self._name(os.path.realpath(path))
    return name in self.diffs or name not in self.tracked

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

  def _name(self, real: str) -> str:
    return os.path.relpath(real, self.top).replace(os.sep, "/")

  def _text(self, path: str) -> Optional[_Text]:
    """What changed in a file; None: all of it."""
    real = os.path.realpath(path)
    name = self._name(real)
    diff = self.diffs.get(name)
    if diff is None:
      return _Text() if name in self.tracked else None
    try:
      document = Document.read(real)
      if document.notebook is None:
        return None if diff.binary else _of_python(document, diff)
      old = git.blob(self.top, real, diff.blob) if diff.blob else b""
      return _of_notebook(document, Document.from_bytes(old, "old.ipynb"))
    except (OSError, errors.SourceError, git.GitError):
      return None


class _Text(NamedTuple):
  """Changes and statements of a file; cells are 0 in a .py file."""

  added: Sequence[Range] = ()
  removed: Sequence[Place] = ()
  statements: Sequence[Range] = ()
  changed: bool = False

  def touches(self, finding: Finding) -> bool:
    if finding.is_error:
      return self.changed
    if not self.added and not self.removed:
      return False
    first, last = ((finding.cell or 0, line) for line in (finding.span.line, finding.span.end_line))
    for begin, end in self.statements:
      if begin <= first <= end:
        first = begin
      if begin <= last <= end:
        last = end
    return any(begin <= last and first <= end for begin, end in self.added) or any(
      first <= place < last for place in self.removed
    )


def _of_python(document: Document, diff: git.Diff) -> _Text:
  starts = None
  if "\r" in document.text.replace("\r\n", ""):  # line ends that git does not take for such
    starts = [1]
    for line in document.text.split("\n"):
      starts.append(starts[-1] + 1 + line[:-1].count("\r"))

  def line_of(row: int) -> int:
    return row if starts is None else starts[min(row, len(starts)) - 1]

  added = [((0, line_of(a)), (0, line_of(b + 1) - 1)) for a, b in diff.added]
  removed = [(0, line_of(row + 1) - 1) for row in diff.removed]
  return _Text(added, removed, _statements(document), changed=True)


def _of_notebook(document: Document, old: Document) -> _Text:
  """Compares the sources of the code cells: how JSON lays them out does not matter."""
  assert document.notebook is not None and old.notebook is not None
  cells = document.notebook.cells
  before, after = ([c.text for c in book.cells] for book in (old.notebook, document.notebook))
  added: list[Range] = []
  removed: list[Place] = []
  for kind, i, j, k, m in _compared(before, after):
    if kind == "equal" or k == m:  # a cell that is gone touches no statement
      continue
    places = [(cell.number, n) for cell in cells[k:m] for n in range(1, cell.lines + 1)]
    was, now = ([line for text in t for line in _lines(text)] for t in (before[i:j], after[k:m]))
    for change, _, _, first, end in _compared(was, now):
      if change in ("replace", "insert"):
        added += [(place, place) for place in places[first:end]]
      elif change == "delete" and first:
        removed.append(places[first - 1])
  return _Text(added, removed, _statements(document), changed=True)


def _compared(old: Sequence[str], new: Sequence[str]) -> Sequence[tuple[str, int, int, int, int]]:
  return difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes()


def _lines(text: str) -> list[str]:
  return newlines.unify(text).split("\n")


def _statements(document: Document) -> list[Range]:
  found = []
  for part in document.parts():
    for begin, end in layout(newlines.unify(part.text)).statements:
      (first_cell, first), (last_cell, last) = part.locate(begin), part.locate(end)
      found.append(((first_cell or 0, first), (last_cell or 0, last)))
  return found
