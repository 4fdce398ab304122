"""`tf.layers`: pooling of one, two and three dimensions."""

from __future__ import annotations

from typing import Any, Optional

import tensorflow as tf

from migrator.runtime.layers import values
from migrator.runtime.layers.base import Layer
from migrator.runtime.layers.input_spec import InputSpec


class Pooling(Layer):
  """What pooling layers have in common; classes say `rank` and `largest`.

  Args:
    pool_size: integer for all dimensions, or one for each.
    strides: likewise.
    padding: valid or same.
    data_format: channels_last or channels_first.
    name: of the operations.
    **kwargs: of `Layer`.

  Raises:
    ValueError: an argument is not one of those possible.
  """

  rank = 0
  largest = True

  def __init__(
    self,
    pool_size: Any,
    strides: Any,
    padding: str = "valid",
    data_format: Optional[str] = "channels_last",
    name: Any = None,
    **kwargs: Any,
  ) -> None:
    super().__init__(name=name, **kwargs)
    if strides is None:
      raise ValueError("`strides` must not be None")
    self.pool_size = values.numbers(pool_size, self.rank, "pool_size")
    self.strides = values.numbers(strides, self.rank, "strides")
    self.padding = values.one_of(padding, ("valid", "same"), "padding")
    self.data_format = values.data_format(data_format)
    self.input_spec = InputSpec(ndim=self.rank + 2)

  def call(self, inputs: Any) -> Any:
    """Returns the largest value, or the mean, of each window."""
    first = self.data_format == "channels_first"
    size, strides, axis = self.pool_size, self.strides, 3 if first else 2
    if self.rank == 1:
      inputs, size, strides = tf.expand_dims(inputs, axis), (*size, 1), (*strides, 1)
    # Channels in front: no processor pools three dimensions, and only accelerators pool two.
    swap = first and (self.rank == 3 or not tf.config.list_physical_devices("GPU"))
    order = list(range(len(size) + 2))
    if swap:
      inputs = tf.transpose(inputs, [0, *order[2:], 1])
    outputs = self._pool(inputs, size, strides, first and not swap)
    if swap:
      outputs = tf.transpose(outputs, [0, order[-1], *order[1:-1]])
    return tf.squeeze(outputs, axis) if self.rank == 1 else outputs

  def compute_output_shape(self, input_shape: Any) -> tf.TensorShape:
    """Returns the shape of the outputs."""
    sizes = tf.TensorShape(input_shape).as_list()
    start = 2 if self.data_format == "channels_first" else 1
    for i in range(self.rank):
      if sizes[start + i] is not None:
        lost = self.pool_size[i] - 1 if self.padding == "valid" else 0
        sizes[start + i] = -((lost - sizes[start + i]) // self.strides[i])
    return tf.TensorShape(sizes)

  def _pool(self, inputs: Any, size: tuple[int, ...], strides: tuple[int, ...], front: bool) -> Any:
    if self.rank == 3:
      pool = tf.nn.max_pool3d if self.largest else tf.nn.avg_pool3d
    else:
      pool = tf.nn.max_pool2d if self.largest else tf.nn.avg_pool2d
    return pool(
      inputs,
      ksize=(1, 1, *size) if front else (1, *size, 1),
      strides=(1, 1, *strides) if front else (1, *strides, 1),
      padding=self.padding.upper(),
      data_format=values.layout("channels_first" if front else "channels_last", len(size) + 2),
      # Which programs may fetch.
      name=None if self.rank == 3 else "MaxPool" if self.largest else "AvgPool",
    )


class AveragePooling1D(Pooling):
  """Means over [batch, steps, channels]."""

  rank, largest = 1, False


class MaxPooling1D(Pooling):
  """Largest values over [batch, steps, channels]."""

  rank = 1


class AveragePooling2D(Pooling):
  """Means over [batch, height, width, channels]."""

  rank, largest = 2, False


class MaxPooling2D(Pooling):
  """Largest values over [batch, height, width, channels]."""

  rank = 2


class AveragePooling3D(Pooling):
  """Means over [batch, depth, height, width, channels]."""

  rank, largest = 3, False


class MaxPooling3D(Pooling):
  """Largest values over [batch, depth, height, width, channels]."""

  rank = 3
