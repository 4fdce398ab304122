"""Batch normalization of `tf.contrib.layers`, whose three forms differ in what they compute.

* Rank 2, an own place for updates or corrected means: the fused operation on variables of the model, in
  float32. The moving variance has Bessel's correction, also at rank 2.
* The other fused case, rank 4, was the layer of `tf.layers`.
* Other ranks and `fused=False` take plain moments, without the correction.
"""

from __future__ import annotations

import contextlib

import tensorflow as tf

from migrator.runtime.contrib.framework.arg_scope import add_arg_scope
from migrator.runtime.contrib.framework.variables import model_variable
from migrator.runtime.contrib.layers import utils
from migrator.runtime.contrib.layers.moving_averages import assign_moving_average
from migrator.runtime.contrib.layers.weights import (
  add_to_collections,
  channels_axis,
  finished,
  layer_scope,
  weight,
)

v1 = tf.compat.v1
_UPDATE_OPS = v1.GraphKeys.UPDATE_OPS
_INITIAL = {
  "beta": v1.zeros_initializer(),
  "gamma": v1.ones_initializer(),
  "moving_mean": v1.zeros_initializer(),
  "moving_variance": v1.ones_initializer(),
}


@contextlib.contextmanager
def _unpartitioned():
  """A scope whose variables are whole: moving statistics never have parts."""
  with v1.variable_scope(v1.get_variable_scope()) as scope:
    scope.set_partitioner(None)
    yield


class _Variables:
  """The variables of one batch normalization."""

  def __init__(self, make, center, scale, order):
    made = {name: make(name, True) for name in order if {"beta": center, "gamma": scale}[name]}
    self.beta = made.get("beta")
    self.gamma = made.get("gamma")
    with _unpartitioned():
      self.moving_mean = make("moving_mean", False)
      self.moving_variance = make("moving_variance", False)


def _model_variables(shape, dtype, center, scale, trainable, initializers, regularizers, among):
  """Makes the variables as `model_variable` does: an own penalty takes the place of the scope's."""

  def make(name, trained):
    return model_variable(
      name,
      shape=shape,
      dtype=dtype,
      initializer=initializers.get(name, _INITIAL[name]),
      regularizer=regularizers.get(name) if trained else None,
      collections=utils.get_variable_collections(among, name),
      trainable=trained and trainable,
    )

  return _Variables(make, center, scale, ("beta", "gamma"))


def _layer_variables(shape, dtype, center, scale, trainable, initializers, regularizers, among):
  """Makes the variables as the layer of `tf.layers` does: an own penalty counts besides the scope's."""

  def make(name, trained):
    return weight(
      name,
      shape,
      dtype,
      initializers.get(name, _INITIAL[name]),
      regularizers.get(name) if trained else None,
      trained and trainable,
      None,
      name,
    )

  made = _Variables(make, center, scale, ("gamma", "beta"))
  for name in ("moving_mean", "moving_variance", "beta", "gamma"):
    variable = getattr(made, name)
    if variable is not None:
      add_to_collections(variable, among, name)
  return made


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


def _fused_in_place(
  inputs, sc, decay, epsilon, is_training, data_format, updates_collections, zero_debias, make
):
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


def _layer(inputs, decay, epsilon, is_training, axis, fused, make):
  """Normalizes as the layer of `tf.layers` does, whose updates go to UPDATE_OPS."""
  channels = utils.channel_dimension(
    inputs.shape, "channels_first" if axis == 1 else "channels_last"
  )
  half = inputs.dtype.base_dtype in (tf.float16, tf.bfloat16)
  variables = make([channels], tf.float32 if half else inputs.dtype.base_dtype)
  if fused and inputs.shape.ndims == 4:
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
  if training is None or training:
    rate = _layer_decay(decay, is_training)
    for moving, value in (
      (variables.moving_mean, mean),
      (variables.moving_variance, variance),
    ):
      delta = (moving - tf.cast(value, moving.dtype)) * tf.cast(rate, moving.dtype)
      v1.add_to_collection(_UPDATE_OPS, v1.assign_sub(moving, delta))
  return outputs


def _moments(
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


@add_arg_scope
def batch_norm(
  inputs,
  decay=0.999,
  center=True,
  scale=False,
  epsilon=0.001,
  activation_fn=None,
  param_initializers=None,
  param_regularizers=None,
  updates_collections=_UPDATE_OPS,
  is_training=True,
  reuse=None,
  variables_collections=None,
  outputs_collections=None,
  trainable=True,
  batch_weights=None,
  fused=None,
  data_format="NHWC",
  zero_debias_moving_mean=False,
  scope=None,
  renorm=False,
  renorm_clipping=None,
  renorm_decay=0.99,
  adjustment=None,
):
  """Adds batch normalization (Ioffe and Szegedy, 2015): `BatchNorm/beta`, `.../moving_mean`, ...

  Args:
    inputs: a tensor of rank 2 or more, with the channels last or, with "NCHW", second.
    decay: of the moving mean and variance.
    center: whether there is `beta`, added in the end.
    scale: whether there is `gamma`, a factor.
    epsilon: added to the variance.
    activation_fn: a function, or None.
    param_initializers: {"beta", "gamma", "moving_mean" or "moving_variance": initializer}.
    param_regularizers: {"beta" or "gamma": function weights -> penalty}.
    updates_collections: where the updates go, for the program to run; None runs them with the outputs.
    is_training: a bool or a boolean tensor: statistics of the batch, or the moving ones.
    reuse, outputs_collections, trainable, scope: as for `fully_connected`.
    variables_collections: collections of all variables, or {name of a variable: collections}.
    batch_weights: a weight for each row.
    fused: whether to use the fused operation where it can be; yes by default.
    data_format: "NHWC" or "NCHW".
    zero_debias_moving_mean: whether the moving mean is corrected for its initial value, with the
      variables `biased` and `local_step`.
    renorm, renorm_clipping, renorm_decay, adjustment: not offered.

  Returns:
    The outputs, of the inputs' shape.

  Raises:
    ValueError: with `renorm` or `adjustment`; if the number of channels or the rank is not known.
  """
  del renorm_clipping, renorm_decay
  if renorm or adjustment is not None:
    raise ValueError(
      "batch_norm: batch renormalization (renorm, adjustment) is not offered. "
      "Compute it in the program, or train without it."
    )
  axis = channels_axis(data_format)
  fused = True if fused is None else fused
  inputs = tf.convert_to_tensor(inputs)
  rank = inputs.shape.ndims
  if rank is None:
    raise ValueError(f"batch_norm: the rank of {inputs.name} must be known.")
  own_updates = updates_collections is not _UPDATE_OPS
  in_place = (
    fused
    and batch_weights is None
    and rank in (2, 4)
    and (zero_debias_moving_mean or rank == 2 or own_updates)
  )

  as_layer = not (in_place or batch_weights is not None or own_updates or zero_debias_moving_mean)
  initializers, regularizers = param_initializers or {}, param_regularizers or {}
  # Moments with an own place for updates never knew the penalties.
  known = regularizers if in_place or as_layer else {}

  def make(shape, dtype):
    maker = _layer_variables if as_layer else _model_variables
    return maker(shape, dtype, center, scale, trainable, initializers, known, variables_collections)

  if in_place:
    with v1.variable_scope(scope, "BatchNorm", [inputs], reuse=reuse) as sc:
      outputs = _fused_in_place(
        inputs,
        sc,
        decay,
        epsilon,
        is_training,
        data_format,
        updates_collections,
        zero_debias_moving_mean,
        make,
      )
      return finished(outputs, activation_fn, outputs_collections, sc.name)
  with layer_scope(scope, "BatchNorm", inputs, reuse) as sc:
    if as_layer:
      outputs = _layer(inputs, decay, epsilon, is_training, axis, fused, make)
    else:
      outputs = _moments(
        inputs,
        decay,
        epsilon,
        is_training,
        axis,
        batch_weights,
        updates_collections,
        zero_debias_moving_mean,
        make,
      )
    return finished(outputs, activation_fn, outputs_collections, sc.name)
