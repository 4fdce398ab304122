"""Cells of `tf.nn.rnn_cell` made of other cells: stacked, with dropout, residual, on a device."""

from __future__ import annotations

import hashlib
import itertools
from typing import Any, Optional

import tensorflow as tf

from migrator.runtime.rnn_cell.base import LSTMStateTuple, RNNCell

v1 = tf.compat.v1


class MultiRNNCell(RNNCell):
  """Cells on top of each other, in the scopes `cell_0`, `cell_1`, ...

  Args:
    cells: from the one that sees the inputs on.
    state_is_tuple: False for one tensor with the states of all cells.

  Raises:
    TypeError: cells is no list.
    ValueError: there is none, or one with a structure as state where it has to be a tensor.
  """

  def __init__(self, cells: Any, state_is_tuple: bool = True) -> None:
    super().__init__()
    if not cells:
      raise ValueError("MultiRNNCell needs at least one cell")
    if not tf.nest.is_nested(cells):
      raise TypeError(f"cells must be a list or tuple, not {cells!r}")
    self._cells = cells
    self._state_is_tuple = state_is_tuple
    if not state_is_tuple and any(tf.nest.is_nested(c.state_size) for c in cells):
      raise ValueError(f"state_is_tuple=False needs single states, not {self._sizes()}")

  @property
  def state_size(self) -> Any:
    """Sizes of the states of all cells, or their sum."""
    return self._sizes() if self._state_is_tuple else sum(self._sizes())

  @property
  def output_size(self) -> Any:
    """That of the last cell."""
    return self._cells[-1].output_size

  @property
  def trainable_weights(self) -> list[Any]:
    """Those of the cells."""
    return self._weights("trainable_weights") if self.trainable else []

  @property
  def non_trainable_weights(self) -> list[Any]:
    """Those of the cells."""
    frozen = [] if self.trainable else self._weights("trainable_weights")
    return frozen + self._weights("non_trainable_weights")

  def zero_state(self, batch_size: Any, dtype: Any) -> Any:
    """Returns the cells' states of zeros."""
    with v1.name_scope(type(self).__name__ + "ZeroState"):
      if self._state_is_tuple:
        return tuple(cell.zero_state(batch_size, dtype) for cell in self._cells)
      return super().zero_state(batch_size, dtype)

  def call(self, inputs: Any, state: Any) -> Any:
    """Returns the output of the last cell, and the new states."""
    if self._state_is_tuple and not tf.nest.is_nested(state):
      raise ValueError(f"The state must be a tuple of {len(self._cells)}, not {state}")
    states, start = [], 0
    for i, cell in enumerate(self._cells):
      with v1.variable_scope(f"cell_{i}"):
        if self._state_is_tuple:
          own = state[i]
        else:
          own = tf.slice(state, [0, start], [-1, cell.state_size])
          start += cell.state_size
        inputs, new = cell(inputs, own)
        states.append(new)
    return inputs, tuple(states) if self._state_is_tuple else tf.concat(states, 1)

  def _sizes(self) -> tuple[Any, ...]:
    return tuple(cell.state_size for cell in self._cells)

  def _weights(self, kind: str) -> list[Any]:
    return [w for cell in self._cells for w in getattr(cell, kind, [])]


class Wrapper(RNNCell):
  """A cell that calls another one, in the scope where that one is called."""

  def __init__(self, cell: Any, **kwargs: Any) -> None:
    super().__init__(**kwargs)
    missing = [n for n in ("output_size", "state_size", "__call__") if not hasattr(cell, n)]
    if missing or not (hasattr(cell, "get_initial_state") or hasattr(cell, "zero_state")):
      raise TypeError(f"The argument 'cell' ({cell}) is not an RNNCell")
    self.cell = cell

  @property
  def wrapped_cell(self) -> Any:
    """The cell that it calls."""
    return self.cell

  @property
  def state_size(self) -> Any:
    """That of the cell."""
    return self.cell.state_size

  @property
  def output_size(self) -> Any:
    """That of the cell."""
    return self.cell.output_size

  def build(self, input_shape: Any) -> None:
    """Makes the cell's variables."""
    self.cell.build(input_shape)
    self.built = True

  def zero_state(self, batch_size: Any, dtype: Any) -> Any:
    """Returns the cell's state of zeros."""
    with v1.name_scope(type(self).__name__ + "ZeroState"):
      return self.cell.zero_state(batch_size, dtype)


class DropoutWrapper(Wrapper):
  """Dropout of inputs, outputs and states of a cell; of `tf.nn.rnn_cell.DropoutWrapper`.

  Args:
    cell: the cell.
    input_keep_prob: share of the inputs that are kept, a number or a tensor.
    output_keep_prob: likewise.
    state_keep_prob: likewise; of the state of an LSTM only the output, `h`.
    variational_recurrent: True for one mask for all steps, arXiv:1512.05287.
    input_size: of the inputs, where one mask for all steps is to be made for them.
    dtype: of the masks.
    seed: of the masks.
    dropout_state_filter_visitor: function from a part of the state to whether it may drop.
    **kwargs: of `Layer`.

  Raises:
    TypeError: cell is no cell, the filter no function.
    ValueError: a share is not between 0 and 1; what one mask for all steps needs is missing.
  """

  def __init__(
    self,
    cell: Any,
    input_keep_prob: Any = 1.0,
    output_keep_prob: Any = 1.0,
    state_keep_prob: Any = 1.0,
    variational_recurrent: bool = False,
    input_size: Any = None,
    dtype: Any = None,
    seed: Optional[int] = None,
    dropout_state_filter_visitor: Any = None,
    **kwargs: Any,
  ) -> None:
    super().__init__(cell, dtype=dtype, **kwargs)
    if dropout_state_filter_visitor is not None and not callable(dropout_state_filter_visitor):
      raise TypeError("dropout_state_filter_visitor must be a function")
    self._filter = dropout_state_filter_visitor or _only_outputs
    self._seed = seed
    self._variational = variational_recurrent
    self._keep = {
      "input": _share("input_keep_prob", input_keep_prob),
      "state": _share("state_keep_prob", state_keep_prob),
      "output": _share("output_keep_prob", output_keep_prob),
    }
    self._noise: dict[str, Any] = {}
    if not variational_recurrent:
      return
    if dtype is None:
      raise ValueError("variational_recurrent=True needs the dtype")
    if self._drops("input") and input_size is None:
      raise ValueError("variational_recurrent=True and input_keep_prob < 1 need the input_size")
    sizes = {"state": cell.state_size, "output": cell.output_size}
    if self._drops("input"):
      sizes = {"input": input_size, **sizes}
    with v1.name_scope("DropoutWrapperInit"):
      for what, structure in sizes.items():
        noise = [
          tf.random.uniform(
            [1, *tf.TensorShape(size).as_list()], seed=self._seed_of(what, i), dtype=dtype
          )
          for i, size in enumerate(tf.nest.flatten(structure))
        ]
        self._noise[what] = tf.nest.pack_sequence_as(structure, noise)

  def __call__(self, inputs: Any, state: Any, scope: Any = None) -> Any:
    """Returns (output, new state) of a step, with dropout."""
    if self._drops("input"):
      inputs = self._drop(inputs, "input")
    output, new_state = self.cell(inputs, state, scope=scope)
    if self._drops("state"):
      new_state = self._drop(new_state, "state", self._filter)
    if self._drops("output"):
      output = self._drop(output, "output")
    return output, new_state

  def _drops(self, what: str) -> bool:
    keep = self._keep[what]
    return not isinstance(keep, float) or keep < 1

  def _seed_of(self, what: str, index: int) -> Optional[int]:
    # As TF1 derives it, which makes the masks those of the old program.
    if self._seed is None:
      return None
    digest = hashlib.md5(f"{self._seed}{what}_{index}".encode()).hexdigest()
    return int(digest[:8], 16) & 0x7FFFFFFF

  def _drop(self, value: Any, what: str, visitor: Any = None) -> Any:
    """Returns a structure of tensors with dropout; `visitor` says in which parts."""
    numbers = itertools.count()

    def visit(value: Any, noise: Any) -> Any:
      wanted = True if visitor is None else visitor(value)
      if not tf.nest.is_nested(value):
        return self._drop_tensor(value, what, next(numbers), noise) if wanted else skip(value)
      if isinstance(wanted, bool):
        wanted = [wanted] * len(value) if wanted else None
      if wanted is None:
        return skip(value)
      keys = sorted(value) if isinstance(value, dict) else range(len(value))
      parts = []
      for key, flag in zip(keys, wanted.values() if isinstance(wanted, dict) else wanted):
        part_noise = None if noise is None else noise[key]
        parts.append(visit(value[key], part_noise) if flag else skip(value[key]))
      if isinstance(value, dict):
        return type(value)(zip(keys, parts))
      return type(value)(*parts) if hasattr(value, "_fields") else type(value)(parts)

    def skip(value: Any) -> Any:
      next(numbers)
      return value

    return visit(value, self._noise.get(what))

  def _drop_tensor(self, value: Any, what: str, index: int, noise: Any) -> Any:
    keep = self._keep[what]
    if not self._variational:
      return tf.nn.dropout(value, rate=1.0 - keep, seed=self._seed_of(what, index))
    dropped = tf.divide(value, keep) * tf.floor(keep + noise)
    dropped.set_shape(value.shape)
    return dropped


class ResidualWrapper(Wrapper):
  """Adds the inputs of a cell to its outputs; arguments of `tf.nn.rnn_cell.ResidualWrapper`.

  Args:
    cell: the cell.
    residual_fn: function from inputs and outputs to outputs; default: their sum.
    **kwargs: of `Layer`.
  """

  def __init__(self, cell: Any, residual_fn: Any = None, **kwargs: Any) -> None:
    super().__init__(cell, **kwargs)
    self._residual_fn = residual_fn or _sum

  def __call__(self, inputs: Any, state: Any, scope: Any = None) -> Any:
    """Returns (output, new state) of a step."""
    outputs, new_state = self.cell(inputs, state, scope=scope)
    return self._residual_fn(inputs, outputs), new_state


class DeviceWrapper(Wrapper):
  """Runs a cell on a device; arguments of `tf.nn.rnn_cell.DeviceWrapper`."""

  def __init__(self, cell: Any, device: Any, **kwargs: Any) -> None:
    super().__init__(cell, **kwargs)
    self._device = device

  def __call__(self, inputs: Any, state: Any, scope: Any = None) -> Any:
    """Returns (output, new state) of a step."""
    with v1.device(self._device):
      return self.cell(inputs, state, scope=scope)

  def zero_state(self, batch_size: Any, dtype: Any) -> Any:
    """Returns the cell's state of zeros, on the device."""
    with v1.name_scope(type(self).__name__ + "ZeroState"), v1.device(self._device):
      return self.cell.zero_state(batch_size, dtype)


def _share(what: str, value: Any) -> Any:
  known = tf.get_static_value(tf.convert_to_tensor(value))
  if known is None:
    return tf.convert_to_tensor(value)
  if known < 0 or known > 1:
    raise ValueError(f"{what} must be between 0 and 1, not {known}")
  return float(known)


def _sum(inputs: Any, outputs: Any) -> Any:
  tf.nest.assert_same_structure(inputs, outputs)
  for one, other in zip(tf.nest.flatten(inputs), tf.nest.flatten(outputs)):
    one.shape.assert_is_compatible_with(other.shape)
  return tf.nest.map_structure(lambda one, other: one + other, inputs, outputs)


def _only_outputs(state: Any) -> Any:
  if isinstance(state, LSTMStateTuple):
    return LSTMStateTuple(c=False, h=True)
  return not isinstance(state, tf.TensorArray)
