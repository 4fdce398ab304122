"""The base of the exact optimizers: a Keras optimizer whose update is one kernel of TensorFlow."""

from __future__ import annotations

from typing import Any, Optional

import numpy as np
import tensorflow as tf

from migrator.runtime.slots import Kind, Slot, inner

_KERAS_3 = getattr(tf.keras, "__version__", "2").startswith("3")


class KernelOptimizer(tf.keras.optimizers.Optimizer):
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
