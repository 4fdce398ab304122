"""What a rule is."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple, Optional

FIXES = ("safe", "review", "manual")
REPORTERS = ("lint", "rewrite")
PLACES = ("name", "call", "argument", "value")


class RuleError(ValueError):
  """A rule file, or the use of a rule, is faulty. The message names the file or the code."""


class Example(NamedTuple):
  """Code that a rule flags (`bad`), what to write instead (`good`), code that it lets pass (`ok`)."""

  bad: str = ""
  good: str = ""
  ok: str = ""


class Match(NamedTuple):
  """What a rule flags, told without Python. All conditions must hold.

  Attributes:
    symbols: canonical dotted names, of any package; "a.b.*" for all below `a.b`.
    keyword: name of the argument that the conditions are about; "" for none.
    position: its 0-based position, where a call may give it by position.
    missing: whether the call must lack the argument.
    none: whether the argument must be None.
    value: literal values, one of which the argument must have; () for any.
    below, above: limits that a number must stay below, or above.
    pattern: regular expression that a string must contain; "" for any.
    at: the place of the finding: "name", "call", "argument" (`keyword=value`) or "value".
    replacement: template of what the text of this place becomes; None where there is no fix.
  """

  symbols: tuple[str, ...]
  keyword: str = ""
  position: Optional[int] = None
  missing: bool = False
  none: bool = False
  value: tuple[Any, ...] = ()
  below: Optional[float] = None
  above: Optional[float] = None
  pattern: str = ""
  at: str = "name"
  replacement: Optional[str] = None

  @property
  def about_argument(self) -> bool:
    """Whether it looks at an argument."""
    return bool(self.keyword) or self.position is not None

  @property
  def calls_only(self) -> bool:
    """Whether it flags calls only; else every use of a symbol, also its import."""
    return self.about_argument or self.at != "name"


class Rule(NamedTuple):
  """One rule.

  Attributes:
    code: "EM" and three digits; a plugin's: other capital letters and digits.
    name: kebab-case name.
    message: one sentence; `{placeholders}` are filled from the finding's values.
    why: what goes wrong.
    became: what to write instead.
    removed_in: TensorFlow version that removed or broke it; "" where none did.
    url: a guide.
    fix: "safe", "review" or "manual".
    symbols: canonical names that the rule flags wherever they are used; "tf.x.*" for all below.
    match: what it flags besides; a plugin's rule has nothing else.
    reported_by: "lint", or "rewrite" for what only a rewrite can say.
    values: (placeholder, text) of the message that stands for the rule where there is no code.
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
  match: tuple[Match, ...] = ()
  reported_by: str = "lint"
  values: tuple[tuple[str, str], ...] = ()
  examples: tuple[Example, ...] = ()

  def __hash__(self) -> int:
    # Codes are unique, and the examples of all rules are long to hash for each file.
    return hash(self.code)

  @property
  def plugin(self) -> bool:
    """Whether it is a team's own rule."""
    return not self.code.startswith("EM")

  @property
  def placeholders(self) -> frozenset[str]:
    """Names of the values that the message needs."""
    import string  # 1 ms: needed only for a finding

    return frozenset(f for _, f, _, _ in string.Formatter().parse(self.message) if f)

  @property
  def words(self) -> tuple[str, ...]:
    """A text in which `match` can flag anything contains one of these words."""
    return tuple(sorted({_word(symbol) for match in self.match for symbol in match.symbols}))

  def may_flag(self, text: str) -> bool:
    """Whether a text spells any symbol of `match` at all: cheap, and no call that is flagged less."""
    return any(_spells(text, symbol) for match in self.match for symbol in match.symbols)

  def format(self, values: Mapping[str, Any]) -> str:
    """Returns the message with its placeholders filled.

    Raises:
      RuleError: a placeholder has no value.
    """
    missing = sorted(self.placeholders - set(values))
    if missing:
      raise RuleError(f"{self.code}: the message needs {', '.join(missing)}")
    return self.message.format_map(values)


def to_plain(rule: Rule) -> dict[str, Any]:
  """A rule as dicts, lists and simple values, for JSON."""
  match = [found._asdict() for found in rule.match]
  return {**rule._asdict(), "match": match, "examples": [e._asdict() for e in rule.examples]}


def from_plain(data: Mapping[str, Any]) -> Rule:
  """The rule that `to_plain` made plain, also after JSON; nothing is checked."""
  parts = dict(data)
  parts["symbols"] = tuple(parts.get("symbols", ()))
  parts["match"] = tuple(_match_from_plain(m) for m in parts.get("match", ()))
  parts["values"] = tuple((name, text) for name, text in parts.get("values", ()))
  parts["examples"] = tuple(Example(**e) for e in parts.get("examples", ()))
  return Rule(**parts)


def _match_from_plain(data: Mapping[str, Any]) -> Match:
  lists = {key: tuple(data[key]) for key in ("symbols", "value")}
  return Match(**{**data, **lists})


def _word(symbol: str) -> str:
  """The last part of a symbol: it is spelled out wherever the symbol is imported or reached."""
  parts = symbol.split(".")
  if parts[-1] == "*":
    parts.pop()
  # `import tensorflow as tf` is the one name that is spelled otherwise.
  return "tensorflow" if parts == ["tf"] else parts[-1]


def _spells(text: str, symbol: str) -> bool:
  """Whether a text can mean a symbol: as `.name`, in an import from its module, as a string."""
  word = _word(symbol)
  if word not in text:
    return False
  module = (symbol[:-2] if symbol.endswith(".*") else symbol).rpartition(".")[0]
  package = symbol.partition(".")[0]
  if package in ("tf", "tensorflow"):  # spelled in many ways, also within longer words
    return "tensorflow" in text or "keras" in text
  if not module or re.search(r"from\s+\.", text):
    return re.search(rf"\b{word}\b", text) is not None
  if package not in text:
    return False
  spelled = rf"\.(?:[\s\\]|#.*\n)*{word}\b|from\s+{module}\s+import|[\"']{word}[\"']"
  return re.search(spelled, text) is not None
