"""The rules: one TOML file each, read once and checked.

`load` gives all that are in use: those of the package, and those that a team adds with `use`.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Mapping, Sequence
from typing import Any, Optional, Union

from migrator.analysis.span import Span
from migrator.lint import derived, rule
from migrator.lint.finding import Finding
from migrator.lint.rule import FIXES, REPORTERS, Example, Match, Rule, RuleError

__all__ = [
  "FIXES",
  "REPORTERS",
  "Example",
  "Match",
  "Rule",
  "RuleError",
  "directory",
  "finding",
  "fingerprint",
  "load",
  "plugins",
  "read",
  "use",
  "words",
]

_PACKAGE = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
# Absolute paths of files and folders of rules besides our own.
_plugins: tuple[str, ...] = ()


def directory() -> str:
  """Returns the folder of the rule files: inside the installed package, else in the checkout.

  Raises:
    RuleError: there is none.
  """
  candidates = [os.path.join(p, "rules") for p in (_PACKAGE, os.path.dirname(_PACKAGE))]
  for candidate in candidates:
    if os.path.isdir(candidate):
      return candidate
  raise RuleError(f"no rule files: neither {candidates[0]} nor {candidates[1]} exists")


def use(paths: Sequence[str], root: str = ".") -> None:
  """Chooses which rules `load` gives besides our own, in this process; replaces the last choice.

  Args:
    paths: rule files, or folders of rule files (not of folders). They are read when rules are
      asked for, and anew after each `use`.
    root: what relative paths are relative to.
  """
  global _plugins
  _plugins = tuple(dict.fromkeys(os.path.abspath(os.path.join(root, path)) for path in paths))
  _load.cache_clear()
  _words.cache_clear()


def plugins() -> tuple[str, ...]:
  """What `use` chose, as absolute paths: hand it to `use` in another process."""
  return _plugins


def load(folder: Optional[str] = None) -> Mapping[str, Rule]:
  """Reads all rules in use; or those of one folder only, as if they were our own.

  Returns:
    Rules by code, in the order of their codes, a team's own ones last.

  Raises:
    RuleError: a file is faulty; the message names the file and the key.
    OSError: a file cannot be read.
  """
  return _load(folder, _plugins if folder is None else ())


def read(path: Union[str, os.PathLike[str]], *, plugin: bool = False) -> Rule:
  """Reads one rule file; see `rule_file.read`."""
  import pathlib

  from migrator.lint import rule_file  # only here: what is compiled needs no TOML

  return rule_file.read(pathlib.Path(path), plugin=plugin)


def fingerprint() -> str:
  """A hash of the files of all rules in use: other rules, other text.

  Raises:
    RuleError: there is no such folder.
    OSError: a file cannot be read.
  """
  own = _compiled(str(directory())).digest
  added = _plugin_files(_plugins)
  return own + derived.content_hash(added) if added else own


def words() -> tuple[str, ...]:
  """A text in which the `[[match]]` of any rule can flag anything contains one of these words."""
  return _words(_plugins)


def finding(
  code: str, span: Span, path: str, *, cell: Optional[int] = None, **values: Any
) -> Finding:
  """Makes the finding of a rule at a place.

  Args:
    code: the rule.
    span: the place.
    path: the file as the user named it.
    cell: 1-based number of the notebook cell.
    **values: what the rule's message needs; others are ignored.

  Raises:
    RuleError: there is no such rule, or its message needs a value that is not given.
  """
  found = load().get(code)
  if found is None:
    raise RuleError(f"there is no rule {code}")
  return Finding(code, found.name, found.format(values), path, span, found.fix, cell)


@functools.lru_cache(maxsize=8)
def _words(plugin_paths: tuple[str, ...]) -> tuple[str, ...]:
  known = _load(None, plugin_paths).values()
  return tuple(sorted({word for each in known for word in each.words}))


@functools.lru_cache(maxsize=8)
def _load(folder: Optional[str], plugin_paths: tuple[str, ...]) -> Mapping[str, Rule]:
  own = _own(folder)
  names = {known.name: known.code for known in own.values()}
  added: dict[str, Rule] = {}
  for path in _plugin_files(plugin_paths):
    _add(read(path, plugin=True), path, added, names)
  return {**own, **dict(sorted(added.items()))}


@functools.lru_cache(maxsize=8)
def _own(folder: Optional[str]) -> Mapping[str, Rule]:
  if folder is not None:
    return _read_all(folder)
  plain = _compiled(str(directory())).value
  return {data["code"]: rule.from_plain(data) for data in plain}


@functools.lru_cache(maxsize=8)
def _compiled(folder: str) -> derived.Derived:
  """Our own rules as plain values: read and checked now, or when they last changed."""

  def make() -> list[dict[str, Any]]:
    return [rule.to_plain(found) for found in _read_all(folder).values()]

  here = os.path.dirname(os.path.abspath(__file__))
  code = [os.path.join(here, name) for name in ("rule.py", "rule_file.py")]
  return derived.get("rules", [*code, *_files(folder)], make)


def _read_all(place: str) -> Mapping[str, Rule]:
  found: dict[str, Rule] = {}
  names: dict[str, str] = {}
  files = _files(place)
  if not files:
    raise RuleError(f"{place}: no rule files (*.toml)")
  for path in files:
    _add(read(path), path, found, names)
  return dict(sorted(found.items()))


def _add(new: Rule, path: str, found: dict[str, Rule], names: dict[str, str]) -> None:
  if new.code in found:
    raise RuleError(f"{path}: code {new.code} is already taken by {found[new.code].name}")
  if new.name in names:
    raise RuleError(f"{path}: name {new.name!r} is already taken by {names[new.name]}")
  found[new.code] = new
  names[new.name] = new.code


def _files(folder: str) -> list[str]:
  """The rule files in a folder."""
  return [os.path.join(folder, n) for n in sorted(os.listdir(folder)) if n.endswith(".toml")]


def _plugin_files(paths: Sequence[str]) -> list[str]:
  found: dict[str, None] = {}
  for path in paths:
    if not os.path.exists(path):
      raise RuleError(f"{path}: there is no such file or folder of rules")
    files = _files(path) if os.path.isdir(path) else [path]
    if not files:
      raise RuleError(f"{path}: no rule files (*.toml)")
    found.update(dict.fromkeys(files))
  return list(found)
