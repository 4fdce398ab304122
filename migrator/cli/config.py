"""`[tool.migrator]` of the nearest pyproject.toml, and the options that share its meaning."""

from __future__ import annotations

import dataclasses
import os
import sys
from collections.abc import Sequence
from typing import Any, Optional

import click

from migrator.lint import rules

if sys.version_info >= (3, 11):
  import tomllib
else:
  import tomli as tomllib

TARGETS = ("auto", "fit", "loop")


class InputError(click.ClickException):
  """Input that cannot be used. One line on stderr, exit code 2."""

  exit_code = 2


@dataclasses.dataclass(frozen=True)
class Config:
  """What `[tool.migrator]` says.

  Attributes:
    root: folder of the pyproject.toml; `exclude` is relative to it.
    select, ignore: rule codes, or beginnings of them.
    exclude: patterns as in a .gitignore file.
    source_version: 1 or 2: what plain `tf.estimator.X` means; None: decide by the file.
    target: "auto", "fit" or "loop".
  """

  root: str = "."
  select: tuple[str, ...] = ()
  ignore: tuple[str, ...] = ()
  exclude: tuple[str, ...] = ()
  source_version: Optional[int] = None
  target: str = "auto"


def load(start: str = ".") -> Config:
  """Reads the nearest pyproject.toml, from `start` upwards, that has `[tool.migrator]`.

  Raises:
    InputError: the file or a value is faulty; the message names the file and the key.
  """
  folder = os.path.abspath(start)
  while True:
    path = os.path.join(folder, "pyproject.toml")
    if os.path.isfile(path):
      table = _table(path)
      if table is not None:
        return _checked(table, path, folder)
    parent = os.path.dirname(folder)
    if parent == folder:
      return Config()
    folder = parent


def codes(given: Sequence[str], where: str) -> tuple[str, ...]:
  """Rule codes, or beginnings of them, from an option that takes lists with commas.

  Raises:
    InputError: no rule has such a code.
  """
  found = [part.strip().upper() for text in given for part in text.split(",") if part.strip()]
  known = rules.load()
  for prefix in found:
    if not any(code.startswith(prefix) for code in known):
      raise InputError(f"{where}: no rule begins with {prefix!r}; see `migrator rules`.")
  return tuple(found)


def _table(path: str) -> Optional[dict[str, Any]]:
  try:
    with open(path, "rb") as file:
      data = tomllib.load(file)
  except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
    raise InputError(f"{path}: {error}") from error
  except OSError as error:
    raise InputError(f"{path}: {error.strerror or error}") from error
  tool = data.get("tool")
  table = tool.get("migrator") if isinstance(tool, dict) else None
  if table is not None and not isinstance(table, dict):
    raise InputError(f"{path}: [tool.migrator] must be a table")
  return table


def _checked(table: dict[str, Any], path: str, folder: str) -> Config:
  known = ("select", "ignore", "exclude", "source-version", "target")
  for key in table:
    if key not in known:
      raise InputError(
        f"{path}: [tool.migrator] has no option {key!r}; there are {', '.join(known)}"
      )
  lists = {key: _strings(table, key, path) for key in ("select", "ignore", "exclude")}
  version = table.get("source-version")
  if version is not None and (isinstance(version, bool) or version not in (1, 2)):
    raise InputError(f"{path}: [tool.migrator] source-version must be 1 or 2, is {version!r}")
  target = table.get("target", "auto")
  if target not in TARGETS:
    raise InputError(
      f"{path}: [tool.migrator] target must be one of {', '.join(TARGETS)}, is {target!r}"
    )
  return Config(
    root=folder,
    select=codes(lists["select"], f"{path}: [tool.migrator] select"),
    ignore=codes(lists["ignore"], f"{path}: [tool.migrator] ignore"),
    exclude=lists["exclude"],
    source_version=version,
    target=target,
  )


def _strings(table: dict[str, Any], key: str, path: str) -> tuple[str, ...]:
  value = table.get(key, [])
  if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
    raise InputError(f"{path}: [tool.migrator] {key} must be a list of strings")
  return tuple(value)
