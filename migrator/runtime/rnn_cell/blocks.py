"""Cells of `tf.contrib.rnn`: with normalization, fused ones, and layers below or above a cell."""

from __future__ import annotations

from typing import Any, Optional

import tensorflow as tf

from migrator.runtime.layers.base import Layer
from migrator.runtime.layers.input_spec import InputSpec
from migrator.runtime.rnn_cell.base import LayerRNNCell, LSTMStateTuple, RNNCell

v1 = tf.compat.v1


class LayerNormBasicLSTMCell(RNNCell):
  """LSTM with normalized gates and dropout of what is new; of `tf.contrib.rnn`.

  Layer normalization: arXiv:1607.06450; dropout: arXiv:1603.05118. Variables: `kernel`, and
  `gamma` and `beta` in the scopes `input`, `transform`, `forget`, `output` and `state`.

  Args:
    num_units: the number of units.
    forget_bias: is added to the forget gate.
    input_size: without effect.
    activation: of what is new, and of the output.
    layer_norm: whether gates are normalized; a `bias` is there if not.
    norm_gain: `gamma` at first.
    norm_shift: `beta` at first.
    dropout_keep_prob: share of what is new that is kept, a number or a tensor.
    dropout_prob_seed: of the masks.
    reuse: see `Layer`.
  """

  def __init__(
    self,
    num_units: int,
    forget_bias: float = 1.0,
    input_size: Any = None,
    activation: Any = tf.tanh,
    layer_norm: bool = True,
    norm_gain: float = 1.0,
    norm_shift: float = 0.0,
    dropout_keep_prob: Any = 1.0,
    dropout_prob_seed: Optional[int] = None,
    reuse: Optional[bool] = None,
  ) -> None:
    super().__init__(_reuse=reuse)
    del input_size
    self._num_units = num_units
    self._activation = activation
    self._forget_bias = forget_bias
    self._keep_prob = dropout_keep_prob
    self._seed = dropout_prob_seed
    self._layer_norm = layer_norm
    self._norm_gain = norm_gain
    self._norm_shift = norm_shift

  @property
  def state_size(self) -> Any:
    """The number of units, for both parts of the state."""
    return LSTMStateTuple(self._num_units, self._num_units)

  @property
  def output_size(self) -> Any:
    """The number of units."""
    return self._num_units

  def call(self, inputs: Any, state: Any) -> Any:
    """Returns output, [batch, units], and new state."""
    c, h = state
    joined = tf.concat([inputs, h], 1)
    shape = [tf.compat.dimension_value(joined.shape[-1]), 4 * self._num_units]
    gates = tf.matmul(joined, v1.get_variable("kernel", shape, joined.dtype))
    if not self._layer_norm:
      gates = tf.nn.bias_add(gates, v1.get_variable("bias", shape[1:], joined.dtype))
    parts = tf.split(gates, 4, axis=1)
    if self._layer_norm:
      scopes = ("input", "transform", "forget", "output")
      parts = [self._norm(part, scope) for part, scope in zip(parts, scopes)]
    enter, new, forget, leave = parts
    new = self._activation(new)
    if not isinstance(self._keep_prob, float) or self._keep_prob < 1:
      new = tf.nn.dropout(new, rate=1 - self._keep_prob, seed=self._seed)
    c = c * tf.sigmoid(forget + self._forget_bias) + tf.sigmoid(enter) * new
    if self._layer_norm:
      c = self._norm(c, "state")
    h = self._activation(c) * tf.sigmoid(leave)
    return h, LSTMStateTuple(c, h)

  def _norm(self, value: Any, scope: str) -> Any:
    shape = value.shape[-1:]
    with v1.variable_scope(scope):
      gain = v1.constant_initializer(self._norm_gain)
      shift = v1.constant_initializer(self._norm_shift)
      gamma = v1.get_variable("gamma", shape, value.dtype, initializer=gain)
      beta = v1.get_variable("beta", shape, value.dtype, initializer=shift)
      # Epsilon is that of tf.contrib.layers.layer_norm.
      epsilon = 1e-3 if value.dtype.base_dtype == tf.float16 else 1e-12
      mean, variance = tf.nn.moments(value, [1], keepdims=True)
      return tf.nn.batch_normalization(value, mean, variance, beta, gamma, epsilon)


class LSTMBlockCell(LayerRNNCell):
  """LSTM in one operation; arguments of `tf.contrib.rnn.LSTMBlockCell`.

  TensorFlow 2 has no gradient of that operation: this computes the same step by step. Variables
  are those of `LSTMCell`.
  """

  def __init__(
    self,
    num_units: int,
    forget_bias: float = 1.0,
    cell_clip: Optional[float] = None,
    use_peephole: bool = False,
    dtype: Any = None,
    reuse: Optional[bool] = None,
    name: Optional[str] = "lstm_cell",
  ) -> None:
    super().__init__(_reuse=reuse, dtype=dtype, name=name)
    self._num_units = num_units
    self._forget_bias = forget_bias
    self._cell_clip = cell_clip
    self._use_peephole = use_peephole

  @property
  def state_size(self) -> Any:
    """The number of units, for both parts of the state."""
    return LSTMStateTuple(self._num_units, self._num_units)

  @property
  def output_size(self) -> Any:
    """The number of units."""
    return self._num_units

  def build(self, input_shape: Any) -> None:
    """Makes `kernel`, [inputs + units, 4 * units], `bias` and the peepholes."""
    _add_lstm(self, self.inputs_of(input_shape))
    self.built = True

  def call(self, inputs: Any, state: Any) -> Any:
    """Returns output, [batch, units], and new state."""
    c, h = state
    gates = tf.nn.bias_add(tf.matmul(tf.concat([inputs, h], 1), self._kernel), self._bias)
    enter, new, forget, leave = tf.split(gates, 4, axis=1)
    forget += self._forget_bias
    if self._use_peephole:
      enter += self._w_i_diag * c
      forget += self._w_f_diag * c
    c = tf.sigmoid(enter) * tf.tanh(new) + tf.sigmoid(forget) * c
    if self._cell_clip is not None and self._cell_clip > 0:
      limit = self._cell_clip
      # The operation's gradient passes by the limits.
      c = tf.grad_pass_through(lambda value: tf.clip_by_value(value, -limit, limit))(c)
    if self._use_peephole:
      leave += self._w_o_diag * c
    h = tf.sigmoid(leave) * tf.tanh(c)
    return h, LSTMStateTuple(c, h)

  _kernel: Any
  _bias: Any
  _w_i_diag: Any
  _w_f_diag: Any
  _w_o_diag: Any


class LSTMBlockFusedCell(Layer):
  """LSTM over all steps in one operation; arguments of `tf.contrib.rnn.LSTMBlockFusedCell`."""

  def __init__(
    self,
    num_units: int,
    forget_bias: float = 1.0,
    cell_clip: Optional[float] = None,
    use_peephole: bool = False,
    reuse: Optional[bool] = None,
    dtype: Any = None,
    name: Optional[str] = "lstm_fused_cell",
  ) -> None:
    super().__init__(_reuse=reuse, name=name, dtype=dtype)
    self._num_units = num_units
    self._forget_bias = forget_bias
    self._cell_clip = -1.0 if cell_clip is None else cell_clip
    self._use_peephole = use_peephole
    self.input_spec = InputSpec(ndim=3)

  @property
  def num_units(self) -> int:
    """The number of units."""
    return self._num_units

  def build(self, input_shape: Any) -> None:
    """Makes `kernel`, [inputs + units, 4 * units], `bias` and the peepholes."""
    _add_lstm(self, int(tf.compat.dimension_value(tf.TensorShape(input_shape)[2])))
    self.built = True

  def call(
    self,
    inputs: Any,
    initial_state: Any = None,
    dtype: Any = None,
    sequence_length: Any = None,
  ) -> Any:
    """Returns the outputs of all steps and the last state.

    Args:
      inputs: [time, batch, n].
      initial_state: (c, h), each [batch, units].
      dtype: of the state, where none is given.
      sequence_length: integers, [batch]; outputs after it are 0.

    Raises:
      ValueError: neither initial_state nor dtype is given.
    """
    time, batch = (
      size if size is not None else tf.shape(inputs)[i]
      for i, size in enumerate(inputs.shape.as_list()[:2])
    )
    if initial_state is None:
      if dtype is None:
        raise ValueError("LSTMBlockFusedCell needs initial_state or dtype")
      zeros = tf.zeros(tf.stack([batch, self._num_units]), dtype=dtype)
      initial_state = zeros, zeros
    first_c, first_h = initial_state
    dtype = first_c.dtype
    peephole = [tf.zeros([self._num_units], dtype=dtype)] * 3
    if self._use_peephole:
      peephole = [self._w_i_diag, self._w_f_diag, self._w_o_diag]
    limit = tf.cast(time, tf.int64)
    if sequence_length is not None:
      sequence_length = tf.convert_to_tensor(sequence_length)
      limit = tf.cast(tf.reduce_max(sequence_length), tf.int64)
    _, c, _, _, _, _, h = tf.raw_ops.BlockLSTM(
      seq_len_max=limit,
      x=inputs,
      cs_prev=first_c,
      h_prev=first_h,
      w=self._kernel,
      wci=peephole[0],
      wcf=peephole[1],
      wco=peephole[2],
      b=self._bias,
      forget_bias=self._forget_bias,
      cell_clip=self._cell_clip,
      use_peephole=self._use_peephole,
    )
    if sequence_length is None:
      state = LSTMStateTuple(c[-1], h[-1])
    else:
      mask = tf.transpose(tf.sequence_mask(sequence_length, time, dtype=dtype))
      h *= tf.expand_dims(mask, -1)
      at = tf.stack([sequence_length, tf.range(batch, dtype=sequence_length.dtype)], axis=1)
      state = LSTMStateTuple(
        *(
          tf.gather_nd(tf.concat([tf.expand_dims(first, 0), steps], 0), at)
          for first, steps in ((first_c, c), (first_h, h))
        )
      )
    return h, state

  _kernel: Any
  _bias: Any
  _w_i_diag: Any
  _w_f_diag: Any
  _w_o_diag: Any


class TimeReversedFusedRNN:
  """Runs a fused cell from the last step to the first; of `tf.contrib.rnn`."""

  def __init__(self, cell: Any) -> None:
    self._cell = cell

  def __call__(
    self,
    inputs: Any,
    initial_state: Any = None,
    dtype: Any = None,
    sequence_length: Any = None,
    scope: Any = None,
  ) -> Any:
    """Returns outputs, [time, batch, n], in the order of the inputs, and the last state."""
    outputs, state = self._cell(
      self._reverse(inputs, sequence_length), initial_state, dtype, sequence_length, scope=scope
    )
    return self._reverse(outputs, sequence_length), state

  def _reverse(self, value: Any, lengths: Any) -> Any:
    if isinstance(value, list):
      return value[::-1]
    if lengths is None:
      return tf.reverse(value, [0])
    return tf.reverse_sequence(value, lengths, seq_axis=0, batch_axis=1)


def _add_lstm(cell: Any, inputs: int) -> None:
  """Makes the variables of an LSTM in a layer."""
  units, zeros = cell._num_units, v1.constant_initializer(0.0)
  cell._kernel = cell.add_weight("kernel", [inputs + units, 4 * units])
  cell._bias = cell.add_weight("bias", [4 * units], initializer=zeros)
  if cell._use_peephole:
    cell._w_i_diag = cell.add_weight("w_i_diag", [units])
    cell._w_f_diag = cell.add_weight("w_f_diag", [units])
    cell._w_o_diag = cell.add_weight("w_o_diag", [units])
