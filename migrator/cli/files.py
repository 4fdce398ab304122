"""The files of a command's PATH arguments."""

from __future__ import annotations

import os
import traceback
from collections.abc import Sequence

import click

from migrator.cli import config
from migrator.source import walk


def collect(
  paths: Sequence[str], settings: config.Config
) -> tuple[list[walk.SourceFile], list[OSError]]:
  """Finds the files under the paths, and says so on stderr when there are none.

  Returns:
    The files in a fixed order, and what could not be searched.

  Raises:
    InputError: a path does not exist.
  """
  problems: list[OSError] = []
  try:
    found = list(
      walk.find(
        paths,
        exclude=settings.exclude,
        exclude_root=settings.root,
        on_error=problems.append,
      )
    )
  except FileNotFoundError as error:
    raise config.InputError(f"{error.filename}: {error.strerror}") from error
  for problem in problems:
    report(problem, problem.filename)
  if not found and not problems:
    shown = ", ".join(os.fspath(path) for path in paths)
    click.echo(f"No Python files or notebooks under {shown}.", err=True)
  return found, problems


def report(error: OSError, path: object) -> None:
  """One line on stderr for what the system refused."""
  click.echo(f"{path}: {error.strerror or error}", err=True)


def report_defect(error: Exception, path: object) -> None:
  """One line on stderr for an error that is no fault of the user's; MIGRATOR_DEBUG shows more."""
  if os.environ.get("MIGRATOR_DEBUG"):
    traceback.print_exception(type(error), error, error.__traceback__)
  click.echo(
    f"{path}: internal error ({type(error).__name__}: {error}); the file was not checked. "
    "Please report it; MIGRATOR_DEBUG=1 shows where it happened.",
    err=True,
  )
