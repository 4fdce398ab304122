"""What batch normalization computes, and how it moves its statistics: TF1's graph, step by step."""

from __future__ import annotations

import functools
from typing import Any

import tensorflow as tf

from migrator.runtime.layers import values

v1 = tf.compat.v1


def fused(layer: Any, inputs: Any, training: Any) -> Any:
  """Returns inputs of rank 4 or 5, normalized by the operation of TensorFlow.

  Args:
    layer: a BatchNormalization, which gets the updates.
    inputs: floats.
    training: whether the statistics are those of the batch.
  """
  rank = inputs.shape.rank
  order = "channels_first" if layer.axis == [1] and rank > 2 else "channels_last"
  shape = [inputs.shape[layer.axis[0]]]
  dtype = layer.parameter_dtype
  gamma = layer.gamma if layer.scale else tf.ones(shape, dtype)
  beta = layer.beta if layer.center else tf.zeros(shape, dtype)

  def normalize(**statistics: Any) -> Any:
    return v1.nn.fused_batch_norm(
      inputs,
      gamma,
      beta,
      epsilon=layer.epsilon,
      data_format=values.layout(order, rank),
      **statistics,
    )[:3]

  def moving() -> Any:
    return normalize(mean=layer.moving_mean, variance=layer.moving_variance, is_training=False)

  outputs, mean, variance = values.choose(training, normalize, moving)
  known = values.on(training)
  if known is not False:
    momentum: Any = tf.convert_to_tensor(layer.momentum)
    if known is None:
      momentum = values.choose(training, lambda: tf.convert_to_tensor(layer.momentum), _one)
    layer.add_update(lambda: move(layer.moving_mean, mean, momentum))
    layer.add_update(lambda: move(layer.moving_variance, variance, momentum))
  return outputs


def plain(layer: Any, inputs: Any, training: Any) -> Any:
  """Returns inputs of any rank, normalized by elementary operations; see `fused`."""
  dtype = inputs.dtype.base_dtype
  if dtype in (tf.float16, tf.bfloat16):
    inputs = tf.cast(inputs, tf.float32)
  rank = inputs.shape.rank
  reduced = [i for i in range(rank) if i not in layer.axis]
  if layer.virtual_batch_size is not None:
    del reduced[1]
  shape = [1] * rank
  shape[layer.axis[0]] = inputs.shape[layer.axis[0]]

  def broadcast(value: Any) -> Any:
    if value is None or len(value.shape) == rank or reduced == list(range(rank - 1)):
      return value
    return tf.reshape(value, shape)

  scale, offset = broadcast(layer.gamma), broadcast(layer.beta)
  if values.on(training) is False:
    mean, variance = layer.moving_mean, layer.moving_variance
  else:
    if layer.adjustment:
      factor, shift = layer.adjustment(tf.shape(inputs))
      factor = values.choose(training, lambda: factor, lambda: tf.ones_like(factor))
      shift = values.choose(training, lambda: shift, lambda: tf.zeros_like(shift))
      scale, offset = _compose(factor, shift, scale, offset)
    keep = layer.virtual_batch_size is not None or len(layer.axis) > 1
    of_batch = tf.nn.moments(tf.cast(inputs, layer.parameter_dtype), reduced, keepdims=keep)
    mean = values.choose(
      training, lambda: of_batch[0], lambda: tf.convert_to_tensor(layer.moving_mean)
    )
    variance = values.choose(
      training, lambda: of_batch[1], lambda: tf.convert_to_tensor(layer.moving_variance)
    )
    new = mean, variance
    if layer.virtual_batch_size is not None:
      # One update with the mean over the virtual batches, as TF1 does it.
      new = tuple(tf.reduce_mean(value, axis=1, keepdims=True) for value in new)
    if layer.renorm:
      factor, shift, *new = _renorm(layer, *new, training)
      factor = broadcast(tf.stop_gradient(factor, name="renorm_r"))
      shift = broadcast(tf.stop_gradient(shift, name="renorm_d"))
      scale, offset = _compose(factor, shift, scale, offset)
    _add_updates(layer, *new, training)
  scale, offset, mean, variance = (
    None if value is None else tf.cast(value, inputs.dtype)
    for value in (scale, offset, mean, variance)
  )
  outputs = tf.nn.batch_normalization(
    inputs, broadcast(mean), broadcast(variance), offset, scale, layer.epsilon
  )
  outputs = tf.cast(outputs, dtype)
  outputs.set_shape(inputs.shape)
  return outputs


def move(variable: Any, value: Any, momentum: Any) -> Any:
  """Moves a statistic towards a value, and returns it as it is then.

  Args:
    variable: of the statistic.
    value: of the batch, of the same shape.
    momentum: share of the old statistic, a number or a tensor.
  """
  with v1.name_scope("AssignMovingAvg"):
    share = tf.convert_to_tensor(1.0 - momentum, name="decay")
    share = tf.cast(share, variable.dtype.base_dtype)
    return variable.assign_sub((variable - tf.cast(value, variable.dtype.base_dtype)) * share)


def _add_updates(layer: Any, mean: Any, variance: Any, training: Any) -> None:
  def move_mean() -> Any:
    return move(layer.moving_mean, mean, layer.momentum)

  def move_variance() -> Any:
    if not layer.renorm:
      return move(layer.moving_variance, variance, layer.momentum)
    # Of the deviation, whose square cannot be less than epsilon but for rounding.
    deviation = move(layer.moving_stddev, tf.sqrt(variance + layer.epsilon), layer.momentum)
    deviation = tf.convert_to_tensor(deviation)
    with v1.name_scope("AssignNewValue"):
      return layer.moving_variance.assign(tf.nn.relu(deviation * deviation - layer.epsilon))

  for update, variable in ((move_mean, layer.moving_mean), (move_variance, layer.moving_variance)):
    layer.add_update(functools.partial(_where_training, training, update, variable))


def _where_training(training: Any, update: Any, variable: Any) -> Any:
  if values.on(training):
    return update()
  return values.choose(
    training, lambda: tf.convert_to_tensor(update()), lambda: tf.convert_to_tensor(variable)
  )


def _renorm(layer: Any, mean: Any, variance: Any, training: Any) -> Any:
  """Returns the correction's factor and shift, and mean and variance after the moving ones."""
  deviation = tf.sqrt(variance + layer.epsilon)
  moving = tf.maximum(layer.renorm_stddev, tf.sqrt(tf.cast(layer.epsilon, deviation.dtype)))
  factor = deviation / moving
  shift = (mean - layer.renorm_mean) / moving
  # The correction is with the statistics before they move.
  with tf.control_dependencies([factor, shift]):
    mean, deviation = tf.identity(mean), tf.identity(deviation)
  limits, momentum = layer.renorm_clipping, layer.renorm_momentum
  if limits.get("rmin") is not None:
    factor = tf.maximum(factor, limits["rmin"])
  if limits.get("rmax") is not None:
    factor = tf.minimum(factor, limits["rmax"])
  if limits.get("dmax") is not None:
    shift = tf.minimum(tf.maximum(shift, -limits["dmax"]), limits["dmax"])
  factor_on, shift_on = factor, shift
  factor = values.choose(training, lambda: factor_on, lambda: tf.ones_like(factor_on))
  shift = values.choose(training, lambda: shift_on, lambda: tf.zeros_like(shift_on))
  if not layer.makes_updates:
    return factor, shift, mean, variance
  moved = [
    _where_training(training, functools.partial(move, variable, value, momentum), variable)
    for variable, value in ((layer.renorm_mean, mean), (layer.renorm_stddev, deviation))
  ]
  moved = [tf.convert_to_tensor(value) for value in moved]
  with tf.control_dependencies(moved):
    return factor, shift, tf.identity(mean), tf.identity(variance)


def _compose(scale: Any, offset: Any, then_scale: Any, then_offset: Any) -> Any:
  if then_scale is not None:
    scale, offset = scale * then_scale, offset * then_scale
  return scale, offset if then_offset is None else offset + then_offset


def _one() -> Any:
  return tf.constant(1.0)
