"""The optimizers that divide by a running mean or sum of squares: Adagrad, Adadelta, RMSProp."""

from __future__ import annotations

from typing import Any, Optional

import tensorflow as tf

from migrator.runtime.kernel_optimizer import KernelOptimizer, register
from migrator.runtime.slots import ADADELTA, ADAGRAD, Slot, rmsprop


@register
class Adagrad(KernelOptimizer):
  """`tf.compat.v1.train.AdagradOptimizer`; with an epsilon that of the v2 Estimators."""

  def __init__(
    self,
    learning_rate: Any,
    initial_accumulator_value: float = 0.1,
    epsilon: Optional[float] = None,
    name: str = "Adagrad",
    **shared: Any,
  ):
    """Makes the optimizer.

    Args:
      learning_rate: a number, a schedule or a variable.
      initial_accumulator_value: what the sum of squares begins with.
      epsilon: added to the root of the sum of squares; TF1 has none.
      name: of the optimizer.
      **shared: clipping and averages, see `KernelOptimizer`.
    """
    arguments = {"initial_accumulator_value": initial_accumulator_value, "epsilon": epsilon}
    super().__init__(learning_rate, name, ADAGRAD, arguments, **shared)

  def _initial_value(self, slot: Slot) -> float:
    return self.initial_accumulator_value

  def _apply(self, variable, slots, gradient, indices, rate):
    arguments = {"var": variable.handle, "accum": slots[0].handle, "lr": rate, "grad": gradient}
    raw = tf.raw_ops
    kernels = raw.ResourceApplyAdagrad, raw.ResourceSparseApplyAdagrad
    if self.epsilon is not None:
      kernels = raw.ResourceApplyAdagradV2, raw.ResourceSparseApplyAdagradV2
      arguments["epsilon"] = tf.cast(self.epsilon, variable.dtype)
    self._run(*kernels, indices, **arguments)


@register
class Adadelta(KernelOptimizer):
  """`tf.compat.v1.train.AdadeltaOptimizer`."""

  def __init__(
    self,
    learning_rate: Any = 0.001,
    rho: float = 0.95,
    epsilon: float = 1e-8,
    name: str = "Adadelta",
    **shared: Any,
  ):
    """Makes the optimizer.

    Args:
      learning_rate: a number, a schedule or a variable.
      rho: the share of the two mean squares that is kept.
      epsilon: added to both mean squares, within the root.
      name: of the optimizer.
      **shared: clipping and averages, see `KernelOptimizer`.
    """
    super().__init__(learning_rate, name, ADADELTA, {"rho": rho, "epsilon": epsilon}, **shared)

  def _apply(self, variable, slots, gradient, indices, rate):
    self._run(
      tf.raw_ops.ResourceApplyAdadelta,
      tf.raw_ops.ResourceSparseApplyAdadelta,
      indices,
      var=variable.handle,
      accum=slots[0].handle,
      accum_update=slots[1].handle,
      lr=rate,
      rho=tf.cast(self.rho, variable.dtype),
      epsilon=tf.cast(self.epsilon, variable.dtype),
      grad=gradient,
    )


@register
class RMSProp(KernelOptimizer):
  """`tf.compat.v1.train.RMSPropOptimizer`; the mean square begins with 1."""

  def __init__(
    self,
    learning_rate: Any,
    decay: float = 0.9,
    momentum: float = 0.0,
    epsilon: float = 1e-10,
    centered: bool = False,
    name: str = "RMSProp",
    **shared: Any,
  ):
    """Makes the optimizer.

    Args:
      learning_rate: a number, a schedule or a variable.
      decay: the share of the mean square that is kept.
      momentum: the share of the last update that is kept.
      epsilon: added to the mean square, within the root.
      centered: whether the square of the mean gradient is subtracted.
      name: of the optimizer.
      **shared: clipping and averages, see `KernelOptimizer`.
    """
    arguments = {
      "decay": decay,
      "momentum": momentum,
      "epsilon": epsilon,
      "centered": centered,
    }
    kind = rmsprop(centered, momentum_slot=True)
    super().__init__(learning_rate, name, kind, arguments, **shared)
    self.rho = decay

  def _initial_value(self, slot: Slot) -> float:
    return 1.0 if slot.suffix == "RMSProp" else 0.0

  def _apply(self, variable, slots, gradient, indices, rate):
    dtype = variable.dtype
    arguments = {
      "var": variable.handle,
      "ms": slots[0].handle,
      "mom": slots[-1].handle,
      "lr": rate,
      "rho": tf.cast(self.decay, dtype),
      "momentum": tf.cast(self.momentum, dtype),
      "epsilon": tf.cast(self.epsilon, dtype),
      "grad": gradient,
    }
    raw = tf.raw_ops
    kernels = raw.ResourceApplyRMSProp, raw.ResourceSparseApplyRMSProp
    if self.centered:
      kernels = raw.ResourceApplyCenteredRMSProp, raw.ResourceSparseApplyCenteredRMSProp
      arguments["mg"] = slots[1].handle
    self._run(*kernels, indices, **arguments)
