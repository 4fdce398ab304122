"""Calls the functions into which a model_fn was split, with what their parameters are named after."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any, Callable

_KNOWN = ("features", "labels", "losses", "params", "training", "variables")


def call(function: Callable[..., Any], outputs: Any, **known: Any) -> Any:
  """Calls a function of the outputs of a network.

  Parameters called `features`, `labels`, `losses`, `params`, `training` and `variables` (those that are trained) get
  these. The others get a part of the outputs each: a dict's by name, a tuple's in order. A single one that is no
  key of a dict gets all of them. Of a pair (loss, outputs) whose outputs are a dict, the names are those of the dict.

  Args:
    function: what to call.
    outputs: what the network returned.
    **known: the values of `_KNOWN`.

  Raises:
    ValueError: if the outputs have other parts than the function takes.
  """
  parameters = inspect.signature(function).parameters
  arguments = {name: known.get(name) for name in parameters if name in _KNOWN}
  others = [name for name, p in parameters.items() if name not in _KNOWN and (p.default is p.empty)]
  pair = isinstance(outputs, tuple) and len(outputs) == 2 and isinstance(outputs[1], Mapping)
  if pair and others and set(others) <= set(outputs[1]):
    outputs = outputs[1]
  if isinstance(outputs, Mapping) and set(others) <= set(outputs):
    arguments.update({name: outputs[name] for name in others})
  elif len(others) == 1:
    arguments[others[0]] = outputs
  elif others and isinstance(outputs, (list, tuple)) and len(others) == len(outputs):
    arguments.update(zip(others, outputs))
  elif others:
    label = getattr(function, "__name__", repr(function))
    raise ValueError(
      f"{label} takes {', '.join(others)}, but the network returns {_described(outputs)}."
    )
  return function(**arguments)


def _described(outputs: Any) -> str:
  if isinstance(outputs, Mapping):
    return f"a dict of {', '.join(map(str, outputs))}"
  if isinstance(outputs, (list, tuple)):
    return f"{len(outputs)} values"
  return "one value"
