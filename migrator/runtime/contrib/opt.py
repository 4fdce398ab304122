"""Optimizers of `tf.contrib.opt`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Optional

import tensorflow as tf

v1 = tf.compat.v1

__all__ = ["LARSOptimizer", "LazyAdamOptimizer"]


class LazyAdamOptimizer(tf.compat.v1.train.AdamOptimizer):
  """Adam whose moments stay for the rows of a sparse gradient that are not in it.

  D. Kingma and J. Ba, https://arxiv.org/abs/1412.6980, section 2; slots and accumulators have Adam's names.
  """

  def _resource_apply_sparse(self, grad: Any, var: Any, indices: Any) -> Any:
    """Updates the rows `indices` [rows], each one once, by `grad` [rows, ...]."""
    dtype = var.dtype.base_dtype
    first_power, second_power = (tf.cast(p, dtype) for p in self._get_beta_accumulators())
    rate, first, second, epsilon = (
      tf.cast(tensor, dtype)
      for tensor in (self._lr_t, self._beta1_t, self._beta2_t, self._epsilon_t)
    )
    rate = rate * tf.sqrt(1 - second_power) / (1 - first_power)
    mean, variance = self.get_slot(var, "m"), self.get_slot(var, "v")
    means = first * tf.gather(mean, indices) + (1 - first) * grad
    variances = second * tf.gather(variance, indices) + (1 - second) * tf.square(grad)
    change = rate * means / (tf.sqrt(variances) + epsilon)
    # All is read before anything is written.
    with tf.control_dependencies([means, variances, change]):
      return tf.group(
        v1.scatter_sub(var, indices, change),
        v1.scatter_update(mean, indices, means),
        v1.scatter_update(variance, indices, variances),
      )

  def _apply_sparse(self, grad: Any, var: Any) -> Any:
    """Updates a variable that is no resource."""
    return self._resource_apply_sparse(grad.values, var, grad.indices)


class LARSOptimizer(tf.compat.v1.train.Optimizer):
  """Momentum with a rate for each variable: Y. You et al., https://arxiv.org/abs/1708.03888, algorithm 1.

  The rate is `learning_rate * eeta * |w| / (|g| + weight_decay * |w| + epsilon)`, or the learning rate where one of
  the norms is 0. The accumulators of `w` are in `w/LARSOptimizer`, by the name of the optimizer.
  """

  def __init__(
    self,
    learning_rate: Any,
    momentum: float = 0.9,
    weight_decay: float = 0.0001,
    eeta: float = 0.001,
    epsilon: float = 0.0,
    name: str = "LARSOptimizer",
    skip_list: Optional[Sequence[str]] = None,
    use_nesterov: bool = False,
  ):
    """Makes the optimizer.

    Args:
      learning_rate: a number or a tensor [].
      momentum: of the accumulators.
      weight_decay: the factor of a variable in its own gradient.
      eeta: the trust in a variable.
      epsilon: for gradients that are almost 0.
      name: of the optimizer.
      skip_list: parts of the names of variables that have the learning rate itself, and no decay.
      use_nesterov: whether the momentum looks ahead.

    Raises:
      ValueError: if momentum or decay is negative.
    """
    for what, value in (("momentum", momentum), ("weight_decay", weight_decay)):
      if value < 0.0:
        raise ValueError(f"{what} should be positive: {value}")
    super().__init__(use_locking=False, name=name)
    self._learning_rate = learning_rate
    self._momentum = momentum
    self._weight_decay = weight_decay
    self._eeta = eeta
    self._epsilon = epsilon
    self._skip_list = skip_list
    self._use_nesterov = use_nesterov

  def compute_lr(self, grad: Any, var: Any) -> tuple[Any, Any]:
    """Returns the rate of a variable, and its gradient with the decay."""
    if any(part in var.name for part in self._skip_list or ()):
      return self._learning_rate, grad
    weight, gradient = tf.norm(var, ord=2), tf.norm(grad, ord=2)
    scale = gradient + self._weight_decay * weight + self._epsilon
    known = tf.logical_and(weight > 0, gradient > 0)
    trust = tf.where(known, self._eeta * weight / scale, tf.ones_like(weight))
    return self._learning_rate * trust, grad + self._weight_decay * var

  def _create_slots(self, var_list: Any) -> None:
    for variable in var_list:
      self._zeros_slot(variable, "momentum", self._name)

  def _resource_apply_dense(self, grad: Any, var: Any) -> Any:
    rate, grad = self.compute_lr(grad, var)
    slot, step = self.get_slot(var, "momentum"), grad * rate
    accumulated = self._momentum * slot + step
    change = step + self._momentum * accumulated if self._use_nesterov else accumulated
    with tf.control_dependencies([accumulated, change]):
      return tf.group(v1.assign(slot, accumulated), v1.assign_sub(var, change))

  def _apply_dense(self, grad: Any, var: Any) -> Any:
    return self._resource_apply_dense(grad, var)

  def _resource_apply_sparse(self, grad: Any, var: Any, indices: Any) -> Any:
    """Momentum alone, on the rows `indices` [rows], each one once."""
    slot = self.get_slot(var, "momentum")
    accumulated = self._momentum * tf.gather(slot, indices) + grad
    ahead = grad + self._momentum * accumulated if self._use_nesterov else accumulated
    change = self._learning_rate * ahead
    with tf.control_dependencies([accumulated, change]):
      return tf.group(
        v1.scatter_update(slot, indices, accumulated), v1.scatter_sub(var, indices, change)
      )

  def _apply_sparse(self, grad: Any, var: Any) -> Any:
    return self._resource_apply_sparse(grad.values, var, grad.indices)
