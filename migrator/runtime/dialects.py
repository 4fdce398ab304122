"""Describes a checkpoint: which key is a variable, a slot, a counter, and of which optimizer.

Works on the index alone and a few scalars, without TensorFlow. The dialects:

* v1: `<variable>/Adam_1`, by `tf.train.*Optimizer`;
* v2: `training/Adam/<variable>/v`, by the Keras optimizers of the v2 canned Estimators, and by Keras
  optimizers in a model_fn;
* object: `tf.train.Checkpoint`; and migrator: one of those, by this package.
"""

from __future__ import annotations

import dataclasses
import re
import struct
from typing import Optional

from migrator.runtime import bundle, bundle_values, keras_names
from migrator.runtime.adam_powers import Owner, Pair, assigned, named_powers, pairs_of
from migrator.runtime.adam_powers import adam_updates as adam_updates
from migrator.runtime.contents import Contents, Optimizer, Scalar, Variable
from migrator.runtime.optimizer_names import APART, FOREIGN, KINDS, has_powers, kind_of
from migrator.runtime.slot_names import EMA, Slot, find_slots, is_average, numbered

OBJECT_GRAPH = "_CHECKPOINTABLE_OBJECT_GRAPH"
VALUE = "/.ATTRIBUTES/VARIABLE_VALUE"
STAMP = "migrator_format"
_OBJECT_SLOT = re.compile(r"(.+)/\.OPTIMIZER_SLOT/([^/]+)/([^/]+)")
_ESCAPED = re.compile(r"\.([S.])")
_DIALECTS = {
  "v1": "name-based, TF1 optimizers",
  "v2": "name-based, Keras optimizers",
  "object": "object-based (tf.train.Checkpoint)",
  "migrator": "object-based, by name (migrator.runtime)",
}
# `model_to_estimator` puts the step of the Estimator beside the Keras model.
_STEP = re.compile(r"(?:.*/)?(?:estimator_)?global_step")
_ITER = re.compile(r"(?:(.*)/)?(?:iter|iterations)")
# The last two are those of the optimizers of mixed precision.
_COUNTER = re.compile(
  r"(?:.*/)?(?:save_counter|learning_rate|OptimizeLoss/.*rate|current_loss_scale|good_steps)"
)
# In a migrated program, of the second of several optimizers and those behind it.
_FURTHER = re.compile(r"(?:iterations|learning_rate)_[1-9]\d*")


def describe(prefix: str, index: bundle.Index) -> Contents:
  """Returns what the checkpoint holds.

  Args:
    prefix: of the checkpoint; its data files are only asked for a few scalars, and may be absent.
    index: its index.

  Raises:
    bundle.DamagedIndexError: if the index contradicts itself.
  """
  keys = {name: name for name in index.entries}
  dialect = "v1"
  if OBJECT_GRAPH in index.entries:
    dialect = "migrator" if STAMP + VALUE in index.entries else "object"
    keys = {decoded(key): key for key in index.entries}
  return _Reading(prefix, index, keys, dialect).contents()


def decoded(key: str) -> str:
  """Returns the path of a variable in an object checkpoint, without the end of its key."""
  if not key.endswith(VALUE):
    return key
  return _ESCAPED.sub(lambda m: "/" if m.group(1) == "S" else ".", key[: -len(VALUE)])


class _Reading:
  """The names of one checkpoint, while they are being told apart."""

  def __init__(self, prefix: str, index: bundle.Index, keys: dict[str, str], dialect: str):
    self._prefix = prefix
    self._index = index
    self._keys = keys  # name -> key of the index
    self._dialect = dialect
    self._entries = {name: index.entries[key] for name, key in keys.items()}
    self._notes: list[str] = []
    self._counters: dict[str, Scalar] = {}
    self._optimizers: dict[str, Optimizer] = {}
    # variable -> suffix -> names; and variable -> optimizers.
    self._slots: dict[str, dict[str, list[str]]] = {}
    self._users: dict[str, list[str]] = {}
    self._emas: dict[str, str] = {}
    self._iters: list[str] = []  # The counts of Keras optimizers.

  def contents(self) -> Contents:
    """Tells the names apart."""
    scalars = {name for name, entry in self._entries.items() if not entry.shape}
    powers = named_powers(scalars)
    if self._dialect == "object":
      self._add_object_slots()
    else:
      if self._dialect == "v1":
        self._add_keras()
      taken = {*powers, *self._counters, *self._emas.values(), *self._slot_names()}
      rest = {name: entry for name, entry in self._entries.items() if name not in taken}
      self._add_tf1(find_slots(rest), pairs_of(powers))
    for name in powers:
      self._count(name)
    step, step_key, note = self._find_step(scalars)
    for name in scalars:
      further = self._dialect == "migrator" and _FURTHER.fullmatch(name)
      if _COUNTER.fullmatch(name) or further:
        self._count(name)
    return Contents(
      prefix=self._prefix,
      dialect_id=self._dialect,
      dialect=_DIALECTS[self._dialect],
      variables=self._variables(),
      optimizers=self._optimizers,
      step=step,
      step_key=step_key,
      step_note=note,
      counters={self._keys[name]: value for name, value in self._counters.items()},
      unknown=tuple(key for key in (OBJECT_GRAPH, STAMP + VALUE) if key in self._index.entries),
      notes=tuple(self._notes),
    )

  def _value(self, name: str) -> Scalar:
    """Returns the value of a scalar, None if the data file cannot be read."""
    try:
      return bundle_values.read_scalar(self._prefix, self._index, self._keys[name])
    except (bundle.DamagedIndexError, OSError, ValueError, struct.error):
      return None

  def _count(self, name: str) -> Scalar:
    if name not in self._counters:
      self._counters[name] = self._value(name)
    return self._counters[name]

  def _find_step(self, scalars: set[str]) -> tuple[Optional[int], Optional[str], str]:
    """Returns the step, its key, and what is to be said of it."""
    integers = {n for n in scalars if self._entries[n].dtype in ("int64", "int32")}
    steps = sorted((n for n in integers if _STEP.fullmatch(n)), key=lambda n: (n.count("/"), n))
    iters = {n for n in integers if _ITER.fullmatch(n)}.union(self._iters)
    for name in (*steps, *iters):
      self._count(name)
    if len(steps) > 1:
      self._notes.append(f"There are several global steps; {steps[0]} is taken.")
    step = self._counters[steps[0]] if steps else None
    moved = {n: v for n in sorted(iters) if (v := self._counters[n])}
    if not step and moved and self._dialect != "migrator":
      name, value = max(moved.items(), key=lambda item: item[1])
      said = "is 0" if steps else "is not there"
      who = "the Keras optimizer counted" if name in self._iters else "that counted"
      return (
        int(value),
        self._keys[name],
        f"global_step {said}, but {name} is {value}: {who}, and that is the step.",
      )
    if step is None:
      return None, self._keys[steps[0]] if steps else None, ""
    return int(step), self._keys[steps[0]], ""

  def _add_object_slots(self) -> None:
    """Takes the slots of an object checkpoint from their paths."""
    users: dict[str, dict[str, list[str]]] = {}
    for name in self._entries:
      match = _OBJECT_SLOT.fullmatch(name)
      if match and match.group(1) in self._entries:
        variable, optimizer, suffix = match.groups()
        self._slots.setdefault(variable, {}).setdefault(suffix, []).append(name)
        users.setdefault(optimizer, {}).setdefault(variable, []).append(suffix)
    for optimizer, variables in users.items():
      written = {suffix for found in variables.values() for suffix in found}
      kind, roles = keras_names.kind_of_slots(optimizer, written)
      self._add_optimizer(optimizer, kind, roles, list(variables))

  def _add_keras(self) -> None:
    """Adds the Keras optimizers, and their scalars."""
    for optimizer in keras_names.find_optimizers(self._entries):
      self._dialect = "v2"
      variables = []
      for variable, slots in optimizer.slots.items():
        for suffix, key in slots.items():
          if suffix == keras_names.AVERAGE and variable not in self._emas:
            self._emas[variable] = key
            continue
          self._slots.setdefault(variable, {}).setdefault(suffix, []).append(key)
          variables.append(variable)
      kind, roles, note = optimizer.kind()
      values = {name: self._count(key) for name, key in sorted(optimizer.scalars.items())}
      if keras_names.COUNT in optimizer.scalars:
        self._iters.append(optimizer.scalars[keras_names.COUNT])
      unique = list(dict.fromkeys(variables))
      self._add_optimizer(optimizer.name, kind, roles, unique, hyperparameters=values)
      self._notes += [note] if note else []

  def _slot_names(self) -> list[str]:
    """Returns the names of all slots that are known."""
    return [name for slots in self._slots.values() for names in slots.values() for name in names]

  def _add_tf1(self, slots: list[Slot], pairs: list[Pair]) -> None:
    """Adds the TF1 optimizers and the moving averages."""
    suffixes: dict[tuple[str, str], set[str]] = {}
    scopes: dict[tuple[str, str], set[str]] = {}
    for slot in slots:
      suffixes.setdefault((slot.scope, slot.variable), set()).add(slot.suffix)
      scopes.setdefault((slot.variable, slot.suffix), set()).add(slot.scope)
    # Two optimizers of one name in two scopes: the scope tells their slots apart.
    shared = {suffix for (_, suffix), found in scopes.items() if len(found) > 1}
    # (scope, name) -> number -> variable -> suffix as written
    groups: dict[tuple[str, str], dict[int, dict[str, str]]] = {}
    renamed: set[str] = set()
    for slot in slots:
      if is_average(slot.suffix) and slot.variable not in self._emas:
        self._emas[slot.variable] = slot.key
        renamed |= {slot.suffix} if not slot.suffix.startswith(EMA) else set()
        continue
      written = slot.suffix
      if slot.scope and slot.suffix in shared:
        written = f"{slot.scope}/{slot.suffix}"
      self._slots.setdefault(slot.variable, {}).setdefault(written, []).append(slot.key)
      base, number = APART.get(slot.suffix) or numbered(
        slot.suffix, suffixes[slot.scope, slot.variable]
      )
      group = groups.setdefault((slot.scope, base), {})
      group.setdefault(number, {})[slot.variable] = written
    self._notes += [
      f"{name} is taken for a moving average by its name." for name in sorted(renamed)
    ]
    self._add_groups(groups, pairs)

  def _add_groups(self, groups: dict, pairs: list[Pair]) -> None:
    """Adds the optimizers of the names, and gives them their powers of beta.

    Args:
      groups: (scope, name) -> number of the slot -> variable -> suffix as written.
      pairs: the powers.
    """
    kinds = {where: kind_of(where[1], max(group) + 1) for where, group in groups.items()}
    with_powers = sum(
      -(-(max(groups[where]) + 1) // len(roles))
      for where, (kind, roles) in kinds.items()
      if has_powers(kind, where[1])
    )
    # Two slots and nothing else known: an Adam, if there are powers that no other has.
    twos = {
      where: len(roles) // 2
      for where, (kind, roles) in kinds.items()
      if kind == "unknown" and where[1] not in FOREIGN and len(roles) % 2 == 0
    }
    if sum(twos.values()) <= len(pairs) - with_powers:
      kinds.update(dict.fromkeys(twos, KINDS["Adam"]))
    owners = []
    for (scope, base), numbers in groups.items():
      kind, names = kinds[scope, base]
      sure = len({frozenset(variables) for variables in numbers.values()}) == 1
      for ordinal, first in enumerate(range(0, max(numbers) + 1, len(names))):
        name = self._add_numbers(scope, base, ordinal, kind, names, first, numbers)
        if has_powers(kind, base):
          owners.append(Owner(name, scope, base, ordinal, sure))
      if kind == "unknown" and base not in FOREIGN:
        count = max(numbers) + 1
        self._notes.append(
          f"The names do not tell which optimizer {base} is: it has {count} "
          f"slot{'s' if count > 1 else ''} for each variable."
        )
    powers = assigned(owners, pairs)
    for name, keys in powers.items():
      self._optimizers[name] = dataclasses.replace(self._optimizers[name], beta_powers=keys)
    if any(len(keys) > 1 for keys in powers.values()):
      self._notes.append(
        f"There are the powers of beta of {len(pairs)} Adams, and the names do not tell which of them "
        "belong to which variables."
      )

  def _add_numbers(
    self,
    scope: str,
    base: str,
    ordinal: int,
    kind: str,
    names: tuple[str, ...],
    first: int,
    numbers,
  ) -> str:
    """Adds the optimizer whose slots have the numbers from `first` on; returns its name."""
    variables: dict[str, None] = {}
    roles = {}
    for role, number in zip(names, range(first, first + len(names))):
      for variable, written in numbers.get(number, {}).items():
        variables[variable] = None
        roles[role] = written
    name = f"{scope}/{base}" if scope else base
    name = f"{name} ({ordinal + 1})" if ordinal else name
    self._add_optimizer(name, kind, roles, list(variables), scope=scope)
    return name

  def _add_optimizer(self, name: str, kind: str, roles: dict, variables: list, **more) -> None:
    self._optimizers[name] = Optimizer(name, kind, roles, tuple(variables), **more)
    for variable in variables:
      self._users.setdefault(variable, []).append(name)

  def _variables(self) -> dict[str, Variable]:
    """Returns what is neither slot, counter nor average."""
    taken = {OBJECT_GRAPH, STAMP, *self._counters, *self._emas.values(), *self._slot_names()}
    variables = {}
    for name, entry in self._entries.items():
      if name in taken:
        continue
      key = self._keys[name]
      slots = {s: self._ordered(names) for s, names in self._slots.get(name, {}).items()}
      pieces = self._index.pieces(key)
      variables[name] = Variable(
        name=name,
        dtype=entry.dtype,
        shape=entry.shape,
        num_bytes=sum(piece.size for _, piece in pieces),
        keys=(key,),
        parts=tuple(bounds for bounds, _ in pieces) if entry.slices else (),
        slots=slots,
        optimizers=tuple(self._users.get(name, ())),
        ema=self._keys[self._emas[name]] if name in self._emas else None,
        trainable=True if slots else None,
      )
    return variables

  def _ordered(self, names: list[str]) -> tuple[str, ...]:
    """Returns the keys of the parts of one slot in the order of their bounds."""
    keys = [self._keys[name] for name in names]
    if len(keys) == 1:
      return tuple(keys)
    return tuple(sorted(keys, key=lambda key: [bounds for bounds, _ in self._index.pieces(key)]))


def beta_powers(contents: Contents) -> list[str]:
  """Returns the keys of all running powers of beta."""
  return named_powers(contents.counters)
