"""`migrator lint --watch`."""

from __future__ import annotations

import os
import sys
import time
from typing import Callable, NoReturn, Optional

import click

from migrator.cli import config, config_file
from migrator.cli.checking import Request
from migrator.source import walk

_INTERVAL = 1.0
# At most this part of the time goes to looking for changes, however many files there are.
_SHARE = 0.1
Stamps = dict[str, Optional[tuple[int, int]]]


def forever(once: Callable[[], int], request: Request) -> NoReturn:
  """Runs at once, and again whenever a file, configuration, rule or baseline changes.

  Faulty input is said, and may be corrected. Ends by KeyboardInterrupt.
  """
  while True:
    begin = time.monotonic()
    stamps = _stamps(request)
    cost = time.monotonic() - begin
    if sys.stdout.isatty():
      click.clear()
    try:
      once()
    except click.ClickException as error:
      error.show()
    except (OSError, ValueError) as error:
      click.echo(f"Error: {error}", err=True)
    click.echo("Watching for changes; Ctrl-C ends.", err=True)
    while True:
      time.sleep(max(_INTERVAL, cost / _SHARE))
      if _stamps(request) != stamps:
        break


def _stamps(request: Request) -> Stamps:
  """Time and size of every file on which the findings depend."""
  found: Stamps = {}
  try:
    settings = config.Settings(request.overrides, request.config, request.isolated)
    settings.start(request.named)
    for file in walk.find(request.named, excludes_of=settings.excludes_of):
      found[file.path] = _stamp(file.path)
    others = [request.config, request.baseline]
    for one in settings.configs():
      others += [os.path.join(one.root, config_file.NAME), one.baseline, *_rule_files(one.rules)]
  except (click.ClickException, OSError):
    # It will be said by the run; until it is corrected these are what may change.
    others = [os.path.join(folder, config_file.NAME) for folder in _folders(request)]
  found.update((path, _stamp(path)) for path in others if path is not None)
  return found


def _rule_files(paths: tuple[str, ...]) -> list[str]:
  found = list(paths)
  for path in paths:
    if os.path.isdir(path):
      found += [os.path.join(path, name) for name in os.listdir(path)]
  return found


def _folders(request: Request) -> list[str]:
  """The current folder, those of the paths, and all above them."""
  found = [os.getcwd(), *map(os.path.abspath, request.named)]
  for folder in found:
    parent = os.path.dirname(folder)
    if parent not in found:
      found.append(parent)
  return found


def _stamp(path: str) -> Optional[tuple[int, int]]:
  try:
    status = os.stat(path)
  except OSError:  # it is gone, or not there yet
    return None
  return status.st_mtime_ns, status.st_size
