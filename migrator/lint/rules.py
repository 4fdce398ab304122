"""The rules: one TOML file each, read once and checked."""

from __future__ import annotations

import dataclasses
import functools
import pathlib
import re
import string
import sys
from collections.abc import Mapping
from typing import Any, Optional

from migrator.analysis.module import Span
from migrator.lint.finding import Finding

if sys.version_info >= (3, 11):
  import tomllib
else:
  import tomli as tomllib

FIXES = ("safe", "review", "manual")
REPORTERS = ("lint", "rewrite")
_PACKAGE = pathlib.Path(__file__).resolve().parent.parent
_CODE = re.compile(r"EM\d{3}")
_NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_SYMBOL = re.compile(r"[A-Za-z_]\w*(\.\w+)*(\.\*)?")


class RuleError(ValueError):
  """A rule file, or the use of a rule, is faulty. The message names the file or the code."""


@dataclasses.dataclass(frozen=True)
class Example:
  """Code that a rule flags (`bad`), what to write instead (`good`), code that it lets pass (`ok`)."""

  bad: str = ""
  good: str = ""
  ok: str = ""


@dataclasses.dataclass(frozen=True)
class Rule:
  """One rule.

  Attributes:
    code: "EM" and three digits.
    name: kebab-case name.
    message: one sentence; `{placeholders}` are filled from the finding's values.
    why: what goes wrong.
    became: what to write instead.
    removed_in: TensorFlow version that removed or broke it; "" where none did.
    url: a guide.
    fix: "safe", "review" or "manual".
    symbols: canonical names that the rule flags wherever they are used; "tf.x.*" for all below.
    reported_by: "lint", or "rewrite" for what only a rewrite can say.
    examples: become the tests, the page of `migrator rule CODE` and the documentation.
  """

  code: str
  name: str
  message: str
  why: str
  became: str
  removed_in: str
  url: str
  fix: str
  symbols: tuple[str, ...] = ()
  reported_by: str = "lint"
  examples: tuple[Example, ...] = ()

  @property
  def placeholders(self) -> frozenset[str]:
    """Names of the values that the message needs."""
    return frozenset(f for _, f, _, _ in string.Formatter().parse(self.message) if f)

  def format(self, values: Mapping[str, Any]) -> str:
    """Returns the message with its placeholders filled.

    Raises:
      RuleError: a placeholder has no value.
    """
    missing = sorted(self.placeholders - set(values))
    if missing:
      raise RuleError(f"{self.code}: the message needs {', '.join(missing)}")
    return self.message.format_map(values)


def directory() -> pathlib.Path:
  """Returns the folder of the rule files: inside the installed package, else in the checkout.

  Raises:
    RuleError: there is none.
  """
  candidates = (_PACKAGE / "rules", _PACKAGE.parent / "rules")
  for candidate in candidates:
    if candidate.is_dir():
      return candidate
  raise RuleError(f"no rule files: neither {candidates[0]} nor {candidates[1]} exists")


@functools.cache
def load(folder: Optional[str] = None) -> Mapping[str, Rule]:
  """Reads all rules of a folder (default: `directory()`).

  Returns:
    Rules by code, in the order of their codes.

  Raises:
    RuleError: a file is faulty; the message names the file and the key.
  """
  place = pathlib.Path(folder) if folder is not None else directory()
  found: dict[str, Rule] = {}
  for path in sorted(place.glob("*.toml")):
    rule = read(path)
    if rule.code in found:
      raise RuleError(f"{path}: code {rule.code} is already taken by {found[rule.code].name}")
    if any(rule.name == other.name for other in found.values()):
      raise RuleError(f"{path}: name {rule.name!r} is already taken")
    found[rule.code] = rule
  if not found:
    raise RuleError(f"{place}: no rule files (*.toml)")
  return dict(sorted(found.items()))


def read(path: pathlib.Path) -> Rule:
  """Reads one rule file.

  Raises:
    RuleError: it is no valid rule; the message names the file and the key or the line.
  """
  try:
    data = tomllib.loads(path.read_text(encoding="utf-8"))
  except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
    raise RuleError(f"{path}: {error}") from error
  try:
    return _checked(data)
  except RuleError as error:
    raise RuleError(f"{path}: {error}") from error


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
  rule = load().get(code)
  if rule is None:
    raise RuleError(f"there is no rule {code}")
  return Finding(code, rule.name, rule.format(values), path, span, rule.fix, cell)


def _checked(data: dict[str, Any]) -> Rule:
  """The rule in the data of a TOML file. Raises RuleError naming the key."""
  known = {field.name for field in dataclasses.fields(Rule)}
  unknown = sorted(set(data) - known)
  if unknown:
    raise RuleError(f"unknown key {unknown[0]!r}; known are {', '.join(sorted(known))}")
  texts = {}
  for key in ("code", "name", "message", "why", "became", "removed_in", "url", "fix"):
    value = data.get(key)
    if not isinstance(value, str):
      raise RuleError(f"{key!r} is missing or no string")
    if not value.strip() and key != "removed_in":
      raise RuleError(f"{key!r} is empty")
    texts[key] = value.strip()
  if not _CODE.fullmatch(texts["code"]):
    raise RuleError(f"'code' must be EM and three digits, is {texts['code']!r}")
  if not _NAME.fullmatch(texts["name"]):
    raise RuleError(f"'name' must be in kebab-case, is {texts['name']!r}")
  if texts["fix"] not in FIXES:
    raise RuleError(f"'fix' must be one of {', '.join(FIXES)}, is {texts['fix']!r}")
  if "\n" in texts["message"]:
    raise RuleError("'message' must be one line")
  try:
    list(string.Formatter().parse(texts["message"]))
  except ValueError as error:
    raise RuleError(f"'message' is no format string: {error}") from error
  reporter = data.get("reported_by", "lint")
  if reporter not in REPORTERS:
    raise RuleError(f"'reported_by' must be one of {', '.join(REPORTERS)}, is {reporter!r}")
  symbols = data.get("symbols", [])
  if not isinstance(symbols, list) or not all(
    isinstance(s, str) and _SYMBOL.fullmatch(s) for s in symbols
  ):
    raise RuleError("'symbols' must be a list of dotted names, the last part may be '*'")
  examples = data.get("examples", [])
  if not isinstance(examples, list) or not examples:
    raise RuleError("at least one [[examples]] is needed")
  return Rule(
    symbols=tuple(symbols),
    reported_by=reporter,
    examples=tuple(_example(e) for e in examples),
    **texts,
  )


def _example(data: Any) -> Example:
  parts = ("bad", "good", "ok")
  if not isinstance(data, dict) or not set(data) <= set(parts):
    raise RuleError("an example has the keys bad, good and ok")
  if not all(isinstance(v, str) and v.strip() for v in data.values()):
    raise RuleError("the parts of an example are strings that are not empty")
  if not data.get("bad") and not data.get("ok"):
    raise RuleError("an example needs 'bad' or 'ok'")
  return Example(**data)
