"""The file of known findings: only what is not in it makes a run fail.

One entry per line (JSON Lines), in order: additions and removals are line diffs, and a merge
conflict is settled by keeping both sides. An entry holds the path relative to the file's folder,
the code, and the text of the line, runs of blanks as one: no line number, so that it survives
edits elsewhere in the file, and no cell number. Two equal findings are one entry that counts 2.
"""

from __future__ import annotations

import codecs
import collections
import dataclasses
import json
import os
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Callable, NamedTuple, Optional

from migrator.lint.finding import Finding
from migrator.source import write as writing

VERSION = 1
_HEADER = "migrator_baseline"
_CONFLICT = ("<<<<<<<", "=======", ">>>>>>>", "|||||||")


class BaselineError(ValueError):
  """A baseline file cannot be used. The message names it, and the line where there is one."""


class Entry(NamedTuple):
  """What makes two findings the same: POSIX path relative to the baseline file, code, line."""

  path: str
  code: str
  source: str


@dataclasses.dataclass(frozen=True)
class Filtered:
  """Findings against a baseline.

  Attributes:
    new: those that are not in it, in their order.
    known: those that are.
    stale: how many entries, counted as often as they stand, no longer occur.
  """

  new: list[Finding]
  known: list[Finding]
  stale: int


@dataclasses.dataclass(frozen=True)
class Baseline:
  """Known findings.

  Attributes:
    folder: the absolute folder that paths are relative to.
    entries: how often each is known.
  """

  folder: str
  entries: Mapping[Entry, int] = dataclasses.field(default_factory=dict)

  @classmethod
  def of(cls, path: str, findings: Iterable[Finding]) -> Baseline:
    """The baseline, to be written to `path`, that knows all of these findings.

    What could not be checked at all is never known.
    """
    new = cls(_folder(path))
    return cls(new.folder, collections.Counter(new._entry(f) for f in findings if not f.is_error))

  @classmethod
  def read(cls, path: str) -> Baseline:
    """Reads a baseline file.

    Raises:
      BaselineError: it cannot be read, or a line is faulty.
    """
    try:
      with open(path, "rb") as file:
        raw = file.read().removeprefix(codecs.BOM_UTF8)
      lines = re.split("\r\n?|\n", raw.decode("utf-8"))
    except OSError as error:
      raise BaselineError(f"{path}: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
      number = raw[: error.start].count(b"\n") + 1
      raise BaselineError(f"{path}:{number}: byte 0x{raw[error.start]:02x} is not UTF-8") from error
    entries: dict[Entry, int] = collections.Counter()
    seen_header = False
    for number, line in enumerate(lines, start=1):
      if not line.strip():
        continue
      try:
        data = _object(line)
        if not seen_header:
          _check_header(data)
          seen_header = True
        else:
          entry, count = _parsed(data)
          entries[entry] += count
      except ValueError as error:
        raise BaselineError(f"{path}:{number}: {error}") from error
    if not seen_header:
      raise BaselineError(f"{path}:1: it is empty, not even a first line with {_HEADER!r}")
    return cls(_folder(path), entries)

  def filter(
    self,
    findings: Sequence[Finding],
    *,
    examined: Optional[Collection[str]] = None,
    within: Optional[Collection[str]] = None,
    selected: Callable[[str], bool] = lambda code: True,
  ) -> Filtered:
    """Tells new findings from known ones.

    A finding is known when an entry has its path, code and line, as often as the entry counts.
    Then, findings in a file without entries of its own are known by the entries of a file that
    no longer exists: it was renamed.

    Args:
      findings: all findings of the run.
      examined: the paths of the files that the run examined; None: all that there are. Entries
        of other files are not stale.
      within: the files and folders that the run was asked for; None: everything. Entries of a
        file that no longer exists are stale only if it would have been in there.
      selected: whether the run reports a code at all; entries of others are not stale.
    """
    verdicts, left = self._matched(findings)
    judged = self._judged([e for e in left if left[e]], examined, within, selected)
    return Filtered(
      [f for f, known in zip(findings, verdicts) if not known],
      [f for f, known in zip(findings, verdicts) if known],
      sum(left[entry] for entry in judged),
    )

  def updated(
    self,
    findings: Sequence[Finding],
    *,
    examined: Optional[Collection[str]] = None,
    within: Optional[Collection[str]] = None,
    selected: Callable[[str], bool] = lambda code: True,
  ) -> Baseline:
    """The baseline that knows the findings of a run, and what the run did not look at.

    Args: see `filter`.
    """
    entries = collections.Counter(self._entry(f) for f in findings if not f.is_error)
    judged = set(self._judged(self.entries, examined, within, selected))
    _, left = self._matched(findings)  # what stands in a renamed file is not kept as well
    entries.update({entry: n for entry, n in left.items() if n and entry not in judged})
    return Baseline(self.folder, entries)

  def write(self, path: str) -> None:
    """Writes the file, at once, its lines in order. Its folder should be the baseline's.

    Raises:
      WriteError: it cannot be written.
    """
    lines = [json.dumps({_HEADER: VERSION})]
    for entry, count in sorted(self.entries.items()):
      data: dict[str, Any] = entry._asdict()
      if count > 1:
        data["count"] = count
      lines.append(json.dumps(data, ensure_ascii=False))
    text = "\n".join(lines) + "\n"
    # A path that is no UTF-8 has surrogates; as escapes they come back as they were.
    written = re.sub("[\ud800-\udfff]", _escaped, text).encode("utf-8")
    writing.save(path, written, make_folder=True)

  @property
  def count(self) -> int:
    """How many findings are known."""
    return sum(self.entries.values())

  def _matched(self, findings: Sequence[Finding]) -> tuple[list[bool], dict[Entry, int]]:
    """Whether each finding is known, and how often each entry is left over."""
    left = collections.Counter(self.entries)
    verdicts = [not f.is_error and _take(left, self._entry(f)) for f in findings]
    own = {entry.path for entry in self.entries}
    moved = self._moved(left) if False in verdicts else {}
    for index, finding in enumerate(findings):
      if moved and not verdicts[index] and not finding.is_error:
        entry = self._entry(finding)
        if entry.path not in own:
          verdicts[index] = _take_moved(left, moved, entry)
    return verdicts, left

  def _entry(self, finding: Finding) -> Entry:
    return Entry(self._relative(finding.path), finding.code, " ".join(finding.source.split()))

  def _relative(self, path: str) -> str:
    try:
      return os.path.relpath(os.path.abspath(path), self.folder).replace(os.sep, "/")
    except ValueError:  # on another drive
      return os.path.abspath(path).replace(os.sep, "/")

  def _exists(self, path: str) -> bool:
    return os.path.exists(os.path.join(self.folder, path))

  def _moved(self, left: Mapping[Entry, int]) -> dict[tuple[str, str], list[Entry]]:
    """Entries of files that no longer exist, by code and line."""
    gone = {path for path in {e.path for e, n in left.items() if n} if not self._exists(path)}
    found = collections.defaultdict(list)
    for entry in sorted(e for e, n in left.items() if n and e.path in gone):
      found[entry.code, entry.source].append(entry)
    return found

  def _judged(
    self,
    entries: Iterable[Entry],
    examined: Optional[Collection[str]],
    within: Optional[Collection[str]],
    selected: Callable[[str], bool],
  ) -> list[Entry]:
    """Entries that the run would have found: of selected codes, of files that it looked at."""
    chosen = [entry for entry in entries if selected(entry.code)]
    if examined is None or not chosen:
      return chosen
    known = {self._relative(path): True for path in examined}
    for path in {entry.path for entry in chosen}:
      if path not in known:
        known[path] = self._is_within(path, within) and not self._exists(path)
    return [entry for entry in chosen if known[entry.path]]

  def _is_within(self, path: str, within: Optional[Collection[str]]) -> bool:
    """Whether the path of an entry is one of some files, or lies in one of some folders."""
    whole = os.path.normpath(os.path.join(self.folder, path))
    places = map(os.path.abspath, within or ())
    return within is None or any(
      whole == p or whole.startswith(os.path.join(p, "")) for p in places
    )


def _folder(path: str) -> str:
  # The folder as the user sees it: a link to a baseline elsewhere keeps its paths.
  return os.path.dirname(os.path.abspath(path))


def _take(left: dict[Entry, int], entry: Entry) -> bool:
  if left.get(entry, 0) <= 0:
    return False
  left[entry] -= 1
  return True


def _take_moved(
  left: dict[Entry, int], moved: Mapping[tuple[str, str], list[Entry]], entry: Entry
) -> bool:
  return any(_take(left, old) for old in moved.get((entry.code, entry.source), ()))


def _escaped(match: re.Match) -> str:
  return f"\\u{ord(match[0]):04x}"


def _object(line: str) -> dict[str, Any]:
  """The JSON object in a line. Raises ValueError saying what is wrong."""
  if line.startswith(_CONFLICT):
    raise ValueError("a merge conflict that is not settled")
  try:
    data = json.loads(line)
  except (ValueError, RecursionError) as error:
    reason = error.msg if isinstance(error, json.JSONDecodeError) else "nested too deeply"
    raise ValueError(f"no JSON: {reason}") from error
  if not isinstance(data, dict):
    raise ValueError("no JSON object")
  return data


def _check_header(data: Mapping[str, Any]) -> None:
  version = data.get(_HEADER)
  if version is None:
    raise ValueError(f"no baseline file: its first line lacks {_HEADER!r}")
  if version != VERSION:
    raise ValueError(f"a baseline of version {version!r}; this program knows {VERSION}")


def _parsed(data: Mapping[str, Any]) -> tuple[Entry, int]:
  for key in Entry._fields:
    if not isinstance(data.get(key), str):
      raise ValueError(f"{key!r} is missing or no string")
  unknown = sorted(set(data) - {*Entry._fields, "count"})
  if unknown:
    raise ValueError(f"unknown key {unknown[0]!r}")
  count = data.get("count", 1)
  if isinstance(count, bool) or not isinstance(count, int) or count < 1:
    raise ValueError(f"'count' must be a positive number, is {count!r}")
  return Entry(*(data[key] for key in Entry._fields)), count
