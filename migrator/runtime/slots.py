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
    v1: TF1's suffix, where that of our checkpoints is another one because the values differ.
    transform: the name of the transform that makes the value out of TF1's; "" if they are the same.
      "times_minus_rate": times minus the learning rate.
  """

  suffix: str
  attribute: str
  legacy: str
  v1: str = ""
  transform: str = ""

  @property
  def v1_suffix(self) -> str:
    """TF1's name of the slot."""
    return self.v1 or self.suffix

  @property
  def in_v1(self) -> bool:
    """Whether TF1's slot has the same name and the same value."""
    return not self.transform


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
# BERT's, whose code named the slots itself. No v2 Estimator had it.
ADAM_WEIGHT_DECAY = Kind(
  "AdamWeightDecay", "", (Slot("adam_m", "_momentums", ""), Slot("adam_v", "_velocities", ""))
)
ADAGRAD = Kind("Adagrad", "Adagrad", (Slot("Adagrad", "_accumulators", "accumulator"),))
ADADELTA = Kind(
  "Adadelta",
  "Adadelta",
  (
    Slot("Adadelta", "_accumulated_grads", "accum_grad"),
    Slot("Adadelta_1", "_accumulated_delta_vars", "accum_var"),
  ),
  (("rho", "rho"),),
)
FTRL = Kind(
  "Ftrl",
  "Ftrl",
  (Slot("Ftrl", "_accumulators", "accumulator"), Slot("Ftrl_1", "_linears", "linear")),
  tuple(
    (name, name)
    for name in (
      "beta",
      "l1_regularization_strength",
      "l2_regularization_strength",
      "learning_rate_power",
    )
  ),
)
GRADIENT_DESCENT = Kind("GradientDescent", "SGD", (), (("momentum", "momentum"),))
# The velocity of the v2 Estimators has the learning rate inside, as Keras has.
MOMENTUM = Kind("Momentum", "", (Slot("Momentum", "_momentums", ""),))
KERAS_MOMENTUM = Kind(
  "Momentum",
  "SGD",
  (Slot("momentum", "momentums", "momentum", v1="Momentum", transform="times_minus_rate"),),
  (("momentum", "momentum"),),
)
PROXIMAL_ADAGRAD = Kind("ProximalAdagrad", "", (Slot("ProximalAdagrad", "_accumulators", ""),))
PROXIMAL_GRADIENT_DESCENT = Kind("ProximalGradientDescent", "")

AVERAGE = Slot("ExponentialMovingAverage", "_model_variables_moving_average", "")


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
  if type(optimizer) is keras.SGD:
    return KERAS_MOMENTUM if optimizer.momentum else GRADIENT_DESCENT
  if type(optimizer) is keras.RMSprop:
    return rmsprop(optimizer.centered, bool(optimizer.momentum))
  others = {keras.Adagrad: ADAGRAD, keras.Adadelta: ADADELTA, keras.Ftrl: FTRL}
  return others.get(type(optimizer))


def _refusal(optimizer: Any) -> str:
  """Returns why the state of an optimizer that is not known cannot be carried over."""
  name = f"{type(optimizer).__module__}.{type(optimizer).__name__}"
  keras = tf.keras.optimizers
  if isinstance(optimizer, keras.AdamW):
    return (
      f"The state of {name} cannot be carried over: TF1 has no such optimizer. BERT's decays within "
      "the update and corrects no bias: migrator.runtime.optimizers.AdamWeightDecay."
    )
  if type(optimizer) is keras.Adam:
    return (
      f"The state of {name} with amsgrad cannot be carried over: TF1 has no such optimizer. Use Adam "
      "without amsgrad, or migrator.runtime.optimizers.Adam."
    )
  return (
    f"The state of {name} cannot be carried over: use tf.keras.optimizers.SGD, Adadelta, Adagrad, "
    "Adam (without amsgrad), Ftrl or RMSprop, not a subclass and not the legacy ones, or an "
    "optimizer of migrator.runtime.optimizers."
  )


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
      raise TypeError(_refusal(optimizer))
    if getattr(optimizer, "use_ema", False):
      kind = dataclasses.replace(kind, slots=(*kind.slots, AVERAGE))
    else:
      kind = dataclasses.replace(kind, ignored=(*kind.ignored, AVERAGE.suffix))
    self.kind: Kind = kind
    self._optimizer = optimizer
    if hasattr(optimizer, "running_powers"):
      optimizer.running_powers = flavour == "v1"
    # Keras 3 has `built`, Keras 2 `_built`.
    if not getattr(optimizer, "built", getattr(optimizer, "_built", False)):
      optimizer.build(variables)
    self.iterations = inner(optimizer.iterations)
    rate = optimizer._learning_rate
    # A schedule or a function has no state of its own; a function may stand for a variable.
    rate = rate.variable if isinstance(rate, VariableRate) else rate
    self.learning_rate = None if callable(rate) else inner(rate)

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

  def use_names(self, names: dict[str, Any]) -> None:
    """Tells an optimizer that treats weights by their name the names in the checkpoint."""
    if hasattr(self._optimizer, "use_names"):
      self._optimizer.use_names(names)

  def hyperparameter(self, attribute: str) -> float:
    """Returns the value of a hyperparameter that is a plain number in the optimizer."""
    return float(getattr(self._optimizer, attribute) or 0.0)

  def rate(self) -> Optional[float]:
    """Returns the learning rate as it is now, None if it follows a schedule.

    Raises:
      RuntimeError: within a graph, where variables have no values.
    """
    if self.learning_rate is None:
      return None
    if not tf.executing_eagerly():
      raise RuntimeError("the learning rate has no value within a graph")
    return float(self.learning_rate.numpy())

  def adam_betas(self) -> Optional[tuple[float, float]]:
    """Returns Adam's two decay rates, None for other optimizers."""
    if self.kind.name != "Adam":
      return None
    return self.hyperparameter("beta_1"), self.hyperparameter("beta_2")


class NoOptimizer:
  """In place of an `OptimizerState`: a model that is not trained any further."""

  kind = Kind("no optimizer", "")
  iterations = None
  learning_rate = None

  def use_names(self, names: dict[str, Any]) -> None:
    """There is nothing to tell."""

  def slot(self, slot: Slot, variable: Any) -> tf.Variable:
    """There are no slots.

    Raises:
      ValueError: always.
    """
    raise ValueError(f"without an optimizer there is no slot {slot.suffix}")

  def hyperparameter(self, attribute: str) -> float:
    """Returns 0."""
    return 0.0

  def adam_betas(self) -> Optional[tuple[float, float]]:
    """Returns None."""
    return None

  def rate(self) -> Optional[float]:
    """Returns None."""
    return None


class VariableRate:
  """A learning rate that somebody else keeps in a variable: its value at the time of the update."""

  def __init__(self, variable: Any):
    self.variable = inner(variable)

  def __call__(self) -> tf.Tensor:
    return self.variable.read_value()


def inner(variable: Any) -> tf.Variable:
  """Returns the `tf.Variable` of a weight: itself in Keras 2, the one within it in Keras 3."""
  if isinstance(variable, tf.Variable):
    return variable
  return variable.value
