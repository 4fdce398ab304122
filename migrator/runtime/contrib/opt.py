"""Optimizers of `tf.contrib.opt`."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

v1 = tf.compat.v1

__all__ = ["LazyAdamOptimizer"]


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
