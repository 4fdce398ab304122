"""What `tf.contrib.training` and `slim.learning` do with gradients before they are applied."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorflow as tf

v1 = tf.compat.v1

__all__ = [
  "add_gradients_summaries",
  "clip_gradient_norms",
  "clip_gradient_norms_fn",
  "multiply_gradients",
]


def clip_gradient_norms(gradients_to_variables: list, max_norm: float) -> list:
  """Returns the pairs with each gradient scaled down to a norm, that of each by itself.

  Args:
    gradients_to_variables: pairs (gradient, variable).
    max_norm: the greatest norm.
  """
  return [
    (changed(gradient, lambda x: tf.clip_by_norm(x, max_norm)), variable)
    for gradient, variable in gradients_to_variables
  ]


def clip_gradient_norms_fn(max_norm: float) -> Callable[[list], list]:
  """Returns a function that clips as `clip_gradient_norms`, a `transform_grads_fn`."""
  return lambda pairs: clip_gradient_norms(pairs, max_norm)


def multiply_gradients(grads_and_vars: list, gradient_multipliers: dict) -> list:
  """Returns the pairs with the gradients of some variables scaled.

  Args:
    grads_and_vars: a list of pairs (gradient, variable).
    gradient_multipliers: {variable, or name of its operation: factor}.

  Raises:
    ValueError: if there is nothing to multiply, or a variable to multiply has no gradient.
  """
  if not isinstance(grads_and_vars, list):
    raise ValueError("`grads_and_vars` must be a list.")
  if not gradient_multipliers:
    raise ValueError("`gradient_multipliers` is empty.")
  if not isinstance(gradient_multipliers, dict):
    raise ValueError("`gradient_multipliers` must be a dict.")
  return [(multiplied(g, v, gradient_multipliers), v) for g, v in grads_and_vars]


def changed(gradient: Any, change: Callable[[Any], Any]) -> Any:
  """Applies a function to the values of a gradient, which may be None or those of some rows."""
  if isinstance(gradient, tf.IndexedSlices):
    return tf.IndexedSlices(change(gradient.values), gradient.indices, gradient.dense_shape)
  return None if gradient is None else change(gradient)


def multiplied(gradient: Any, variable: Any, factors: dict) -> Any:
  """Scales the gradient of a variable that is named, or is itself a key."""
  by_name = {getattr(getattr(k, "op", None), "name", k): factor for k, factor in factors.items()}
  if variable.op.name not in by_name:
    return gradient
  if gradient is None:
    raise ValueError("Requested multiple of `None` gradient.")
  factor = by_name[variable.op.name]
  return changed(gradient, lambda x: x * tf.convert_to_tensor(factor, dtype=x.dtype))


def add_gradients_summaries(grads_and_vars: list) -> list:
  """Adds a histogram of each gradient and a scalar of its norm, and returns the summaries."""
  summaries = []
  for gradient, variable in grads_and_vars:
    if gradient is None:
      v1.logging.info("Var %s has no gradient", variable.op.name)
      continue
    values = gradient.values if isinstance(gradient, tf.IndexedSlices) else gradient
    summaries.append(v1.summary.histogram(variable.op.name + "_gradient", values))
    norm = tf.linalg.global_norm([values])
    summaries.append(v1.summary.scalar(variable.op.name + "_gradient_norm", norm))
  return summaries
