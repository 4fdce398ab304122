"""`tf.layers`: transposed convolutions of two and three dimensions."""

from __future__ import annotations

from typing import Any, Optional

import tensorflow as tf

from migrator.runtime.layers.convolution import Convolution

v1 = tf.compat.v1


class Transposed(Convolution):
  """What transposed convolutions have in common; arguments of `Convolution` but dilation_rate."""

  def __init__(
    self,
    rank: int,
    filters: int,
    kernel_size: Any,
    strides: Any = 1,
    padding: str = "valid",
    data_format: Optional[str] = "channels_last",
    *args: Any,
    **kwargs: Any,
  ) -> None:
    super().__init__(rank, filters, kernel_size, strides, padding, data_format, 1, *args, **kwargs)

  def kernel_shape(self, channels: int) -> tuple[int, ...]:
    """Returns the shape of `kernel`: the filters before the input channels."""
    return (*self.kernel_size, self.filters, channels)

  def length(self, size: Any, axis: int) -> Any:
    """Returns the output's size of an input's size, which may be a tensor; None if not known."""
    if size is None:
      return None
    longer = max(self.kernel_size[axis] - self.strides[axis], 0) if self.padding == "valid" else 0
    return size * self.strides[axis] + longer

  def call(self, inputs: Any) -> Any:
    """Returns the outputs, with the bias and the activation."""
    sizes = tf.shape(inputs)
    first = self.channel_axis == 1
    spatial = [self.length(sizes[i + (2 if first else 1)], i) for i in range(self.rank)]
    # Only accelerators have the operation for channels in front.
    swap = first and not tf.config.list_physical_devices("GPU")
    order = list(range(self.rank + 2))
    last, back = [0, *order[2:], 1], [0, order[-1], *order[1:-1]]
    if swap:
      inputs = tf.transpose(inputs, last)
    if first and not swap:
      shape, strides = [sizes[0], self.filters, *spatial], (1, 1, *self.strides)
    else:
      shape, strides = [sizes[0], *spatial, self.filters], (1, *self.strides, 1)
    layout = self.layout if not swap else ("NHWC" if self.rank == 2 else "NDHWC")
    operation = tf.nn.conv2d_transpose if self.rank == 2 else tf.nn.conv3d_transpose
    outputs = operation(
      inputs,
      self.kernel,
      tf.stack(shape),
      strides=strides,
      padding=self.padding.upper(),
      data_format=layout,
    )
    if swap:
      outputs = tf.transpose(outputs, back)
    outputs.set_shape(self.compute_output_shape(inputs.shape if not swap else _front(inputs.shape)))
    return self.finish(outputs)


class Conv2DTranspose(Transposed):
  """Transposed convolution over [batch, height, width, channels]."""

  def __init__(self, filters: int, kernel_size: Any, *args: Any, **kwargs: Any) -> None:
    super().__init__(2, filters, kernel_size, *args, **kwargs)


class Conv3DTranspose(Transposed):
  """Transposed convolution over [batch, depth, height, width, channels]."""

  def __init__(self, filters: int, kernel_size: Any, *args: Any, **kwargs: Any) -> None:
    super().__init__(3, filters, kernel_size, *args, **kwargs)


def _front(shape: Any) -> tf.TensorShape:
  """Returns a shape with the channels in front that has them at the end."""
  sizes = shape.as_list()
  return tf.TensorShape([sizes[0], sizes[-1], *sizes[1:-1]])
