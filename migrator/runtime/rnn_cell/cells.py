"""Cells of `tf.nn.rnn_cell`: plain, gated (GRU) and with memory (LSTM)."""

from __future__ import annotations

from typing import Any, Optional

import tensorflow as tf

from migrator.runtime.layers import values
from migrator.runtime.rnn_cell.base import LayerRNNCell, LSTMStateTuple, check_dtypes

v1 = tf.compat.v1


class BasicRNNCell(LayerRNNCell):
  """output = activation([input, state] * kernel + bias); of `tf.nn.rnn_cell.BasicRNNCell`."""

  def __init__(
    self,
    num_units: int,
    activation: Any = None,
    reuse: Optional[bool] = None,
    name: Optional[str] = None,
    dtype: Any = None,
    **kwargs: Any,
  ) -> None:
    super().__init__(_reuse=reuse, name=name, dtype=dtype, **kwargs)
    self._num_units = num_units
    self._activation = values.activation(activation) or tf.tanh

  @property
  def state_size(self) -> Any:
    """The number of units."""
    return self._num_units

  @property
  def output_size(self) -> Any:
    """The number of units."""
    return self._num_units

  def build(self, input_shape: Any) -> None:
    """Makes `kernel`, [inputs + units, units], and `bias`, [units]."""
    size = self.inputs_of(input_shape)
    self._kernel = self.add_weight("kernel", [size + self._num_units, self._num_units])
    self._bias = self.add_weight("bias", [self._num_units], initializer=v1.zeros_initializer())
    self.built = True

  def call(self, inputs: Any, state: Any) -> Any:
    """Returns the output, which is the new state, twice: [batch, units]."""
    check_dtypes(inputs, state)
    gates = tf.matmul(tf.concat([inputs, state], 1), self._kernel)
    output = self._activation(tf.nn.bias_add(gates, self._bias))
    return output, output


class GRUCell(LayerRNNCell):
  """Gated recurrent unit of arXiv:1406.1078; arguments of `tf.nn.rnn_cell.GRUCell`.

  The reset gate comes before the product with the kernel; its place in `gates/kernel` is before
  that of the update gate.
  """

  def __init__(
    self,
    num_units: int,
    activation: Any = None,
    reuse: Optional[bool] = None,
    kernel_initializer: Any = None,
    bias_initializer: Any = None,
    name: Optional[str] = None,
    dtype: Any = None,
    **kwargs: Any,
  ) -> None:
    super().__init__(_reuse=reuse, name=name, dtype=dtype, **kwargs)
    self._num_units = num_units
    self._activation = values.activation(activation) or tf.tanh
    self._kernel_initializer = values.initializer(kernel_initializer)
    self._bias_initializer = values.initializer(bias_initializer)

  @property
  def state_size(self) -> Any:
    """The number of units."""
    return self._num_units

  @property
  def output_size(self) -> Any:
    """The number of units."""
    return self._num_units

  def build(self, input_shape: Any) -> None:
    """Makes kernel and bias of `gates`, [.., 2 * units], and of `candidate`, [.., units]."""
    rows = self.inputs_of(input_shape) + self._num_units
    made = []
    for part, columns, start in (
      ("gates", 2 * self._num_units, 1.0),
      ("candidate", self._num_units, 0.0),
    ):
      bias = self._bias_initializer or v1.constant_initializer(start)
      made.append(
        self.add_weight(f"{part}/kernel", [rows, columns], initializer=self._kernel_initializer)
      )
      made.append(self.add_weight(f"{part}/bias", [columns], initializer=bias))
    self._gate_kernel, self._gate_bias, self._candidate_kernel, self._candidate_bias = made
    self.built = True

  def call(self, inputs: Any, state: Any) -> Any:
    """Returns the output, which is the new state, twice: [batch, units]."""
    check_dtypes(inputs, state)
    gates = tf.matmul(tf.concat([inputs, state], 1), self._gate_kernel)
    gates = tf.sigmoid(tf.nn.bias_add(gates, self._gate_bias))
    reset, update = tf.split(gates, 2, axis=1)
    candidate = tf.matmul(tf.concat([inputs, reset * state], 1), self._candidate_kernel)
    candidate = self._activation(tf.nn.bias_add(candidate, self._candidate_bias))
    output = update * state + (1 - update) * candidate
    return output, output


class BasicLSTMCell(LayerRNNCell):
  """LSTM of arXiv:1409.2329; arguments of `tf.nn.rnn_cell.BasicLSTMCell`.

  The gates in `kernel` are in the order input, new input, forget, output.
  """

  def __init__(
    self,
    num_units: int,
    forget_bias: float = 1.0,
    state_is_tuple: bool = True,
    activation: Any = None,
    reuse: Optional[bool] = None,
    name: Optional[str] = None,
    dtype: Any = None,
    **kwargs: Any,
  ) -> None:
    super().__init__(_reuse=reuse, name=name, dtype=dtype, **kwargs)
    self._num_units = num_units
    self._forget_bias = forget_bias
    self._state_is_tuple = state_is_tuple
    self._activation = values.activation(activation) or tf.tanh

  @property
  def state_size(self) -> Any:
    """The number of units, for both parts of the state, or their sum."""
    units = self._num_units
    return LSTMStateTuple(units, units) if self._state_is_tuple else 2 * units

  @property
  def output_size(self) -> Any:
    """The number of units."""
    return self._num_units

  def build(self, input_shape: Any) -> None:
    """Makes `kernel`, [inputs + units, 4 * units], and `bias`, [4 * units]."""
    size, units = self.inputs_of(input_shape), self._num_units
    self._kernel = self.add_weight("kernel", [size + units, 4 * units])
    self._bias = self.add_weight("bias", [4 * units], initializer=v1.zeros_initializer())
    self.built = True

  def call(self, inputs: Any, state: Any) -> Any:
    """Returns output, [batch, units], and new state."""
    check_dtypes(inputs, state)
    c, h = state if self._state_is_tuple else tf.split(state, 2, axis=1)
    gates = tf.nn.bias_add(tf.matmul(tf.concat([inputs, h], 1), self._kernel), self._bias)
    enter, new, forget, leave = tf.split(gates, 4, axis=1)
    bias = tf.constant(self._forget_bias, forget.dtype)
    c = c * tf.sigmoid(forget + bias) + tf.sigmoid(enter) * self._activation(new)
    h = self._activation(c) * tf.sigmoid(leave)
    return h, LSTMStateTuple(c, h) if self._state_is_tuple else tf.concat([c, h], 1)


class LSTMCell(LayerRNNCell):
  """LSTM with peepholes, clipping and projection; arguments of `tf.nn.rnn_cell.LSTMCell`.

  The gates in `kernel` are in the order input, new input, forget, output. Peepholes: Sak, Senior
  and Beaufays, Interspeech 2014.

  Args:
    num_units: size of what the cell keeps.
    use_peepholes: whether gates see it (variables `w_i_diag`, `w_f_diag`, `w_o_diag`).
    cell_clip: it is kept between this and its negative.
    initializer: of the kernels and peepholes.
    num_proj: size of the output where it is projected (variable `projection/kernel`).
    proj_clip: the output is kept between this and its negative.
    num_unit_shards: number of parts of `kernel`.
    num_proj_shards: number of parts of the projection.
    forget_bias: is added to the forget gate.
    state_is_tuple: False for one tensor with both parts of the state.
    activation: default: tanh.
    reuse: see `Layer`, as for the next ones.
    name: see there.
    dtype: see there.
    **kwargs: of `Layer`.
  """

  def __init__(
    self,
    num_units: int,
    use_peepholes: bool = False,
    cell_clip: Optional[float] = None,
    initializer: Any = None,
    num_proj: Optional[int] = None,
    proj_clip: Optional[float] = None,
    num_unit_shards: Optional[int] = None,
    num_proj_shards: Optional[int] = None,
    forget_bias: float = 1.0,
    state_is_tuple: bool = True,
    activation: Any = None,
    reuse: Optional[bool] = None,
    name: Optional[str] = None,
    dtype: Any = None,
    **kwargs: Any,
  ) -> None:
    super().__init__(_reuse=reuse, name=name, dtype=dtype, **kwargs)
    self._num_units = num_units
    self._use_peepholes = use_peepholes
    self._cell_clip = cell_clip
    self._initializer = values.initializer(initializer)
    self._num_proj = num_proj
    self._proj_clip = proj_clip
    self._num_unit_shards = num_unit_shards
    self._num_proj_shards = num_proj_shards
    self._forget_bias = forget_bias
    self._state_is_tuple = state_is_tuple
    self._activation = values.activation(activation) or tf.tanh

  @property
  def state_size(self) -> Any:
    """Sizes of what the cell keeps and of the output, or their sum."""
    sizes = LSTMStateTuple(self._num_units, self.output_size)
    return sizes if self._state_is_tuple else sum(sizes)

  @property
  def output_size(self) -> Any:
    """Size of the projection, or the number of units."""
    return self._num_proj or self._num_units

  def build(self, input_shape: Any) -> None:
    """Makes `kernel`, [inputs + outputs, 4 * units], `bias` and what the arguments add."""
    size, units = self.inputs_of(input_shape), self._num_units
    outputs = units if self._num_proj is None else self._num_proj
    self._kernel = self.add_weight(
      "kernel",
      [size + outputs, 4 * units],
      initializer=self._initializer,
      partitioner=_parts(self._num_unit_shards),
    )
    self._bias = self.add_weight("bias", [4 * units], initializer=v1.zeros_initializer())
    if self._use_peepholes:
      self._w_f_diag, self._w_i_diag, self._w_o_diag = (
        self.add_weight(f"w_{gate}_diag", [units], initializer=self._initializer) for gate in "fio"
      )
    if self._num_proj is not None:
      self._proj_kernel = self.add_weight(
        "projection/kernel",
        [units, self._num_proj],
        initializer=self._initializer,
        partitioner=_parts(self._num_proj_shards),
      )
    self.built = True

  def call(self, inputs: Any, state: Any) -> Any:
    """Returns output, [batch, outputs], and new state."""
    check_dtypes(inputs, state)
    if self._state_is_tuple:
      c, h = state
    else:
      c, h = state[:, : self._num_units], state[:, self._num_units :]
    gates = tf.nn.bias_add(tf.matmul(tf.concat([inputs, h], 1), self._kernel), self._bias)
    enter, new, forget, leave = tf.split(gates, 4, axis=1)
    forget += self._forget_bias
    if self._use_peepholes:
      forget += self._w_f_diag * c
      enter += self._w_i_diag * c
    c = tf.sigmoid(forget) * c + tf.sigmoid(enter) * self._activation(new)
    if self._cell_clip is not None:
      c = tf.clip_by_value(c, -self._cell_clip, self._cell_clip)
    if self._use_peepholes:
      leave += self._w_o_diag * c
    h = tf.sigmoid(leave) * self._activation(c)
    if self._num_proj is not None:
      h = tf.matmul(h, self._proj_kernel)
      if self._proj_clip is not None:
        h = tf.clip_by_value(h, -self._proj_clip, self._proj_clip)
    return h, LSTMStateTuple(c, h) if self._state_is_tuple else tf.concat([c, h], 1)


def _parts(count: Optional[int]) -> Any:
  return None if count is None else v1.fixed_size_partitioner(count)
