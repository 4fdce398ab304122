"""Initial values of `tf.contrib.layers`."""

from __future__ import annotations

import math

import tensorflow as tf


def xavier_initializer(uniform=True, seed=None, dtype=tf.float32):
  """Returns an initializer after Glorot and Bengio (2010), uniform or normal.

  Args:
    uniform: whether values are uniform, within sqrt(6 / (inputs + outputs)), or normal.
    seed: the seed of the operation.
    dtype: a floating-point type.

  Raises:
    TypeError: if the dtype is another one.
  """
  return variance_scaling_initializer(
    factor=1.0, mode="FAN_AVG", uniform=uniform, seed=seed, dtype=dtype
  )


xavier_initializer_conv2d = xavier_initializer


def _fans(shape) -> tuple[float, float]:
  """Returns how many inputs and outputs a weight has."""
  if not shape:
    return 1.0, 1.0
  field = 1.0
  for size in shape[:-2]:
    field *= float(size)
  inputs = float(shape[-2]) if len(shape) > 1 else float(shape[-1])
  return inputs * field, float(shape[-1]) * field


def variance_scaling_initializer(
  factor=2.0, mode="FAN_IN", uniform=False, seed=None, dtype=tf.float32
):
  """Returns an initializer whose variance is `factor` over the number of inputs, outputs or their mean.

  A normal distribution is cut at two standard deviations and its own scaled by sqrt(1.3) to make up for
  it, as it always was here: `tf.compat.v1.variance_scaling_initializer` has another constant.

  Args:
    factor: the factor of the variance.
    mode: FAN_IN, FAN_OUT or FAN_AVG.
    uniform: whether values are uniform, instead of normal.
    seed: the seed of the operation.
    dtype: a floating-point type.

  Raises:
    TypeError: if the dtype or the mode is another one.
  """
  if not dtype.is_floating:
    raise TypeError(f"An initializer of random values needs a floating-point type, not {dtype}.")
  if mode not in ("FAN_IN", "FAN_OUT", "FAN_AVG"):
    raise TypeError(f"mode must be FAN_IN, FAN_OUT or FAN_AVG, not {mode}.")

  def initializer(shape, dtype=dtype, partition_info=None):
    del partition_info  # each part counts its own inputs and outputs
    if not dtype.is_floating:
      raise TypeError(f"An initializer of random values needs a floating-point type, not {dtype}.")
    inputs, outputs = _fans(shape)
    count = {"FAN_IN": inputs, "FAN_OUT": outputs, "FAN_AVG": (inputs + outputs) / 2.0}[mode]
    if uniform:
      limit = math.sqrt(3.0 * factor / count)
      return tf.random.uniform(shape, -limit, limit, dtype, seed=seed)
    return tf.random.truncated_normal(shape, 0.0, math.sqrt(1.3 * factor / count), dtype, seed=seed)

  return initializer


# The initial values of weights and biases by default.
XAVIER = xavier_initializer()
ZEROS = tf.compat.v1.zeros_initializer()
