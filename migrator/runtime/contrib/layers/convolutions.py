"""Convolutions of `tf.contrib.layers`."""

from __future__ import annotations

import tensorflow as tf

from migrator.runtime.contrib.framework.arg_scope import add_arg_scope
from migrator.runtime.contrib.layers import kernels, utils
from migrator.runtime.contrib.layers.initializers import XAVIER, ZEROS
from migrator.runtime.contrib.layers.weights import (
  finished,
  layer_scope,
  weight,
)

v1 = tf.compat.v1


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
  with layer_scope(scope, "Conv", inputs, reuse, kernels.RENAMED) as sc:
    inputs = tf.convert_to_tensor(inputs)
    rank = inputs.shape.ndims
    if conv_dims is not None and conv_dims + 2 != rank:
      raise ValueError(f"Convolution expects input with rank {conv_dims + 2}, got {rank}")
    if rank not in (3, 4, 5):
      raise ValueError(f"Convolution not supported for input with rank {rank}")
    spatial = rank - 2
    layout = kernels.layout_of(spatial, data_format)
    dtype = inputs.dtype.base_dtype
    window = utils.n_positive_integers(spatial, kernel_size)
    kernel = weight(
      "kernel",
      [*window, kernels.channels_of(inputs, layout), num_outputs],
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
      outputs = kernels.with_biases(
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
