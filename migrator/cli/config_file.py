"""The table `[tool.migrator]` of a TOML file: read and checked, every fault with its line."""

from __future__ import annotations

import codecs
import os
import re
import sys
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, Optional

import click

NAME = "pyproject.toml"
TARGETS = ("auto", "fit", "loop")
# Option -> what it must be.
_KINDS = {
  "select": "list",
  "extend-select": "list",
  "ignore": "list",
  "per-file-ignores": "table",
  "exclude": "list",
  "extend-exclude": "list",
  "rules": "list",
  "baseline": "string",
  "cache-dir": "string",
  "source-version": "version",
  "target": "target",
}


class InputError(click.ClickException):
  """Input that cannot be used. One line on stderr, exit code 2."""

  exit_code = 2


class Config(NamedTuple):  # a dataclass takes a millisecond of every start
  """What one table says.

  Attributes:
    root: folder to which its paths and patterns are relative.
    select, extend_select, ignore: rule codes, or beginnings of them.
    per_file_ignores: pairs of a pattern and codes.
    exclude: patterns as in a .gitignore file.
    rules: files and folders of rules, absolute.
    baseline: file of known findings, absolute; None: there is none.
    cache_dir: folder of the cache, absolute; None: the default one.
    source_version: 1 or 2: what plain `tf.estimator.X` means; None: decide by the file.
    target: "auto", "fit" or "loop".
  """

  root: str = "."
  select: tuple[str, ...] = ()
  extend_select: tuple[str, ...] = ()
  ignore: tuple[str, ...] = ()
  per_file_ignores: tuple[tuple[str, tuple[str, ...]], ...] = ()
  exclude: tuple[str, ...] = ()
  rules: tuple[str, ...] = ()
  baseline: Optional[str] = None
  cache_dir: Optional[str] = None
  source_version: Optional[int] = None
  target: str = "auto"


def in_folder(folder: str) -> Optional[Config]:
  """The table of a folder's pyproject.toml; None where there is none.

  Raises:
    InputError: the file or a value is faulty; the message names file, line and key.
  """
  path = os.path.join(folder, NAME)
  if not os.path.isfile(path):
    return None
  raw = _read(path)
  if b"migrator" not in raw:  # not even parsed
    return None
  text, data = _parsed(raw, path)
  tool = data.get("tool")
  if not isinstance(tool, dict) or "migrator" not in tool:
    return None
  return _Table(tool["migrator"], text, path).config(folder)


def explicit(path: str) -> Config:
  """The configuration in a file that the user names; its paths are relative to this folder.

  A file without the table `[tool.migrator]` has the options at its top.

  Raises:
    InputError: see `in_folder`.
  """
  text, data = _parsed(_read(path), path)
  tool = data.get("tool")
  if isinstance(tool, dict) and "migrator" in tool:
    return _Table(tool["migrator"], text, path).config(os.getcwd())
  if os.path.basename(path) == NAME:
    raise InputError(f"{path}: it has no table [tool.migrator]")
  return _Table(data, text, path, header="").config(os.getcwd())


def check_codes(given: Sequence[str], where: str) -> tuple[str, ...]:
  """Rule codes, or beginnings of them, from lists with commas; ALL means all.

  Raises:
    InputError: no rule in use has such a code.
  """
  found = [part.strip().upper() for text in given for part in text.split(",") if part.strip()]
  if not found:
    return ()
  from migrator.lint import rules

  known = rules.load()
  for prefix in found:
    if prefix != "ALL" and not any(code.startswith(prefix) for code in known):
      names = {rule.name: code for code, rule in known.items()}
      raise InputError(f"{where}: no rule begins with {prefix!r}; {_advice(prefix, known, names)}")
  return tuple("" if prefix == "ALL" else prefix for prefix in found)


def _advice(prefix: str, codes: Any, names: dict[str, str]) -> str:
  near = _near(prefix, codes, 0.75) or [names[n] for n in _near(prefix.lower(), names, 0.75)]
  return f"do you mean {near[0]}?" if near else "see `migrator rules`."


def _near(word: str, words: Iterable[str], cutoff: float) -> list[str]:
  import difflib

  return difflib.get_close_matches(word, list(words), n=1, cutoff=cutoff)


def _read(path: str) -> bytes:
  try:
    with open(path, "rb") as file:
      return file.read()
  except OSError as error:
    raise InputError(f"{path}: {error.strerror or error}") from error


def _parsed(raw: bytes, path: str) -> tuple[str, dict[str, Any]]:
  raw = raw.removeprefix(codecs.BOM_UTF8)  # editors on Windows write it; TOML does not know it
  try:
    text = raw.decode("utf-8")
  except UnicodeDecodeError as error:
    line = raw[: error.start].count(b"\n") + 1
    raise InputError(f"{path}:{line}: byte 0x{raw[error.start]:02x} is not UTF-8") from error
  if sys.version_info >= (3, 11):
    import tomllib
  else:
    import tomli as tomllib
  try:
    return text, tomllib.loads(text)
  except tomllib.TOMLDecodeError as error:
    raise InputError(f"{path}: {error}") from error


class _Table:
  """One table, while it is checked."""

  def __init__(self, table: Any, text: str, path: str, header: str = "tool.migrator"):
    self._table = table
    self._text = text
    self._path = path
    self._header = header

  def config(self, root: str) -> Config:
    """The values, checked. Raises InputError."""
    if not isinstance(self._table, dict):
      raise InputError(f"{self._path}: [{self._header}] must be a table")
    for key, value in self._table.items():
      if key not in _KINDS:
        near = _near(key, _KINDS, 0.6)
        advice = f"do you mean {near[0]}?" if near else f"there are {', '.join(_KINDS)}"
        self._fail(key, f"has no option {key!r}; {advice}")
      getattr(self, f"_check_{_KINDS[key]}")(key, value)
    rule_paths = tuple(os.path.normpath(os.path.join(root, p)) for p in self._strings("rules"))
    ignores = self._table.get("per-file-ignores", {})
    if rule_paths or ignores or any(map(self._strings, ("select", "extend-select", "ignore"))):
      # The codes below may be codes of these rules.
      from migrator.lint import rules

      rules.use(rule_paths)
    return Config(
      root=root,
      select=self._codes("select"),
      extend_select=self._codes("extend-select"),
      ignore=self._codes("ignore"),
      per_file_ignores=tuple(
        (pattern, check_codes(codes, self._where("per-file-ignores", pattern)))
        for pattern, codes in ignores.items()
      ),
      exclude=self._strings("exclude") + self._strings("extend-exclude"),
      rules=rule_paths,
      baseline=self._place("baseline", root),
      cache_dir=self._place("cache-dir", root),
      source_version=self._table.get("source-version"),
      target=self._table.get("target", "auto"),
    )

  def _check_list(self, key: str, value: Any) -> None:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
      self._fail(key, f"{key} must be a list of strings")

  def _check_table(self, key: str, value: Any) -> None:
    if not isinstance(value, dict):
      self._fail(key, f"{key} must be a table from patterns to lists of codes")
    for pattern, codes in value.items():
      if not isinstance(codes, list) or not all(isinstance(item, str) for item in codes):
        self._fail(pattern, f"{key}: {pattern!r} must be a list of strings")

  def _check_string(self, key: str, value: Any) -> None:
    if not isinstance(value, str) or not value:
      self._fail(key, f"{key} must be a path")

  def _check_version(self, key: str, value: Any) -> None:
    if isinstance(value, bool) or value not in (1, 2):
      self._fail(key, f"{key} must be 1 or 2, is {value!r}")

  def _check_target(self, key: str, value: Any) -> None:
    if value not in TARGETS:
      self._fail(key, f"{key} must be one of {', '.join(TARGETS)}, is {value!r}")

  def _strings(self, key: str) -> tuple[str, ...]:
    return tuple(self._table.get(key, ()))

  def _place(self, key: str, root: str) -> Optional[str]:
    value = self._table.get(key)
    return None if value is None else os.path.normpath(os.path.join(root, value))

  def _codes(self, key: str) -> tuple[str, ...]:
    return check_codes(self._strings(key), self._where(key, key))

  def _where(self, key: str, place: str) -> str:
    line = self._line(place)
    file = self._path if line is None else f"{self._path}:{line}"
    table = f"[{self._header}] " if self._header else ""
    return f"{file}: {table}{key}"

  def _fail(self, key: str, text: str) -> None:
    table = f"[{self._header}] " if self._header else ""
    line = self._line(key)
    raise InputError(f"{self._path}{'' if line is None else f':{line}'}: {table}{text}")

  def _line(self, key: str) -> Optional[int]:
    """The line in which a key of the table is set; None if it is not written plainly."""
    wanted = re.compile(
      rf"(?:(?:[\w\"']+\s*[.]\s*)*|.*[{{,]\s*)[\"']?{re.escape(key)}[\"']?\s*[.=\]]"
    )
    inside = not self._header
    for number, line in enumerate(self._text.splitlines(), start=1):
      text = line.strip()
      if text.startswith("["):
        header = re.sub(r"[\s\"']", "", text.strip("[]"))
        inside = header == self._header.split(".")[0] or header.startswith(self._header)
        if header == f"{self._header}.{key}":
          return number
      elif inside and wanted.match(text):
        return number
    return None
