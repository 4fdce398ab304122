"""Checks of a head's arguments, with the messages of `tf.estimator`, and how losses are reduced."""

from __future__ import annotations

import inspect
from typing import Any, Callable, Optional

import tensorflow as tf

# Ours, v1's and v2's names of the reductions.
_REDUCTIONS = {
  "auto": "sum_over_batch_size",
  "sum": "sum",
  "sum_over_batch_size": "sum_over_batch_size",
  "mean": "mean",
  "sum_over_nonzero_weights": "sum_over_nonzero_weights",
  "sum_by_nonzero_weights": "sum_over_nonzero_weights",
  "weighted_sum": "sum",
  "weighted_sum_over_batch_size": "sum_over_batch_size",
  "weighted_mean": "mean",
  "weighted_sum_by_nonzero_weights": "sum_over_nonzero_weights",
}


def reduction(name: Any) -> str:
  """Returns our name of a loss reduction.

  Raises:
    ValueError: for none, or an unknown one.
  """
  found = _REDUCTIONS.get(name) if isinstance(name, str) else None
  if found is None:
    raise ValueError(
      f"Invalid loss_reduction: {name}. It must be one of "
      '"sum", "sum_over_batch_size", "mean", "sum_over_nonzero_weights".'
    )
  return found


def reduced(losses: tf.Tensor, weights: Any, how: str) -> tf.Tensor:
  """Returns one loss for a batch, as `tf.losses.compute_weighted_loss` did.

  Args:
    losses: float32, [batch, ...].
    weights: float32, broadcasts to the losses.
    how: our name of the reduction.

  Returns:
    float32, []; 0 where a mean is of nothing.
  """
  total = tf.reduce_sum(losses * weights)
  if how == "sum":
    return total
  if how == "sum_over_batch_size":
    count = tf.cast(tf.size(losses), losses.dtype)
  elif how == "mean":
    count = tf.reduce_sum(tf.ones_like(losses) * weights)
  else:
    count = tf.reduce_sum(tf.ones_like(losses) * tf.cast(tf.not_equal(weights, 0.0), losses.dtype))
  return tf.math.divide_no_nan(total, count)


def thresholds(values: Any) -> tuple:
  """Returns thresholds as a tuple.

  Raises:
    ValueError: if one is not between 0 and 1.
  """
  values = tuple(values) if values else ()
  for value in values:
    if value <= 0.0 or value >= 1.0:
      raise ValueError(f"thresholds not in (0, 1): {values}.")
  return values


def vocabulary(values: Any, size: Optional[int] = None) -> Optional[list]:
  """Returns the label vocabulary as a list of str, or None.

  Args:
    values: a list or tuple of strings, or None.
    size: how many there must be.

  Raises:
    ValueError: for another type or length.
  """
  if values is None:
    return None
  if not isinstance(values, (list, tuple)):
    raise ValueError(f"label_vocabulary should be a list or a tuple. Given type: {type(values)}")
  if size is not None and len(values) != size:
    raise ValueError(
      f"Length of label_vocabulary must be n_classes ({size}). Given: {len(values)}, {values}"
    )
  return [tf.compat.as_str_any(value) for value in values]


def loss_fn(function: Optional[Callable]) -> Optional[Callable]:
  """Returns a user's loss function, of the arguments `labels` and `logits`.

  Raises:
    ValueError: if it lacks one of them, or has others: `features` too, which a Keras loss does not get.
  """
  if function is None:
    return None
  names = list(inspect.signature(function).parameters)
  for required in ("labels", "logits"):
    if required not in names:
      raise ValueError(f"loss_fn must contain argument: {required}. Given arguments: {names}")
  if "features" in names:
    raise ValueError(
      "loss_fn takes `features`, which a Keras loss does not get: put what it needs of them into the "
      "labels or into the weight column."
    )
  invalid = sorted({*names} - {"labels", "logits", "loss_reduction"})
  if invalid:
    raise ValueError(f"loss_fn has unexpected args: {invalid}")
  return function
