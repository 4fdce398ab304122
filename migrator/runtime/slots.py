"""What is known of each optimizer: where its slots are, and how TF1 named them in a checkpoint.

The names on disk are always the ones of TF1 (`<variable>/Adam_1`), so that a checkpoint can be read by
the stock Keras optimizer of Keras 2 and of Keras 3, and by the exact ones of this package.
"""

from __future__ import annotations

import dataclasses
from typing import Any, Optional

import tensorflow as tf


@dataclasses.dataclass(frozen=True)
class Slot:
  """One slot of an optimizer.

  Attributes:
    suffix: TF1's name of it, which follows the variable's name in a checkpoint; also its name in ours.
    attribute: where the stock Keras optimizer keeps it, as a list with one variable per weight.
    legacy: its name in a v2 canned Estimator's checkpoint, `training/<optimizer>/<variable>/<legacy>`.
    in_v1: False if TF1's slot of that name has another meaning, so that it cannot be loaded.
  """

  suffix: str
  attribute: str
  legacy: str
  in_v1: bool = True


@dataclasses.dataclass(frozen=True)
class Kind:
  """An optimizer: its slots, and its names in the checkpoints.

  Attributes:
    name: TF1's name, as it stands in messages.
    legacy: the Keras 2 name, as it stands in a v2 canned Estimator's checkpoint.
    slots: the slots that it has.
    hyperparameters: scalars of a v2 checkpoint -> attribute of the optimizer.
    ignored: TF1 slots that may stand in a checkpoint but have no influence.
  """

  name: str
  legacy: str
  slots: tuple[Slot, ...] = ()
  hyperparameters: tuple[tuple[str, str], ...] = ()
  ignored: tuple[str, ...] = ()


ADAM = Kind(
  "Adam",
  "Adam",
  (Slot("Adam", "_momentums", "m"), Slot("Adam_1", "_velocities", "v")),
  (("beta_1", "beta_1"), ("beta_2", "beta_2")),
)
ADAGRAD = Kind("Adagrad", "Adagrad", (Slot("Adagrad", "_accumulators", "accumulator"),))
GRADIENT_DESCENT = Kind("GradientDescent", "SGD", (), (("momentum", "momentum"),))


def rmsprop(centered: bool, momentum_slot: bool) -> Kind:
  """Returns RMSProp; TF1 has the slot of the momentum even without momentum, Keras has not."""
  slots = [Slot("RMSProp", "_velocities", "rms")]
  if centered:
    slots.append(Slot("RMSProp_1", "_average_gradients", "mg"))
  momentum = Slot("RMSProp_2" if centered else "RMSProp_1", "_momentums", "momentum")
  if momentum_slot:
    slots.append(momentum)
  return Kind(
    "RMSProp",
    "RMSprop",
    tuple(slots),
    (("rho", "rho"), ("momentum", "momentum")),
    () if momentum_slot else (momentum.suffix,),
  )


def _stock(optimizer: Any) -> Optional[Kind]:
  """Returns the description of a stock Keras optimizer, None for any other."""
  # Keras 2.15 and Keras 3 agree on these classes and attributes. Subclasses may have further slots.
  keras = tf.keras.optimizers
  if type(optimizer) is keras.Adam and not optimizer.amsgrad:
    return ADAM
  if type(optimizer) is keras.Adagrad:
    return ADAGRAD
  if type(optimizer) is keras.SGD:
    if not optimizer.momentum:
      return GRADIENT_DESCENT
    # Keras keeps the learning rate within the velocity, TF1 outside.
    velocity = Slot("momentum", "momentums", "momentum", in_v1=False)
    return Kind("Momentum", "SGD", (velocity,), (("momentum", "momentum"),))
  if type(optimizer) is keras.RMSprop:
    return rmsprop(optimizer.centered, bool(optimizer.momentum))
  return None


class OptimizerState:
  """The state of a Keras optimizer, by the names that it has in a checkpoint.

  Attributes:
    kind: what is known of the optimizer.
    iterations: the number of updates, a `tf.Variable`, int64, shape [].
    learning_rate: the learning rate, a `tf.Variable`, or None if it follows a schedule.
  """

  def __init__(self, optimizer: Any, variables: list, flavour: str):
    """Builds the optimizer for `variables` (the trainable ones of the model) if need be.

    Args:
      optimizer: a Keras optimizer.
      variables: the trainable weights of the model.
      flavour: "v1" or "v2"; the exact Adam rounds as the Estimators of that flavour did.

    Raises:
      TypeError: if the optimizer is none of those that are known here.
    """
    kind = getattr(optimizer, "migrator_kind", None) or _stock(optimizer)
    if kind is None:
      raise TypeError(
        f"The state of {type(optimizer).__module__}.{type(optimizer).__name__} cannot be carried "
        "over: use tf.keras.optimizers.SGD, Adagrad, Adam (without amsgrad) or RMSprop, not a "
        "subclass and not the legacy ones, or an optimizer of migrator.runtime.optimizers."
      )
    self.kind: Kind = kind
    self._optimizer = optimizer
    if hasattr(optimizer, "running_powers"):
      optimizer.running_powers = flavour == "v1"
    # Keras 3 has `built`, Keras 2 `_built`.
    if not getattr(optimizer, "built", getattr(optimizer, "_built", False)):
      optimizer.build(variables)
    self.iterations = inner(optimizer.iterations)
    rate = optimizer._learning_rate
    # A schedule has no state of its own.
    self.learning_rate = (
      None if isinstance(rate, tf.keras.optimizers.schedules.LearningRateSchedule) else inner(rate)
    )

  def slot(self, slot: Slot, variable: Any) -> tf.Variable:
    """Returns the slot of one trainable variable.

    Raises:
      ValueError: if the optimizer was built for other variables.
    """
    optimizer = self._optimizer
    slots = getattr(optimizer, slot.attribute)
    try:
      if hasattr(optimizer, "_get_variable_index"):  # Keras 3
        index = optimizer._get_variable_index(variable)
      else:
        index = optimizer._index_dict[optimizer._var_key(variable)]
    except KeyError as e:
      raise ValueError(
        f"The optimizer {optimizer.name} was built for other variables than the model's trainable ones."
      ) from e
    return inner(slots[index])

  def hyperparameter(self, attribute: str) -> float:
    """Returns the value of a hyperparameter that is a plain number in the optimizer."""
    return float(getattr(self._optimizer, attribute) or 0.0)

  def adam_betas(self) -> Optional[tuple[float, float]]:
    """Returns Adam's two decay rates, None for other optimizers."""
    if self.kind.name != "Adam":
      return None
    return self.hyperparameter("beta_1"), self.hyperparameter("beta_2")


def inner(variable: Any) -> tf.Variable:
  """Returns the `tf.Variable` of a weight: itself in Keras 2, the one within it in Keras 3."""
  if isinstance(variable, tf.Variable):
    return variable
  return variable.value
