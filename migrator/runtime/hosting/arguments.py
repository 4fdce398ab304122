"""Which arguments a model_fn or an input_fn takes, and the calls with those that it takes."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Mapping
from typing import Any, Callable

import tensorflow as tf

_OF_MODEL_FN = frozenset(("features", "labels", "mode", "params", "self", "config"))


def names_of(function: Callable[..., Any]) -> tuple[str, ...]:
  """Returns the names of the arguments that the Estimator passed by name, without those that are bound.

  Args:
    function: a function, a method, an object with `__call__`, a class, or a `functools.partial` of these. As in
      the Estimator a wrapper counts for itself, not as what it wraps, and what follows a `*` is not passed.
  """
  if isinstance(function, functools.partial):
    names = names_of(function.func)[len(function.args) :]
    return tuple(name for name in names if name not in function.keywords)
  parameters = inspect.signature(function, follow_wrapped=False).parameters.values()
  return tuple(p.name for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD)


def check_model_fn(model_fn: Any, params: Any) -> None:
  """Checks the signature of a model_fn.

  Raises:
    ValueError: with the Estimator's messages.
  """
  if model_fn is None:
    raise ValueError("model_fn must be provided to Estimator.")
  names = set(names_of(model_fn))
  if "features" not in names:
    raise ValueError(f"model_fn ({model_fn}) must include features argument.")
  if params is not None and "params" not in names:
    raise ValueError(
      f"model_fn ({model_fn}) does not include params argument, but params ({params}) is passed "
      "to Estimator."
    )
  if params is None and "params" in names:
    tf.compat.v1.logging.warning(
      "The model_fn (%s) has a params argument, but no params are given.", model_fn
    )
  unexpected = sorted(names - _OF_MODEL_FN)
  if unexpected:
    raise ValueError(f"model_fn ({model_fn}) has following not expected args: {unexpected}")


def taken(function: Callable[..., Any], offered: Mapping[str, Any]) -> dict[str, Any]:
  """Returns those of the offered arguments that a function takes.

  Args:
    function: as in `names_of`.
    offered: name -> a function without arguments that gives the value, so that only what is taken is made.
  """
  names = names_of(function)
  return {name: make() for name, make in offered.items() if name in names}
