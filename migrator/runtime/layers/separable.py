"""`tf.layers`: convolutions of each channel by itself, and then across channels."""

from __future__ import annotations

from typing import Any, Optional

import tensorflow as tf

from migrator.runtime.layers import values
from migrator.runtime.layers.convolution import Convolution

v1 = tf.compat.v1


class Separable(Convolution):
  """What separable convolutions have in common.

  Variables: `depthwise_kernel`, [*kernel_size, channels, depth_multiplier]; `pointwise_kernel`,
  [1, ..., channels * depth_multiplier, filters]; `bias`.
  """

  def __init__(
    self,
    rank: int,
    filters: int,
    kernel_size: Any,
    strides: Any = 1,
    padding: str = "valid",
    data_format: Optional[str] = "channels_last",
    dilation_rate: Any = 1,
    depth_multiplier: int = 1,
    activation: Any = None,
    use_bias: bool = True,
    depthwise_initializer: Any = None,
    pointwise_initializer: Any = None,
    bias_initializer: Any = v1.zeros_initializer,
    depthwise_regularizer: Any = None,
    pointwise_regularizer: Any = None,
    bias_regularizer: Any = None,
    activity_regularizer: Any = None,
    depthwise_constraint: Any = None,
    pointwise_constraint: Any = None,
    bias_constraint: Any = None,
    trainable: bool = True,
    name: Any = None,
    **kwargs: Any,
  ) -> None:
    super().__init__(
      rank,
      filters,
      kernel_size,
      strides,
      padding,
      data_format,
      dilation_rate,
      activation,
      use_bias,
      bias_initializer=bias_initializer,
      bias_regularizer=bias_regularizer,
      activity_regularizer=activity_regularizer,
      bias_constraint=bias_constraint,
      trainable=trainable,
      name=name,
      **kwargs,
    )
    self.depth_multiplier = depth_multiplier
    self.depthwise_initializer = values.initializer(depthwise_initializer)
    self.pointwise_initializer = values.initializer(pointwise_initializer)
    self.depthwise_regularizer = values.regularizer(depthwise_regularizer)
    self.pointwise_regularizer = values.regularizer(pointwise_regularizer)
    self.depthwise_constraint = values.constraint(depthwise_constraint)
    self.pointwise_constraint = values.constraint(pointwise_constraint)
    self.depthwise_kernel: Any = None
    self.pointwise_kernel: Any = None

  def build(self, input_shape: Any) -> None:
    """Makes both kernels and the bias.

    Raises:
      ValueError: the number of input channels is not known.
    """
    channels = self.channels(input_shape)
    self.depthwise_kernel = self.add_weight(
      "depthwise_kernel",
      (*self.kernel_size, channels, self.depth_multiplier),
      initializer=self.depthwise_initializer,
      regularizer=self.depthwise_regularizer,
      constraint=self.depthwise_constraint,
    )
    self.pointwise_kernel = self.add_weight(
      "pointwise_kernel",
      (*(1,) * self.rank, channels * self.depth_multiplier, self.filters),
      initializer=self.pointwise_initializer,
      regularizer=self.pointwise_regularizer,
      constraint=self.pointwise_constraint,
    )
    self.add_bias()
    self.built = True

  def convolve(self, inputs: Any, depthwise: Any, pointwise: Any, rate: Any, strides: Any) -> Any:
    """Returns what the operation, which has two dimensions, makes of [batch, a, b, channels]."""
    first = self.channel_axis == 1
    return tf.nn.separable_conv2d(
      inputs,
      depthwise,
      pointwise,
      strides=(1, 1, *strides) if first else (1, *strides, 1),
      padding="VALID" if self.padding == "causal" else self.padding.upper(),
      data_format=values.layout(self.data_format, 4),
      dilations=list(rate),
    )


class SeparableConv1D(Separable):
  """Separable convolution over [batch, steps, channels]."""

  def __init__(self, filters: int, kernel_size: Any, *args: Any, **kwargs: Any) -> None:
    super().__init__(1, filters, kernel_size, *args, **kwargs)

  def call(self, inputs: Any) -> Any:
    """Returns the outputs, with the bias and the activation."""
    axis = 2 if self.channel_axis == 1 else 1
    outputs = self.convolve(
      tf.expand_dims(self.causal(inputs), axis),
      tf.expand_dims(self.depthwise_kernel, 0),
      tf.expand_dims(self.pointwise_kernel, 0),
      (1, *self.dilation_rate),
      self.strides * 2,
    )
    if self.use_bias:
      layout = values.layout(self.data_format, 4)
      outputs = tf.nn.bias_add(outputs, self.bias, data_format=layout)
    outputs = tf.squeeze(outputs, [axis])
    return outputs if self.activation is None else self.activation(outputs)


class SeparableConv2D(Separable):
  """Separable convolution over [batch, height, width, channels]."""

  def __init__(self, filters: int, kernel_size: Any, *args: Any, **kwargs: Any) -> None:
    super().__init__(2, filters, kernel_size, *args, **kwargs)

  def call(self, inputs: Any) -> Any:
    """Returns the outputs, with the bias and the activation."""
    kernels = self.depthwise_kernel, self.pointwise_kernel
    return self.finish(self.convolve(inputs, *kernels, self.dilation_rate, self.strides))
