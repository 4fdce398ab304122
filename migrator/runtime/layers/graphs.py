"""What layers need to know of graphs and their collections."""

from __future__ import annotations

import collections
import re
import weakref
from typing import Any

import numpy as np
import tensorflow as tf

v1 = tf.compat.v1
_CREATED: weakref.WeakKeyDictionary[Any, collections.Counter[str]] = weakref.WeakKeyDictionary()


def around() -> list[Any]:
  """Returns the graph that is built, and those around it: bodies of loops have graphs, too."""
  found, graph = [], v1.get_default_graph()
  while graph is not None:
    found.append(graph)
    graph = getattr(graph, "outer_graph", None)
  return found


def parts(variable: Any) -> list[Any]:
  """Returns the parts of a partitioned variable, or the variable."""
  # The class of partitioned variables has no public name in TF 2.
  return [variable] if isinstance(variable, (tf.Variable, tf.Tensor)) else list(variable)


def collect(elements: list[Any], collection: str) -> None:
  """Adds to a collection of the graph what it does not have yet."""
  if tf.executing_eagerly():
    return
  kept = v1.get_collection_ref(collection)
  known = {id(element) for element in kept}
  kept.extend(element for element in elements if id(element) not in known)


def tensor(value: Any) -> Any:
  """Returns a tensor of numbers and arrays, anything else as it is."""
  return tf.convert_to_tensor(value) if isinstance(value, (np.ndarray, float, int)) else value


def snake_case(name: str) -> str:
  """Returns the name that a layer has by its class."""
  words = re.sub("([a-z])([A-Z])", r"\1_\2", re.sub("(.)([A-Z][a-z0-9]+)", r"\1_\2", name)).lower()
  return f"private{words}" if words.startswith("_") else words


def unique_name(class_name: str) -> str:
  """Returns a name for a layer that no other one without a name has in the graph."""
  base = snake_case(class_name)
  counts = _CREATED.setdefault(v1.get_default_graph(), collections.Counter())
  counts[base] += 1
  return f"{base}_{counts[base]}"
