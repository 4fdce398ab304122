"""Pooling layers of `tf.contrib.layers`."""

from __future__ import annotations

import tensorflow as tf

from migrator.runtime.contrib.framework.arg_scope import add_arg_scope
from migrator.runtime.contrib.layers import utils
from migrator.runtime.contrib.layers.weights import channels_axis

v1 = tf.compat.v1

_OPERATIONS = {
  "MaxPool2D": tf.nn.max_pool2d,
  "AvgPool2D": tf.nn.avg_pool2d,
  "MaxPool3D": tf.nn.max_pool3d,
  "AvgPool3D": tf.nn.avg_pool3d,
}


def _pooled(kind, inputs, kernel_size, stride, padding, data_format, collections, scope):
  spatial = int(kind[-2])
  channels_axis(data_format, ("NHWC", "NCHW") if spatial == 2 else ("NDHWC", "NCDHW"))
  with v1.name_scope(scope, kind, [inputs]) as sc:
    outputs = _OPERATIONS[kind](
      tf.convert_to_tensor(inputs),
      utils.n_positive_integers(spatial, kernel_size),
      utils.n_positive_integers(spatial, stride),
      padding.upper(),
      data_format=data_format,
    )
    return utils.collect_named_outputs(collections, sc, outputs)


@add_arg_scope
def max_pool2d(
  inputs,
  kernel_size,
  stride=2,
  padding="VALID",
  data_format="NHWC",
  outputs_collections=None,
  scope=None,
):
  """Returns the maxima of windows of images.

  Args:
    inputs: a tensor of rank 4.
    kernel_size: the size of the window, one number or two.
    stride: likewise.
    padding: "VALID" or "SAME".
    data_format: "NHWC" or "NCHW".
    outputs_collections: collections of the outputs.
    scope: the name of the layer.

  Raises:
    ValueError: if the format is another one.
  """
  return _pooled(
    "MaxPool2D", inputs, kernel_size, stride, padding, data_format, outputs_collections, scope
  )


@add_arg_scope
def avg_pool2d(
  inputs,
  kernel_size,
  stride=2,
  padding="VALID",
  data_format="NHWC",
  outputs_collections=None,
  scope=None,
):
  """Returns the means of windows of images; see `max_pool2d`."""
  return _pooled(
    "AvgPool2D", inputs, kernel_size, stride, padding, data_format, outputs_collections, scope
  )


@add_arg_scope
def max_pool3d(
  inputs,
  kernel_size,
  stride=2,
  padding="VALID",
  data_format="NDHWC",
  outputs_collections=None,
  scope=None,
):
  """Returns the maxima of windows of a tensor of rank 5, NDHWC or NCDHW; see `max_pool2d`."""
  return _pooled(
    "MaxPool3D", inputs, kernel_size, stride, padding, data_format, outputs_collections, scope
  )


@add_arg_scope
def avg_pool3d(
  inputs,
  kernel_size,
  stride=2,
  padding="VALID",
  data_format="NDHWC",
  outputs_collections=None,
  scope=None,
):
  """Returns the means of windows of a tensor of rank 5, NDHWC or NCDHW; see `max_pool2d`."""
  return _pooled(
    "AvgPool3D", inputs, kernel_size, stride, padding, data_format, outputs_collections, scope
  )


@add_arg_scope
def pool(
  inputs,
  kernel_size,
  pooling_type,
  padding="VALID",
  data_format=None,
  dilation_rate=1,
  stride=1,
  outputs_collections=None,
  scope=None,
):
  """Returns the maxima ("MAX") or means ("AVG") of windows of one, two or three dimensions.

  Args:
    inputs: a tensor of rank 3, 4 or 5.
    kernel_size: the size of the window, one number or one for each dimension.
    pooling_type: "MAX" or "AVG".
    padding: "VALID" or "SAME".
    data_format: as for `tf.nn.pool`.
    dilation_rate: the distance of the window's elements.
    stride: the distance of windows; either this or the rate is 1.
    outputs_collections: collections of the outputs.
    scope: the name of the layer.

  Raises:
    ValueError: if the rank is not known or less than 3.
  """
  with v1.name_scope(scope, f"{pooling_type.lower()}_pool", [inputs]) as sc:
    inputs = tf.convert_to_tensor(inputs)
    rank = inputs.shape.ndims
    if rank is None or rank < 3:
      raise ValueError("The rank of inputs must be known, and 3 at least.")
    outputs = v1.nn.pool(
      inputs,
      window_shape=utils.n_positive_integers(rank - 2, kernel_size),
      pooling_type=pooling_type,
      padding=padding,
      data_format=data_format,
      dilation_rate=utils.n_positive_integers(rank - 2, dilation_rate),
      strides=utils.n_positive_integers(rank - 2, stride),
      name=sc,
    )
    return utils.collect_named_outputs(outputs_collections, sc, outputs)
