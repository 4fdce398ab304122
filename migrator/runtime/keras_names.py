"""Tells the slots and scalars of Keras optimizers in a name-based checkpoint, and what they are.

There were two generations, and a model_fn or a v2 canned Estimator could have either (measured with
TensorFlow 2.15):

* the older, also `tf.keras.optimizers.legacy`: `<optimizer>/<variable>/m`, with its scalars beside,
  `<optimizer>/iter`; v2 canned Estimators put `training/` before, and have no `iter`;
* the newer: `<optimizer>/m/<variable>`, with `iteration` and `learning_rate` at the top.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import Optional

from migrator.runtime.bundle import Entry

OLDER_SLOTS = (
  "momentum m v vhat rms mg accumulator linear accum_grad accum_var average slow".split()
)
NEWER_SLOTS = (
  "m v vhat u r c momentum velocity average_gradient average accumulator linear "
  "accumulated_grad accumulated_delta_var"
).split()
AVERAGE = "average"
"""The slot that is the moving average of the variable, as `use_ema` keeps it."""
ITERATION = "iteration"
RATE = "learning_rate"
COUNT = "iter"

_HYPERPARAMETERS = (
  "decay learning_rate beta_1 beta_2 rho momentum iter l1_regularization_strength beta "
  "l2_regularization_strength learning_rate_power initial_accumulator_value epsilon"
).split()
_INTEGERS = ("int64", "int32")
# Of the Keras of TensorFlow 1.12 and before.
_OLD_NAMES = {"iterations": COUNT, "lr": RATE}
# The slots -> kind, and TF1's names in the same order. The velocity of Keras's SGD is "momentum": it has
# the learning rate inside, unlike TF1's "Momentum".
_KINDS = {
  ("m", "v"): ("Adam", ("Adam", "Adam_1")),
  ("m", "v", "vhat"): ("Adam", ("Adam", "Adam_1", "vhat")),
  ("accumulator",): ("Adagrad", ("Adagrad",)),
  ("accumulator", "linear"): ("Ftrl", ("Ftrl", "Ftrl_1")),
  ("momentum",): ("Momentum", ("momentum",)),
  ("m",): ("Momentum", ("momentum",)),
  ("rms",): ("RMSProp", ("RMSProp",)),
  ("momentum", "rms"): ("RMSProp", ("RMSProp_1", "RMSProp")),
  ("mg", "rms"): ("CenteredRMSProp", ("RMSProp_1", "RMSProp")),
  ("mg", "momentum", "rms"): ("CenteredRMSProp", ("RMSProp_1", "RMSProp_2", "RMSProp")),
  ("velocity",): ("RMSProp", ("RMSProp",)),
  ("momentum", "velocity"): ("RMSProp", ("RMSProp_1", "RMSProp")),
  ("average_gradient", "velocity"): ("CenteredRMSProp", ("RMSProp_1", "RMSProp")),
  ("average_gradient", "momentum", "velocity"): (
    "CenteredRMSProp",
    ("RMSProp_1", "RMSProp_2", "RMSProp"),
  ),
  ("accum_grad", "accum_var"): ("Adadelta", ("Adadelta", "Adadelta_1")),
  ("accumulated_delta_var", "accumulated_grad"): ("Adadelta", ("Adadelta_1", "Adadelta")),
}
# Optimizers with the slots of one of the kinds and another rule.
_OTHERS = (
  "adamax nadam adamw radam rectifiedadam lazyadam adabelief weightdecay lamb lion yogi novograd lars "
  "adafactor sgdw proximaladagrad"
).split()


@dataclasses.dataclass
class KerasOptimizer:
  """One Keras optimizer.

  Attributes:
    name: what its names begin with, e.g. "training/Adam".
    slots: variable -> slot as written -> key.
    scalars: hyperparameter or counter -> key.
    newer: whether it is of the newer generation.
  """

  name: str
  slots: dict[str, dict[str, str]] = dataclasses.field(default_factory=dict)
  scalars: dict[str, str] = dataclasses.field(default_factory=dict)
  newer: bool = False

  def kind(self) -> tuple[str, dict[str, str], str]:
    """Returns the kind, TF1's suffix -> slot as written, and what is to be said of it, or ""."""
    written = tuple(sorted({s for found in self.slots.values() for s in found} - {AVERAGE}))
    base = self.name.rpartition("/")[2].rpartition(">")[2]
    words = base.lower().replace("_", "")
    unknown = ("unknown", dict(zip(written, written)))
    said = f"The names do not tell which optimizer {self.name} is"
    if not written:
      if "sgd" in words or "momentum" in self.scalars:
        return "GradientDescent", {}, ""
      return (*unknown, f"{said}: it has no slots.")
    kind, suffixes = _KINDS.get(written, ("unknown", written))
    if any(name in words for name in _OTHERS) or "momentum_cache" in self.scalars:
      kind = "unknown"
    if kind == "unknown":
      return (*unknown, f"{said}: its slots are {', '.join(written)}.")
    note = ""
    if kind == "Adam" and "adam" not in words:
      note = f"{self.name} is taken for an Adam by its slots; Adamax has the same."
    elif written == ("m",) and "sgd" not in words:
      note = f"{self.name} is taken for an SGD by its slots; Lion has the same."
    return kind, dict(zip(suffixes, written)), note


def kind_of_slots(name: str, written: Iterable[str]) -> tuple[str, dict[str, str]]:
  """Returns the kind of an optimizer, and its roles, of whose slots only the names are known."""
  optimizer = KerasOptimizer(name, {"": dict.fromkeys(written, "")})
  return optimizer.kind()[:2]


def find_optimizers(entries: dict[str, Entry]) -> list[KerasOptimizer]:
  """Returns the Keras optimizers whose state is in the checkpoint.

  A slot is told by its name, its place and the shape of its variable. The slots of single parts of a
  partitioned variable are not: they stay variables.
  """
  found: dict[str, KerasOptimizer] = {}
  for key in entries:
    slot = _older_slot(key, entries)
    if slot is not None:
      name, variable, suffix = slot
      found.setdefault(name, KerasOptimizer(name)).slots.setdefault(variable, {})[suffix] = key
  for key, entry in entries.items():
    scope, _, last = key.rpartition("/")
    if entry.shape or not scope:
      continue
    canned = scope.startswith("training/") or scope in found
    if _is_counted(scope, entries) or (canned and last in _HYPERPARAMETERS):
      scalars = found.setdefault(scope, KerasOptimizer(scope)).scalars
      scalars[_OLD_NAMES.get(last, last)] = key
  return [*found.values(), *_newer(entries)]


def _is_counted(scope: str, entries: dict[str, Entry]) -> bool:
  """Returns whether there is a count of updates in the scope, and a rate: one alone may be anything."""
  for count, rates in ((COUNT, (RATE, "decay")), ("iterations", ("lr",))):
    entry = entries.get(f"{scope}/{count}")
    if entry is not None and not entry.shape and entry.dtype in _INTEGERS:
      return any(f"{scope}/{rate}" in entries for rate in rates)
  return False


def _older_slot(key: str, entries: dict[str, Entry]) -> Optional[tuple[str, str, str]]:
  """Returns optimizer, variable and slot of `<optimizer>/<variable>/<slot>`."""
  rest, _, suffix = key.rpartition("/")
  if suffix not in OLDER_SLOTS:
    return None
  begin = rest.find("/") + 1
  while begin:
    variable = _owner(rest[begin:], entries)
    if variable and entries[variable].shape == entries[key].shape:
      return rest[: begin - 1], variable, suffix
    begin = rest.find("/", begin) + 1
  return None


def _newer(entries: dict[str, Entry]) -> list[KerasOptimizer]:
  """Returns the optimizers of the newer generation, of which there have to be the scalars."""
  count, rate = entries.get(ITERATION), entries.get(RATE)
  if count is None or count.shape or count.dtype not in _INTEGERS or rate is None or rate.shape:
    return []
  found: dict[str, KerasOptimizer] = {}
  for key, entry in entries.items():
    parts = key.split("/")
    for at in range(1, len(parts) - 1):
      variable = _owner("/".join(parts[at + 1 :]), entries)
      if parts[at] in NEWER_SLOTS and variable and _fits(parts[at], entry, entries[variable]):
        name = "/".join(parts[:at])
        optimizer = found.setdefault(name, KerasOptimizer(name, newer=True))
        optimizer.slots.setdefault(variable, {})[parts[at]] = key
        break
  for optimizer in found.values() if len(found) == 1 else ():
    optimizer.scalars = {COUNT: ITERATION, RATE: RATE}
  return list(found.values())


def _fits(slot: str, entry: Entry, owner: Entry) -> bool:
  """Returns whether a slot has the shape that it must have; Adafactor has means of rows and columns."""
  if slot in ("r", "c"):
    return len(entry.shape) < max(len(owner.shape), 2)
  return entry.shape == owner.shape


def _owner(name: str, entries: dict[str, Entry]) -> str:
  """Returns the variable of that name, or of which it is the only part; "" if there is none."""
  if name in entries:
    return name
  whole, _, part = name.rpartition("/")
  return whole if part == "part_0" and whole in entries else ""
