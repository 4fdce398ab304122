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

from migrator.runtime.slots import ADAGRAD, ADAM, GRADIENT_DESCENT, Kind, Slot, inner, rmsprop

__all__ = ["Adagrad", "Adam", "GradientDescent", "Momentum", "RMSProp"]

_KERAS_3 = getattr(tf.keras, "__version__", "2").startswith("3")
# TF1 multiplies a power of beta once more after each update. From here on the power itself is exact.
_MAX_POWERS = 2**18


class _KernelOptimizer(tf.keras.optimizers.Optimizer):
  """An optimizer whose update is one kernel of TensorFlow.

  Attributes:
    migrator_kind: the names of its slots in checkpoints.
  """

  _adds_up = True
  """Whether the kernel needs each index only once."""

  def __init__(self, learning_rate: Any, name: str, kind: Kind, **arguments: Any):
    """Makes the optimizer.

    Args:
      learning_rate: a number, a schedule or a variable.
      name: of the optimizer.
      kind: what it is.
      **arguments: its further arguments, for `get_config`; they become attributes.
    """
    if _KERAS_3:
      super().__init__(learning_rate=learning_rate, name=name)
    else:
      super().__init__(name=name)
      self._learning_rate = self._build_learning_rate(learning_rate)
      # The kernels take resource handles and run as plain operations.
      self.jit_compile = False
    self.migrator_kind = kind
    self._arguments = arguments
    for argument, value in arguments.items():
      setattr(self, argument, value)

  def _initial_value(self, slot: Slot) -> float:
    """Returns the value with which a slot begins."""
    return 0.0

  def build(self, var_list: Any) -> None:
    """Makes the slots."""
    if getattr(self, "built" if _KERAS_3 else "_built", False):
      return
    super().build(var_list)
    self._built = True
    for slot in self.migrator_kind.slots:
      # As an initializer, because this may run while a function is being traced.
      value = self._initial_value(slot)
      setattr(self, slot.attribute, [self._new_slot(v, slot.suffix, value) for v in var_list])

  def _new_slot(self, variable: Any, name: str, value: float) -> Any:
    if _KERAS_3:
      initializer = tf.keras.initializers.Constant(value)
      return self.add_variable_from_reference(variable, name, initializer=initializer)
    initial = tf.fill(variable.shape, tf.cast(value, variable.dtype))
    return self.add_variable_from_reference(variable, name, initial_value=initial)

  def update_step(self, gradient: Any, variable: Any, learning_rate: Any = None) -> None:
    """Updates one variable and its slots."""
    rate = self.learning_rate if learning_rate is None else learning_rate
    rate = tf.cast(tf.convert_to_tensor(rate), variable.dtype)
    if _KERAS_3:
      index = self._get_variable_index(variable)
    else:
      index = self._index_dict[self._var_key(variable)]
    slots = [inner(getattr(self, slot.attribute)[index]) for slot in self.migrator_kind.slots]
    indices = None
    if isinstance(gradient, tf.IndexedSlices) and self._adds_up:
      # TF1 adds up the rows of an index that occurs several times; Keras 3 does not.
      indices, position = tf.unique(gradient.indices)
      gradient = tf.math.unsorted_segment_sum(gradient.values, position, tf.size(indices))
    elif isinstance(gradient, tf.IndexedSlices):
      gradient, indices = gradient.values, gradient.indices
    self._apply(variable, slots, gradient, indices, rate)

  def _apply(
    self,
    variable: Any,
    slots: list,
    gradient: tf.Tensor,
    indices: Optional[tf.Tensor],
    rate: tf.Tensor,
  ) -> None:
    """Runs the kernel.

    Args:
      variable: what to update.
      slots: the slots, in the order of the kind.
      gradient: of the shape of the variable, or of its rows `indices`.
      indices: which rows, each of them once if the class says so; None for a dense gradient.
      rate: the learning rate, of the variable's type, shape [].
    """
    raise NotImplementedError

  def get_config(self) -> dict:
    """Returns the arguments."""
    rate = self._learning_rate
    if isinstance(rate, tf.keras.optimizers.schedules.LearningRateSchedule):
      rate = tf.keras.optimizers.schedules.serialize(rate)
    else:
      rate = float(np.asarray(rate))
    return {"name": self.name, "learning_rate": rate, **self._arguments}


class GradientDescent(_KernelOptimizer):
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


class Momentum(_KernelOptimizer):
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


class Adagrad(_KernelOptimizer):
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


class Adam(_KernelOptimizer):
  """`tf.compat.v1.train.AdamOptimizer`."""

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

  def _power(self, which: int, beta: tf.Tensor) -> tf.Tensor:
    """Returns beta to the number of this update, rounded as TF1 rounds it."""
    updates = tf.convert_to_tensor(self.iterations)
    table = self._powers[which]
    last = len(table) - 1
    running = tf.cast(tf.gather(table, tf.minimum(updates, last)), beta.dtype)
    exact = tf.pow(beta, tf.cast(updates + 1, beta.dtype))
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


class RMSProp(_KernelOptimizer):
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
