"""Describes a checkpoint: which key is a variable, a slot, a counter, and of which optimizer.

Works on the index alone and a few scalars, without TensorFlow. The dialects:

* v1: `<variable>/Adam_1`, by `tf.train.*Optimizer`;
* v2: `training/Adam/<variable>/v`, by the Keras optimizers of the v2 canned Estimators, and by Keras
  optimizers in a model_fn;
* object: `tf.train.Checkpoint`; and migrator: one of those, by this package.
"""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Iterable
from typing import Optional

from migrator.runtime import bundle
from migrator.runtime.contents import Contents, Optimizer, Scalar, Variable
from migrator.runtime.errors import CheckpointError
from migrator.runtime.slot_names import EMA, Slot, find_keras_slots, find_slots, numbered

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
_BETA_POWER = re.compile(r"(?:(.*)/)?beta([12])_power(?:_(\d+))?")
_STEP = re.compile(r"(?:.*/)?global_step")
_ITER = re.compile(r"(?:(.*)/)?(?:iter|iterations)")
_COUNTER = re.compile(r"(?:.*/)?(?:save_counter|learning_rate|OptimizeLoss/.*rate)")
_HYPERPARAMETERS = (
  "decay learning_rate beta_1 beta_2 rho momentum iter l1_regularization_strength beta "
  "l2_regularization_strength learning_rate_power initial_accumulator_value epsilon"
).split()
# How many slots an optimizer of that name has, with TF1's default names.
_KINDS = {
  "Adam": ("Adam", ("Adam", "Adam_1")),
  "Adagrad": ("Adagrad", ("Adagrad",)),
  "Momentum": ("Momentum", ("Momentum",)),
  "RMSProp": ("RMSProp", ("RMSProp", "RMSProp_1")),
  "Ftrl": ("Ftrl", ("Ftrl", "Ftrl_1")),
  "Adadelta": ("Adadelta", ("Adadelta", "Adadelta_1")),
}
_CENTERED = ("CenteredRMSProp", ("RMSProp", "RMSProp_1", "RMSProp_2"))
# Optimizers of BERT and its descendants, whose two slots are named apart.
_TWO_NAMES = {
  "adam": ("AdamWeightDecay", ("adam_m", "adam_v")),
  "lamb": ("LAMB", ("lamb_m", "lamb_v")),
}
# The slots of the Keras optimizers -> kind, and TF1's names in the same order.
_KERAS_KINDS = {
  ("m", "v"): ("Adam", ("Adam", "Adam_1")),
  ("m", "v", "vhat"): ("Adam", ("Adam", "Adam_1", "vhat")),
  ("accumulator",): ("Adagrad", ("Adagrad",)),
  ("accumulator", "linear"): ("Ftrl", ("Ftrl", "Ftrl_1")),
  ("momentum",): ("Momentum", ("momentum",)),
  ("rms",): ("RMSProp", ("RMSProp",)),
  ("momentum", "rms"): ("RMSProp", ("RMSProp_1", "RMSProp")),
  ("mg", "rms"): ("CenteredRMSProp", ("RMSProp_1", "RMSProp")),
  ("mg", "momentum", "rms"): ("CenteredRMSProp", ("RMSProp_1", "RMSProp_2", "RMSProp")),
  ("accum_grad", "accum_var"): ("Adadelta", ("Adadelta", "Adadelta_1")),
}
# Below this, float32 counts in denormal numbers and the exponent cannot be told any more.
_SMALLEST_POWER = 1e-37


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
    keys = {_decoded(key): key for key in index.entries}
  return _Reading(prefix, index, keys, dialect).contents()


def _decoded(key: str) -> str:
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

  def contents(self) -> Contents:
    """Tells the names apart."""
    scalars = {name for name, entry in self._entries.items() if not entry.shape}
    powers = _powers(scalars)
    if self._dialect == "object":
      self._add_object_slots()
    else:
      keras = [] if self._dialect == "migrator" else find_keras_slots(self._entries)
      if keras or any(_is_keras_scalar(name) for name in scalars):
        self._dialect = "v2"
      self._add_keras(keras, scalars)
      taken = {slot.key for slot in keras} | set(powers) | set(self._counters)
      rest = {name: entry for name, entry in self._entries.items() if name not in taken}
      self._add_tf1(find_slots(rest), _pairs(powers))
    for name in powers:
      self._count(name)
    step, step_key, note = self._find_step(scalars)
    for name in scalars:
      if _COUNTER.fullmatch(name):
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
      return bundle.read_scalar(self._prefix, self._index, self._keys[name])
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
    iters = sorted((n for n in integers if _ITER.fullmatch(n)), key=lambda n: (n.count("/"), n))
    for name in (*steps, *iters):
      self._count(name)
    if len(steps) > 1:
      self._notes.append(f"There are several global steps; {steps[0]} is taken.")
    step = self._counters[steps[0]] if steps else None
    moved = {n: v for n in iters if (v := self._counters[n])}
    if not step and moved and self._dialect != "migrator":
      name, value = max(moved.items(), key=lambda item: item[1])
      said = "is 0" if steps else "is not there"
      return (
        int(value),
        self._keys[name],
        f"global_step {said}, but {name} is {value}: the Keras optimizer counted, and that is the step.",
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
      suffixes = tuple(sorted({s for found in variables.values() for s in found}))
      kind, names = _KERAS_KINDS.get(suffixes, ("unknown", suffixes))
      self._add_optimizer(optimizer, kind, dict(zip(names, suffixes)), list(variables))

  def _add_keras(self, slots: list[Slot], scalars: set[str]) -> None:
    """Adds the Keras optimizers, and their scalars."""
    by_optimizer: dict[str, dict[str, list[Slot]]] = {}
    for slot in slots:
      by_optimizer.setdefault(slot.scope, {}).setdefault(slot.variable, []).append(slot)
      self._slots.setdefault(slot.variable, {}).setdefault(slot.suffix, []).append(slot.key)
    for name in scalars:
      if _is_keras_scalar(name):
        by_optimizer.setdefault(name.rpartition("/")[0], {})
    for scope, variables in by_optimizer.items():
      if not variables and not scope.startswith("training/") and f"{scope}/iter" not in scalars:
        continue
      suffixes = tuple(sorted({s.suffix for found in variables.values() for s in found}))
      plain = ("GradientDescent", ()) if not suffixes else ("unknown", suffixes)
      kind, names = _KERAS_KINDS.get(suffixes, plain)
      own = [name for name in scalars if name.rpartition("/")[0] == scope]
      values = {n.rpartition("/")[2]: self._count(n) for n in sorted(own) if _is_hyper(n)}
      self._add_optimizer(
        scope, kind, dict(zip(names, suffixes)), list(variables), hyperparameters=values
      )

  def _add_tf1(self, slots: list[Slot], pairs: list[tuple]) -> None:
    """Adds the TF1 optimizers and the moving averages."""
    suffixes: dict[tuple[str, str], set[str]] = {}
    for slot in slots:
      suffixes.setdefault((slot.scope, slot.variable), set()).add(slot.suffix)
    # (scope, name) -> number -> variable -> keys
    groups: dict[tuple[str, str], dict[int, dict[str, list[str]]]] = {}
    for slot in slots:
      if slot.suffix.startswith(EMA) and slot.variable not in self._emas:
        self._emas[slot.variable] = slot.key
        continue
      self._slots.setdefault(slot.variable, {}).setdefault(slot.suffix, []).append(slot.key)
      base, number = numbered(slot.suffix, suffixes[slot.scope, slot.variable])
      if base in ("adam_m", "adam_v", "lamb_m", "lamb_v"):
        base, number = _TWO_NAMES[base[:4]][0], "mv".index(base[-1])
      group = groups.setdefault((slot.scope, base), {})
      group.setdefault(number, {}).setdefault(slot.variable, []).append(slot.suffix)
    left = list(pairs)
    for (scope, base), numbers in groups.items():
      self._add_group(scope, base, numbers, left)
    adams = [o for o in self._optimizers.values() if o.kind == "Adam" and not o.hyperparameters]
    if left and adams:
      # More pairs than optimizers can be told from the names: the last one of them has the rest.
      last = adams[-1]
      pairs_of_last = (*last.beta_powers, *(pair[1:] for pair in left))
      self._optimizers[last.name] = _replaced(last, pairs_of_last)
      if len(pairs_of_last) > 1:
        self._notes.append(
          f"{len(pairs_of_last)} Adams share the name {last.name}: the names do not tell which of "
          "their powers of beta belongs to which variables."
        )

  def _add_group(
    self, scope: str, base: str, numbers: dict[int, dict[str, list[str]]], left: list[tuple]
  ) -> None:
    """Adds the optimizers of one name: as many as the number of slots makes up."""
    count = max(numbers) + 1
    kind, names = _kind(base, count, bool(left))
    per = len(names)
    for first in range(0, count, per):
      variables: dict[str, None] = {}
      roles = {}
      for role, number in zip(names, range(first, first + per)):
        for variable, written in numbers.get(number, {}).items():
          variables[variable] = None
          roles[role] = written[0]
      ordinal = first // per
      name = base if not scope else f"{scope}/{base}"
      name = name if not ordinal else f"{name} ({ordinal + 1})"
      powers = []
      if kind == "Adam" and left:
        own = next((pair for pair in left if pair[0] == scope), left[0])
        left.remove(own)
        powers.append(own[1:])
      self._add_optimizer(
        name, kind, roles, list(variables), beta_powers=tuple(powers), scope=scope
      )
    if kind == "unknown":
      self._notes.append(
        f"The names do not tell which optimizer {base} is: it has {count} "
        f"slot{'s' if count > 1 else ''} for each variable."
      )

  def _add_optimizer(self, name: str, kind: str, roles: dict, variables: list, **more) -> None:
    self._optimizers[name] = Optimizer(name, kind, roles, tuple(variables), **more)
    for variable in variables:
      self._users.setdefault(variable, []).append(name)

  def _variables(self) -> dict[str, Variable]:
    """Returns what is neither slot, counter nor average."""
    taken = {OBJECT_GRAPH, STAMP, *self._counters, *self._emas.values()}
    for found in self._slots.values():
      for names in found.values():
        taken.update(names)
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


def _is_keras_scalar(name: str) -> bool:
  """Returns whether a scalar is one of a Keras optimizer's."""
  scope, _, last = name.rpartition("/")
  return (
    last in _HYPERPARAMETERS and (scope.startswith("training/") or last == "iter") and bool(scope)
  )


def _is_hyper(name: str) -> bool:
  return name.rpartition("/")[2] in _HYPERPARAMETERS


def _kind(base: str, count: int, has_powers: bool) -> tuple[str, tuple[str, ...]]:
  """Returns the kind, and TF1's names of its slots, by the name and the number of slots."""
  for name, suffixes in _TWO_NAMES.values():
    if base == name:
      return name if name == "AdamWeightDecay" else "unknown", suffixes
  if base == "RMSProp" and count % 2 and count % 3 == 0:
    return _CENTERED
  if base in _KINDS:
    return _KINDS[base]
  words = base.lower()
  for name, known in _KINDS.items():
    # A program's own name for it often says it.
    if name.lower() in words and count == len(known[1]) and (name != "Adam" or has_powers):
      return known
  if "rmsprop" in words and count == 3:
    return _CENTERED
  if count == 2 and has_powers:
    return _KINDS["Adam"]
  if count == 3:
    return _CENTERED
  return "unknown", tuple(base if not i else f"{base}_{i}" for i in range(count))


def _powers(names: Iterable[str]) -> dict[str, re.Match]:
  """Returns the matches of those names that are running powers of beta."""
  return {name: match for name in names if (match := _BETA_POWER.fullmatch(name))}


def beta_powers(contents: Contents) -> list[str]:
  """Returns the keys of all running powers of beta."""
  return list(_powers(contents.counters))


def _pairs(powers: dict[str, re.Match]) -> list[tuple]:
  """Returns (scope, key of beta1's power, key of beta2's), in the order in which they were made."""
  found: dict[tuple[str, int], list] = {}
  for name, match in powers.items():
    scope, which, number = match.group(1) or "", match.group(2), int(match.group(3) or 0)
    found.setdefault((scope, number), [None, None])[int(which) - 1] = name
  return [(scope, *pair) for (scope, _), pair in sorted(found.items())]


def _replaced(optimizer: Optimizer, pairs: tuple) -> Optimizer:
  return Optimizer(
    optimizer.name,
    optimizer.kind,
    optimizer.roles,
    optimizer.variables,
    pairs,
    optimizer.hyperparameters,
    optimizer.scope,
  )


def adam_updates(
  contents: Contents, optimizer: Optional[str], beta1: float, beta2: float
) -> Optional[int]:
  """Returns the number of updates that an Adam has made, by its running powers of beta.

  The powers begin at beta and are multiplied by it after each update, so t = ln(power) / ln(beta) - 1.
  (Kingma and Ba, "Adam", algorithm 1, for the powers.)

  Args:
    contents: of the checkpoint.
    optimizer: its name in `contents`; None: any.
    beta1: the decay rate of the first moment, which no checkpoint holds.
    beta2: that of the second.

  Returns:
    The count, or the global step if there are no powers, or if they have vanished: the correction is 1
    then whatever the count.

  Raises:
    CheckpointError: if the powers cannot come from these betas, or several Adams differ.
  """
  if optimizer is not None:
    pairs = list(contents.optimizers[optimizer].beta_powers)
  else:
    pairs = [pair[1:] for pair in _pairs(_powers(contents.counters))]
  counts = {_count_of(contents, pair, beta1, beta2) for pair in pairs} - {None}
  if not counts:
    return contents.step
  if len(counts) > 1:
    raise CheckpointError(
      f"{contents.prefix} was written with several Adam optimizers, which have made "
      f"{' and '.join(map(str, sorted(c for c in counts if c is not None)))} updates."
    )
  return counts.pop()


def _count_of(contents: Contents, pair: tuple, beta1: float, beta2: float) -> Optional[int]:
  """Returns the count of one pair of powers, None if it cannot be told."""
  counts = []
  for key, beta in zip(pair, (beta1, beta2)):
    power = contents.counters.get(key) if key is not None else None
    if power and 0.0 < beta < 1.0 and _SMALLEST_POWER < power < 1.0:
      rounded = struct.unpack("<f", struct.pack("<f", beta))[0]
      counts.append(math.log(power) / math.log(rounded) - 1)
  if not counts:
    return None
  count = round(counts[0])
  if count < 0 or any(abs(c - count) > 0.05 + 1e-3 * count for c in counts):
    raise CheckpointError(
      f"{contents.prefix} was written by an Adam with other decay rates than the program's "
      f"beta1={beta1:g}, beta2={beta2:g}."
    )
  return count
