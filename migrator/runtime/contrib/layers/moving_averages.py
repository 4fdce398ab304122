"""Moving averages of values, as batch normalization keeps them."""

from __future__ import annotations

import tensorflow as tf

v1 = tf.compat.v1


def _unused(name: str) -> str:
  """Returns the name, with a number if the scope has a variable of that name already."""
  scope = v1.get_variable_scope()
  if scope.reuse:
    return name
  taken = {one.op.name for one in scope.global_variables()}
  number = 0
  candidate = name
  while f"{scope.name}/{candidate}" in taken:
    number += 1
    candidate = f"{name}_{number}"
  return candidate


def _corrected(variable, value, rate):
  """Moves an average that starts from nothing: it is divided by 1 - (1 - rate) ** steps."""
  with v1.variable_scope(variable.name[: -len(":0")], values=[variable, value, rate]):
    zeros = v1.zeros_initializer()
    biased = v1.get_variable(
      _unused("biased"), variable.shape, variable.dtype.base_dtype, zeros, trainable=False
    )
    steps = v1.get_variable(
      _unused("local_step"), [], variable.dtype.base_dtype, zeros, trainable=False
    )
    moved = v1.assign_sub(biased, (biased - value) * rate)
    passed = v1.assign_add(steps, 1)
    return v1.assign(variable, moved / (1 - tf.pow(1.0 - rate, passed)))


def assign_moving_average(variable, value, decay, zero_debias=True, name=None):
  """Returns an operation that moves an average: variable -= (variable - value) * (1 - decay).

  Args:
    variable: the average.
    value: a tensor of its shape.
    decay: a number or a scalar tensor.
    zero_debias: whether the average starts from nothing, in variables `biased` and `local_step`, and is
      corrected for that (Kingma and Ba, 2015, section 3).
    name: the name scope of the operations.
  """
  with v1.name_scope(name, "AssignMovingAvg", [variable, value, decay]):
    rate = tf.cast(tf.convert_to_tensor(1.0 - decay, name="decay"), variable.dtype.base_dtype)
    if zero_debias:
      return _corrected(variable, value, rate)
    return v1.assign_sub(variable, (variable - value) * rate)
