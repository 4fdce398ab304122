"""Finds the lookup tables that an export has to own."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import tensorflow as tf

_Resource = tf.saved_model.experimental.TrackableResource
_Trackable = tf.__internal__.tracking.Trackable
_LEAVES = (tf.Variable, tf.types.experimental.GenericFunction)
_MAX_DEPTH = 4


@contextlib.contextmanager
def recorded() -> Iterator[list]:
  """Notes the resources that are made while it is entered.

  A table that an input function makes has no other owner, and is gone with the function's last line.

  Yields:
    The list, which grows.
  """
  made: list = []
  original = _Resource.__init__

  def init(self: Any, *args: Any, **kwargs: Any) -> None:
    made.append(self)
    original(self, *args, **kwargs)

  _Resource.__init__ = init
  try:
    yield made
  finally:
    _Resource.__init__ = original


def of_model(model: Any) -> list:
  """Returns the resources that the layers of a model hold, each once."""
  found: dict[int, Any] = {}
  seen: dict[int, Any] = {}  # Kept alive: the id of what is gone may be another's.

  def visit(value: Any, depth: int) -> None:
    if depth > _MAX_DEPTH or id(value) in seen:
      return
    seen[id(value)] = value
    if isinstance(value, _Resource):
      found[id(value)] = value
    elif isinstance(value, dict):
      for item in list(value.values()):
        visit(item, depth + 1)
    elif isinstance(value, (list, tuple, set)):
      for item in list(value):
        visit(item, depth + 1)
    elif isinstance(value, _Trackable) and not isinstance(value, _LEAVES):
      visit(dict(getattr(value, "__dict__", {})), depth + 1)

  for layer in model._flatten_layers():
    visit(dict(vars(layer)), 1)
  return list(found.values())
