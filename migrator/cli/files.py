"""The files of a command's PATH arguments."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Callable, Optional

import click

from migrator.cli import config
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
    The files in a fixed order, and what could not be searched.

  Raises:
    InputError: a path does not exist.
  """
  problems: list[OSError] = []
  try:
    found = list(walk.find(paths, excludes_of=excludes_of, on_error=problems.append))
  except FileNotFoundError as error:
    raise config.InputError(f"{error.filename}: {error.strerror}") from error
  if is_excluded is not None:
    found = [file for file in found if not file.explicit or not is_excluded(file.path)]
  for problem in problems:
    report(problem, problem.filename)
  return found, problems


def say_none(paths: Sequence[str]) -> None:
  """One line on stderr for paths under which there is nothing to look at."""
  click.echo(f"No Python files or notebooks under {', '.join(map(os.fspath, paths))}.", err=True)


def report(error: OSError, path: object) -> None:
  """One line on stderr for what the system refused."""
  click.echo(f"{path}: {error.strerror or error}", err=True)
