"""Functions, initializers and constants of the running program -> source of them."""

from __future__ import annotations

import inspect
import re
import sys
from typing import Any, Callable

import numpy as np
import tensorflow as tf

from migrator.rewrite import emit


class Names:
  """What the printed code imports, and what it cannot.

  Attributes:
    imports: lines that import functions.
    problems: what a person has to write, one sentence each.
    taken: names that variables must not have.
  """

  def __init__(self) -> None:
    self.imports: list[str] = []
    self.problems: list[str] = []
    self.taken = {"tf", "runtime", "inputs", "model", "logits"}
    self._known: dict[int, str] = {}
    # Numbers of objects are theirs only as long as they are there.
    self._kept: list[Any] = []

  def function(self, value: Callable, what: str) -> str:
    """Returns the name of a function; of one without an importable name, a name that must be defined.

    Args:
      value: the function.
      what: it is, e.g. "the normalizer_fn of 'age'".
    """
    if id(value) in self._known:
      return self._known[id(value)]
    self._kept.append(value)
    module = getattr(value, "__module__", None) or ""
    qualified = getattr(value, "__qualname__", "")
    if _importable(value, module, qualified):
      first, *rest = qualified.split(".")
      name = self.free(first)
      alias = "" if name == first else f" as {name}"
      line = f"from {module} import {first}{alias}"
      self.imports.append(line)
      text = ".".join([name, *rest])
    else:
      text = self.free("todo_function")
      self.problems.append(f"{text} is {what}, {_described(value)}: write it as a function.")
    self._known[id(value)] = text
    return text

  def free(self, name: str) -> str:
    """Returns a name for a variable that no other has."""
    name = re.sub(r"\W", "_", name)
    found, number = name, 2
    while found in self.taken:
      found, number = f"{name}_{number}", number + 1
    self.taken.add(found)
    return found

  def initializer(self, value: Any, dimension: int, what: str) -> str:
    """Returns source of an initializer of Keras; "" for the default one of an embedding."""
    kind = type(value).__name__
    known = getattr(tf.keras.initializers, kind, None)
    if known is None or not hasattr(value, "get_config"):
      return self.function(value, what)
    config = {k: v for k, v in value.get_config().items() if k in _parameters(known)}
    is_default = kind == "TruncatedNormal" and config["mean"] == 0 and config["seed"] is None
    if is_default and abs(config["stddev"] - dimension**-0.5) < 1e-12:
      return ""
    items = [f"{k}={literal(v)}" for k, v in config.items() if v != _parameters(known)[k].default]
    return f"tf.keras.initializers.{kind}({', '.join(items)})"


def _importable(value: Any, module: str, qualified: str) -> bool:
  found: Any = sys.modules.get(module)
  for part in qualified.split("."):
    found = getattr(found, part, None)
  return found is value and module != "__main__"


def _described(value: Any) -> str:
  code = getattr(value, "__code__", None)
  if code is None:
    return f"an object of type {type(value).__name__} without an importable name"
  kind = "a lambda" if value.__name__ == "<lambda>" else "a function without an importable name"
  return f"{kind} of line {code.co_firstlineno} of {code.co_filename}"


def _parameters(kind: Any) -> Any:
  return inspect.signature(kind.__init__).parameters


def literal(value: Any) -> str:
  """Returns source of a constant, or of a list of constants."""
  if isinstance(value, (np.generic, np.ndarray)):
    value = value.tolist()
  if isinstance(value, str):
    return emit.string(value)
  if isinstance(value, (list, tuple)):
    return f"[{', '.join(literal(item) for item in value)}]"
  return repr(value)
