"""`tf.contrib.training.HParams`: hyperparameters as attributes, which a text or a dict overrides."""

from __future__ import annotations

import json
import numbers
import re
from collections.abc import Callable, Mapping
from typing import Any, Optional

__all__ = ["HParams", "parse_values"]

# `name = value`, `name[1] = value` or `name = [values]`, and the comma behind it.
_ASSIGNMENT = re.compile(
  r"(?P<name>[a-zA-Z][\w\.]*)(?:\[\s*(?P<index>\d+)\s*\])?\s*=\s*"
  r"(?:(?P<value>[^,\[]*)|\[(?P<values>[^\]]*)\])(?:$|,\s*)"
)
_TRUE, _FALSE = ("true", "True"), ("false", "False")


def parse_values(
  values: str, type_map: Mapping[str, type], ignore_unknown: bool = False
) -> dict[str, Any]:
  """Returns {name: value} of a text such as "rate=0.1,sizes=[3,4],sizes[0]=5".

  Args:
    values: the text; a value of an index comes as {index: value}.
    type_map: the type of each name, or of the elements of its list.
    ignore_unknown: whether other names are passed over.

  Raises:
    ValueError: if it has another form, an unknown name, a value of another type, or two values for one.
  """
  found: dict[str, Any] = {}
  position = 0
  while position < len(values):
    match = _ASSIGNMENT.match(values, position)
    if match is None:
      raise ValueError(f"Malformed hyperparameter value: {values[position:]}")
    position = match.end()
    name = match["name"]
    if name in type_map:
      _assign(found, match, _parser(type_map[name]), type_map[name], values)
    elif not ignore_unknown:
      raise ValueError(f"Unknown hyperparameter type for {name}")
  return found


def _parser(kind: type) -> Callable[[str], Any]:
  if kind is not bool:
    return kind
  return lambda text: text in _TRUE or (text not in _FALSE and bool(int(text)))


def _assign(found: dict, match: re.Match, parse: Callable, kind: type, values: str) -> None:
  """Adds what one assignment gives."""
  name, given = match["name"], match["value"] if match["values"] is None else match["values"]
  index = None if match["index"] is None else int(match["index"])
  if match["values"] is not None and index is not None:
    raise ValueError("Assignment of a list to a list index.")
  indexed = found.get(name)
  if name in found and (index is None or not isinstance(indexed, dict) or index in indexed):
    what = name if index is None or not isinstance(indexed, dict) else f"{name}[{index}]"
    raise ValueError(f"Multiple assignments to variable '{what}' in {values}")
  try:
    if match["values"] is None:
      value = parse(given)
    else:
      value = [parse(one) for one in re.split("[ ,]", given) if one]
  except ValueError as error:
    raise ValueError(
      f"Could not parse hparam '{name}' of type '{kind.__name__}' with value '{given}' in {values}"
    ) from error
  if index is None:
    found[name] = value
  else:
    found.setdefault(name, {})[index] = value


def _cast(name: str, kind: Any, value: Any) -> Any:
  """Returns a value as one of a type, if nothing is lost.

  Raises:
    ValueError: if it may be lost: a float for an int, text for a number, a number for a bool.
  """
  if type(value) is kind or issubclass(kind, type(None)):
    return value
  wrong = issubclass(kind, (str, bytes)) and not isinstance(value, (str, bytes))
  wrong = wrong or issubclass(kind, bool) != isinstance(value, bool)
  for number in (numbers.Integral, numbers.Number):
    wrong = wrong or (issubclass(kind, number) and not isinstance(value, number))
  if wrong:
    raise ValueError(f"Could not cast hparam '{name}' of type '{kind}' from value {value!r}")
  return kind(value)


class HParams:
  """Hyperparameters with their types.

  Args:
    hparam_def: None; the protocol buffer of TF1 is gone.
    model_structure: kept for `get_model_structure`.
    **kwargs: their values: bool, int, float or str, or lists of these.

  Raises:
    ValueError: for an empty list, a name of a method, or an `hparam_def`.
  """

  def __init__(self, hparam_def: Any = None, model_structure: Any = None, **kwargs: Any):
    if hparam_def:
      raise ValueError("`hparam_def` is a message that TF2 does not have: give the values by name.")
    # Name -> type, and whether it is that of the elements of a list.
    self._hparam_types: dict[str, tuple[type, bool]] = {}
    self._model_structure = model_structure
    for name, value in kwargs.items():
      self.add_hparam(name, value)

  def add_hparam(self, name: str, value: Any) -> None:
    """Adds a hyperparameter.

    Raises:
      ValueError: if there is one of the name, the name is reserved, or a list is empty.
    """
    if getattr(self, name, None) is not None:
      raise ValueError(f"Hyperparameter name is reserved: {name}")
    is_list = isinstance(value, (list, tuple))
    if is_list and not value:
      raise ValueError(f"Multi-valued hyperparameters cannot be empty: {name}")
    self._hparam_types[name] = (type(value[0] if is_list else value), is_list)
    setattr(self, name, value)

  def set_hparam(self, name: str, value: Any) -> None:
    """Sets a hyperparameter that is there to a value of its type.

    Raises:
      KeyError: if it is not there.
      ValueError: for a value of another type, or a list for one value and the reverse.
    """
    kind, is_list = self._hparam_types[name]
    if isinstance(value, list):
      if not is_list:
        raise ValueError(f"Must not pass a list for single-valued parameter: {name}")
      setattr(self, name, [_cast(name, kind, one) for one in value])
    elif is_list:
      raise ValueError(f"Must pass a list for multi-valued parameter: {name}.")
    else:
      setattr(self, name, _cast(name, kind, value))

  def del_hparam(self, name: str) -> None:
    """Removes a hyperparameter, if it is there."""
    if hasattr(self, name):
      delattr(self, name)
      del self._hparam_types[name]

  def parse(self, values: str) -> HParams:
    """Overrides hyperparameters by a text: see `parse_values`; returns the object."""
    kinds = {name: kind for name, (kind, _) in self._hparam_types.items()}
    return self.override_from_dict(parse_values(values, kinds))

  def override_from_dict(self, values_dict: Mapping[str, Any]) -> HParams:
    """Sets hyperparameters as `set_hparam`; returns the object."""
    for name, value in values_dict.items():
      self.set_hparam(name, value)
    return self

  def set_from_map(self, values_map: Mapping[str, Any]) -> HParams:
    """The old name of `override_from_dict`."""
    return self.override_from_dict(values_map)

  def set_model_structure(self, model_structure: Any) -> None:
    self._model_structure = model_structure

  def get_model_structure(self) -> Any:
    return self._model_structure

  def to_json(
    self,
    indent: Optional[int] = None,
    separators: Optional[tuple[str, str]] = None,
    sort_keys: bool = False,
  ) -> str:
    """Returns the values as JSON, in the form that `json.dumps` is asked for."""
    return json.dumps(self.values(), indent=indent, separators=separators, sort_keys=sort_keys)

  def parse_json(self, values_json: str) -> HParams:
    """Overrides hyperparameters by a JSON object; returns the object."""
    return self.override_from_dict(json.loads(values_json))

  def values(self) -> dict[str, Any]:
    """Returns {name: value}."""
    return {name: getattr(self, name) for name in self._hparam_types}

  def get(self, key: str, default: Any = None) -> Any:
    """Returns a value, or a default where there is none.

    Raises:
      ValueError: if there is one, and the default is of another type.
    """
    if key not in self._hparam_types:
      return default
    if default is not None:
      kind, is_list = self._hparam_types[key]
      shown = f"list<{kind}>" if is_list else str(kind)
      message = f"Hparam '{key}' of type '{shown}' is incompatible with default={default}"
      if is_list != isinstance(default, list):
        raise ValueError(message)
      try:
        for one in default if is_list else [default]:
          _cast(key, kind, one)
      except ValueError as error:
        raise ValueError(f"{message}. {error}") from error
    return getattr(self, key)

  def __contains__(self, key: object) -> bool:
    return key in self._hparam_types

  def __str__(self) -> str:
    return ",".join(f"{name}={value}" for name, value in self.values().items())

  def __repr__(self) -> str:
    return f"{type(self).__name__}({sorted(self.values().items())})"
