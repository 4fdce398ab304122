"""Convolutions of `tf.contrib.layers`."""

from __future__ import annotations

import tensorflow as tf

from migrator.runtime.contrib.framework.arg_scope import add_arg_scope
from migrator.runtime.contrib.layers import utils
from migrator.runtime.contrib.layers.initializers import XAVIER, ZEROS
from migrator.runtime.contrib.layers.weights import (
  channels_axis,
  finished,
  layer_scope,
  weight,
)

v1 = tf.compat.v1

_LAYOUTS = {
  1: {False: "NWC", True: "NCW"},
  2: {False: "NHWC", True: "NCHW"},
  3: {False: "NDHWC", True: "NCDHW"},
}
_RENAMED = {"bias": "biases", "kernel": "weights"}


def _layout(spatial: int, data_format) -> str:
  return _LAYOUTS[spatial][bool(data_format) and data_format.startswith("NC")]


def _channels(inputs, layout: str) -> int:
  first = layout.startswith("NC")
  return utils.channel_dimension(inputs.shape, "channels_first" if first else "channels_last")


def _with_biases(
  outputs, count, layout, initializer, regularizer, trainable, variables_collections, dtype
):
  bias = weight(
    "bias", [count], dtype, initializer, regularizer, trainable, variables_collections, "biases"
  )
  # The short layouts are those of matrices for this operation.
  return tf.nn.bias_add(outputs, bias, data_format="NC..." if layout.startswith("NC") else "N...C")


def _convolution(
  inputs,
  num_outputs,
  kernel_size,
  stride=1,
  padding="SAME",
  data_format=None,
  rate=1,
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
  conv_dims=None,
):
  """Adds a convolution: `Conv/weights` and, without normalizer, `Conv/biases`.

  Args:
    inputs: a tensor of rank 3, 4 or 5, with the channels last or, with "NC...", second.
    num_outputs: the number of filters.
    kernel_size: the size of the window, one for all dimensions or one for each.
    stride: likewise; either this or the rate is 1.
    padding: "SAME" or "VALID".
    data_format: NWC, NCW, NHWC, NCHW, NDHWC or NCDHW; channels are last by default.
    rate: the distance of the window's elements.
    conv_dims: the number of spatial dimensions, if it must be a certain one.
    activation_fn, normalizer_fn, normalizer_params, weights_initializer, weights_regularizer,
      biases_initializer, biases_regularizer, reuse, variables_collections, outputs_collections,
      trainable, scope: as for `fully_connected`.

  Returns:
    The outputs, of the inputs' rank.

  Raises:
    ValueError: if the rank, the number of channels or the format does not fit.
  """
  if data_format not in (None, "NWC", "NCW", "NHWC", "NCHW", "NDHWC", "NCDHW"):
    raise ValueError(f"Invalid data_format: {data_format!r}")
  with layer_scope(scope, "Conv", inputs, reuse, _RENAMED) as sc:
    inputs = tf.convert_to_tensor(inputs)
    rank = inputs.shape.ndims
    if conv_dims is not None and conv_dims + 2 != rank:
      raise ValueError(f"Convolution expects input with rank {conv_dims + 2}, got {rank}")
    if rank not in (3, 4, 5):
      raise ValueError(f"Convolution not supported for input with rank {rank}")
    spatial = rank - 2
    layout = _layout(spatial, data_format)
    dtype = inputs.dtype.base_dtype
    window = utils.n_positive_integers(spatial, kernel_size)
    kernel = weight(
      "kernel",
      [*window, _channels(inputs, layout), num_outputs],
      dtype,
      weights_initializer,
      weights_regularizer,
      trainable,
      variables_collections,
      "weights",
    )
    outputs = v1.nn.convolution(
      inputs,
      tf.convert_to_tensor(kernel),
      padding=padding.upper(),
      strides=utils.n_positive_integers(spatial, stride),
      dilation_rate=utils.n_positive_integers(spatial, rate),
      data_format=layout,
    )
    if not normalizer_fn and biases_initializer:
      outputs = _with_biases(
        outputs,
        num_outputs,
        layout,
        biases_initializer,
        biases_regularizer,
        trainable,
        variables_collections,
        dtype,
      )
    return finished(
      outputs, activation_fn, outputs_collections, sc.name, normalizer_fn, normalizer_params
    )


convolution = add_arg_scope(_convolution)


def _of_dimensions(spatial: int):
  def layer(
    inputs,
    num_outputs,
    kernel_size,
    stride=1,
    padding="SAME",
    data_format=None,
    rate=1,
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
    return convolution(
      inputs,
      num_outputs,
      kernel_size,
      stride,
      padding,
      data_format,
      rate,
      activation_fn,
      normalizer_fn,
      normalizer_params,
      weights_initializer,
      weights_regularizer,
      biases_initializer,
      biases_regularizer,
      reuse,
      variables_collections,
      outputs_collections,
      trainable,
      scope,
      conv_dims=spatial,
    )

  layer.__name__ = f"convolution{spatial}d"
  layer.__qualname__ = layer.__name__
  layer.__doc__ = f"Adds a convolution of {spatial} dimensions; see `convolution`."
  return add_arg_scope(layer)


convolution1d = conv1d = _of_dimensions(1)
convolution2d = conv2d = _of_dimensions(2)
convolution3d = conv3d = _of_dimensions(3)


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
  layout = _layout(spatial, data_format)
  dtype = inputs.dtype.base_dtype
  window = utils.n_positive_integers(spatial, kernel_size)
  kernel = weight(
    "kernel",
    [*window, num_outputs, _channels(inputs, layout)],
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
  return _with_biases(
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
  with layer_scope(scope, "Conv2d_transpose", inputs, reuse, _RENAMED) as sc:
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
  with layer_scope(scope, "Conv3d_transpose", inputs, reuse, _RENAMED) as sc:
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
