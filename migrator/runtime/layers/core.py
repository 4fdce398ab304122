"""`tf.layers`: dense, dropout, flatten."""

from __future__ import annotations

import math
from typing import Any

import tensorflow as tf

from migrator.runtime.layers import values
from migrator.runtime.layers.base import Layer
from migrator.runtime.layers.input_spec import InputSpec

v1 = tf.compat.v1


class Dense(Layer):
  """activation(inputs * kernel + bias), over the last dimension; arguments of `tf.layers.Dense`.

  Inputs are [..., n] floats, outputs [..., units], `kernel` is [n, units] and `bias` [units].
  """

  def __init__(
    self,
    units: int,
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
    **kwargs: Any,
  ) -> None:
    super().__init__(
      trainable=trainable, name=name, activity_regularizer=activity_regularizer, **kwargs
    )
    self.units = int(units)
    self.activation = values.activation(activation)
    self.use_bias = use_bias
    self.kernel_initializer = values.initializer(kernel_initializer)
    self.bias_initializer = values.initializer(bias_initializer)
    self.kernel_regularizer = values.regularizer(kernel_regularizer)
    self.bias_regularizer = values.regularizer(bias_regularizer)
    self.kernel_constraint = values.constraint(kernel_constraint)
    self.bias_constraint = values.constraint(bias_constraint)
    self.input_spec = InputSpec(min_ndim=2)
    self.kernel: Any = None
    self.bias: Any = None

  def build(self, input_shape: Any) -> None:
    """Makes `kernel` and `bias`.

    Raises:
      TypeError: the inputs are no floating point numbers.
      ValueError: the size of the last dimension is not known.
    """
    dtype = tf.as_dtype(self.dtype or tf.float32)
    if not (dtype.is_floating or dtype.is_complex):
      raise TypeError(f"Layer {self.name} needs floating point inputs, not {dtype.name}")
    size = tf.compat.dimension_value(tf.TensorShape(input_shape)[-1])
    if size is None:
      raise ValueError(f"Layer {self.name}: the size of the last dimension is not known")
    self.input_spec = InputSpec(min_ndim=2, axes={-1: size})
    self.kernel = self.add_weight(
      "kernel",
      [size, self.units],
      initializer=self.kernel_initializer,
      regularizer=self.kernel_regularizer,
      constraint=self.kernel_constraint,
    )
    if self.use_bias:
      self.bias = self.add_weight(
        "bias",
        [self.units],
        initializer=self.bias_initializer,
        regularizer=self.bias_regularizer,
        constraint=self.bias_constraint,
      )
    self.built = True

  def call(self, inputs: Any) -> Any:
    """Returns [..., units] of [..., n]."""
    if inputs.dtype.base_dtype.name != self.dtype:
      inputs = tf.cast(inputs, self.dtype)
    rank = inputs.shape.rank
    if rank is not None and rank > 2:
      outputs = tf.tensordot(inputs, self.kernel, [[rank - 1], [0]])
      if not tf.executing_eagerly():
        outputs.set_shape([*inputs.shape.as_list()[:-1], self.units])
    elif isinstance(inputs, tf.SparseTensor):
      outputs = tf.sparse.sparse_dense_matmul(inputs, self.kernel)
    else:
      outputs = tf.matmul(inputs, self.kernel)
    if self.use_bias:
      outputs = tf.nn.bias_add(outputs, self.bias)
    return outputs if self.activation is None else self.activation(outputs)

  def compute_output_shape(self, input_shape: Any) -> tf.TensorShape:
    """Returns the shape of the outputs."""
    return tf.TensorShape(input_shape)[:-1].concatenate(self.units)


class Dropout(Layer):
  """Sets a share of the inputs to 0 and scales the others up; arguments of `tf.layers.Dropout`."""

  def __init__(
    self,
    rate: Any = 0.5,
    noise_shape: Any = None,
    seed: Any = None,
    name: Any = None,
    **kwargs: Any,
  ) -> None:
    super().__init__(name=name, **kwargs)
    self.rate = rate
    self.noise_shape = noise_shape
    self.seed = seed

  def call(self, inputs: Any, training: Any = False) -> Any:
    """Returns the inputs with dropout where `training` (a boolean, or a tensor of one) is on."""

    def drop() -> Any:
      return tf.nn.dropout(
        inputs, noise_shape=self._noise_shape(inputs), seed=self.seed, rate=self.rate
      )

    return values.choose(training, drop, lambda: tf.identity(inputs))

  def compute_output_shape(self, input_shape: Any) -> tf.TensorShape:
    """Returns the shape of the inputs."""
    return tf.TensorShape(input_shape)

  def _noise_shape(self, inputs: Any) -> Any:
    shape = self.noise_shape
    if shape is None or isinstance(shape, tf.Tensor) or None not in list(shape):
      return shape
    actual = tf.shape(inputs)
    return [actual[i] if size is None else size for i, size in enumerate(shape)]


class Flatten(Layer):
  """[batch, ...] to [batch, n]; arguments of `tf.layers.Flatten`."""

  def __init__(self, data_format: Any = None, **kwargs: Any) -> None:
    super().__init__(**kwargs)
    self.data_format = values.data_format(data_format)
    self.input_spec = InputSpec(min_ndim=1)

  def call(self, inputs: Any) -> Any:
    """Returns [batch, n]; the channels are the last to vary."""
    rank = inputs.shape.rank
    if self.data_format == "channels_first" and rank is not None and rank > 1:
      inputs = tf.transpose(inputs, [0, *range(2, rank), 1])
    if rank == 1:
      return tf.expand_dims(inputs, axis=1)
    sizes = [None] if rank is None else inputs.shape.as_list()
    if rank is not None and None not in sizes[1:]:
      return tf.reshape(inputs, [-1, math.prod(sizes[1:])])
    return tf.reshape(inputs, [tf.shape(inputs)[0] if sizes[0] is None else sizes[0], -1])

  def compute_output_shape(self, input_shape: Any) -> tf.TensorShape:
    """Returns [batch, n], n None where it is not known."""
    batch, *others = tf.TensorShape(input_shape).as_list()
    return tf.TensorShape([batch, None if None in others else math.prod(others)])


def dense(
  inputs: Any,
  units: int,
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
  reuse: Any = None,
) -> Any:
  """Is `tf.layers.dense`: variables `<scope>/dense/kernel` and `bias`, or `<scope>/<name>/...`."""
  layer = Dense(
    units,
    activation=activation,
    use_bias=use_bias,
    kernel_initializer=kernel_initializer,
    bias_initializer=bias_initializer,
    kernel_regularizer=kernel_regularizer,
    bias_regularizer=bias_regularizer,
    activity_regularizer=activity_regularizer,
    kernel_constraint=kernel_constraint,
    bias_constraint=bias_constraint,
    trainable=trainable,
    name=name,
    _scope=name,
    _reuse=reuse,
  )
  return layer(inputs)


def dropout(
  inputs: Any,
  rate: Any = 0.5,
  noise_shape: Any = None,
  seed: Any = None,
  training: Any = False,
  name: Any = None,
) -> Any:
  """Is `tf.layers.dropout`: only drops where `training` is on."""
  return Dropout(rate, noise_shape=noise_shape, seed=seed, name=name)(inputs, training=training)


def flatten(inputs: Any, name: Any = None, data_format: Any = "channels_last") -> Any:
  """Is `tf.layers.flatten`."""
  return Flatten(name=name, data_format=data_format)(inputs)
