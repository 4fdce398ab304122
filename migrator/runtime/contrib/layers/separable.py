"""The separable convolution of `tf.contrib.layers`."""

from __future__ import annotations

import tensorflow as tf

from migrator.runtime.contrib.framework.arg_scope import add_arg_scope
from migrator.runtime.contrib.framework.variables import model_variable
from migrator.runtime.contrib.layers import utils
from migrator.runtime.contrib.layers.initializers import XAVIER, ZEROS
from migrator.runtime.contrib.layers.weights import (
  channels_axis,
  finished,
  layer_scope,
  weight,
)

v1 = tf.compat.v1


@add_arg_scope
def separable_convolution2d(
  inputs,
  num_outputs,
  kernel_size,
  depth_multiplier=1,
  stride=1,
  padding="SAME",
  data_format="NHWC",
  rate=1,
  activation_fn=tf.nn.relu,
  normalizer_fn=None,
  normalizer_params=None,
  weights_initializer=XAVIER,
  pointwise_initializer=None,
  weights_regularizer=None,
  biases_initializer=ZEROS,
  biases_regularizer=None,
  reuse=None,
  variables_collections=None,
  outputs_collections=None,
  trainable=True,
  scope=None,
):
  """Adds a convolution of each channel by itself and one that mixes them.

  Variables: `SeparableConv2d/depthwise_weights`, `.../pointwise_weights` and, without normalizer, biases.

  Args:
    inputs: a tensor of rank 4.
    num_outputs: the number of filters; None leaves out the mixing convolution.
    depth_multiplier: how many filters each channel has.
    pointwise_initializer: of the mixing weights; `weights_initializer` by default.
    kernel_size, stride, padding, data_format, rate, activation_fn, normalizer_fn, normalizer_params,
      weights_initializer, weights_regularizer, biases_initializer, biases_regularizer, reuse,
      variables_collections, outputs_collections, trainable, scope: as for `convolution`.

  Raises:
    ValueError: if the number of channels is not known, or the format is another one.
  """
  first = channels_axis(data_format) == 1
  renamed = {
    "bias": "biases",
    "depthwise_kernel": "depthwise_weights",
    "pointwise_kernel": "pointwise_weights",
  }
  with layer_scope(scope, "SeparableConv2d", inputs, reuse, renamed) as sc:
    inputs = tf.convert_to_tensor(inputs)
    dtype = inputs.dtype.base_dtype
    channels = utils.channel_dimension(
      inputs.shape, "channels_first" if first else "channels_last", min_rank=4
    )
    steps = utils.two_element_tuple(stride)
    strides = (1, 1, *steps) if first else (1, *steps, 1)
    depthwise_shape = [*utils.two_element_tuple(kernel_size), channels, depth_multiplier]

    def own(name, shape, initializer, regularizer, kind):
      return weight(
        name, shape, dtype, initializer, regularizer, trainable, variables_collections, kind
      )

    bare = num_outputs is None
    if bare:
      depthwise = model_variable(
        "depthwise_weights",
        shape=depthwise_shape,
        dtype=dtype,
        initializer=weights_initializer,
        regularizer=weights_regularizer,
        trainable=trainable,
        collections=utils.get_variable_collections(variables_collections, "weights"),
      )
      outputs = v1.nn.depthwise_conv2d(
        inputs,
        depthwise,
        strides,
        padding.upper(),
        rate=utils.two_element_tuple(rate),
        data_format=data_format,
      )
      num_outputs = depth_multiplier * channels
    else:
      outputs = v1.nn.separable_conv2d(
        inputs,
        own(
          "depthwise_kernel", depthwise_shape, weights_initializer, weights_regularizer, "weights"
        ),
        own(
          "pointwise_kernel",
          [1, 1, channels * depth_multiplier, num_outputs],
          weights_initializer if pointwise_initializer is None else pointwise_initializer,
          weights_regularizer,
          "weights",
        ),
        strides,
        padding.upper(),
        rate=utils.two_element_tuple(rate),
        data_format=data_format,
      )
    if not normalizer_fn and biases_initializer:
      # Without the mixing convolution the penalty of the layer stands in place of the scope's.
      if bare:
        biases = model_variable(
          "biases",
          shape=[num_outputs],
          dtype=dtype,
          initializer=biases_initializer,
          regularizer=biases_regularizer,
          trainable=trainable,
          collections=utils.get_variable_collections(variables_collections, "biases"),
        )
      else:
        biases = own("bias", [num_outputs], biases_initializer, biases_regularizer, "biases")
      outputs = tf.nn.bias_add(outputs, biases, data_format=data_format)
    return finished(
      outputs, activation_fn, outputs_collections, sc.name, normalizer_fn, normalizer_params
    )


separable_conv2d = separable_convolution2d
