"""Helpers of layers: outputs in collections under names, static sizes, conditions."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

import tensorflow as tf

from migrator.runtime.contrib.framework.variables import variable_collections

v1 = tf.compat.v1

get_variable_collections = variable_collections


def append_tensor_alias(tensor, alias):
  """Gives a tensor one more name, without the slash at its end."""
  name = alias[:-1] if alias.endswith("/") else alias
  if hasattr(tensor, "aliases"):
    tensor.aliases.append(name)
  else:
    tensor.aliases = [name]
  return tensor


def get_tensor_aliases(tensor):
  """Returns the names given to a tensor; its own name if there are none."""
  if hasattr(tensor, "aliases"):
    return tensor.aliases
  return [tensor.op.name if tensor.name.endswith(":0") else tensor.name]


def gather_tensors_aliases(tensors):
  """Returns the names of all the tensors."""
  return [alias for tensor in tensors for alias in get_tensor_aliases(tensor)]


def collect_named_outputs(collections, alias, outputs):
  """Adds a tensor to collections under a name and returns it."""
  if collections:
    append_tensor_alias(outputs, alias)
    v1.add_to_collections(collections, outputs)
  return outputs


def convert_collection_to_dict(collection, clear_collection=False):
  """Returns {name: tensor} of a collection, in its order; clears it on demand."""
  found = OrderedDict(
    (alias, tensor)
    for tensor in v1.get_collection(collection)
    for alias in get_tensor_aliases(tensor)
  )
  if clear_collection:
    v1.get_default_graph().clear_collection(collection)
  return found


def constant_value(value_or_tensor_or_var, dtype=None):
  """Returns the value that is known while the graph is built, or None.

  Raises:
    ValueError: if it is None, or a tensor or variable of another dtype.
  """
  value = value_or_tensor_or_var
  if value is None:
    raise ValueError("value_or_tensor_or_var cannot be None")
  is_variable = isinstance(value, tf.Variable)
  if not is_variable and not tf.is_tensor(value):
    return value
  if dtype and value.dtype != dtype:
    raise ValueError(f"It has the wrong type {value.dtype} instead of {dtype}")
  return None if is_variable else tf.get_static_value(value)


def static_cond(pred, fn1, fn2):
  """Returns what one of two functions returns.

  Raises:
    TypeError: if one of them cannot be called.
  """
  if not callable(fn1) or not callable(fn2):
    raise TypeError("fn1 and fn2 must be callable.")
  return fn1() if pred else fn2()


def smart_cond(pred, fn1, fn2, name=None):
  """Returns what one of two functions returns, chosen now if the predicate is known."""
  known = constant_value(pred)
  if known is not None:
    return static_cond(known, fn1, fn2)
  return v1.cond(pred, fn1, fn2, name=name)


def _dimension(shape: Any, axis: int, min_rank: int) -> int:
  if shape.ndims is None:
    raise ValueError("The rank of the shape must be known.")
  if shape.ndims < min_rank:
    raise ValueError(f"The rank of the shape must be at least {min_rank}, not {shape.ndims}.")
  value = tf.compat.dimension_value(shape[axis])
  if value is None:
    raise ValueError(f"Dimension {axis} of the shape must be known: {shape}.")
  return value


def channel_dimension(shape, data_format, min_rank=1):
  """Returns the number of channels.

  Raises:
    ValueError: if it is not known, or the rank is smaller than `min_rank`.
  """
  return _dimension(shape, 1 if data_format == "channels_first" else -1, min_rank)


def last_dimension(shape, min_rank=1):
  """Returns the last size of a shape.

  Raises:
    ValueError: if it is not known, or the rank is smaller than `min_rank`.
  """
  return _dimension(shape, -1, min_rank)


def two_element_tuple(int_or_tuple):
  """Returns two sizes, given one for both or two.

  Raises:
    ValueError: if there are not one or two.
  """
  if isinstance(int_or_tuple, int):
    return int_or_tuple, int_or_tuple
  if isinstance(int_or_tuple, (list, tuple, tf.TensorShape)) and len(int_or_tuple) == 2:
    return int(int_or_tuple[0]), int(int_or_tuple[1])
  raise ValueError(f"Must be an int or a list with two elements: {int_or_tuple}")


def n_positive_integers(n, value):
  """Returns n positive integers, given one for all or n of them.

  Raises:
    ValueError: if they are not positive, or not n.
  """
  if n < 1 or int(n) != n:
    raise ValueError(f"n must be a positive integer, not {n}.")
  try:
    values = (int(value),) * int(n)
  except (TypeError, ValueError):
    values = tuple(int(one) for one in value)
  if len(values) != n or any(one < 1 for one in values):
    raise ValueError(f"Expected {n} positive integers, but received {value!r}.")
  return values
