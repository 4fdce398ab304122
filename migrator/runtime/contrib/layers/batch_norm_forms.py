"""What the forms of batch normalization compute, on variables that `make(shape, dtype)` gives."""

from __future__ import annotations

import tensorflow as tf

from migrator.runtime.contrib.layers import utils
from migrator.runtime.contrib.layers.moving_averages import assign_moving_average
from migrator.runtime.contrib.layers.weights import channels_axis

v1 = tf.compat.v1
_UPDATE_OPS = v1.GraphKeys.UPDATE_OPS


def _fused(inputs, variables, channels, epsilon, is_training, data_format):
  """Returns the outputs, the mean and the variance of the batch, or the moving ones."""
  gamma = tf.ones([channels]) if variables.gamma is None else variables.gamma
  beta = tf.zeros([channels]) if variables.beta is None else variables.beta
  gamma, beta = tf.convert_to_tensor(gamma), tf.convert_to_tensor(beta)
  return utils.smart_cond(
    is_training,
    lambda: v1.nn.fused_batch_norm(inputs, gamma, beta, epsilon=epsilon, data_format=data_format),
    lambda: v1.nn.fused_batch_norm(
      inputs,
      gamma,
      beta,
      mean=variables.moving_mean,
      variance=variables.moving_variance,
      epsilon=epsilon,
      is_training=False,
      data_format=data_format,
    ),
  )


def _updates(variables, mean, variance, decay, zero_debias):
  return (
    assign_moving_average(variables.moving_mean, mean, decay, zero_debias),
    assign_moving_average(variables.moving_variance, variance, decay, False),
  )


def _later(variables, mean, variance, decay, zero_debias, is_training, collections):
  """Adds the updates to collections, for the program to run."""
  for update in utils.smart_cond(
    is_training,
    lambda: _updates(variables, mean, variance, decay, zero_debias),
    lambda: (
      tf.convert_to_tensor(variables.moving_mean),
      tf.convert_to_tensor(variables.moving_variance),
    ),
  ):
    v1.add_to_collections(collections, update)


def fused_in_place(
  inputs, sc, decay, epsilon, is_training, data_format, updates_collections, zero_debias, make
):
  """Normalizes by the fused operation, with an own place for the updates; ranks 2 and 4 (else ValueError)."""
  shape = inputs.shape
  if shape.ndims not in (2, 4):
    raise ValueError(f"batch_norm: the rank must be 2 or 4, not {shape.ndims}.")
  original = inputs
  first = channels_axis(data_format) == 1 and shape.ndims == 4
  channels = utils.channel_dimension(shape, "channels_first" if first else "channels_last")
  if shape.ndims == 2:
    tall = [-1, channels, 1, 1] if data_format == "NCHW" else [-1, 1, 1, channels]
    inputs = tf.reshape(inputs, tall)
  variables = make([channels], tf.float32)
  outputs, mean, variance = _fused(inputs, variables, channels, epsilon, is_training, data_format)
  training = utils.constant_value(is_training)
  if training is None or training:
    if updates_collections is None:

      def updated():
        with tf.control_dependencies(_updates(variables, mean, variance, decay, zero_debias)):
          return tf.identity(outputs)

      outputs = utils.smart_cond(is_training, updated, lambda: outputs)
    else:
      _later(variables, mean, variance, decay, zero_debias, is_training, updates_collections)
  if shape.ndims == 2:
    outputs = tf.reshape(outputs, tf.shape(original))
  outputs.set_shape(shape)
  return outputs


def _layer_decay(decay, is_training):
  # The layer subtracts in float32, from a tensor; elsewhere Python subtracts.
  if utils.constant_value(is_training) is None:
    return 1.0 - utils.smart_cond(is_training, lambda: tf.constant(decay), lambda: tf.constant(1.0))
  return 1.0 - tf.convert_to_tensor(decay)


def _plain(inputs, mean, variance, variables, axis, epsilon):
  shape = [1] * inputs.shape.ndims
  shape[axis] = -1

  def broadcast(value):
    if value is None:
      return None
    value = tf.cast(tf.convert_to_tensor(value), inputs.dtype)
    return tf.reshape(value, shape) if axis == 1 else value

  outputs = tf.nn.batch_normalization(
    inputs,
    broadcast(mean),
    broadcast(variance),
    broadcast(variables.beta),
    broadcast(variables.gamma),
    epsilon,
  )
  outputs.set_shape(inputs.shape)
  return outputs


def _axes(inputs, axis):
  rank = inputs.shape.ndims
  return [one for one in range(rank) if one != axis % rank]


def as_layer(inputs, decay, epsilon, is_training, axis, fused, trainable, make):
  """Normalizes as the layer of `tf.layers` does, whose updates go to UPDATE_OPS if it is trainable."""
  channels = utils.channel_dimension(
    inputs.shape, "channels_first" if axis == 1 else "channels_last"
  )
  half = inputs.dtype.base_dtype in (tf.float16, tf.bfloat16)
  variables = make([channels], tf.float32 if half else inputs.dtype.base_dtype)
  if fused and inputs.shape.ndims == 4 and (half or inputs.dtype.base_dtype == tf.float32):
    data_format = "NCHW" if axis == 1 else "NHWC"
    outputs, mean, variance = _fused(inputs, variables, channels, epsilon, is_training, data_format)
  else:
    training = utils.constant_value(is_training)
    if training is None or training:
      mean, variance = tf.nn.moments(inputs, _axes(inputs, axis))
      batch = (mean, variance)
      mean, variance = utils.smart_cond(
        is_training,
        lambda: batch,
        lambda: (
          tf.convert_to_tensor(variables.moving_mean),
          tf.convert_to_tensor(variables.moving_variance),
        ),
      )
    else:
      mean, variance = variables.moving_mean, variables.moving_variance
    outputs = _plain(inputs, mean, variance, variables, axis, epsilon)
  training = utils.constant_value(is_training)
  if trainable and (training is None or training):
    rate = _layer_decay(decay, is_training)
    for moving, value in (
      (variables.moving_mean, mean),
      (variables.moving_variance, variance),
    ):
      delta = (moving - tf.cast(value, moving.dtype)) * tf.cast(rate, moving.dtype)
      v1.add_to_collection(_UPDATE_OPS, v1.assign_sub(moving, delta))
  return outputs


def by_moments(
  inputs, decay, epsilon, is_training, axis, batch_weights, updates_collections, zero_debias, make
):
  """Normalizes by plain or weighted moments, with an own place for the updates."""
  channels = utils.channel_dimension(
    inputs.shape, "channels_first" if axis == 1 else "channels_last"
  )
  variables = make([channels], inputs.dtype.base_dtype)
  moving = (variables.moving_mean, variables.moving_variance)
  training = utils.constant_value(is_training)
  if training is not None and not training:
    return _plain(inputs, moving[0], moving[1], variables, axis, epsilon)
  axes = _axes(inputs, axis)
  if batch_weights is None:
    mean, variance = tf.nn.moments(inputs, axes)
  else:
    weights = tf.reshape(tf.convert_to_tensor(batch_weights), [-1, *[1] * (inputs.shape.ndims - 1)])
    mean, variance = v1.nn.weighted_moments(inputs, axes, weights)

  def still():
    return tuple(tf.convert_to_tensor(one) for one in moving)

  if updates_collections is None:

    def updated():
      with tf.control_dependencies(_updates(variables, mean, variance, decay, zero_debias)):
        return tf.identity(mean), tf.identity(variance)

    used = utils.smart_cond(is_training, updated, still)
  else:
    _later(variables, mean, variance, decay, zero_debias, is_training, updates_collections)
    used = utils.smart_cond(is_training, lambda: (mean, variance), still)
  return _plain(inputs, used[0], used[1], variables, axis, epsilon)
