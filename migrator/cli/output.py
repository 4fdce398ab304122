"""What `migrator lint` says: findings or counts on stdout or in a file, the rest on stderr."""

from __future__ import annotations

import collections
import json
import os
import sys
from collections.abc import Sequence
from typing import Optional

import click

from migrator.lint.finding import Finding

# Folders that continuous integration names; paths in machine formats are relative to them.
_WORKSPACES = ("GITHUB_WORKSPACE", "CI_PROJECT_DIR")


def findings(
  found: Sequence[Finding], style: str, problems: Sequence[str], file: Optional[str]
) -> None:
  """Prints findings in one of the formats, or writes them to a file.

  Raises:
    WriteError: the file cannot be written.
  """
  from migrator.lint import formats
  from migrator.lint.formats import colors

  color = file is None and colors.wanted(sys.stdout.isatty())
  width = formats.WIDTH
  if sys.stdout.isatty():
    import shutil

    width = shutil.get_terminal_size().columns
  options = formats.Options(color, width, _root(), problems)
  _write(formats.render(style, found, options), file, color)


def statistics(found: Sequence[Finding], style: str, file: Optional[str]) -> None:
  """Prints how often each rule was reported, the most frequent first, as text or JSON.

  Raises:
    WriteError: the file cannot be written.
  """
  counts = collections.Counter((f.code, f.name, f.fix) for f in found)
  rows = sorted(counts.items(), key=lambda row: (-row[1], row[0]))
  if style == "json":
    data = [
      {"code": code, "name": name, "count": count, "fix": fix, "fixable": fix != "manual"}
      for (code, name, fix), count in rows
    ]
    _write(json.dumps(data, indent=2) + "\n", file, color=False)
    return
  width = len(str(rows[0][1])) if rows else 0
  longest = max((len(name) for (_, name, _), _ in rows), default=0)
  lines = [f"{n:>{width}}  {code}  {name:<{longest}}  {fix}\n" for (code, name, fix), n in rows]
  _write("".join(lines), file, color=False)


def summary(found: Sequence[Finding], checked: int, known: int = 0) -> str:
  """The last line: how many findings, in how many files, of how many.

  Args:
    found: what was reported.
    checked: how many files were checked.
    known: how many findings the baseline knows.
  """
  total = f"{_count(checked, 'file')} checked"
  rest = f", {_count(known, 'known one')}" if known else ""
  if not found:
    return f"No {'new ' if known else ''}findings{rest}; {total}."
  places = _count(len({finding.path for finding in found}), "file")
  return f"{_count(len(found), 'finding')} in {places}{rest}; {total}."


def stale(path: str, count: int) -> str:
  """The line about entries of a baseline that no longer occur."""
  verb = "no longer occurs" if count == 1 else "no longer occur"
  shown = os.path.relpath(path)
  return f"{shown}: {_count(count, 'finding')} {verb}; `--write-baseline` takes them out."


def _count(number: int, what: str) -> str:
  return f"{number} {what}{'' if number == 1 else 's'}"


def _root() -> str:
  """The folder to which paths in machine formats are relative: the workspace or repository."""
  here = os.getcwd()
  for name in _WORKSPACES:
    folder = os.environ.get(name)
    if folder:
      top, place = (os.path.join(os.path.realpath(path), "") for path in (folder, here))
      if place.startswith(top):
        return folder
  folder = here
  while True:
    if os.path.exists(os.path.join(folder, ".git")):
      return folder
    parent = os.path.dirname(folder)
    if parent == folder:
      return here
    folder = parent


def _write(text: str, file: Optional[str], color: bool) -> None:
  if file is not None:
    from migrator.source import write

    write.save(file, _encoded(text, "utf-8"))
  elif color and os.name == "nt":
    click.echo(text, nl=False, color=True)  # knows how old terminals show colors
  elif text:
    click.echo(_encoded(text, sys.stdout.encoding or "utf-8"), nl=False)


def _encoded(text: str, encoding: str) -> bytes:
  try:
    return text.encode(encoding, "surrogateescape")  # file names keep their bytes
  except UnicodeEncodeError:
    return text.encode(encoding, "backslashreplace")
