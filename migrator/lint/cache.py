"""What was found in files before, so that a file that has not changed is not examined again.

A file is known by size and times, which cost no reading; else by its content, as in a fresh
checkout where all times are new. One file of the cache holds what one version of the
tool, one version of Python and one set of rules found.
"""

from __future__ import annotations

import os
import re
import sys
import time
import zlib
from collections.abc import Iterator, Sequence
from typing import Any, Optional

from migrator import __version__
from migrator.lint import derived, plain, rules
from migrator.lint.examined import Examined

FOLDER = ".migrator_cache"
# A file may be changed twice within one tick of the clock that stamps it: what was modified this
# short a time before the run is known by content only.
_TICK = 2_000_000_000
# A cache that is larger than this part of what there is to read costs more than it saves.
_WORTH = 4
_DAYS = 14
_MOST = 500_000
# Each finding is kept with its line: thousands in one long line are not worth it.
_MOST_TEXT = 2_000_000
_MARK = "Signature: 8a477f597d28d172789f06886806bc55\n"  # bford.info/cachedir

# [time (see `_time`), size, hash of the content, *what `plain.dump` makes]
Entry = list[Any]
# Folder relative to the root -> name -> entry.
Entries = dict[str, dict[str, Entry]]


class Cache:
  """Findings of files, kept in one file.

  Nothing about it can fail a run: a cache that is damaged, of another version or cannot be
  written is the same as none.
  """

  def __init__(self, root: str, folder: Optional[str] = None):
    """The cache of a project; reads nothing yet.

    Args:
      root: the project's root: the folder of its pyproject.toml, else the current one.
      folder: where to keep it; None: $MIGRATOR_CACHE_DIR, else `.migrator_cache` in the root.
    """
    self.root = os.path.abspath(root)
    given = folder or os.environ.get("MIGRATOR_CACHE_DIR")
    self.folder = os.path.abspath(given) if given else os.path.join(self.root, FOLDER)
    self._path = ""
    self._identity: Optional[tuple[int, int]] = None
    self._known: dict[str, Entries] = {}
    self._new: dict[str, Entries] = {}
    self._changed = False
    self._begin = time.time_ns()
    self._seen = 0
    self._folders: dict[str, str] = {}
    self._by_content: dict[str, dict[str, Entry]] = {}

  def open(self, size: int) -> bool:
    """Reads what is kept; returns whether the cache is of use.

    Args:
      size: how many bytes there are to examine: a large cache is not read for a few files.

    Raises:
      RuleError: a rule file is faulty.
    """
    self._begin = time.time_ns()
    # In a folder that several projects share, each has a file of its own. A team's own rules may
    # find something else in a project that was moved.
    own = self.folder == os.path.join(self.root, FOLDER) and not rules.plugins()
    shared = "" if own else self.root
    number = zlib.crc32(f"{_version()}\0{shared}".encode("utf-8", "surrogateescape"))
    self._path = os.path.join(self.folder, f"lint-{number:08x}.json")
    try:
      status = os.stat(self._path)
    except OSError:
      return _can_write(self.folder)
    if status.st_size > max(_WORTH * size, 100_000):
      return False
    self._identity = (status.st_ino, status.st_mtime_ns)
    self._known = _read(self._path)
    return True

  def look(self, path: str, explicit: bool, status: os.stat_result) -> Optional[Examined]:
    """What is known of a file that has the size and the times that it had.

    Args:
      path: the file as the user named it.
      explicit: whether the user named it, and not a folder above it.
      status: of the file now.
    """
    kind = _kind(explicit)
    folder, name = self._place(path)
    entry = self._known.get(kind, {}).get(folder, {}).get(name)
    if entry is None or entry[0] != _time(status) or entry[1] != status.st_size:
      return None
    examined = _load(entry, path)
    if examined is not None:
      self._keep(kind, folder, name, entry)
    return examined

  def look_at(self, digest: str, path: str, explicit: bool) -> Optional[Examined]:
    """What is known of a content, wherever it was; see `content_hash`."""
    kind = _kind(explicit)
    if kind not in self._by_content:
      folders = self._known.get(kind, {}).values()
      self._by_content[kind] = {e[2]: e for entries in folders for e in entries.values()}
    entry = self._by_content[kind].get(digest)
    return _load(entry, path) if entry is not None else None

  def keep(
    self,
    path: str,
    explicit: bool,
    status: os.stat_result,
    digest: str,
    values: Sequence[Any],
  ) -> None:
    """Remembers what was found in a file, to be saved later.

    Args:
      path, explicit: see `look`.
      status: of the file before it was read.
      digest: of its content.
      values: what `plain.dump` makes of its findings.
    """
    texts = (text for found in values[:1] for one in found for text in one[1:])
    if sum(len(text) for text in texts if isinstance(text, str)) > _MOST_TEXT:
      return
    fresh = status.st_mtime_ns > self._begin - _TICK
    modified = -1 if fresh else _time(status)
    folder, name = self._place(path)
    self._keep(_kind(explicit), folder, name, [modified, status.st_size, digest, *values])
    self._changed = True

  def save(self) -> None:
    """Writes what is known to disk, if there is anything new and that is possible.

    Of two runs at once each keeps what the other has written, as far as it is there yet.
    """
    if not self._changed:
      return
    try:
      status: Optional[os.stat_result] = os.stat(self._path)
    except OSError:
      status = None
    known = self._known
    if status is not None and (status.st_ino, status.st_mtime_ns) != self._identity:
      known = _read(self._path)
    entries = _merged(known, self._new, self.root, self._seen)
    if _make_folder(self.folder) and derived.replace_file(self._path, [_version(), entries]):
      _clean(self.folder, os.path.basename(self._path))
    self._changed = False

  def _keep(self, kind: str, folder: str, name: str, entry: Entry) -> None:
    self._new.setdefault(kind, {}).setdefault(folder, {})[name] = entry
    self._seen += 1

  def _place(self, path: str) -> tuple[str, str]:
    """The folder of a file relative to the root where it is below it, and its name."""
    folder, name = os.path.split(path)
    found = self._folders.get(folder)
    if found is None:
      absolute = os.path.abspath(folder)
      try:
        relative = os.path.relpath(absolute, self.root)
      except ValueError:  # on another drive
        relative = os.pardir
      outside = relative.split(os.sep)[0] == os.pardir
      found = self._folders[folder] = absolute if outside else relative
    return found, name


def content_hash(raw: bytes, path: str) -> str:
  """A hash of the bytes of a file, and of whether it is a notebook.

  To a team's own rules the same relative import means other packages in other folders.
  """
  import hashlib  # 7 ms: not needed when no file has changed

  kind = b"notebook" if path.endswith(".ipynb") else b"python"
  digest = hashlib.blake2b(raw, digest_size=12, person=kind)
  if rules.plugins() and re.search(rb"from\s+\.", raw):
    digest.update(os.fsencode(os.path.dirname(os.path.abspath(path))))
  return digest.hexdigest()


def _time(status: os.stat_result) -> int:
  """Another number whenever a file is written, in ns.

  The time of modification can be set, and is by tools that restore it after an edit; the time of
  change cannot (it is that of creation on Windows).
  """
  return status.st_mtime_ns + status.st_ctime_ns


def _kind(explicit: bool) -> str:
  return "named" if explicit else "found"


_versions: dict[str, str] = {}


def _version() -> str:
  """What findings depend on besides the file: our code, our rules, Python's grammar."""
  fingerprint = rules.fingerprint()
  if fingerprint not in _versions:
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    code = derived.get("code", list(_sources(package)), lambda: None).digest
    python = f"{sys.implementation.cache_tag}"
    _versions[fingerprint] = f"{__version__} {python} {code} {fingerprint}"
  return _versions[fingerprint]


def _sources(package: str) -> Iterator[str]:
  """The files of ours that decide what is found."""
  for room in ("analysis", "lint", "lint/checks", "source"):
    folder = os.path.join(package, *room.split("/"))
    for name in sorted(os.listdir(folder)):
      if name.endswith((".py", ".txt")):
        yield os.path.join(folder, name)


def _load(entry: Entry, path: str) -> Optional[Examined]:
  try:
    return plain.load(entry[3:], path)
  except (TypeError, ValueError):
    return None


def _read(path: str) -> dict[str, Entries]:
  """The entries in a file; none when it is garbage or of another version."""
  value = derived.read_json(path)
  if not isinstance(value, list) or len(value) != 2 or value[0] != _version():
    return {}
  return value[1] if _is_sound(value[1]) else {}


def _is_sound(value: Any) -> bool:
  """Whether a value has the shape of entries; what findings hold is seen when they are loaded."""
  if not isinstance(value, dict):
    return False
  for entries in value.values():
    if not isinstance(entries, dict):
      return False
    for names in entries.values():
      if not isinstance(names, dict):
        return False
      for entry in names.values():
        if not isinstance(entry, list) or len(entry) < 3 or not isinstance(entry[2], str):
          return False
  return True


def _merged(
  known: dict[str, Entries], new: dict[str, Entries], root: str, seen: int
) -> dict[str, Entries]:
  """The entries of this run and, of those before, what this run did not look at.

  When there are many of these, those of files that are gone are dropped.
  """
  others = [
    (kind, folder, name, entry)
    for kind, folders in known.items()
    for folder, names in folders.items()
    for name, entry in names.items()
    if name not in new.get(kind, {}).get(folder, ())
  ]
  if len(others) + seen > _MOST:
    return new
  crowded = len(others) > max(1000, seen)
  for kind, folder, name, entry in others:
    if not crowded or os.path.exists(os.path.join(root, folder, name)):
      new.setdefault(kind, {}).setdefault(folder, {})[name] = entry
  return new


def _can_write(folder: str) -> bool:
  """Whether a folder that may not exist yet can be written: else hashing would be in vain."""
  while not os.path.exists(folder):
    parent = os.path.dirname(folder)
    if parent == folder:
      return False
    folder = parent
  return os.path.isdir(folder) and os.access(folder, os.W_OK | os.X_OK)


def _make_folder(folder: str) -> bool:
  """Makes the folder; git and backups leave out one that is ours. Returns whether it is there."""
  if os.path.isdir(folder):
    return True
  try:
    os.makedirs(folder)
    for name, text in ((".gitignore", "*\n"), ("CACHEDIR.TAG", _MARK)):
      with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
        file.write(text)
  except OSError:
    return os.path.isdir(folder)
  return True


def _clean(folder: str, own: str) -> None:
  """Removes files of ours that have not been written for long: of other versions, of crashes."""
  oldest = time.time() - _DAYS * 86400
  try:
    with os.scandir(folder) as found:
      for entry in found:
        is_ours = entry.name.startswith("lint-") and entry.name != own
        if is_ours and entry.stat().st_mtime < oldest:
          derived.remove(entry.path)
  except OSError:
    return
