"""From the paths of a command line to files, in an order that never changes."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterator, Sequence
from typing import Callable, Optional

SUFFIXES = (".py", ".ipynb")
# Patterns as in a .gitignore file, each set with the folder to which it is relative.
Excludes = Sequence[tuple[str, Sequence[str]]]
_SKIPPED = frozenset(
  ("__pycache__", "__pypackages__", "_build", "dist", "node_modules", "site-packages", "venv")
)


@dataclasses.dataclass(frozen=True)
class SourceFile:
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
  compiled: list = []

  def matches(path: str) -> bool:
    if not compiled:
      compiled.append(_compiled(excludes))
    return _ignored(path, False, compiled[0])

  return matches


def _compiled(excludes: Excludes) -> list:
  pairs = ((os.path.abspath(root), _patterns(patterns)) for root, patterns in excludes)
  return [(root, spec) for root, spec in pairs if spec is not None]


def _find(paths, excluded, compile_of, on_error) -> Iterator[SourceFile]:
  seen: set[str] = set()
  for path in paths:
    if os.path.isdir(path):
      ignores = _parent_ignores(path)
      own = excluded if compile_of is None else compile_of(path)
      found: Iterator[str] = _search(path, ignores, own, compile_of, on_error, top=True)
      explicit = False
    else:
      found, explicit = iter((path,)), True
    for file in found:
      real = os.path.realpath(file)
      if real not in seen:
        seen.add(real)
        yield SourceFile(file, explicit)


def _search(folder, ignores, excluded, compile_of, on_error, top=False) -> Iterator[str]:
  """The files of a folder and those below, files first, by name."""
  try:
    with os.scandir(folder) as entries:
      children = sorted(entries, key=lambda e: e.name)
  except OSError as error:
    if on_error is not None:
      on_error(error)
    return
  names = {child.name for child in children}
  if ".gitignore" in names:
    own = _read_ignore(os.path.join(folder, ".gitignore"))
    ignores = [*ignores, (os.path.abspath(folder), own)] if own is not None else ignores
  if compile_of is not None and not top and "pyproject.toml" in names:
    excluded = compile_of(folder)
  folders = []
  for child in children:
    name = child.name
    if name.startswith(".") or name in _SKIPPED:
      continue
    if child.is_dir(follow_symlinks=False):
      folders.append(child)
    elif (
      name.endswith(SUFFIXES)
      and _is_file(child)
      and not _ignored(child.path, False, ignores)
      and not _ignored(child.path, False, excluded)
    ):
      yield child.path
  for child in folders:
    if os.path.exists(os.path.join(child.path, "pyvenv.cfg")):
      continue
    if _ignored(child.path, True, ignores) or _ignored(child.path, True, excluded):
      continue
    yield from _search(child.path, ignores, excluded, compile_of, on_error)


def _is_file(entry: os.DirEntry) -> bool:
  try:
    return entry.is_file()
  except OSError:  # a symlink that leads to itself
    return False


def _ignored(path: str, is_folder: bool, ignores) -> bool:
  """Whether patterns exclude a path; the nearest that names it decide.

  Args:
    path: the file or folder.
    is_folder: which of the two.
    ignores: (folder, patterns relative to it), outermost first.
  """
  if not ignores:
    return False
  absolute = os.path.abspath(path)
  for base, spec in reversed(ignores):
    relative = os.path.relpath(absolute, base).replace(os.sep, "/")
    if relative.startswith("../"):
      continue
    result = spec.check_file(relative + "/" if is_folder else relative)
    if result.include is not None:
      return result.include
  return False


def _parent_ignores(folder: str) -> list:
  """The .gitignore files above a folder, up to the root of its repository, outermost first."""
  found: list = []
  current = os.path.abspath(folder)
  if os.path.isdir(os.path.join(current, ".git")):
    return found
  while True:
    parent = os.path.dirname(current)
    if parent == current:
      return []  # outside of any repository: only the .gitignore files below count
    current = parent
    spec = _read_ignore(os.path.join(current, ".gitignore"))
    if spec is not None:
      found.append((current, spec))
    if os.path.exists(os.path.join(current, ".git")):
      # A folder that the user names is searched even where one of them ignores it.
      return [entry for entry in found[::-1] if not _ignored(folder, True, [entry])]


def _read_ignore(path: str):
  try:
    with open(path, encoding="utf-8", errors="replace") as file:
      return _patterns(file.read().splitlines())
  except OSError:
    return None


def _patterns(lines: Sequence[str]):
  if not any(line.strip() and not line.startswith("#") for line in lines):
    return None
  import pathspec  # 20 ms: only where there is something to match

  return pathspec.GitIgnoreSpec.from_lines(lines)
