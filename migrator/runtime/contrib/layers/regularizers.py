"""Penalties on weights of `tf.contrib.layers`."""

from __future__ import annotations

import numbers

import tensorflow as tf

v1 = tf.compat.v1


def _checked(scale, name: str) -> bool:
  """Returns whether the penalty is switched off; refuses scales that cannot be meant."""
  if isinstance(scale, numbers.Integral):
    raise ValueError(f"{name} cannot be an integer: {scale}")
  if not isinstance(scale, numbers.Real):
    return False
  if scale < 0.0:
    raise ValueError(f"{name} cannot be less than 0: {scale:g}")
  return scale == 0.0


def _scaled(scale, scope, default, penalty):
  def regularizer(weights, name=None):
    del name
    with v1.name_scope(scope, default, [weights]) as full_name:
      factor = tf.convert_to_tensor(scale, dtype=weights.dtype.base_dtype, name="scale")
      return tf.multiply(factor, penalty(weights), name=full_name)

  return regularizer


def _no_penalty(_):
  return None


def l1_regularizer(scale, scope=None):
  """Returns a function weights -> scale * the sum of their absolute values.

  Args:
    scale: a float of at least 0 (0 switches the penalty off) or a tensor.
    scope: the name scope of its operations.

  Raises:
    ValueError: if the scale is an integer or negative.
  """
  if _checked(scale, "scale"):
    v1.logging.info("Scale of 0 disables regularizer.")
    return _no_penalty
  return _scaled(scale, scope, "l1_regularizer", lambda weights: tf.reduce_sum(tf.abs(weights)))


def l2_regularizer(scale, scope=None):
  """Returns a function weights -> scale * half the sum of their squares; see `l1_regularizer`."""
  if _checked(scale, "scale"):
    v1.logging.info("Scale of 0 disables regularizer.")
    return _no_penalty
  return _scaled(scale, scope, "l2_regularizer", tf.nn.l2_loss)


def l1_l2_regularizer(scale_l1=1.0, scale_l2=1.0, scope=None):
  """Returns the sum of both penalties.

  Raises:
    ValueError: if a scale is an integer or negative.
  """
  for name, scale in (("scale_l1", scale_l1), ("scale_l2", scale_l2)):
    if isinstance(scale, numbers.Integral):
      raise ValueError(f"{name} cannot be an integer: {scale}")
  scope = scope or "l1_l2_regularizer"
  if scale_l1 == 0.0:
    return l2_regularizer(scale_l2, scope)
  if scale_l2 == 0.0:
    return l1_regularizer(scale_l1, scope)
  return sum_regularizer([l1_regularizer(scale_l1), l2_regularizer(scale_l2)], scope=scope)


def sum_regularizer(regularizer_list, scope=None):
  """Returns a function that adds up the penalties that are not None, or None if there are none."""
  regularizers = [one for one in regularizer_list if one is not None]
  if not regularizers:
    return None

  def total(weights):
    with v1.name_scope(scope, "sum_regularizer", [weights]) as full_name:
      penalties = [one(weights) for one in regularizers]
      penalties = [one for one in penalties if one is not None]
      return tf.add_n(penalties, name=full_name) if penalties else None

  return total


def apply_regularization(regularizer, weights_list=None):
  """Adds the penalty of weights to REGULARIZATION_LOSSES and returns it.

  Args:
    regularizer: a function weights -> penalty or None.
    weights_list: weights; those of the collection WEIGHTS by default.

  Raises:
    ValueError: if there are no weights, or a penalty is no scalar.
  """
  weights_list = weights_list or v1.get_collection(v1.GraphKeys.WEIGHTS)
  if not weights_list:
    raise ValueError("No weights to regularize.")
  with v1.name_scope("get_regularization_penalty", values=weights_list) as full_name:
    penalties = [regularizer(one) for one in weights_list]
    penalties = [tf.constant(0.0) if one is None else one for one in penalties]
    for one in penalties:
      if one.shape.ndims != 0:
        raise ValueError(f"The penalty must be a scalar, not of rank {one.shape.ndims}.")
    total = tf.add_n(penalties, name=full_name)
    v1.add_to_collection(v1.GraphKeys.REGULARIZATION_LOSSES, total)
    return total
