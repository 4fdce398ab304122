"""What git knows of the working tree: which lines of which files differ from a revision."""

from __future__ import annotations

import dataclasses
import os
import re
import subprocess
from collections.abc import Iterator
from typing import Optional

_HUNK = re.compile(rb"@@ -\d+(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
_ESCAPE = re.compile(rb'\\([0-7]{3}|[abtnvfr"\\])')
_LETTERS = dict(zip(b'abtnvfr"\\', b'\a\b\t\n\v\f\r"\\'))
_PLACES = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR")
_OPTIONS = (
  "--no-color --no-ext-diff --no-textconv --full-index --unified=0 --inter-hunk-context=0 -M"
  " --src-prefix=a/ --dst-prefix=b/ --ignore-submodules=none"
).split()


class GitError(ValueError):
  """Git cannot tell. The message says why in one sentence."""


@dataclasses.dataclass
class Diff:
  """How a file differs from its old version.

  Attributes:
    added: first and last row of each run of lines that are new, as git counts rows.
    removed: rows behind which lines are gone.
    blob: the object id of the old version; None where there is none.
    binary: git does not look into it.
  """

  added: list[tuple[int, int]] = dataclasses.field(default_factory=list)
  removed: list[int] = dataclasses.field(default_factory=list)
  blob: Optional[str] = None
  binary: bool = False


def run(folder: str, *arguments: str) -> bytes:
  """What a git command prints.

  Raises:
    GitError: there is no git, or the command fails; the message is git's.
  """
  # A linter only looks: no index refresh is written. Messages are read, so: in English.
  environment = {**_environment(), "GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C"}
  try:
    done = subprocess.run(
      ["git", *arguments], cwd=folder, env=environment, capture_output=True, check=False
    )
  except FileNotFoundError as error:
    missing = folder if not os.path.isdir(folder) else "the command `git`"
    raise GitError(f"{missing} is not there") from error
  except OSError as error:
    raise GitError(f"git cannot be run: {error.strerror or error}") from error
  if done.returncode:
    text = done.stderr.decode("utf-8", "replace").strip() or f"exit code {done.returncode}"
    raise GitError(re.sub(r"^(fatal|error): ", "", text.splitlines()[0]))
  return done.stdout


def _environment() -> dict[str, str]:
  """The environment, without what git tells hooks and aliases of the repository they run in.

  With GIT_DIR alone git takes whatever folder it is started in for the top one. What the user has
  set (GIT_WORK_TREE as well) stays, but counts from here and not from the folder of a command.
  """
  found = dict(os.environ)
  if "GIT_WORK_TREE" in found:
    paths = {name: found[name] for name in _PLACES if found.get(name)}
    return {**found, **{name: os.path.abspath(path) for name, path in paths.items()}}
  return {name: value for name, value in found.items() if name not in (*_PLACES, "GIT_PREFIX")}


def root(folder: str) -> str:
  """The top folder, without symlinks, of the repository that a folder is in.

  Raises:
    GitError: it is in none.
  """
  return _folder(run(folder, "rev-parse", "--show-toplevel"))


def roots(folder: str) -> list[str]:
  """The top folder, and if it is that of a submodule those around it, inmost first.

  Raises:
    GitError: the folder is in no repository.
  """
  found = [root(folder)]
  while outer := run(found[-1], "rev-parse", "--show-superproject-working-tree").strip():
    found.append(_folder(outer))
  return found


def _folder(printed: bytes) -> str:
  return os.path.realpath(os.fsdecode(printed.rstrip(b"\r\n")))


def merge_base(top: str, revision: str) -> str:
  """The object id of the commit at which HEAD left a revision.

  Raises:
    GitError: there is no such revision, or nothing in common; with what helps.
  """
  commit = _commit(top, revision)
  if commit is None:
    hint = ""
    if _commit(top, f"origin/{revision}"):
      hint = f"; did you mean 'origin/{revision}'?"
    elif _is_shallow(top):
      hint = "; the clone is shallow: fetch the whole history, or that revision, first"
    raise GitError(f"git knows no revision {revision!r}{hint}")
  if _commit(top, "HEAD") is None:
    raise GitError("the repository has no commit yet")
  try:
    return run(top, "merge-base", commit, "HEAD").decode().strip()
  except GitError as error:
    hint = "; the clone is shallow: fetch the whole history first" if _is_shallow(top) else ""
    raise GitError(f"{revision!r} and HEAD have no common ancestor{hint}") from error


def tracked(top: str) -> set[str]:
  """The files under version control, also in submodules: paths relative to the top folder."""
  listed = run(top, "ls-files", "-z", "--recurse-submodules")
  return {os.fsdecode(path) for path in listed.split(b"\0") if path}


def blob(top: str, path: str, name: str) -> bytes:
  """An old version, by its object id, of a file that exists.

  Raises:
    GitError: it is not there.
  """
  try:
    return run(top, "cat-file", "blob", name)
  except GitError:  # the file is in a submodule, which has its own objects
    return run(os.path.dirname(path), "cat-file", "blob", name)


def diffs(top: str, commit: str) -> dict[str, Diff]:
  """The files of the working tree that differ from a commit, by path relative to the top folder.

  Renamed files are compared with their old selves. Deleted and untracked ones are not there.
  """
  patch = run(top, "diff", *_OPTIONS, "--submodule=diff", commit, "--")
  found = _parse(patch)
  summary = run(top, "diff", *_OPTIONS, "--raw", "--no-abbrev", "--numstat", "-z", commit, "--")
  for path, old, binary in _summary(summary):
    diff = found.setdefault(path, Diff())
    diff.blob = old
    diff.binary = binary
  return found


def _commit(top: str, revision: str) -> Optional[str]:
  if not revision or revision.startswith("-"):
    return None
  try:
    name = run(top, "rev-parse", "--verify", "--quiet", revision + "^{commit}")
  except GitError:
    return None
  return name.decode().strip()


def _is_shallow(top: str) -> bool:
  return run(top, "rev-parse", "--is-shallow-repository").strip() == b"true"


def _parse(patch: bytes) -> dict[str, Diff]:
  """The files of a patch. It may have context lines: `git diff` has them in submodules."""
  found: dict[str, Diff] = {}
  diff = Diff()
  old = new = row = 0  # lines of the hunk that are to come, the row of the next new one
  for line in patch.split(b"\n"):
    if old > 0 or new > 0:
      sign = line[:1]
      if sign == b"+":
        if diff.added and diff.added[-1][1] == row - 1:
          diff.added[-1] = (diff.added[-1][0], row)
        else:
          diff.added.append((row, row))
      elif sign == b"-":
        diff.removed.append(row - 1)
      if sign not in (b"+", b"\\"):
        old -= 1
      if sign not in (b"-", b"\\"):
        new, row = new - 1, row + 1
    elif line.startswith(b"diff --git "):
      diff = Diff()
    elif line.startswith(b"index "):
      name = line[6:].split(b"..")[0].decode()
      diff.blob = name if name.strip("0") else None
    elif line.startswith(b"+++ "):
      path = _path(line[4:])
      if path is not None:
        found[path] = diff
    else:
      hunk = _HUNK.match(line)
      if hunk:
        old, new = (int(hunk[i]) if hunk[i] is not None else 1 for i in (1, 3))
        row = int(hunk[2]) + (not new)  # an empty place is named by the line before
  return found


def _path(text: bytes) -> Optional[str]:
  """The path behind `+++`; None for a file that is gone."""
  text = text[:-1] if text.endswith(b"\t") else text  # git marks the end of one with blanks
  if text.startswith(b'"'):
    text = _ESCAPE.sub(_unescaped, text[1:-1])
  return None if text == b"/dev/null" else os.fsdecode(text[2:])


def _unescaped(match: re.Match) -> bytes:
  text = match[1]
  return bytes((int(text, 8),)) if len(text) == 3 else bytes((_LETTERS[text[0]],))


def _summary(text: bytes) -> Iterator[tuple[str, Optional[str], bool]]:
  """Path, old object id and whether it is binary, from `--raw --numstat -z`."""
  blobs: dict[bytes, Optional[str]] = {}
  fields = iter(text.split(b"\0"))
  for field in fields:
    if field.startswith(b":"):
      modes, _, rest = field[1:].partition(b" ")
      old_mode = modes
      new_mode, name, _, status = rest.split(b" ")
      path = next(fields)
      if status[:1] in b"RC":
        path = next(fields)
      # Neither a submodule nor a file that is gone.
      if status != b"D" and b"160000" not in (old_mode, new_mode):
        blobs[path] = name.decode() if name.strip(b"0") else None
    elif field.count(b"\t") >= 2:
      added, _, path = field.split(b"\t", 2)
      if not path:  # renamed: the old and the new path follow
        next(fields)
        path = next(fields)
      if path in blobs:
        yield os.fsdecode(path), blobs[path], added == b"-"
