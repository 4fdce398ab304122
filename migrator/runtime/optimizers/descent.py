"""Gradient descent, and with momentum."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from migrator.runtime.kernel_optimizer import KernelOptimizer, register
from migrator.runtime.slots import GRADIENT_DESCENT, MOMENTUM


@register
class GradientDescent(KernelOptimizer):
  """`tf.compat.v1.train.GradientDescentOptimizer`."""

  _adds_up = False

  def __init__(self, learning_rate: Any, name: str = "GradientDescent", **shared: Any):
    """Makes the optimizer.

    Args:
      learning_rate: a number, a schedule or a variable.
      name: of the optimizer.
      **shared: clipping and averages, see `KernelOptimizer`.
    """
    super().__init__(learning_rate, name, GRADIENT_DESCENT, {}, **shared)
    self.momentum = 0.0

  def _apply(self, variable, slots, gradient, indices, rate):
    if indices is None:
      tf.raw_ops.ResourceApplyGradientDescent(var=variable.handle, alpha=rate, delta=gradient)
    else:
      tf.raw_ops.ResourceScatterAdd(
        resource=variable.handle, indices=indices, updates=-gradient * rate
      )


@register
class Momentum(KernelOptimizer):
  """`tf.compat.v1.train.MomentumOptimizer`; the learning rate is outside of the velocity."""

  def __init__(
    self,
    learning_rate: Any,
    momentum: float,
    use_nesterov: bool = False,
    name: str = "Momentum",
    **shared: Any,
  ):
    """Makes the optimizer.

    Args:
      learning_rate: a number, a schedule or a variable.
      momentum: the share of the velocity that is kept.
      use_nesterov: whether the gradient is added once more.
      name: of the optimizer.
      **shared: clipping and averages, see `KernelOptimizer`.
    """
    arguments = {"momentum": momentum, "use_nesterov": use_nesterov}
    super().__init__(learning_rate, name, MOMENTUM, arguments, **shared)

  def _apply(self, variable, slots, gradient, indices, rate):
    self._run(
      tf.raw_ops.ResourceApplyMomentum,
      tf.raw_ops.ResourceSparseApplyMomentum,
      indices,
      var=variable.handle,
      accum=slots[0].handle,
      lr=rate,
      grad=gradient,
      momentum=tf.cast(self.momentum, variable.dtype),
      use_nesterov=bool(self.use_nesterov),
    )
