"""The files of a command's PATH arguments."""

from __future__ import annotations

import errno
import os
from collections.abc import Sequence
from typing import Callable, Optional

import click

from migrator.source import walk


def collect(
  paths: Sequence[str],
  excludes_of: Callable[[str], walk.Excludes],
  is_excluded: Optional[Callable[[str], bool]] = None,
) -> tuple[list[walk.SourceFile], list[OSError]]:
  """Finds the files under the paths.

  Args:
    paths: files and folders.
    excludes_of: see `walk.find`.
    is_excluded: also leaves out files that are named.

  Returns:
    The files in a fixed order, and what does not exist or could not be searched: the other
    paths are searched all the same.
  """
  problems = [_missing(path) for path in paths if not os.path.exists(path)]
  gone = {problem.filename for problem in problems}
  there = [path for path in paths if path not in gone]
  found = list(walk.find(there, excludes_of=excludes_of, on_error=problems.append))
  if is_excluded is not None:
    found = [file for file in found if not file.explicit or not is_excluded(file.path)]
  for problem in problems:
    report(problem, problem.filename)
  return found, problems


def _missing(path: str) -> OSError:
  """Why a path is not there: there may also be no right to look."""
  try:
    os.stat(path)
  except OSError as error:
    return error
  return FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)


def say_none(paths: Sequence[str]) -> None:
  """One line on stderr for paths under which there is nothing to look at."""
  click.echo(f"No Python files or notebooks under {', '.join(map(os.fspath, paths))}.", err=True)


def report(error: OSError, path: object) -> None:
  """One line on stderr for what the system refused."""
  click.echo(f"{path}: {error.strerror or error}", err=True)
