"""What a checkpoint holds, in the terms of a person: variables, their slots, optimizers, the step."""

from __future__ import annotations

import dataclasses
from typing import Optional, Union

from migrator.runtime.bundle import Bounds

Scalar = Union[int, float, None]
"""The value of a counter; None where the data file cannot be read."""


@dataclasses.dataclass(frozen=True)
class Variable:
  """One variable of a checkpoint.

  Attributes:
    name: of the variable; in an object checkpoint without the suffix of its key.
    dtype: e.g. "float32".
    shape: the full shape.
    num_bytes: of all parts together, without slots.
    keys: the keys of the index that hold it; one.
    parts: the bounds of each part of a partitioned variable, () of any other.
    slots: suffix as written -> the keys that hold that slot, in the order of the rows. A v2 slot is
      called as Keras calls it, "m".
    optimizers: the names of the optimizers that have a slot for it, see `Contents.optimizers`.
    ema: the key of its exponential moving average, if there is one.
    trainable: True if an optimizer has a slot for it; None if that cannot be told.
  """

  name: str
  dtype: str
  shape: tuple[int, ...]
  num_bytes: int
  keys: tuple[str, ...]
  parts: tuple[Bounds, ...] = ()
  slots: dict[str, tuple[str, ...]] = dataclasses.field(default_factory=dict)
  optimizers: tuple[str, ...] = ()
  ema: Optional[str] = None
  trainable: Optional[bool] = None

  @property
  def optimizer(self) -> Optional[str]:
    """The name of the first optimizer of the variable."""
    return self.optimizers[0] if self.optimizers else None


@dataclasses.dataclass(frozen=True)
class Optimizer:
  """One optimizer whose state is in a checkpoint.

  Attributes:
    name: as written, "Adam" or "MyAdam" or "training/Adam"; a second one of that name is "Adam (2)".
    kind: "Adam", "Adagrad", "Momentum", "RMSProp", "CenteredRMSProp", "Ftrl", "Adadelta",
      "AdamWeightDecay", or "unknown" if the names do not tell.
    roles: TF1's default suffix ("Adam_1") -> suffix as written ("MyAdam_1", or "v" of a v2 one). The
      velocity of a Keras SGD is "momentum": it has the learning rate inside, unlike TF1's "Momentum".
    variables: the names of the variables that it has slots for.
    beta_powers: pairs of the keys of Adam's running powers. Several where programs with several
      Adams of one name leave it open which is which.
    hyperparameters: of a v2 optimizer: name -> value.
    scope: what stands before the variable's name in the keys of its slots.
  """

  name: str
  kind: str
  roles: dict[str, str]
  variables: tuple[str, ...]
  beta_powers: tuple[tuple[Optional[str], Optional[str]], ...] = ()
  hyperparameters: dict[str, Scalar] = dataclasses.field(default_factory=dict)
  scope: str = ""


@dataclasses.dataclass(frozen=True)
class Contents:
  """What a checkpoint holds. Each key of the index is in exactly one place.

  Attributes:
    prefix: the path without suffix.
    dialect_id: "v1", "v2", "object" or "migrator".
    dialect: the same in words.
    variables: by name. Without the counters.
    optimizers: by name.
    step: the global step; None if there is none, or it cannot be read.
    step_key: the key that it is from.
    step_note: a sentence where the step is not simply `global_step`.
    counters: other scalars that count or tune: key -> value.
    unknown: keys that belong to none of these.
    notes: sentences that a person should read.
  """

  prefix: str
  dialect_id: str
  dialect: str
  variables: dict[str, Variable]
  optimizers: dict[str, Optimizer]
  step: Optional[int]
  step_key: Optional[str]
  step_note: str = ""
  counters: dict[str, Scalar] = dataclasses.field(default_factory=dict)
  unknown: tuple[str, ...] = ()
  notes: tuple[str, ...] = ()

  def accounted(self) -> list[str]:
    """Returns every key that is accounted for, each as often as that happens."""
    keys = [*self.counters, *self.unknown]
    for variable in self.variables.values():
      keys += variable.keys
      keys += [key for slot in variable.slots.values() for key in slot]
      keys += [variable.ema] if variable.ema else []
    return keys

  def keras_updates(self) -> Optional[int]:
    """Returns how many updates the Keras optimizers have counted.

    None if one of them has no count of its own, as it uses the global step, or if they differ.
    """
    counts = {optimizer.hyperparameters.get("iter") for optimizer in self.optimizers.values()}
    count = counts.pop() if len(counts) == 1 else None
    return None if count is None else int(count)

  def slot_keys(
    self, variable: str, suffix: str, optimizer: Optional[str] = None
  ) -> tuple[str, ...]:
    """Returns the keys of one slot of one variable, in the order of the rows; () if there is none.

    Args:
      variable: its name.
      suffix: TF1's default suffix of the slot, e.g. "Adam_1", whatever the optimizer was called.
      optimizer: which optimizer; by default the first that has such a slot.
    """
    found = self.variables.get(variable)
    if found is None:
      return ()
    for name in found.optimizers:
      written = self.optimizers[name].roles.get(suffix)
      if written in found.slots and optimizer in (None, name):
        return found.slots[written]
    return ()
