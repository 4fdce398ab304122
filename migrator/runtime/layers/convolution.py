"""`tf.layers`: convolutions of one, two and three dimensions."""

from __future__ import annotations

from typing import Any, Optional

import tensorflow as tf

from migrator.runtime.layers import values
from migrator.runtime.layers.base import Layer
from migrator.runtime.layers.input_spec import InputSpec

v1 = tf.compat.v1


class Convolution(Layer):
  """What convolutions have in common.

  Inputs are [batch, ..., channels], or [batch, channels, ...] for channels_first.

  Args:
    rank: the number of dimensions that are convolved: 1, 2 or 3.
    filters: the number of output channels.
    kernel_size: integer for all dimensions, or one for each.
    strides: likewise.
    padding: valid or same; causal, too, in one dimension.
    data_format: channels_last or channels_first.
    dilation_rate: like kernel_size.
    activation: function, or its name.
    use_bias: whether there is a variable `bias`, [filters].
    bias_initializer: see `Layer.add_weight`, as for the next ones.
    bias_regularizer: see there.
    bias_constraint: see there.
    kernel_initializer: see there.
    kernel_regularizer: see there.
    kernel_constraint: see there.
    groups: channels are convolved in so many groups, each with its filters.
    **kwargs: of `Layer`.

  Raises:
    ValueError: an argument is not one of those possible.
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
    activation: Any = None,
    use_bias: bool = True,
    kernel_initializer: Any = None,
    bias_initializer: Any = v1.zeros_initializer,
    kernel_regularizer: Any = None,
    bias_regularizer: Any = None,
    activity_regularizer: Any = None,
    kernel_constraint: Any = None,
    bias_constraint: Any = None,
    trainable: bool = True,
    name: Any = None,
    groups: int = 1,
    **kwargs: Any,
  ) -> None:
    super().__init__(
      trainable=trainable, name=name, activity_regularizer=activity_regularizer, **kwargs
    )
    self.rank = rank
    self.filters = int(filters)
    self.groups = groups or 1
    self.kernel_size = values.numbers(kernel_size, rank, "kernel_size")
    self.strides = values.numbers(strides, rank, "strides")
    paddings = ("valid", "same", "causal") if rank == 1 else ("valid", "same")
    self.padding = values.one_of(padding, paddings, "padding")
    self.data_format = values.data_format(data_format)
    self.dilation_rate = values.numbers(dilation_rate, rank, "dilation_rate")
    self.activation = values.activation(activation)
    self.use_bias = use_bias
    self.kernel_initializer = values.initializer(kernel_initializer)
    self.bias_initializer = values.initializer(bias_initializer)
    self.kernel_regularizer = values.regularizer(kernel_regularizer)
    self.bias_regularizer = values.regularizer(bias_regularizer)
    self.kernel_constraint = values.constraint(kernel_constraint)
    self.bias_constraint = values.constraint(bias_constraint)
    self.input_spec = InputSpec(ndim=rank + 2)
    self.kernel: Any = None
    self.bias: Any = None

  @property
  def channel_axis(self) -> int:
    """Axis of the channels in inputs and outputs."""
    return 1 if self.data_format == "channels_first" else self.rank + 1

  @property
  def layout(self) -> str:
    """Data format of the inputs as TensorFlow's operations name it."""
    return values.layout(self.data_format, self.rank + 2)

  def kernel_shape(self, channels: int) -> tuple[int, ...]:
    """Returns the shape of `kernel` for so many input channels."""
    return (*self.kernel_size, channels // self.groups, self.filters)

  def build(self, input_shape: Any) -> None:
    """Makes `kernel` and `bias`.

    Raises:
      ValueError: the number of input channels is not known, or not a multiple of the groups.
    """
    channels = self.channels(input_shape)
    if channels % self.groups or self.filters % self.groups:
      raise ValueError(
        f"Layer {self.name}: {channels} channels and {self.filters} filters are not "
        f"multiples of {self.groups} groups"
      )
    self.kernel = self.add_weight(
      "kernel",
      self.kernel_shape(channels),
      initializer=self.kernel_initializer,
      regularizer=self.kernel_regularizer,
      constraint=self.kernel_constraint,
    )
    self.add_bias()
    self.built = True

  def channels(self, input_shape: Any) -> int:
    """Returns the number of input channels, which the inputs have to have from now on.

    Raises:
      ValueError: it is not known.
    """
    size = tf.compat.dimension_value(tf.TensorShape(input_shape)[self.channel_axis])
    if size is None:
      raise ValueError(f"Layer {self.name}: the number of channels of the inputs is not known")
    self.input_spec = InputSpec(ndim=self.rank + 2, axes={self.channel_axis: size})
    return int(size)

  def add_bias(self) -> None:
    """Makes `bias` where the layer has one."""
    if self.use_bias:
      self.bias = self.add_weight(
        "bias",
        (self.filters,),
        initializer=self.bias_initializer,
        regularizer=self.bias_regularizer,
        constraint=self.bias_constraint,
      )

  def call(self, inputs: Any) -> Any:
    """Returns the convolved inputs, with the bias and the activation."""
    outputs = tf.nn.convolution(
      self.causal(inputs),
      self.kernel,
      strides=list(self.strides),
      padding="VALID" if self.padding == "causal" else self.padding.upper(),
      dilations=list(self.dilation_rate),
      data_format=self.layout,
      name=None if type(self).__module__ != __name__ else self.op_name,
    )
    return self.finish(outputs)

  @property
  def op_name(self) -> str:
    """Name of the operation, which programs may fetch."""
    kind = type(self).__name__
    return "conv1d" if kind == "Conv1D" else kind

  def causal(self, inputs: Any) -> Any:
    """Returns the inputs, padded before the first step where no output may see a later one."""
    if self.padding != "causal":
      return inputs
    steps = [self.dilation_rate[0] * (self.kernel_size[0] - 1), 0]
    order = [[0, 0], [0, 0], steps]
    return tf.pad(inputs, order if self.channel_axis == 1 else [[0, 0], steps, [0, 0]])

  def finish(self, outputs: Any) -> Any:
    """Returns outputs with the bias and the activation."""
    if self.use_bias:
      if self.rank == 1 and self.channel_axis == 1:
        outputs += tf.reshape(self.bias, (1, self.filters, 1))
      else:
        outputs = tf.nn.bias_add(outputs, self.bias, data_format=self.layout)
    return outputs if self.activation is None else self.activation(outputs)

  def compute_output_shape(self, input_shape: Any) -> tf.TensorShape:
    """Returns the shape of the outputs."""
    sizes = tf.TensorShape(input_shape).as_list()
    start = 2 if self.channel_axis == 1 else 1
    spatial = [self.length(size, i) for i, size in enumerate(sizes[start : start + self.rank])]
    rest = [self.filters, *spatial] if start == 2 else [*spatial, self.filters]
    return tf.TensorShape([sizes[0], *rest])

  def length(self, size: Any, axis: int) -> Any:
    """Returns the output's size, of an input's size, in a convolved axis; None if not known."""
    if size is None:
      return None
    if self.padding == "valid":
      size -= (self.kernel_size[axis] - 1) * self.dilation_rate[axis]
    return -(-size // self.strides[axis])


class Conv1D(Convolution):
  """Convolution over [batch, steps, channels]; arguments of `tf.layers.Conv1D`."""

  def __init__(self, filters: int, kernel_size: Any, *args: Any, **kwargs: Any) -> None:
    super().__init__(1, filters, kernel_size, *args, **kwargs)


class Conv2D(Convolution):
  """Convolution over [batch, height, width, channels]; arguments of `tf.layers.Conv2D`."""

  def __init__(self, filters: int, kernel_size: Any, *args: Any, **kwargs: Any) -> None:
    super().__init__(2, filters, kernel_size, *args, **kwargs)


class Conv3D(Convolution):
  """Convolution over [batch, depth, height, width, channels]; arguments of `tf.layers.Conv3D`."""

  def __init__(self, filters: int, kernel_size: Any, *args: Any, **kwargs: Any) -> None:
    super().__init__(3, filters, kernel_size, *args, **kwargs)
