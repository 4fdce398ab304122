"""Layer, instance and group normalization of `tf.contrib.layers`."""

from __future__ import annotations

import tensorflow as tf

from migrator.runtime.contrib.framework.arg_scope import add_arg_scope
from migrator.runtime.contrib.framework.variables import model_variable
from migrator.runtime.contrib.layers import utils
from migrator.runtime.contrib.layers.weights import channels_axis, finished

v1 = tf.compat.v1


def _parameters(shape, dtype, center, scale, trainable, initializers, among):
  """Returns `beta` and `gamma`, each None if the layer has none."""
  initial = {"beta": v1.zeros_initializer(), "gamma": v1.ones_initializer(), **(initializers or {})}

  def make(name):
    return tf.convert_to_tensor(
      model_variable(
        name,
        shape=shape,
        dtype=dtype,
        initializer=initial[name],
        collections=utils.get_variable_collections(among, name),
        trainable=trainable,
      )
    )

  return (make("beta") if center else None), (make("gamma") if scale else None)


def _rank(inputs) -> int:
  if inputs.shape.ndims is None:
    raise ValueError(f"The rank of {inputs.name} must be known.")
  return inputs.shape.ndims


@add_arg_scope
def layer_norm(
  inputs,
  center=True,
  scale=True,
  activation_fn=None,
  reuse=None,
  variables_collections=None,
  outputs_collections=None,
  trainable=True,
  begin_norm_axis=1,
  begin_params_axis=-1,
  scope=None,
):
  """Adds layer normalization (Ba, Kiros and Hinton, 2016): `LayerNorm/beta` and `LayerNorm/gamma`.

  1e-12 is added to the variance, in float16 1e-3.

  Args:
    inputs: a tensor.
    center: whether there is `beta`, added in the end.
    scale: whether there is `gamma`, a factor.
    activation_fn: a function, or None.
    reuse, variables_collections, outputs_collections, trainable, scope: as for `batch_norm`.
    begin_norm_axis: the first axis of the moments; they take all from there on.
    begin_params_axis: the first axis of the variables.

  Raises:
    ValueError: if the axes are not within the rank, or the sizes of the variables are not known.
  """
  with v1.variable_scope(scope, "LayerNorm", [inputs], reuse=reuse) as sc:
    inputs = tf.convert_to_tensor(inputs)
    rank = _rank(inputs)
    if begin_norm_axis < 0:
      begin_norm_axis += rank
    if begin_params_axis >= rank or begin_norm_axis >= rank:
      raise ValueError(
        f"begin_params_axis ({begin_params_axis}) and begin_norm_axis ({begin_norm_axis}) must be "
        f"less than the rank ({rank})."
      )
    shape = inputs.shape[begin_params_axis:]
    if not shape.is_fully_defined():
      raise ValueError(f"The sizes from axis {begin_params_axis} on must be known: {inputs.shape}.")
    dtype = inputs.dtype.base_dtype
    beta, gamma = _parameters(shape, dtype, center, scale, trainable, None, variables_collections)
    mean, variance = tf.nn.moments(inputs, list(range(begin_norm_axis, rank)), keepdims=True)
    outputs = tf.nn.batch_normalization(
      inputs, mean, variance, beta, gamma, 1e-3 if dtype == tf.float16 else 1e-12
    )
    outputs.set_shape(inputs.shape)
    return finished(outputs, activation_fn, outputs_collections, sc.name)


@add_arg_scope
def instance_norm(
  inputs,
  center=True,
  scale=True,
  epsilon=1e-6,
  activation_fn=None,
  param_initializers=None,
  reuse=None,
  variables_collections=None,
  outputs_collections=None,
  trainable=True,
  data_format="NHWC",
  scope=None,
):
  """Normalizes each channel of each row: `InstanceNorm/beta` and `InstanceNorm/gamma`.

  Arguments as for `batch_norm`.

  Raises:
    ValueError: if the rank, the number of channels or the format does not fit.
  """
  first = channels_axis(data_format) == 1
  inputs = tf.convert_to_tensor(inputs)
  rank = _rank(inputs)
  axis = 1 if first else rank - 1
  with v1.variable_scope(scope, "InstanceNorm", [inputs], reuse=reuse) as sc:
    channels = utils.channel_dimension(inputs.shape, "channels_first" if first else "channels_last")
    beta, gamma = _parameters(
      [channels],
      inputs.dtype.base_dtype,
      center,
      scale,
      trainable,
      param_initializers,
      variables_collections,
    )
    if first:
      shape = [1, channels, *[1] * (rank - 2)]
      beta = None if beta is None else tf.reshape(beta, shape)
      gamma = None if gamma is None else tf.reshape(gamma, shape)
    axes = [one for one in range(1, rank) if one != axis]
    mean, variance = tf.nn.moments(inputs, axes, keepdims=True)
    outputs = tf.nn.batch_normalization(
      inputs, mean, variance, beta, gamma, epsilon, name="instancenorm"
    )
    return finished(outputs, activation_fn, outputs_collections, sc.name)


def _group_axes(inputs, channels_axis, reduction_axes, groups):
  """Returns the axis of the channels, those of the moments and the number of channels, all checked."""
  rank = _rank(inputs)
  if channels_axis > rank - 1:
    raise ValueError("Axis is out of bounds.")
  channels_axis %= rank
  channels = tf.compat.dimension_value(inputs.shape[channels_axis])
  if channels is None:
    raise ValueError(f"The size of axis {channels_axis} must be known: {inputs.shape}.")
  reduction_axes = [one + rank if one < 0 else one for one in reduction_axes]
  for one in reduction_axes:
    if one >= rank:
      raise ValueError("Axis is out of bounds.")
    if tf.compat.dimension_value(inputs.shape[one]) is None:
      raise ValueError(f"The size of axis {one} must be known: {inputs.shape}.")
    if one == channels_axis:
      raise ValueError("reduction_axes must not contain channels_axis.")
  if groups > channels or channels % groups:
    raise ValueError(f"{channels} channels do not make {groups} groups.")
  return channels_axis, reduction_axes, channels


@add_arg_scope
def group_norm(
  inputs,
  groups=32,
  channels_axis=-1,
  reduction_axes=(-3, -2),
  center=True,
  scale=True,
  epsilon=1e-6,
  activation_fn=None,
  param_initializers=None,
  reuse=None,
  variables_collections=None,
  outputs_collections=None,
  trainable=True,
  scope=None,
  mean_close_to_zero=False,
):
  """Adds group normalization (Wu and He, 2018): `GroupNorm/beta` and `GroupNorm/gamma`.

  Args:
    inputs: a tensor.
    groups: the number of groups of neighbouring channels.
    channels_axis: the axis of the channels.
    reduction_axes: the axes of the moments, besides the channels of a group.
    mean_close_to_zero: whether the variance comes from sums of squares.
    center, scale, epsilon, activation_fn, param_initializers, reuse, variables_collections,
      outputs_collections, trainable, scope: as for `batch_norm`.

  Raises:
    ValueError: if the axes, their sizes or the number of groups do not fit.
  """
  inputs = tf.convert_to_tensor(inputs)
  channels_axis, reduction_axes, channels = _group_axes(
    inputs, channels_axis, reduction_axes, groups
  )
  dynamic = tf.shape(inputs)
  sizes = [
    dynamic[number] if size is None else size for number, size in enumerate(inputs.shape.as_list())
  ]
  before, after = sizes[:channels_axis], sizes[channels_axis + 1 :]
  split = [groups, channels // groups]
  grouped = tf.reshape(inputs, [*before, *split, *after])
  axes = [channels_axis + 1, *(one + (one > channels_axis) for one in reduction_axes)]
  with v1.variable_scope(scope, "GroupNorm", [inputs], reuse=reuse) as sc:
    beta, gamma = _parameters(
      [channels],
      inputs.dtype.base_dtype,
      center,
      scale,
      trainable,
      param_initializers,
      variables_collections,
    )
    if mean_close_to_zero:
      count, sums, squares, _ = tf.nn.sufficient_statistics(grouped, axes, keepdims=True)
      mean, variance = tf.nn.normalize_moments(count, sums, squares, shift=None)
    else:
      mean, variance = tf.nn.moments(grouped, axes, keepdims=True)
    gain = tf.math.rsqrt(variance + epsilon)
    offset = -mean * gain
    broadcast = [*[1] * len(before), *split, *[1] * len(after)]
    if gamma is not None:
      gamma = tf.reshape(gamma, broadcast)
      gain, offset = gain * gamma, offset * gamma
    if beta is not None:
      offset += tf.reshape(beta, broadcast)
    outputs = tf.reshape(grouped * gain + offset, sizes)
    return finished(outputs, activation_fn, outputs_collections, sc.name)
