"""`RNNCell`: what TensorFlow's dynamic_rnn and its kin call, and what programs derive cells from."""

from __future__ import annotations

from typing import Any, NamedTuple

import tensorflow as tf

from migrator.runtime.layers.base import Layer
from migrator.runtime.layers.input_spec import InputSpec

v1 = tf.compat.v1


class _State(NamedTuple):
  c: Any
  h: Any


class LSTMStateTuple(_State):
  """State of an LSTM: what it keeps, `c`, and its output, `h`."""

  __slots__ = ()

  @property
  def dtype(self) -> Any:
    """Of both.

    Raises:
      TypeError: they are not of one dtype.
    """
    if self.c.dtype != self.h.dtype:
      raise TypeError(f"The parts of the state are of {self.c.dtype} and {self.h.dtype}")
    return self.c.dtype


class RNNCell(Layer):
  """Base class of cells: (output, new state) of (input, state).

  A cell has `state_size` (integers, shapes, or a structure of them), `output_size` and `call`. A
  `call` may make variables with `get_variable`; they are in the scope that the cell got with its
  first use.
  """

  def __call__(self, inputs: Any, state: Any, scope: Any = None) -> Any:
    """Returns (output, new state) of a step.

    Args:
      inputs: [batch, n].
      state: tensors like `state_size`, each [batch, size].
      scope: of the variables; default: named after the class.
    """
    taken = v1.get_variable_scope() if scope is None else scope
    with v1.variable_scope(taken, custom_getter=self._get_variable) as entered:
      more = {} if scope is None else {"scope": entered}
      return super().__call__(inputs, state, **more)

  @property
  def state_size(self) -> Any:
    """Size, shape or structure of them of the state. To be overridden."""
    raise NotImplementedError(f"{type(self).__name__} has no state_size")

  @property
  def output_size(self) -> Any:
    """Size or shape of the output. To be overridden."""
    raise NotImplementedError(f"{type(self).__name__} has no output_size")

  def get_initial_state(self, inputs: Any = None, batch_size: Any = None, dtype: Any = None) -> Any:
    """Returns a state of zeros, for inputs [batch, ...], or a batch size and a dtype.

    Raises:
      ValueError: neither is given, or they are not of one size and dtype.
    """
    if inputs is not None:
      inputs = tf.convert_to_tensor(inputs, name="inputs")
      size = tf.compat.dimension_value(inputs.shape[0])
      given = tf.get_static_value(batch_size) if tf.is_tensor(batch_size) else batch_size
      if batch_size is not None and size != given:
        raise ValueError(f"batch_size is {given}, the inputs' is {size}")
      if dtype is not None and inputs.dtype != dtype:
        raise ValueError(f"dtype is {dtype}, the inputs' is {inputs.dtype}")
      batch_size = size or tf.shape(inputs)[0]
      dtype = inputs.dtype
    if batch_size is None or dtype is None:
      raise ValueError("A state of zeros needs inputs, or batch_size and dtype")
    return self.zero_state(batch_size, dtype)

  def zero_state(self, batch_size: Any, dtype: Any) -> Any:
    """Returns zeros, [batch_size, size] for each size of the state."""
    with v1.name_scope(type(self).__name__ + "ZeroState"):
      return tf.nest.map_structure(lambda s: _zeros(batch_size, s, dtype), self.state_size)

  def _get_variable(self, getter: Any, *args: Any, **kwargs: Any) -> Any:
    variable = getter(*args, **kwargs)
    self._track(variable, True)
    return variable


class LayerRNNCell(RNNCell):
  """A cell that makes its variables in `build`, like a layer."""

  def __init__(self, **kwargs: Any) -> None:
    super().__init__(**kwargs)
    check_dtype(self.dtype)
    self.input_spec = InputSpec(ndim=2)

  def __call__(self, inputs: Any, state: Any, scope: Any = None, *args: Any, **kwargs: Any) -> Any:
    """Returns (output, new state) of a step; see `RNNCell`."""
    return Layer.__call__(self, inputs, state, *args, scope=scope, **kwargs)

  def inputs_of(self, input_shape: Any) -> int:
    """Returns the number of inputs.

    Raises:
      ValueError: it is not known, or they are no floating point numbers.
    """
    check_dtype(self.dtype)
    size = tf.compat.dimension_value(tf.TensorShape(input_shape)[-1])
    if size is None:
      raise ValueError(f"{self.name}: the size of the last dimension of the inputs is not known")
    return int(size)


def check_dtype(dtype: Any) -> None:
  """Checks what a cell computes with.

  Raises:
    ValueError: it is no floating point number.
  """
  if dtype is None:
    return
  dtype = tf.as_dtype(dtype)
  if not (dtype.is_floating or dtype.is_complex):
    raise ValueError(f"RNN cells need floating point numbers, not {dtype.name}")


def check_dtypes(*tensors: Any) -> None:
  """Checks what a cell is called with; see `check_dtype`."""
  for tensor in tf.nest.flatten(tensors):
    check_dtype(tensor.dtype)


def _zeros(batch_size: Any, size: Any, dtype: Any) -> Any:
  """Returns zeros, [batch_size, *size]; both may be tensors or shapes."""
  if isinstance(size, tf.Tensor):
    ends = tf.reshape(size, [-1])
    known = [None] * (1 if size.shape.rank == 0 else (size.shape[0] or 0))
  else:
    known = tf.TensorShape(size if not isinstance(size, int) else [size]).as_list()
    ends = tf.constant(known, tf.int32)
  first = batch_size
  if isinstance(first, tf.Tensor):
    static = tf.get_static_value(first)
    first = tf.cast(tf.reshape(first, [1]), tf.int32)
  else:
    static = int(first)
    first = tf.constant([static], tf.int32)
  zeros = tf.zeros(tf.concat([first, tf.cast(ends, tf.int32)], 0), dtype=dtype)
  if not tf.executing_eagerly():
    zeros.set_shape([None if static is None else int(static), *known])
  return zeros
