"""The optimizers that shrink weights towards 0: Ftrl and the proximal ones."""

from __future__ import annotations

from typing import Any, Optional

import tensorflow as tf

from migrator.runtime.kernel_optimizer import KernelOptimizer, register
from migrator.runtime.slots import (
  FTRL,
  PROXIMAL_ADAGRAD,
  PROXIMAL_GRADIENT_DESCENT,
  Slot,
)

# TF1 divides beta by twice the rate, and by this if the rate is 0.
_SMALLEST_RATE = 1e-36


@register
class Ftrl(KernelOptimizer):
  """`tf.compat.v1.train.FtrlOptimizer`, "follow the regularized leader"."""

  def __init__(
    self,
    learning_rate: Any,
    learning_rate_power: float = -0.5,
    initial_accumulator_value: float = 0.1,
    l1_regularization_strength: float = 0.0,
    l2_regularization_strength: float = 0.0,
    name: str = "Ftrl",
    l2_shrinkage_regularization_strength: float = 0.0,
    beta: Optional[float] = None,
    **shared: Any,
  ):
    """Makes the optimizer.

    Args:
      learning_rate: a number, a schedule or a variable.
      learning_rate_power: how the rate falls with the sum of squares, at most 0.
      initial_accumulator_value: what the sum of squares begins with, at least 0.
      l1_regularization_strength: of the penalty on absolute values, at least 0.
      l2_regularization_strength: of the penalty on squares, at least 0.
      name: of the optimizer.
      l2_shrinkage_regularization_strength: of a penalty on squares that is part of the gradient, but
        not of the sum of squares, at least 0.
      beta: of the paper on Ftrl; added to the penalty on squares as beta / (2 * rate). None is 0.
      **shared: clipping and averages, see `KernelOptimizer`.

    Raises:
      ValueError: if a number is not in its range, as in TF1.
    """
    arguments = {
      "learning_rate_power": learning_rate_power,
      "initial_accumulator_value": initial_accumulator_value,
      "l1_regularization_strength": l1_regularization_strength,
      "l2_regularization_strength": l2_regularization_strength,
      "l2_shrinkage_regularization_strength": l2_shrinkage_regularization_strength,
      "beta": 0.0 if beta is None else beta,
    }
    if learning_rate_power > 0:
      raise ValueError(f"learning_rate_power must be at most 0, given: {learning_rate_power}")
    for argument, value in arguments.items():
      if value < 0 and argument not in ("learning_rate_power", "beta"):
        raise ValueError(f"{argument} must be at least 0, given: {value}")
    super().__init__(learning_rate, name, FTRL, arguments, **shared)

  def _initial_value(self, slot: Slot) -> float:
    return self.initial_accumulator_value if slot.suffix == "Ftrl" else 0.0

  def _apply(self, variable, slots, gradient, indices, rate):
    dtype = variable.dtype
    # TF1 computes with the rate as it was given, in float32.
    wide = tf.cast(rate, tf.float32)
    l2 = self.l2_regularization_strength + self.beta / (2.0 * tf.maximum(wide, _SMALLEST_RATE))
    arguments = {
      "var": variable.handle,
      "accum": slots[0].handle,
      "linear": slots[1].handle,
      "grad": gradient,
      "lr": rate,
      "l1": tf.cast(self.l1_regularization_strength, dtype),
      "l2": tf.cast(l2, dtype),
      "lr_power": tf.cast(self.learning_rate_power, dtype),
    }
    raw = tf.raw_ops
    kernels = raw.ResourceApplyFtrl, raw.ResourceSparseApplyFtrl
    if self.l2_shrinkage_regularization_strength > 0:
      kernels = raw.ResourceApplyFtrlV2, raw.ResourceSparseApplyFtrlV2
      arguments["l2_shrinkage"] = tf.cast(self.l2_shrinkage_regularization_strength, dtype)
    self._run(*kernels, indices, **arguments)


@register
class ProximalGradientDescent(KernelOptimizer):
  """`tf.compat.v1.train.ProximalGradientDescentOptimizer`."""

  def __init__(
    self,
    learning_rate: Any,
    l1_regularization_strength: float = 0.0,
    l2_regularization_strength: float = 0.0,
    name: str = "ProximalGradientDescent",
    **shared: Any,
  ):
    """Makes the optimizer.

    Args:
      learning_rate: a number, a schedule or a variable.
      l1_regularization_strength: of the penalty on absolute values, at least 0.
      l2_regularization_strength: of the penalty on squares, at least 0.
      name: of the optimizer.
      **shared: clipping and averages, see `KernelOptimizer`.
    """
    arguments = {
      "l1_regularization_strength": l1_regularization_strength,
      "l2_regularization_strength": l2_regularization_strength,
    }
    super().__init__(learning_rate, name, PROXIMAL_GRADIENT_DESCENT, arguments, **shared)

  def _apply(self, variable, slots, gradient, indices, rate):
    arguments = {
      "var": variable.handle,
      "alpha": rate,
      "l1": tf.cast(self.l1_regularization_strength, variable.dtype),
      "l2": tf.cast(self.l2_regularization_strength, variable.dtype),
    }
    if indices is None:
      tf.raw_ops.ResourceApplyProximalGradientDescent(delta=gradient, **arguments)
    else:
      tf.raw_ops.ResourceSparseApplyProximalGradientDescent(
        grad=gradient, indices=indices, **arguments
      )


@register
class ProximalAdagrad(KernelOptimizer):
  """`tf.compat.v1.train.ProximalAdagradOptimizer`."""

  def __init__(
    self,
    learning_rate: Any,
    initial_accumulator_value: float = 0.1,
    l1_regularization_strength: float = 0.0,
    l2_regularization_strength: float = 0.0,
    name: str = "ProximalAdagrad",
    **shared: Any,
  ):
    """Makes the optimizer.

    Args:
      learning_rate: a number, a schedule or a variable.
      initial_accumulator_value: what the sum of squares begins with.
      l1_regularization_strength: of the penalty on absolute values, at least 0.
      l2_regularization_strength: of the penalty on squares, at least 0.
      name: of the optimizer.
      **shared: clipping and averages, see `KernelOptimizer`.
    """
    arguments = {
      "initial_accumulator_value": initial_accumulator_value,
      "l1_regularization_strength": l1_regularization_strength,
      "l2_regularization_strength": l2_regularization_strength,
    }
    super().__init__(learning_rate, name, PROXIMAL_ADAGRAD, arguments, **shared)

  def _initial_value(self, slot: Slot) -> float:
    return self.initial_accumulator_value

  def _apply(self, variable, slots, gradient, indices, rate):
    self._run(
      tf.raw_ops.ResourceApplyProximalAdagrad,
      tf.raw_ops.ResourceSparseApplyProximalAdagrad,
      indices,
      var=variable.handle,
      accum=slots[0].handle,
      lr=rate,
      grad=gradient,
      l1=tf.cast(self.l1_regularization_strength, variable.dtype),
      l2=tf.cast(self.l2_regularization_strength, variable.dtype),
    )
