"""Map files: which variable of a checkpoint goes where in the model, and what is done to it on the way.

A map file is TOML or JSON:

  [variables]
  "query/kernel" = "bert/layer_0/query/kernel"
  "layer_*/query/kernel" = {from = "bert/layer_*/query/kernel", reshape = [768, 12, 64]}
  "lstm/bias" = {from = "rnn/basic_lstm_cell/bias", gates = "lstm", forget_bias = 1.0}
  "qkv/kernel" = {from = ["q/kernel", "k/kernel"], axis = 1}

  [slots]
  adam_m = "my_m"

  [missing]
  allow = ["head/*"]

  [options]
  weights = "ema"

The keys are the model's names, `<scope>/<layer>/<attribute>`; what a `*` stands for is the same on both
sides. `gates = "keep"` is for a cell of the model that has TF1's order of gates, too. The order of what is
done: rows, split, gates, squeeze, transpose, reshape, cast.
"""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Iterable
from typing import Any, Optional

from migrator.runtime import files
from migrator.runtime.errors import CheckpointError

_KEYS = "from axis rows split gates forget_bias squeeze transpose reshape cast ema".split()
_SECTIONS = ("variables", "slots", "missing", "options")


@dataclasses.dataclass(frozen=True)
class Source:
  """Where a variable of the model comes from.

  Attributes:
    names: variables of the checkpoint; several are joined along `axis`.
    axis: see above.
    steps: what is done, as (what, argument).
    ema: whether the moving average is taken, None for what is asked for in general.
    entry: the key in the map file.
  """

  names: tuple[str, ...]
  axis: int = 0
  steps: tuple[tuple[str, Any], ...] = ()
  ema: Optional[bool] = None
  entry: str = ""


class NameMap:
  """The content of a map file.

  Attributes:
    path: of the file, or "the map".
    slots: TF1's suffix of a slot -> the one in the checkpoint, where a program named it itself.
    missing: patterns of the variables that may be missing.
    weights: "raw" or "ema", None if the file does not say.
  """

  def __init__(self, data: dict, path: str = "the map"):
    """Checks and takes the content of a map file.

    Raises:
      CheckpointError: with the file and the entry, if something in it is not of the form above.
    """
    self.path = path
    self._data = data
    for section, value in data.items():
      if section not in _SECTIONS:
        self._refuse(f"there is no section [{section}], only {', '.join(_SECTIONS)}")
      if not isinstance(value, dict):
        self._refuse(f"[{section}] is no table")
    variables = data.get("variables", {})
    if not variables and not data.get("slots"):
      self._refuse("it names nothing: [variables] is missing or empty")
    self._sources = {name: self._source(name, value) for name, value in variables.items()}
    self.slots: dict[str, str] = data.get("slots", {})
    for suffix, written in self.slots.items():
      if not isinstance(written, str):
        self._refuse(f"[slots] {suffix} is the suffix of a slot in the checkpoint, not {written!r}")
    self.missing = self._strings("missing", "allow", data.get("missing", {}))
    options = data.get("options", {})
    for key in options:
      if key != "weights":
        self._refuse(f"[options] has no {key}, only weights")
    self.weights: Optional[str] = options.get("weights")
    if self.weights not in (None, "raw", "ema"):
      self._refuse(f'weights is "raw" or "ema", not {self.weights!r}')

  @classmethod
  def read(cls, path: str) -> NameMap:
    """Reads a map file: JSON if it ends with `.json`, else TOML.

    Raises:
      CheckpointError: if it cannot be read.
    """
    try:
      text = files.read(path).decode("utf-8")
      if path.endswith(".json"):
        return cls(json.loads(text, object_pairs_hook=_without_repeats), path)
      return cls(_toml().loads(text), path)
    except OSError as error:
      raise CheckpointError(f"{path}: {error.strerror or error}") from error
    except CheckpointError:
      raise
    except ValueError as error:  # TOMLDecodeError, JSONDecodeError, UnicodeDecodeError
      raise CheckpointError(f"{path}: {error}") from error

  def to_toml(self) -> str:
    """Returns the map as the text of a TOML file."""
    lines = []
    for section, table in self._data.items():
      lines.append(f"[{section}]")
      lines += [f"{toml_value(key)} = {toml_value(value)}" for key, value in table.items()]
      lines.append("")
    return "\n".join(lines)

  def find(self, name: str) -> Optional[Source]:
    """Returns where a variable of the model comes from, None if the map does not say.

    An exact name wins over a pattern, and the first pattern of the file over the others.
    """
    if name in self._sources:
      return self._sources[name]
    for pattern, source in self._sources.items():
      if "*" not in pattern:
        continue
      match = _regex(pattern).fullmatch(name)
      if match:
        names = tuple(_filled(text, match.groups()) for text in source.names)
        return dataclasses.replace(source, names=names)
    return None

  def check(self, model_names: Iterable[str], checkpoint_names: Iterable[str]) -> None:
    """Compares the map with both sides.

    Raises:
      CheckpointError: listing all entries that match no variable of the model, all that name none of
        the checkpoint, and all variables of the checkpoint that would go to two places whole.
    """
    model_names, checkpoint_names = list(model_names), set(checkpoint_names)
    faults = []
    users: dict[tuple, list[str]] = {}
    matched = set()
    for name in model_names:
      source = self.find(name)
      if source is None:
        continue
      matched.add(source.entry)
      faults += [
        f'"{source.entry}": there is no {old} in the checkpoint'
        for old in source.names
        if old not in checkpoint_names
      ]
      users.setdefault((source.names, repr(source.steps)), []).append(name)
    faults += [
      f'"{entry}": no variable of the model has such a name'
      for entry in self._sources
      if entry not in matched
    ]
    faults += [
      f"{' and '.join(names)} would both get {', '.join(old)}"
      for (old, _), names in users.items()
      if len(names) > 1
    ]
    if faults:
      raise CheckpointError("\n  ".join([f"{self.path} does not fit:", *faults]))

  def _source(self, entry: str, value: Any) -> Source:
    """Returns one entry, checked."""
    if isinstance(value, str):
      value = {"from": value}
    if not isinstance(value, dict) or "from" not in value:
      self._refuse(f'"{entry}" needs the name in the checkpoint, or a table with `from`')
    for key in value:
      if key not in _KEYS:
        self._refuse(f'"{entry}": there is no {key}, only {", ".join(_KEYS)}')
    names = value["from"]
    names = [names] if isinstance(names, str) else names
    if not (isinstance(names, list) and names and all(isinstance(n, str) for n in names)):
      self._refuse(f'"{entry}": from is a name, or a list of names')
    for name in names:
      if name.count("*") > entry.count("*"):
        self._refuse(f'"{entry}": {name} has more * than it')
    for key, fits, what in _FORMS:
      if key in value and not fits(value[key]):
        self._refuse(f'"{entry}": {key} is {what}, not {value[key]!r}')
    if "forget_bias" in value and value.get("gates") != "lstm":
      self._refuse(f'"{entry}": forget_bias goes with gates = "lstm"')
    steps = tuple((key, value[key]) for key in _KEYS[2:-1] if key in value)
    return Source(tuple(names), value.get("axis", 0), steps, value.get("ema"), entry)

  def _strings(self, section: str, key: str, table: dict) -> tuple[str, ...]:
    for name in table:
      if name != key:
        self._refuse(f"[{section}] has no {name}, only {key}")
    values = table.get(key, [])
    if not (isinstance(values, list) and all(isinstance(v, str) for v in values)):
      self._refuse(f"[{section}] {key} is a list of names")
    return tuple(values)

  def _refuse(self, what: str) -> None:
    raise CheckpointError(f"{self.path}: {what}.")


def _is_integer(value: Any) -> bool:
  return type(value) is int


def _are_integers(value: Any) -> bool:
  return isinstance(value, list) and all(type(n) is int for n in value)


def _is_split(value: Any) -> bool:
  known = isinstance(value, dict) and set(value) == {"axis", "index", "parts"}
  return known and all(map(_is_integer, value.values())) and value["parts"] > 0


def _is_dtype(value: Any) -> bool:
  return value in ("bfloat16", "bool") or (
    isinstance(value, str) and re.fullmatch(r"(float|u?int)(8|16|32|64)", value) is not None
  )


# (key, whether a value is of its form, the form in words)
_FORMS = (
  ("axis", _is_integer, "an integer"),
  ("rows", lambda v: _are_integers(v) and 1 <= len(v) <= 2, "a list of one or two integers"),
  ("split", _is_split, "a table of the integers axis, index and parts"),
  ("gates", lambda v: v in ("lstm", "gru", "keep"), '"lstm", "gru" or "keep"'),
  ("forget_bias", lambda v: type(v) in (int, float), "a number"),
  ("squeeze", lambda v: v is True or _are_integers(v), "true or a list of integers"),
  (
    "transpose",
    lambda v: _are_integers(v) and sorted(v) == list(range(len(v))),
    "a list of all axes in their new order",
  ),
  ("reshape", _are_integers, "a list of integers"),
  ("cast", _is_dtype, "the name of a type"),
  ("ema", lambda v: isinstance(v, bool), "true or false"),
)


def toml_value(value: Any) -> str:
  """Returns a string, number, boolean, list or table as it stands in one line of a TOML file."""
  if isinstance(value, dict):
    return "{" + ", ".join(f"{k} = {toml_value(v)}" for k, v in value.items()) + "}"
  if isinstance(value, list):
    return "[" + ", ".join(map(toml_value, value)) + "]"
  if isinstance(value, str):
    # JSON escapes what is outside of the basic plane as two surrogates, which TOML does not know.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
  return json.dumps(value)


def _toml() -> Any:
  try:
    import tomllib
  except ImportError:
    try:
      import tomli as tomllib
    except ImportError as error:
      raise CheckpointError(
        "A TOML file needs Python 3.11, or tomli: pip install tomli. Or write it as JSON."
      ) from error
  return tomllib


def _without_repeats(pairs: list) -> dict:
  """Returns the object; a name that stands in it twice is an error, as in TOML."""
  result = dict(pairs)
  if len(result) != len(pairs):
    names = [name for name, _ in pairs]
    raise ValueError(f"{next(n for n in names if names.count(n) > 1)!r} stands in it twice")
  return result


def _regex(pattern: str) -> re.Pattern:
  return re.compile("(.*)".join(re.escape(part) for part in pattern.split("*")))


def _filled(text: str, groups: tuple) -> str:
  """Returns a text with what each `*` stands for."""
  parts = text.split("*")
  return "".join(part + group for part, group in zip(parts, (*groups, ""))) if groups else text
