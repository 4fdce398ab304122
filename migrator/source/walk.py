"""From the paths of a command line to files, in an order that never changes."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import Callable, NamedTuple, Optional

from migrator.source.ignore import Ignore

SUFFIXES = (".py", ".ipynb")
# Patterns as in a .gitignore file, each set with the folder to which it is relative.
Excludes = Sequence[tuple[str, Sequence[str]]]
_SKIPPED = frozenset(
  ("__pycache__", "__pypackages__", "_build", "dist", "node_modules", "site-packages", "venv")
)


class SourceFile(NamedTuple):
  """A file to look at; `explicit` when the user named it and not a folder above it."""

  path: str
  explicit: bool


def find(
  paths: Sequence[str],
  *,
  exclude: Sequence[str] = (),
  exclude_root: str = ".",
  excludes_of: Optional[Callable[[str], Excludes]] = None,
  on_error: Optional[Callable[[OSError], None]] = None,
) -> Iterator[SourceFile]:
  """Yields the files under the paths.

  A path that is a file is always taken. Folders are searched for .py and .ipynb files
  except hidden ones, virtual environments, and what .gitignore files or `exclude` name.
  Symlinks to folders are not followed; a file that two names lead to is taken once.

  Args:
    paths: files and folders.
    exclude: patterns as in a .gitignore file.
    exclude_root: the folder to which they are relative.
    excludes_of: instead of the two: called with each folder of `paths` and each one below that
      has a pyproject.toml; what it returns holds in that folder.
    on_error: called for a folder that cannot be read; the search goes on.

  Raises:
    FileNotFoundError: one of the paths does not exist.
  """
  for path in paths:
    if not os.path.exists(path):
      raise FileNotFoundError(2, "no such file or directory", path)
  fixed = _compiled([(exclude_root, exclude)])
  compile_of = None if excludes_of is None else lambda folder: _compiled(excludes_of(folder))
  return _find(paths, fixed, compile_of, on_error)


def matcher(excludes: Excludes) -> Callable[[str], bool]:
  """A function that says whether patterns name a file, or a folder above it.

  Args:
    excludes: as `find` gets them from `excludes_of`. They are compiled at the first call.
  """
  compiled: list[list[Ignore]] = []

  def matches(path: str) -> bool:
    if not compiled:
      pairs = ((os.path.abspath(root), patterns) for root, patterns in excludes)
      compiled.append([Ignore(root, patterns) for root, patterns in pairs])
    absolute = os.path.abspath(path)
    results = (ignore.check_path(absolute, False) for ignore in reversed(compiled[0]))
    return next((result for result in results if result is not None), False)

  return matches


def _compiled(excludes: Excludes) -> list[Ignore]:
  found = (_compile(os.path.abspath(root), patterns) for root, patterns in excludes)
  return [ignore for ignore in found if ignore is not None]


def _find(paths, excluded, compile_of, on_error) -> Iterator[SourceFile]:
  seen: set[str] = set()
  for path in paths:
    if os.path.isdir(path):
      own = excluded if compile_of is None else compile_of(path)
      top = _Folder(path, os.path.realpath(path), os.path.abspath(path), _parent_ignores(path), own)
      found = _search(top, compile_of, on_error, top=True)
      explicit = False
    else:
      found, explicit = iter(((path, os.path.realpath(path)),)), True
    for file, real in found:
      if real not in seen:
        seen.add(real)
        yield SourceFile(file, explicit)


class _Folder:
  """A folder to search: as the user named it, without symlinks, absolute, and what it leaves out.

  All three names grow by one part with each level: asking the system for each file would be
  most of the time of a search.
  """

  def __init__(self, path: str, real: str, absolute: str, ignores: list, excluded: list):
    self.path = path
    self.real = real
    self.absolute = absolute
    self.ignores = ignores
    self.excluded = excluded

  def below(self, name: str) -> _Folder:
    """A folder in it that is no symlink."""
    path, real, absolute = (os.path.join(p, name) for p in (self.path, self.real, self.absolute))
    return _Folder(path, real, absolute, self.ignores, self.excluded)

  def leaves_out(self, name: str, is_folder: bool) -> bool:
    """Whether patterns name a file or folder in it."""
    for ignores in (self.ignores, self.excluded):
      for ignore in reversed(ignores):
        result = ignore.check(self.absolute, name, is_folder)
        if result is not None:
          if result:
            return True
          break
    return False


def _search(folder: _Folder, compile_of, on_error, top=False) -> Iterator[tuple[str, str]]:
  """The files of a folder and those below: name and name without symlinks; files first."""
  try:
    with os.scandir(folder.path) as entries:
      children = sorted(entries, key=lambda e: e.name)
  except OSError as error:
    if on_error is not None:
      on_error(error)
    return
  names = {child.name for child in children}
  if "pyvenv.cfg" in names and not top:
    return
  if ".gitignore" in names:
    own = _read_ignore(folder.path, folder.absolute)
    folder.ignores = [*folder.ignores, own] if own is not None else folder.ignores
  if compile_of is not None and not top and "pyproject.toml" in names:
    folder.excluded = compile_of(folder.path)
  folders = []
  for child in children:
    name = child.name
    if name.startswith(".") or name in _SKIPPED:
      continue
    if child.is_dir(follow_symlinks=False):
      folders.append(name)
    elif name.endswith(SUFFIXES) and _is_file(child) and not folder.leaves_out(name, False):
      if child.is_symlink():
        yield child.path, os.path.realpath(child.path)
      else:
        yield child.path, os.path.join(folder.real, name)
  del children, names
  for name in folders:
    if not folder.leaves_out(name, True):
      yield from _search(folder.below(name), compile_of, on_error)


def _is_file(entry: os.DirEntry) -> bool:
  try:
    return entry.is_file()
  except OSError:  # a symlink that leads to itself
    return False


def _parent_ignores(folder: str) -> list[Ignore]:
  """The .gitignore files above a folder, up to the root of its repository, outermost first."""
  found: list[Ignore] = []
  current = absolute = os.path.abspath(folder)
  if os.path.exists(os.path.join(current, ".git")):
    return found
  while True:
    parent = os.path.dirname(current)
    if parent == current:
      return []  # outside of any repository: only the .gitignore files below count
    current = parent
    ignore = _read_ignore(current, current)
    if ignore is not None:
      found.append(ignore)
    if os.path.exists(os.path.join(current, ".git")):
      # A folder that the user names is searched even where one of them ignores it.
      return [ignore for ignore in found[::-1] if not ignore.check_path(absolute, True)]


def _read_ignore(folder: str, absolute: str) -> Optional[Ignore]:
  """The patterns of the .gitignore file of a folder; None when it has none."""
  try:
    with open(os.path.join(folder, ".gitignore"), encoding="utf-8", errors="replace") as file:
      return _compile(absolute, file.read().splitlines())
  except OSError:
    return None


def _compile(base: str, lines: Sequence[str]) -> Optional[Ignore]:
  """The patterns of some lines; None when there are none."""
  ignore = Ignore(base, lines, SUFFIXES)
  return ignore if ignore else None
