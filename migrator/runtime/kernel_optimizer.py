"""The base of the exact optimizers: a Keras optimizer whose update is one kernel of TensorFlow."""

from __future__ import annotations

import functools
from typing import Any, Callable, Optional

import numpy as np
import tensorflow as tf

from migrator.runtime.slots import Kind, Slot, VariableRate, inner

_KERAS_3 = getattr(tf.keras, "__version__", "2").startswith("3")
_SCHEDULE = tf.keras.optimizers.schedules.LearningRateSchedule

register = tf.keras.utils.register_keras_serializable(package="migrator")
"""Makes a class known to `tf.keras.models.load_model`."""


class KernelOptimizer(tf.keras.optimizers.Optimizer):
  """An optimizer whose update is one kernel of TensorFlow.

  The keyword arguments that all of them share are Keras's, with the results of TF1 programs:

  * `clipnorm`, `clipvalue`, `global_clipnorm`: the gradients go through `tf.clip_by_norm` (each by
    itself), `tf.clip_by_value` or `tf.clip_by_global_norm` first; at most one of them. As in TF1 the
    rows of a sparse gradient are clipped before those of the same index are added up.
  * `use_ema`, `ema_momentum`: keeps a `tf.train.ExponentialMovingAverage(ema_momentum)` of the
    weights. The averages begin with the weights at the time of `build`. With `ema_num_updates` they
    are those of `ExponentialMovingAverage(decay, num_updates=global_step)`, whose decay is at most
    `(1 + n) / (10 + n)` after the update number n. Unlike with other Keras optimizers, the weights
    stay what they are at the end of `fit`, as in TF1: `assign_averages` puts the averages in.

  TensorFlow compiles the dense kernels with XLA, but not the sparse ones of most optimizers: a model
  that looks rows up needs `compile(..., jit_compile=False)` where Keras 3 would use XLA, on GPUs.

  Attributes:
    migrator_kind: the names of its slots in checkpoints.
  """

  _adds_up = True
  """Whether the kernel needs each index only once."""

  def __init__(
    self,
    learning_rate: Any,
    name: str,
    kind: Kind,
    arguments: dict[str, Any],
    *,
    clipnorm: Optional[float] = None,
    clipvalue: Optional[float] = None,
    global_clipnorm: Optional[float] = None,
    use_ema: bool = False,
    ema_momentum: float = 0.99,
    ema_num_updates: bool = False,
  ):
    """Makes the optimizer.

    Args:
      learning_rate: a number, a schedule, a variable, or a function without arguments that returns
        the rate of the next update, as in TF1.
      name: of the optimizer.
      kind: what it is.
      arguments: its further arguments, for `get_config`; they become attributes.
      clipnorm: the greatest norm of a gradient.
      clipvalue: the greatest absolute value in a gradient.
      global_clipnorm: the greatest norm of all gradients together.
      use_ema: whether to keep moving averages of the weights.
      ema_momentum: the share of an average that is kept.
      ema_num_updates: whether the first averages keep less.

    Raises:
      ValueError: for several ways of clipping, or one by a number that is not above 0.
    """
    clipping = {
      "clipnorm": clipnorm,
      "clipvalue": clipvalue,
      "global_clipnorm": global_clipnorm,
    }
    given = {key: value for key, value in clipping.items() if value is not None}
    if len(given) > 1:
      raise ValueError(f"Only one of {', '.join(clipping)} can be given, not {', '.join(given)}.")
    if any(not value > 0 for value in given.values()):
      raise ValueError(f"A gradient cannot be clipped by {given}: the number must be above 0.")
    shared = {**clipping, "use_ema": use_ema, "ema_momentum": ema_momentum}
    rate = _as_rate(learning_rate)
    if _KERAS_3:
      super().__init__(learning_rate=rate, name=name, **shared)
    else:
      # Keras 2 has 0, which multiplies each weight by it in each step.
      super().__init__(name=name, weight_decay=None, **shared)
      self._learning_rate = rate if _is_function(rate) else self._build_learning_rate(rate)
      # The kernels take resource handles and run as plain operations.
      self.jit_compile = False
    self.migrator_kind = kind
    self.ema_num_updates = ema_num_updates
    self._arguments = {**arguments, **shared, "ema_num_updates": ema_num_updates}
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
    self._built_for = _Variables(var_list)
    for slot in self.migrator_kind.slots:
      # As an initializer, because this may run while a function is being traced.
      value = self._initial_value(slot)
      setattr(self, slot.attribute, [self._new_slot(v, slot.suffix, value) for v in var_list])

  def apply(self, grads: Any, trainable_variables: Any = None) -> None:
    """Updates all variables (Keras 3, where `apply_gradients` ends here, too)."""
    if trainable_variables is not None:
      trainable_variables = list(trainable_variables)
      if not self.built and not tf.distribute.has_strategy():
        # Outside of the function that is being traced, as in Keras 2: XLA takes no initial value that
        # is read from another variable.
        with tf.init_scope():
          self.build(trainable_variables)
    super().apply(grads, trainable_variables)

  def add_variable_from_reference(self, *args: Any, **kwargs: Any) -> Any:
    """Adds a slot; a moving average begins with the weight, as in Keras 2 and TF1."""
    if _KERAS_3 and kwargs.get("name") == "average":
      variable = inner(args[0])
      kwargs["initializer"] = lambda shape, dtype: tf.cast(variable.read_value(), dtype)
    return super().add_variable_from_reference(*args, **kwargs)

  def _new_slot(self, variable: Any, name: str, value: float) -> Any:
    # In the type of the weight at once, as TF1: by way of float32 it would be rounded twice.
    if _KERAS_3:
      return self.add_variable_from_reference(
        variable, name, initializer=lambda shape, dtype: tf.constant(value, dtype, shape)
      )
    initial = tf.constant(value, variable.dtype, variable.shape)
    return self.add_variable_from_reference(variable, name, initial_value=initial)

  def _index(self, variable: Any) -> int:
    """Returns the number of a variable in the list with which the optimizer was built."""
    if _KERAS_3:
      return self._get_variable_index(variable)
    return self._index_dict[self._var_key(variable)]

  def update_step(self, gradient: Any, variable: Any, learning_rate: Any = None) -> None:
    """Updates one variable and its slots."""
    rate = self.learning_rate if learning_rate is None else learning_rate
    # TF1 holds the rate in float32 whatever the type of the variable.
    rate = tf.cast(tf.convert_to_tensor(rate() if callable(rate) else rate), variable.dtype)
    index = self._index(variable)
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

  def _run(self, dense: Any, sparse: Any, indices: Optional[tf.Tensor], **arguments: Any) -> None:
    """Runs one of two kernels of the same arguments: the sparse one where there are indices."""
    if indices is None:
      dense(**arguments)
    else:
      sparse(indices=indices, **arguments)

  def _deduplicate_sparse_grad(self, grads: Any) -> Any:
    """Leaves the indices as they are for `update_step`; Keras 2 would add them up for each kernel."""
    return grads

  def _clip_gradients(self, grads: Any) -> Any:
    """Clips as TF1 programs did, in both versions of Keras."""
    if self.clipnorm:
      clip: Callable = functools.partial(tf.clip_by_norm, clip_norm=self.clipnorm)
    elif self.clipvalue:
      clip = functools.partial(
        tf.clip_by_value, clip_value_min=-self.clipvalue, clip_value_max=self.clipvalue
      )
    elif self.global_clipnorm:
      return tf.clip_by_global_norm(list(grads), self.global_clipnorm)[0]
    else:
      return grads
    return [gradient if gradient is None else clip(gradient) for gradient in grads]

  def _update_model_variables_moving_average(self, trainable_variables: Any) -> None:
    """Updates the averages, after the weights, in the operations of TF1."""
    decay = tf.constant(self.ema_momentum, tf.float32)
    if self.ema_num_updates:
      updates = tf.cast(tf.convert_to_tensor(self._iterations) + 1, tf.float32)
      decay = tf.minimum(decay, (1.0 + updates) / (10.0 + updates))

    def update(average, variable):
      average.assign_sub((average - variable) * tf.cast(1.0 - decay, variable.dtype))

    # Keras 2 gives only those that have a gradient in this step.
    for variable in self._built_for.variables:
      average = inner(self._model_variables_moving_average[self._index(variable)])
      if _KERAS_3:
        update(average, inner(variable))
      else:
        self._distribution_strategy.extended.update(average, update, (variable,), group=False)

  def finalize_variable_values(self, var_list: Any) -> None:
    """Leaves the weights as they are at the end of `fit`: TF1 keeps the averages beside them."""

  def assign_averages(self, variables: Any) -> None:
    """Replaces weights by their moving averages.

    Args:
      variables: trainable weights of the model.

    Raises:
      ValueError: if the optimizer keeps no averages, or was not built for them.
    """
    if not self.use_ema or not hasattr(self, "_model_variables_moving_average"):
      raise ValueError(f"The optimizer {self.name} keeps no moving averages (use_ema=True).")
    for variable in variables:
      try:
        index = self._index(variable)
      except KeyError as e:
        raise ValueError(f"The optimizer {self.name} was not built for {variable.name}.") from e
      variable.assign(inner(self._model_variables_moving_average[index]))

  def get_config(self) -> dict:
    """Returns the arguments."""
    rate = self._learning_rate
    if isinstance(rate, _SCHEDULE):
      rate = tf.keras.optimizers.schedules.serialize(rate)
    elif isinstance(rate, VariableRate):
      rate = float(rate().numpy())
    elif _is_function(rate):
      rate = tf.keras.utils.serialize_keras_object(rate)
    else:
      rate = float(np.asarray(rate))
    return {"name": self.name, "learning_rate": rate, **self._arguments}

  @classmethod
  def from_config(cls, config: dict, custom_objects: Optional[dict] = None) -> Any:
    """Makes the optimizer from the result of `get_config`."""
    config = dict(config)
    if isinstance(config.get("learning_rate"), dict):
      config["learning_rate"] = tf.keras.utils.deserialize_keras_object(
        config["learning_rate"], custom_objects=custom_objects
      )
    return cls(**config)


class _Variables:
  """Variables that the optimizer knows, but that are not part of its own state."""

  def __init__(self, variables: Any):
    self.variables = list(variables)


def _as_rate(rate: Any) -> Any:
  """Returns a learning rate as both versions of Keras take it."""
  if isinstance(rate, _SCHEDULE) or callable(rate):
    return rate
  if isinstance(rate, tf.Variable) or (_KERAS_3 and isinstance(rate, tf.keras.Variable)):
    return VariableRate(rate)
  return float(rate)


def _is_function(rate: Any) -> bool:
  return callable(rate) and not isinstance(rate, (_SCHEDULE, tf.Variable))
