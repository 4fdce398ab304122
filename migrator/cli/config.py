"""Which configuration holds for which file: the nearest pyproject.toml, and the command line."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Callable, NamedTuple, Optional

from migrator.cli import config_file
from migrator.cli.config_file import TARGETS, Config, InputError
from migrator.source import walk

if TYPE_CHECKING:
  from migrator.lint.selection import PerFileIgnore

__all__ = ["TARGETS", "Chosen", "Config", "InputError", "Overrides", "Settings", "load"]


def load(start: str = ".") -> Config:
  """The nearest `[tool.migrator]` from a folder, or the folder of a file, upwards.

  Raises:
    InputError: a file or a value is faulty; the message names file, line and key.
  """
  folder = os.path.abspath(start)
  while True:
    found = config_file.in_folder(folder)
    if found is not None:
      return found
    parent = os.path.dirname(folder)
    if parent == folder:
      return Config()
    folder = parent


class Overrides(NamedTuple):
  """What the command line says, as it was given; patterns are relative to this folder."""

  select: Sequence[str] = ()
  extend_select: Sequence[str] = ()
  ignore: Sequence[str] = ()
  per_file_ignores: Sequence[str] = ()
  exclude: Sequence[str] = ()
  extend_exclude: Sequence[str] = ()


class Chosen(NamedTuple):
  """What holds for some files: their configuration, and the command line above it.

  Attributes:
    config: the configuration.
    select, extend_select, ignore: see `selection.Selection`.
    per_file_ignores: see `selection.apply`.
    foreign: codes of rules that other configurations of the run brought along.
  """

  config: Config
  select: tuple[str, ...] = ()
  extend_select: tuple[str, ...] = ()
  ignore: tuple[str, ...] = ()
  per_file_ignores: tuple[PerFileIgnore, ...] = ()
  foreign: frozenset[str] = frozenset()


class Settings:
  """The configurations of one run, by folder.

  A file has the configuration of the nearest pyproject.toml with `[tool.migrator]` above it; one
  that has none, that of the current folder.

  Attributes:
    problems: one line for each faulty pyproject.toml below the paths; the next one above it
      then counts.
  """

  def __init__(
    self, overrides: Optional[Overrides] = None, file: Optional[str] = None, isolated: bool = False
  ):
    """Reads the configuration of the current folder.

    Args:
      overrides: what the command line says.
      file: take this configuration for all files.
      isolated: take none.

    Raises:
      InputError: a configuration is faulty.
    """
    self.problems: list[str] = []
    self._overrides = overrides or Overrides()
    self._only = config_file.explicit(file) if file else Config() if isolated else None
    self._default = load() if self._only is None else self._only
    self._configs: dict[str, Config] = {}
    self._chosen: dict[Config, Chosen] = {}
    self._foreign: dict[tuple[str, ...], frozenset[str]] = {}

  def start(self, paths: Sequence[str]) -> Config:
    """The configuration of the first path; it decides what holds for the whole run.

    Raises:
      InputError: it is faulty.
    """
    if self._only is not None or not paths:
      return self._default
    first = paths[0]
    config = load(first if os.path.isdir(first) else os.path.dirname(first))
    return self._default if config == Config() else config

  def config(self, folder: str) -> Config:
    """The configuration of a folder."""
    if self._only is not None:
      return self._only
    folder = os.path.abspath(folder)
    found = self._configs.get(folder)
    if found is None:
      try:
        found = config_file.in_folder(folder)
      except InputError as error:
        self.problems.append(error.format_message())
      if found is None:
        parent = os.path.dirname(folder)
        found = self._default if parent == folder else self.config(parent)
      self._configs[folder] = found
    return found

  def configs(self) -> list[Config]:
    """The configurations that were asked for so far."""
    return list(dict.fromkeys((self._default, *self._configs.values())))

  def excludes_of(self, folder: str) -> walk.Excludes:
    """What is left out in a folder, for `walk.find`."""
    config = self.config(folder)
    here = [*self._overrides.exclude, *self._overrides.extend_exclude]
    split = [part for text in here for part in text.split(",") if part]
    own = () if self._overrides.exclude else config.exclude
    return [
      (root, [_pattern(root, p) for p in ps]) for root, ps in ((config.root, own), (".", split))
    ]

  def is_excluded(self, path: str) -> bool:
    """Whether a file is left out although it is named: see `excludes_of`."""
    return walk.matcher(self.excludes_of(os.path.dirname(path)))(path)

  def use_rules(self) -> None:
    """Loads the rules of a team that the configurations name, and checks codes against them.

    Raises:
      InputError: the command line names a code that no rule begins with.
      RuleError: a rule is faulty.
    """
    from migrator.lint import rules

    own: dict[tuple[str, ...], frozenset[str]] = {c.rules: frozenset() for c in self.configs()}
    if len(own) > 1:
      for paths in own:
        rules.use(paths)
        own[paths] = frozenset(rules.load())
    known = frozenset().union(*own.values())
    rules.use(tuple(dict.fromkeys(path for paths in own for path in paths)))
    rules.load()
    self._foreign = {paths: known - codes for paths, codes in own.items()}
    self._chosen.clear()
    self.of("")

  def of(self, path: str) -> Chosen:
    """What holds for a file."""
    return self.merged(self.config(os.path.dirname(path)))

  def merged(self, config: Config) -> Chosen:
    """What holds for the files of a configuration."""
    chosen = self._chosen.get(config)
    if chosen is None:
      chosen = self._chosen[config] = self._merge(config)
    return chosen

  def _merge(self, config: Config) -> Chosen:
    given = self._overrides
    select = config_file.check_codes(given.select, "--select")
    extend = config_file.check_codes(given.extend_select, "--extend-select")
    ignore = config_file.check_codes(given.ignore, "--ignore")
    ignores = [_per_file(config.root, pair) for pair in config.per_file_ignores]
    ignores += [_per_file(".", pair) for pair in _pairs(given.per_file_ignores)]
    foreign = self._foreign.get(config.rules, frozenset())
    if select:  # begins anew
      return Chosen(config, select, extend, ignore, tuple(ignores), foreign)
    # A code on the command line also outweighs longer ones of the configuration.
    return Chosen(
      config,
      tuple(_shortened(config.select, ignore)),
      (*_shortened(config.extend_select, ignore), *extend),
      (*(code for code in config.ignore if not code.startswith(extend or ("\0",))), *ignore),
      tuple(ignores),
      foreign,
    )


def _shortened(codes: Sequence[str], prefixes: Sequence[str]) -> list[str]:
  return [next((p for p in prefixes if code.startswith(p)), code) for code in codes]


def _per_file(root: str, pair: tuple[str, Sequence[str]]) -> PerFileIgnore:
  pattern, codes = pair
  inverted = pattern.startswith("!")
  matches: Callable[[str], bool] = walk.matcher([(root, [_pattern(root, pattern[inverted:])])])
  return (lambda path: matches(path) != inverted), codes


def _pattern(root: str, pattern: str) -> str:
  """A pattern as `.gitignore` has it; there, `./a.py` and `/home/me/project/a.py` name nothing."""
  negated = pattern.startswith("!")
  plain = pattern[negated:]
  absolute = os.path.join(os.path.abspath(root), "").replace(os.sep, "/")
  for start in ("./", absolute):
    rest = plain[len(start) :].lstrip("/")
    if plain.startswith(start) and rest:
      return "!" * negated + "/" + rest
  return pattern


def _pairs(given: Sequence[str]) -> list[tuple[str, tuple[str, ...]]]:
  """The pairs in `PATTERN:CODE,CODE,PATTERN:CODE`. Raises InputError."""
  found: list[tuple[str, list[str]]] = []
  for text in given:
    pattern = ""
    for part in filter(None, (part.strip() for part in text.split(","))):
      before, colon, code = part.rpartition(":")
      if colon:
        pattern = before.strip()
        found.append((pattern, []))
      if not pattern or not code:
        raise InputError(f"--per-file-ignores: {text!r} is not of the form PATTERN:CODES")
      found[-1][1].append(code)
  where = "--per-file-ignores"
  return [(pattern, config_file.check_codes(codes, where)) for pattern, codes in found]
