"""Transposed convolutions of `tf.contrib.layers`."""

from __future__ import annotations

import tensorflow as tf

from migrator.runtime.contrib.framework.arg_scope import add_arg_scope
from migrator.runtime.contrib.layers import kernels, utils
from migrator.runtime.contrib.layers.initializers import XAVIER, ZEROS
from migrator.runtime.contrib.layers.weights import channels_axis, finished, layer_scope, weight


def _transposed_size(size, window: int, stride: int, padding: str):
  if size is None:
    return None
  return size * stride + (max(window - stride, 0) if padding == "VALID" else 0)


def _transposed(inputs, filters, kernel, window, strides, padding, layout):
  """Applies the transpose of a convolution whose inputs have the smallest size that fits."""
  spatial = len(window)
  first = 2 if layout.startswith("NC") else 1
  static = inputs.shape.as_list()
  dynamic = tf.shape(inputs)
  padding = padding.upper()

  def sizes(shape):
    found = [
      _transposed_size(shape[first + axis], window[axis], strides[axis], padding)
      for axis in range(spatial)
    ]
    return [filters, *found] if first == 2 else [*found, filters]

  operation = tf.nn.conv2d_transpose if spatial == 2 else tf.nn.conv3d_transpose
  each = [1, 1, *strides] if first == 2 else [1, *strides, 1]
  outputs = operation(
    inputs,
    tf.convert_to_tensor(kernel),
    tf.stack([dynamic[0], *sizes([dynamic[axis] for axis in range(spatial + 2)])]),
    each,
    padding,
    data_format=layout,
  )
  outputs.set_shape([static[0], *sizes(static)])
  return outputs


def _transposed_convolution(inputs, spatial, num_outputs, kernel_size, stride, padding, data_format, normalizer_fn, initializers, regularizers, trainable, variables_collections):  # fmt: skip
  channels_axis(data_format, ("NHWC", "NCHW") if spatial == 2 else ("NDHWC", "NCDHW"))
  inputs = tf.convert_to_tensor(inputs)
  layout = kernels.layout_of(spatial, data_format)
  dtype = inputs.dtype.base_dtype
  window = utils.n_positive_integers(spatial, kernel_size)
  kernel = weight(
    "kernel",
    [*window, num_outputs, kernels.channels_of(inputs, layout)],
    dtype,
    initializers[0],
    regularizers[0],
    trainable,
    variables_collections,
    "weights",
  )
  strides = utils.n_positive_integers(spatial, stride)
  outputs = _transposed(inputs, num_outputs, kernel, window, strides, padding, layout)
  if normalizer_fn or not initializers[1]:
    return outputs
  return kernels.with_biases(
    outputs,
    num_outputs,
    layout,
    initializers[1],
    regularizers[1],
    trainable,
    variables_collections,
    dtype,
  )


@add_arg_scope
def convolution2d_transpose(
  inputs,
  num_outputs,
  kernel_size,
  stride=1,
  padding="SAME",
  data_format="NHWC",
  activation_fn=tf.nn.relu,
  normalizer_fn=None,
  normalizer_params=None,
  weights_initializer=XAVIER,
  weights_regularizer=None,
  biases_initializer=ZEROS,
  biases_regularizer=None,
  reuse=None,
  variables_collections=None,
  outputs_collections=None,
  trainable=True,
  scope=None,
):
  """Adds a transposed convolution: `Conv2d_transpose/weights` [height, width, outputs, inputs] and biases.

  Arguments, result and errors as for `convolution`.
  """
  with layer_scope(scope, "Conv2d_transpose", inputs, reuse, kernels.RENAMED) as sc:
    outputs = _transposed_convolution(
      inputs,
      2,
      num_outputs,
      kernel_size,
      stride,
      padding,
      data_format,
      normalizer_fn,
      (weights_initializer, biases_initializer),
      (weights_regularizer, biases_regularizer),
      trainable,
      variables_collections,
    )
    return finished(
      outputs, activation_fn, outputs_collections, sc.name, normalizer_fn, normalizer_params
    )


@add_arg_scope
def convolution3d_transpose(
  inputs,
  num_outputs,
  kernel_size,
  stride=1,
  padding="SAME",
  data_format="NDHWC",
  activation_fn=tf.nn.relu,
  normalizer_fn=None,
  normalizer_params=None,
  weights_initializer=XAVIER,
  weights_regularizer=None,
  biases_initializer=ZEROS,
  biases_regularizer=None,
  reuse=None,
  variables_collections=None,
  outputs_collections=None,
  trainable=True,
  scope=None,
):
  """Adds a transposed convolution in three dimensions; see `convolution2d_transpose`."""
  with layer_scope(scope, "Conv3d_transpose", inputs, reuse, kernels.RENAMED) as sc:
    outputs = _transposed_convolution(
      inputs,
      3,
      num_outputs,
      kernel_size,
      stride,
      padding,
      data_format,
      normalizer_fn,
      (weights_initializer, biases_initializer),
      (weights_regularizer, biases_regularizer),
      trainable,
      variables_collections,
    )
    return finished(
      outputs, activation_fn, outputs_collections, sc.name, normalizer_fn, normalizer_params
    )


conv2d_transpose = convolution2d_transpose
conv3d_transpose = convolution3d_transpose
