"""Patterns as in a .gitignore file, with the meaning that git gives them.

A pattern is about a file or a folder itself; what is below a folder that is left out is not
searched, and nothing can bring it back.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from typing import Callable, Optional

_CLASSES = {
  "alnum": "a-zA-Z0-9",
  "alpha": "a-zA-Z",
  "blank": " \t",
  "digit": "0-9",
  "lower": "a-z",
  "space": r"\s",
  "upper": "A-Z",
  "xdigit": "0-9a-fA-F",
}
_NAMED = re.compile(r"\[:(\w+):\]")
_Match = Callable[[str], object]


class Ignore:
  """The patterns of one .gitignore file, or of one list of excludes."""

  def __init__(self, base: str, lines: Sequence[str], suffixes: Sequence[str] = ()):
    """Reads patterns; those that mean nothing to git mean nothing here.

    Args:
      base: the absolute folder to which they are relative.
      lines: the patterns, one in each.
      suffixes: of the files that `check` will be asked for; () for any.
    """
    self._base = base
    self._prefix = os.path.join(base, "")
    # (whether it leaves out, whether it looks at the path from the base, the match), last first.
    self._files: list[tuple[bool, bool, _Match]] = []
    self._folders: list[tuple[bool, bool, _Match]] = []
    for line in reversed(lines):
      self._add(line, suffixes)
    self._folder = ""
    self._relative: Optional[str] = ""

  def __bool__(self) -> bool:
    return bool(self._folders)

  def _add(self, line: str, suffixes: Sequence[str]) -> None:
    line = re.sub(r"(?<!\\)[ \r\n]+\Z", "", line)
    if not line or line.startswith("#"):
      return
    leaves_out = not line.startswith("!")
    pattern = line if leaves_out else line[1:]
    only_folders = pattern.endswith("/")
    pattern = pattern[:-1] if only_folders else pattern
    from_base = "/" in pattern
    pattern = pattern[1:] if pattern.startswith("/") else pattern
    match = _matcher(pattern) if pattern else None
    if match is None:
      return
    self._folders.append((leaves_out, from_base, match))
    if not only_folders and _can_end(pattern, suffixes):
      self._files.append((leaves_out, from_base, match))

  def check(self, folder: str, name: str, is_folder: bool) -> Optional[bool]:
    """Whether the patterns leave out what is in a folder; None when they do not name it.

    Args:
      folder: an absolute path; no folder above it is left out.
      name: a file or folder in it.
      is_folder: which of the two.
    """
    patterns = self._folders if is_folder else self._files
    if not patterns:
      return None
    if folder != self._folder:
      self._folder = folder
      self._relative = self._relative_to_base(folder)
    if self._relative is None:
      return None
    for leaves_out, from_base, match in patterns:
      if match(self._relative + name if from_base else name):
        return leaves_out
    return None

  def check_path(self, path: str, is_folder: bool) -> Optional[bool]:
    """The same for an absolute path, with the folders above it."""
    relative = self._relative_to_base(os.path.dirname(path))
    if relative is None:
      return None
    folder = self._base
    for name in relative.split("/")[:-1]:
      if self.check(folder, name, True):
        return True
      folder = os.path.join(folder, name)
    return self.check(folder, os.path.basename(path), is_folder)

  def _relative_to_base(self, folder: str) -> Optional[str]:
    """The folder relative to the base with a slash at its end; None when it is not below."""
    if folder == self._base:
      return ""
    if not folder.startswith(self._prefix):
      return None
    return folder[len(self._prefix) :].replace(os.sep, "/") + "/"


def _can_end(pattern: str, suffixes: Sequence[str]) -> bool:
  """Whether what a pattern matches can end so. Of most patterns (`*.pyc`) it cannot."""
  last = pattern.rpartition("/")[2]
  literal = re.split(r"[*?\]\\]", last)[-1]
  is_literal = literal == last
  return not suffixes or any(
    literal.endswith(suffix) or (not is_literal and suffix.endswith(literal)) for suffix in suffixes
  )


def _matcher(pattern: str) -> Optional[_Match]:
  """A function that says whether a pattern matches a text as a whole; None for none at all."""
  if not re.search(r"[*?\[\\]", pattern):
    return pattern.__eq__
  simple = re.fullmatch(r"\*([^*?\[\\/]+)", pattern)
  if simple:
    suffix = simple[1]
    return lambda text: text.endswith(suffix) and "/" not in text
  expression = _expression(pattern)
  if expression is None:
    return None
  return re.compile(expression, re.DOTALL).fullmatch


def _expression(pattern: str) -> Optional[str]:
  """The pattern as a regular expression; None when it has an error."""
  parts = []
  i = 0
  while i < len(pattern):
    letter = pattern[i]
    if letter == "*":
      part, i = _stars(pattern, i)
      parts.append(part)
      continue
    if letter == "[":
      found = _set(pattern, i)
      if found is None:
        return None
      parts.append(found[0])
      i = found[1]
      continue
    if letter == "\\":
      i += 1
      if i == len(pattern):
        return None
      letter = pattern[i]
      parts.append(re.escape(letter))
    else:
      parts.append("[^/]" if letter == "?" else re.escape(letter))
    i += 1
  return "".join(parts)


def _stars(pattern: str, i: int) -> tuple[str, int]:
  """The expression of the stars at a place, and the place behind them."""
  end = i
  while end < len(pattern) and pattern[end] == "*":
    end += 1
  whole = end - i == 2 and (i == 0 or pattern[i - 1] == "/")
  if whole and end == len(pattern):
    return (".+" if i else ".*"), end
  if whole and pattern[end] == "/":
    return "(?:.+/)?", end + 1
  return "[^/]*", end


def _set(pattern: str, i: int) -> Optional[tuple[str, int]]:
  """The expression of the `[...]` at a place, and the place behind it; None for an error."""
  i += 1
  negated = pattern[i : i + 1] in ("!", "^") and i < len(pattern)
  i += negated
  parts = []
  begin = i
  while i < len(pattern) and (i == begin or pattern[i] != "]"):
    named = _NAMED.match(pattern, i)
    if named:
      if named[1] not in _CLASSES:
        return None
      parts.append(_CLASSES[named[1]])
      i = named.end()
      continue
    low, i = _letter(pattern, i)
    high = low
    if pattern[i : i + 1] == "-" and pattern[i + 1 : i + 2] not in ("", "]"):
      high, i = _letter(pattern, i + 1)
    # To git the first letter of a range counts even where the range is empty.
    parts.append(f"{re.escape(low)}-{re.escape(max(low, high))}")
  if i >= len(pattern):
    return None
  return f"(?!/)[{'^' if negated else ''}{''.join(parts)}]", i + 1


def _letter(pattern: str, i: int) -> tuple[str, int]:
  """The letter at a place, also behind a backslash, and the place behind it."""
  i += pattern[i] == "\\" and i + 1 < len(pattern)
  return pattern[i], i + 1
