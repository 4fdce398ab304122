"""Strategies of `tf.contrib.training` that spread variables over parameter servers."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf

__all__ = ["GreedyLoadBalancingStrategy", "RandomStrategy", "byte_size_load_fn"]


class RandomStrategy:
  """Gives each operation a task by its name, `ps_strategy` of `replica_device_setter`.

  Args:
    num_ps_tasks: how many tasks there are.
    seed: another seed gives other tasks.
  """

  def __init__(self, num_ps_tasks: int, seed: int = 0):
    self._num_tasks = num_ps_tasks
    self._seed = seed

  def __call__(self, op: Any) -> int:
    """Returns the number of the task of an operation."""
    digest = hashlib.md5(f"{op.name}_{self._seed}".encode(), usedforsecurity=False)
    return int(digest.hexdigest(), 16) % self._num_tasks


class GreedyLoadBalancingStrategy:
  """Gives each operation the first of the tasks that have the smallest load so far.

  Args:
    num_tasks: how many tasks there are.
    load_fn: gives the load of an operation, in any unit.
  """

  def __init__(self, num_tasks: int, load_fn: Callable[[Any], float]):
    self._load_fn = load_fn
    self._loads = np.zeros(num_tasks)

  def __call__(self, op: Any) -> Any:
    """Returns the number of the task of an operation."""
    task = np.argmin(self._loads)
    self._loads[task] += self._load_fn(op)
    return task


def byte_size_load_fn(op: Any) -> int:
  """Returns how many bytes the value of a variable has, or the one output of another operation.

  Raises:
    ValueError: for an operation with several outputs, or a shape that is not known.
  """
  if len(op.outputs) != 1:
    raise ValueError(f"Op {op} must have a single output")
  output = op.outputs[0]
  shape, dtype = output.shape, output.dtype
  if dtype == tf.resource:
    # Variables of TF1 gave their values themselves; the shape and dtype of a handle are its own.
    dtype = tf.as_dtype(op.get_attr("dtype"))
    shape = tf.TensorShape(op.get_attr("shape"))
  if not shape.is_fully_defined():
    shape = tf.TensorShape(op.get_attr("shape"))
  shape.assert_is_fully_defined()
  return shape.num_elements() * dtype.size
