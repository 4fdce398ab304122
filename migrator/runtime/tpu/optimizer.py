"""The optimizer that summed gradients over the cores of a TPU, where there is only one replica."""

from __future__ import annotations

from typing import Any, Optional

import tensorflow as tf


class CrossShardOptimizer(tf.compat.v1.train.Optimizer):
  """Does what the optimizer that it holds does: of one replica, sum and mean are the gradients themselves.

  TensorFlow's own has no kernel for CPU and GPU, and fails there in the first step. Slots, their names and the
  names of variables are those of the optimizer inside.
  """

  def __init__(
    self,
    opt: Any,
    reduction: str = "weighted_mean",
    name: str = "CrossShardOptimizer",
    group_assignment: Optional[list] = None,
  ):
    """Wraps an optimizer.

    Args:
      opt: a `tf.compat.v1.train.Optimizer`.
      reduction: `tf.compat.v1.losses.Reduction.SUM` or `MEAN`.
      name: of the operations.
      group_assignment: one group with replica 0, or None.

    Raises:
      ValueError: with TensorFlow's messages, for another reduction or other groups.
      TypeError: with TensorFlow's message, for an optimizer of Keras.
    """
    reductions = tf.compat.v1.losses.Reduction
    if reduction not in (reductions.SUM, reductions.MEAN):
      raise ValueError(
        f"Argument `reduction` should be one of {(reductions.SUM, reductions.MEAN)}. Received: "
        f"{reduction}"
      )
    if not isinstance(opt, tf.compat.v1.train.Optimizer):
      raise TypeError(
        "CrossShardOptimizer only works with tf.training.Optimizer and not Keras Optimizer. "
        f"Received: {opt}."
      )
    if group_assignment and group_assignment != [[0]]:
      raise ValueError(
        "Argument `group_assignment` must be a permutation of range(1). Received: "
        f"{group_assignment}"
      )
    super().__init__(False, name)
    self._optimizer = opt

  def compute_gradients(self, loss: Any, var_list: Any = None, **kwargs: Any) -> list:
    """Returns the (gradient, variable) pairs of the optimizer inside."""
    return self._optimizer.compute_gradients(loss, var_list=var_list, **kwargs)

  def apply_gradients(
    self, grads_and_vars: Any, global_step: Any = None, name: Optional[str] = None
  ) -> Any:
    """Returns the operation with which the optimizer inside applies the gradients."""
    return self._optimizer.apply_gradients(list(grads_and_vars), global_step, name)

  def get_slot(self, *args: Any, **kwargs: Any) -> Any:
    """Returns a slot of the optimizer inside."""
    return self._optimizer.get_slot(*args, **kwargs)

  def get_slot_names(self, *args: Any, **kwargs: Any) -> list[str]:
    """Returns the names of the slots of the optimizer inside."""
    return self._optimizer.get_slot_names(*args, **kwargs)

  def variables(self) -> list:
    """Returns the variables of the optimizer inside."""
    return self._optimizer.variables()
