"""Python values among the outputs of a network, which a graph would turn into tensors.

A model_fn handed on a number of layers or a list's length as it was: `range(n)` takes no tensor.
"""

from __future__ import annotations

from typing import Any

import tensorflow as tf

_TENSOR = object()


def parted(outputs: Any) -> tuple[Any, list[Any]]:
  """Takes the values that are no tensors out of a structure.

  Args:
    outputs: a structure of tensors and other values.

  Returns:
    The structure with None in the place of each other value, and what `joined` needs to put them back:
    [] where there are none.
  """
  flat = tf.nest.flatten(outputs)
  values = [_TENSOR if _is_tensor(value) else value for value in flat]
  if all(value is _TENSOR or value is None for value in values):
    return outputs, []
  kept = [value if _is_tensor(value) else None for value in flat]
  return tf.nest.pack_sequence_as(outputs, kept), values


def joined(outputs: Any, values: list[Any]) -> Any:
  """Puts the values back that `parted` took out of a structure."""
  if not values:
    return outputs
  flat = tf.nest.flatten(outputs)
  whole = [new if value is _TENSOR else value for new, value in zip(flat, values)]
  return tf.nest.pack_sequence_as(outputs, whole)


def _is_tensor(value: Any) -> bool:
  return tf.is_tensor(value) or isinstance(value, (tf.Variable, tf.TensorArray))
