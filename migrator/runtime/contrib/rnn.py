"""Stacked recurrent networks of `tf.contrib.rnn`; cells are in `runtime.rnn_cell`."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

v1 = tf.compat.v1

__all__ = [
  "stack_bidirectional_dynamic_rnn",
  "stack_bidirectional_rnn",
  "transpose_batch_time",
]


def _checked(cells_fw, cells_bw, states_fw, states_bw) -> None:
  for name, cells in (("cells_fw", cells_fw), ("cells_bw", cells_bw)):
    if not cells or not isinstance(cells, list):
      raise ValueError(f"{name} must be a list of cells, one for each layer.")
  if len(cells_fw) != len(cells_bw):
    raise ValueError("cells_fw and cells_bw must have the same number of cells.")
  for name, states in (("initial_states_fw", states_fw), ("initial_states_bw", states_bw)):
    if states is not None and not (isinstance(states, list) and len(states) == len(cells_fw)):
      raise ValueError(f"{name} must be a list of states, one for each layer.")


def stack_bidirectional_dynamic_rnn(
  cells_fw,
  cells_bw,
  inputs,
  initial_states_fw=None,
  initial_states_bw=None,
  dtype=None,
  sequence_length=None,
  parallel_iterations=None,
  time_major=False,
  scope=None,
  swap_memory=False,
):
  """Runs layers of bidirectional networks; each reads the outputs of both directions below it.

  Args:
    cells_fw: the cells of the forward direction, one for each layer.
    cells_bw: those of the backward direction.
    inputs: a tensor [batch, length, size], or [length, batch, size] if `time_major`.
    initial_states_fw, initial_states_bw: their first states, one for each layer.
    dtype, sequence_length, parallel_iterations, time_major, swap_memory: as for
      `tf.compat.v1.nn.bidirectional_dynamic_rnn`.
    scope: the variable scope, `stack_bidirectional_rnn` by default.

  Returns:
    (the outputs of the last layer [batch, length, forward + backward], the last states of the forward
    cells, those of the backward cells), the states as tuples.

  Raises:
    ValueError: if the cells or states are not lists of the same length.
  """
  _checked(cells_fw, cells_bw, initial_states_fw, initial_states_bw)
  states: tuple[list[Any], list[Any]] = ([], [])
  outputs = inputs
  with v1.variable_scope(scope or "stack_bidirectional_rnn"):
    for number, (forward, backward) in enumerate(zip(cells_fw, cells_bw)):
      with v1.variable_scope(f"cell_{number}"):
        both, last = v1.nn.bidirectional_dynamic_rnn(
          forward,
          backward,
          outputs,
          initial_state_fw=initial_states_fw[number] if initial_states_fw else None,
          initial_state_bw=initial_states_bw[number] if initial_states_bw else None,
          sequence_length=sequence_length,
          parallel_iterations=parallel_iterations,
          dtype=dtype,
          swap_memory=swap_memory,
          time_major=time_major,
        )
        outputs = tf.concat(both, 2)
      states[0].append(last[0])
      states[1].append(last[1])
  return outputs, tuple(states[0]), tuple(states[1])


def stack_bidirectional_rnn(
  cells_fw,
  cells_bw,
  inputs,
  initial_states_fw=None,
  initial_states_bw=None,
  dtype=None,
  sequence_length=None,
  scope=None,
):
  """Runs layers of bidirectional networks on a list of inputs; see `stack_bidirectional_dynamic_rnn`."""
  _checked(cells_fw, cells_bw, initial_states_fw, initial_states_bw)
  states: tuple[list[Any], list[Any]] = ([], [])
  outputs = inputs
  with v1.variable_scope(scope or "stack_bidirectional_rnn"):
    for number, (forward, backward) in enumerate(zip(cells_fw, cells_bw)):
      with v1.variable_scope(f"cell_{number}") as cell_scope:
        outputs, last_forward, last_backward = v1.nn.static_bidirectional_rnn(
          forward,
          backward,
          outputs,
          initial_state_fw=initial_states_fw[number] if initial_states_fw else None,
          initial_state_bw=initial_states_bw[number] if initial_states_bw else None,
          sequence_length=sequence_length,
          dtype=dtype,
          scope=cell_scope,
        )
      states[0].append(last_forward)
      states[1].append(last_backward)
  return outputs, tuple(states[0]), tuple(states[1])


def transpose_batch_time(x):
  """Exchanges the first two axes of a tensor; one of rank less than 2 stays."""
  x = tf.convert_to_tensor(x)
  if x.shape.ndims is not None and x.shape.ndims < 2:
    raise ValueError(f"A tensor of rank 2 or more is needed, not {x.shape}.")
  outputs = tf.transpose(x, tf.concat([[1, 0], tf.range(2, tf.rank(x))], 0))
  if x.shape.ndims is not None:
    outputs.set_shape([x.shape[1], x.shape[0], *x.shape[2:]])
  return outputs
