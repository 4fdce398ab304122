"""TF1's optimizers as Keras optimizers, for Keras 2 and Keras 3.

They run TensorFlow's own update kernels, with TF1's arguments, defaults and initial slot values. The
stock Keras optimizers differ where gradients are sparse (embeddings), where the momentum meets a
changing learning rate, in RMSProp's initial mean square, and in the last digits of Adam's bias
correction.
"""

from __future__ import annotations

from typing import Any, Optional

import numpy as np
import tensorflow as tf

from migrator.runtime.kernel_optimizer import KernelOptimizer
from migrator.runtime.slots import ADAGRAD, ADAM, GRADIENT_DESCENT, Kind, Slot, rmsprop

__all__ = ["Adagrad", "Adam", "GradientDescent", "Momentum", "RMSProp"]

# TF1 multiplies a power of beta once more after each update. From here on the power itself is exact.
_MAX_POWERS = 2**18


class GradientDescent(KernelOptimizer):
  """`tf.compat.v1.train.GradientDescentOptimizer`."""

  _adds_up = False

  def __init__(self, learning_rate: Any, name: str = "GradientDescent"):
    """Makes the optimizer.

    Args:
      learning_rate: a number, a schedule or a variable.
      name: of the optimizer.
    """
    super().__init__(learning_rate, name, GRADIENT_DESCENT)
    self.momentum = 0.0

  def _apply(self, variable, slots, gradient, indices, rate):
    if indices is None:
      tf.raw_ops.ResourceApplyGradientDescent(var=variable.handle, alpha=rate, delta=gradient)
    else:
      tf.raw_ops.ResourceScatterAdd(
        resource=variable.handle, indices=indices, updates=-gradient * rate
      )


class Momentum(KernelOptimizer):
  """`tf.compat.v1.train.MomentumOptimizer`; the learning rate is outside of the velocity."""

  def __init__(
    self,
    learning_rate: Any,
    momentum: float,
    use_nesterov: bool = False,
    name: str = "Momentum",
  ):
    """Makes the optimizer.

    Args:
      learning_rate: a number, a schedule or a variable.
      momentum: the share of the velocity that is kept.
      use_nesterov: whether the gradient is added once more.
      name: of the optimizer.
    """
    # The velocity of the v2 Estimators has the learning rate inside, as Keras has.
    kind = Kind("Momentum", "", (Slot("Momentum", "_momentums", ""),))
    super().__init__(learning_rate, name, kind, momentum=momentum, use_nesterov=use_nesterov)

  def _apply(self, variable, slots, gradient, indices, rate):
    arguments = {
      "var": variable.handle,
      "accum": slots[0].handle,
      "lr": rate,
      "grad": gradient,
      "momentum": tf.cast(self.momentum, variable.dtype),
      "use_nesterov": bool(self.use_nesterov),
    }
    if indices is None:
      tf.raw_ops.ResourceApplyMomentum(**arguments)
    else:
      tf.raw_ops.ResourceSparseApplyMomentum(indices=indices, **arguments)


class Adagrad(KernelOptimizer):
  """`tf.compat.v1.train.AdagradOptimizer`; with an epsilon that of the v2 Estimators."""

  def __init__(
    self,
    learning_rate: Any,
    initial_accumulator_value: float = 0.1,
    epsilon: Optional[float] = None,
    name: str = "Adagrad",
  ):
    """Makes the optimizer.

    Args:
      learning_rate: a number, a schedule or a variable.
      initial_accumulator_value: what the sum of squares begins with.
      epsilon: added to the root of the sum of squares; TF1 has none.
      name: of the optimizer.
    """
    super().__init__(
      learning_rate,
      name,
      ADAGRAD,
      initial_accumulator_value=initial_accumulator_value,
      epsilon=epsilon,
    )

  def _initial_value(self, slot: Slot) -> float:
    return self.initial_accumulator_value

  def _apply(self, variable, slots, gradient, indices, rate):
    arguments = {
      "var": variable.handle,
      "accum": slots[0].handle,
      "lr": rate,
      "grad": gradient,
    }
    if self.epsilon is not None:
      arguments["epsilon"] = tf.cast(self.epsilon, variable.dtype)
    if indices is None:
      v2 = tf.raw_ops.ResourceApplyAdagradV2
      kernel = tf.raw_ops.ResourceApplyAdagrad if self.epsilon is None else v2
    else:
      v2 = tf.raw_ops.ResourceSparseApplyAdagradV2
      kernel = tf.raw_ops.ResourceSparseApplyAdagrad if self.epsilon is None else v2
      arguments["indices"] = indices
    kernel(**arguments)


class Adam(KernelOptimizer):
  """`tf.compat.v1.train.AdamOptimizer`.

  Attributes:
    running_powers: whether the powers of the betas are products, each of them rounded, as in TF1. A
      checkpoint for the v2 flavour sets it to False: the v2 Estimators computed them anew each time.
  """

  def __init__(
    self,
    learning_rate: Any = 0.001,
    beta1: float = 0.9,
    beta2: float = 0.999,
    epsilon: float = 1e-8,
    name: str = "Adam",
  ):
    """Makes the optimizer.

    Args:
      learning_rate: a number, a schedule or a variable.
      beta1: the share of the first moment that is kept.
      beta2: the share of the second moment that is kept.
      epsilon: added to the root of the second moment.
      name: of the optimizer.
    """
    super().__init__(learning_rate, name, ADAM, beta1=beta1, beta2=beta2, epsilon=epsilon)
    # The stock optimizer's names of the two, under which checkpoints ask for them.
    self.beta_1, self.beta_2 = beta1, beta2
    self._powers = [_running_powers(beta1), _running_powers(beta2)]
    self.running_powers = True

  def _power(self, which: int, beta: tf.Tensor) -> tf.Tensor:
    """Returns beta to the number of this update, rounded as the Estimator rounded it."""
    updates = tf.convert_to_tensor(self.iterations)
    exact = tf.pow(beta, tf.cast(updates + 1, beta.dtype))
    if not self.running_powers:
      return exact
    table = self._powers[which]
    last = len(table) - 1
    running = tf.cast(tf.gather(table, tf.minimum(updates, last)), beta.dtype)
    return tf.where(updates <= last, running, exact)

  def _apply(self, variable, slots, gradient, indices, rate):
    first, second = slots
    dtype = variable.dtype
    beta1, beta2 = tf.cast(self.beta1, dtype), tf.cast(self.beta2, dtype)
    epsilon = tf.cast(self.epsilon, dtype)
    power1, power2 = self._power(0, beta1), self._power(1, beta2)
    if indices is None:
      tf.raw_ops.ResourceApplyAdam(
        var=variable.handle,
        m=first.handle,
        v=second.handle,
        beta1_power=power1,
        beta2_power=power2,
        lr=rate,
        beta1=beta1,
        beta2=beta2,
        epsilon=epsilon,
        grad=gradient,
      )
      return
    # TF1's Adam lets all rows decay, and updates all of them.
    first.assign(first * beta1)
    first.scatter_add(tf.IndexedSlices(gradient * (1 - beta1), indices))
    second.assign(second * beta2)
    second.scatter_add(tf.IndexedSlices(gradient * gradient * (1 - beta2), indices))
    rate = rate * tf.sqrt(1 - power2) / (1 - power1)
    variable.assign_sub(rate * first / (tf.sqrt(second) + epsilon))


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
  ):
    """Makes the optimizer.

    Args:
      learning_rate: a number, a schedule or a variable.
      decay: the share of the mean square that is kept.
      momentum: the share of the last update that is kept.
      epsilon: added to the mean square, within the root.
      centered: whether the square of the mean gradient is subtracted.
      name: of the optimizer.
    """
    super().__init__(
      learning_rate,
      name,
      rmsprop(centered, momentum_slot=True),
      decay=decay,
      momentum=momentum,
      epsilon=epsilon,
      centered=centered,
    )
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
    if indices is not None:
      arguments["indices"] = indices
    if self.centered:
      arguments["mg"] = slots[1].handle
      dense, sparse = (
        tf.raw_ops.ResourceApplyCenteredRMSProp,
        tf.raw_ops.ResourceSparseApplyCenteredRMSProp,
      )
    else:
      dense, sparse = tf.raw_ops.ResourceApplyRMSProp, tf.raw_ops.ResourceSparseApplyRMSProp
    (dense if indices is None else sparse)(**arguments)


def _running_powers(beta: float) -> np.ndarray:
  """Returns beta, beta^2, ..., each the float32 product of the one before, float32, shape [n].

  It ends where the powers vanish, or at a length from which on the rounding has no influence.
  """
  if not 0.0 < beta < 1.0:
    return np.array([beta, 0.0], np.float32)
  length = min(int(np.log(1e-37) / np.log(beta)) + 1, _MAX_POWERS)
  return np.multiply.accumulate(np.full(length, beta, np.float32))
