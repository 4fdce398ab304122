"""From a TOML file to a rule: every key is checked, and what is wrong is named with its line."""

from __future__ import annotations

import codecs
import difflib
import pathlib
import re
import string
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from migrator.analysis import symbols
from migrator.lint.rule import FIXES, PLACES, REPORTERS, Example, Match, Rule, RuleError

if sys.version_info >= (3, 11):
  import tomllib
else:
  import tomli as tomllib

_CODE = re.compile(r"EM\d{3}")
_PLUGIN_CODE = re.compile(r"[A-Z]+[0-9]+")
_NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_SYMBOL = re.compile(r"[A-Za-z_]\w*(\.\w+)*(\.\*)?")
_REQUIRED = ("code", "name", "message", "why", "became", "url", "fix")
_PLUGIN_REQUIRED = ("code", "name", "message", "why")
# Key -> types, what they are called.
_KEYS: dict[str, tuple[tuple[type, ...], str]] = {
  **dict.fromkeys((*_REQUIRED, "removed_in", "reported_by"), ((str,), "a string")),
  "symbols": ((list,), "a list of dotted names"),
  "match": ((list,), "written as [[match]]"),
  "values": ((dict,), "a table"),
  "examples": ((list,), "written as [[examples]]"),
}
_MATCH_KEYS: dict[str, tuple[tuple[type, ...], str]] = {
  "symbols": ((list,), "a list of dotted names"),
  "keyword": ((str,), "a string"),
  "position": ((int,), "a number from 0"),
  "missing": ((bool,), "true or false"),
  "none": ((bool,), "true or false"),
  "value": ((str, int, float, bool, list), "a string, a number, true, false, or a list of them"),
  "below": ((int, float), "a number"),
  "above": ((int, float), "a number"),
  "pattern": ((str,), "a string"),
  "at": ((str,), "a string"),
  "replacement": ((str,), "a string"),
}
_EXAMPLE_KEYS: dict[str, tuple[tuple[type, ...], str]] = dict.fromkeys(
  ("bad", "good", "ok"), ((str,), "a string")
)


class _Fault(Exception):
  """What is wrong, at which key of which `[[table]]` (its name and number)."""

  def __init__(self, text: str, key: str = "", table: str = "", number: int = 0):
    super().__init__(text)
    self.key, self.table, self.number = key, table, number


def read(path: pathlib.Path, *, plugin: bool = False) -> Rule:
  """Reads one rule file.

  Args:
    path: the file.
    plugin: whether it is a team's own rule: its code is not EM's, it needs a `[[match]]`.

  Raises:
    RuleError: it is no valid rule; the message names the file, the line and the key.
    OSError: it cannot be read.
  """
  raw = path.read_bytes().removeprefix(codecs.BOM_UTF8)
  try:
    text = raw.decode("utf-8").replace("\r\n", "\n").replace("\r", "\n")
    data = tomllib.loads(text)
  except UnicodeDecodeError as error:
    line = raw[: error.start].count(b"\n") + 1
    raise RuleError(f"{path}:{line}: byte 0x{raw[error.start]:02x} is not UTF-8") from error
  except tomllib.TOMLDecodeError as error:
    raise RuleError(f"{path}: {error}") from error
  try:
    return _rule(data, plugin)
  except _Fault as fault:
    line = _line(text, fault)
    place = f"{path}:{line}" if line else f"{path}"
    raise RuleError(f"{place}: {fault}") from fault


def _line(text: str, fault: _Fault) -> int:
  """The 1-based line of the key, else of its table, that is at fault; 0 for the whole file."""
  number, found, here = 0, 0, ""
  for line, content in enumerate(text.splitlines(), start=1):
    header = re.match(r"\s*\[\[?\s*(\w+)\s*\]?\]", content)
    if header:
      here = header[1]
      if not fault.table and here == fault.key:
        return line
      number += here == fault.table
      if here == fault.table and number == fault.number:
        found = line
    inside = here == fault.table and (not fault.table or number == fault.number)
    if inside and fault.key and re.match(rf"\s*[\"']?{re.escape(fault.key)}[\"']?\s*=", content):
      return line
  return found


def _rule(data: dict[str, Any], plugin: bool) -> Rule:
  """The rule in the data of a TOML file. Raises _Fault."""
  _check_keys(data, _KEYS)
  for key in _PLUGIN_REQUIRED if plugin else _REQUIRED:
    if key not in data:
      raise _Fault(f"{key!r} is missing")
  texts = {key: data.get(key, "").strip() for key in (*_REQUIRED, "removed_in")}
  for key in _REQUIRED:
    if key in data and not texts[key]:
      raise _Fault(f"{key!r} is empty", key)
  _check_code(texts["code"], plugin)
  if not _NAME.fullmatch(texts["name"]):
    raise _Fault(f"'name' must be in kebab-case, is {texts['name']!r}", "name")
  texts["fix"] = texts["fix"] or "manual"
  _check_choice("fix", texts["fix"], FIXES)
  reporter = data.get("reported_by", "lint")
  _check_choice("reported_by", reporter, REPORTERS)
  if texts["url"] and not re.match(r"https?://\S+$", texts["url"]):
    raise _Fault(f"'url' must begin with https:// or http://, is {texts['url']!r}", "url")
  if "\n" in texts["message"]:
    raise _Fault("'message' must be one line", "message")
  if plugin and "symbols" in data:
    raise _Fault("'symbols' of a rule of your own belongs below [[match]]", "symbols")
  if plugin and not data.get("match"):
    raise _Fault("at least one [[match]] is needed")
  fields = set(_fields("message", texts["message"]))
  matches = tuple(_match(m, n) for n, m in enumerate(data.get("match", ()), start=1))
  for number, match in enumerate(matches, start=1):
    _check_message(fields, match, number)
  examples = data.get("examples", [])
  if not examples:
    raise _Fault("at least one [[examples]] is needed")
  return Rule(
    symbols=_symbols(data.get("symbols", [])),
    match=matches,
    reported_by=reporter,
    values=_values(data.get("values", {}), fields),
    examples=tuple(_example(e, n) for n, e in enumerate(examples, start=1)),
    **texts,
  )


def _check_keys(
  data: Any, known: Mapping[str, tuple[tuple[type, ...], str]], table: str = "", number: int = 0
) -> None:
  """Raises _Fault for a key that is unknown or has a value of a wrong type."""
  if not isinstance(data, dict):
    raise _Fault(f"{table!r} must be written as [[{table}]]", table)
  where = f" in [[{table}]]" if table else ""
  for key, value in data.items():
    if key not in known:
      near = difflib.get_close_matches(key, known, n=1)
      hint = f"do you mean {near[0]!r}?" if near else f"known are {', '.join(sorted(known))}"
      raise _Fault(f"unknown key {key!r}{where}; {hint}", key, table, number)
    types, meaning = known[key]
    # A bool is an int to Python, and not to TOML.
    if not isinstance(value, types) or (isinstance(value, bool) and bool not in types):
      raise _Fault(f"{key!r}{where} must be {meaning}, is {value!r}", key, table, number)


def _check_code(code: str, plugin: bool) -> None:
  if plugin and code.upper().startswith("EM"):
    raise _Fault(f"'code' must not begin with EM, which is migrator's own, is {code!r}", "code")
  if plugin and not _PLUGIN_CODE.fullmatch(code):
    raise _Fault(f"'code' must be capital letters and then digits, is {code!r}", "code")
  if not plugin and not _CODE.fullmatch(code):
    raise _Fault(f"'code' must be EM and three digits, is {code!r}", "code")


def _check_choice(
  key: str, value: str, choices: Sequence[str], table: str = "", number: int = 0
) -> None:
  if value not in choices:
    listed = ", ".join(choices)
    raise _Fault(f"{key!r} must be one of {listed}, is {value!r}", key, table, number)


def _fields(key: str, template: str, table: str = "", number: int = 0) -> list[str]:
  """The placeholders of a template, `argument:NAME` with its name."""
  found = []
  try:
    for _, field, spec, conversion in string.Formatter().parse(template):
      if field is not None:
        found.append(f"{field}:{spec}" if spec else field)
        if conversion or not field.isidentifier():
          raise ValueError(f"{{{field}}} is no name")
  except ValueError as error:
    raise _Fault(f"{key!r} is no format string: {error}", key, table, number) from error
  return found


def _match(data: Any, number: int) -> Match:
  """The `[[match]]` of this 1-based number."""
  _check_keys(data, _MATCH_KEYS, "match", number)

  def fault(text: str, key: str = "") -> _Fault:
    return _Fault(text, key, "match", number)

  if not data.get("symbols"):
    raise fault("'symbols' is missing in [[match]]", "symbols")
  given = dict(data)
  given["symbols"] = tuple(map(_canonical, _symbols(data["symbols"], "match", number)))
  if "value" in data:
    values = data["value"] if isinstance(data["value"], list) else [data["value"]]
    if not values or not all(isinstance(v, (str, int, float, bool)) for v in values):
      raise fault("'value' must be strings, numbers, true or false", "value")
    given["value"] = tuple(values)
  match = Match(**given)
  if match.keyword and not match.keyword.isidentifier():
    raise fault(f"'keyword' must be a name, is {match.keyword!r}", "keyword")
  if match.position is not None and match.position < 0:
    raise fault(f"'position' must be a number from 0, is {match.position}", "position")
  conditions = [k for k in ("missing", "none", "value", "below", "above", "pattern") if data.get(k)]
  conditions += [k for k in ("value", "below", "above") if k in data and k not in conditions]
  for key in conditions:
    if not match.about_argument:
      raise fault(f"{key!r} needs 'keyword' or 'position'", key)
  for key in ("missing", "none"):
    if key in conditions and len(conditions) > 1:
      other = next(k for k in conditions if k != key)
      raise fault(f"{key!r} and {other!r} exclude each other", key)
  if match.missing and not match.keyword:
    raise fault("'missing' needs 'keyword'", "missing")
  try:
    re.compile(match.pattern)
  except re.error as error:
    raise fault(f"'pattern' is no regular expression: {error}", "pattern") from error
  _check_choice("at", match.at, PLACES, "match", number)
  if match.at in ("argument", "value") and (not match.about_argument or match.missing):
    raise fault(f"'at' = {match.at!r} needs an argument that is there: 'keyword'", "at")
  if match.replacement is not None:
    _check_replacement(match, number)
  return match


def _check_replacement(match: Match, number: int) -> None:
  allowed = ["symbol", "name", "module"]
  allowed += ["arguments"] if match.calls_only else []
  allowed += ["value"] if match.about_argument and not match.missing else []
  for field in _fields("replacement", match.replacement or "", "match", number):
    head, _, name = field.partition(":")
    if field in allowed or (head == "argument" and name.isidentifier() and match.calls_only):
      continue
    known = ", ".join(f"{{{f}}}" for f in allowed)
    known += ", {argument:NAME}" if match.calls_only else ""
    raise _Fault(
      f"'replacement' cannot have {{{field}}} here; it can have {known}",
      "replacement",
      "match",
      number,
    )


def _check_message(fields: set[str], match: Match, number: int) -> None:
  """Whether this match has a value for all placeholders of the rule's message."""
  known = message_fields(match)
  for field in sorted(fields - set(known)):
    listed = ", ".join(f"{{{f}}}" for f in known)
    raise _Fault(f"'message' cannot have {{{field}}}: [[match]] {number} knows {listed}", "message")


def message_fields(match: Match) -> tuple[str, ...]:
  """The placeholders that a message can have for what this flags."""
  fields = ["symbol", "name"]
  fields += ["keyword"] if match.keyword else []
  fields += ["value"] if match.about_argument and not match.missing else []
  return tuple(fields)


def _symbols(listed: list[Any], table: str = "", number: int = 0) -> tuple[str, ...]:
  if not all(isinstance(s, str) and _SYMBOL.fullmatch(s) for s in listed):
    text = "'symbols' must be a list of dotted names, the last part may be '*'"
    raise _Fault(text, "symbols", table, number)
  return tuple(listed)


def _canonical(symbol: str) -> str:
  """The one name of a symbol that may be spelled as in code: `tf.compat.v1.train.Saver`."""
  head, _, rest = symbol.partition(".")
  below = rest.endswith("*")
  dotted = symbol[:-2] if below else symbol
  if head == "tf":
    dotted = "tensorflow" + dotted[2:]
  return symbols.canonical(dotted).path + (".*" if below else "")


def _values(data: dict[str, Any], fields: set[str]) -> tuple[tuple[str, str], ...]:
  for key, value in data.items():
    if not isinstance(value, str) or not value.strip():
      raise _Fault(f"{key!r} in [values] must be a string that is not empty", key, "values", 1)
    if key not in fields:
      raise _Fault(f"'message' has no {{{key}}}", key, "values", 1)
  return tuple(data.items())


def _example(data: Any, number: int) -> Example:
  _check_keys(data, _EXAMPLE_KEYS, "examples", number)
  for key, value in data.items():
    if not value.strip():
      raise _Fault(f"{key!r} in [[examples]] is empty", key, "examples", number)
  if not data.get("bad") and not data.get("ok"):
    raise _Fault("[[examples]] needs 'bad' or 'ok'", "", "examples", number)
  return Example(**data)
