"""Plans where each variable of a model comes from, before any value is read.

`load_tf1_checkpoint` carries such a plan out in memory, `migrator convert` on disk.
"""

from __future__ import annotations

import dataclasses
import fnmatch
import math
from collections.abc import Sequence
from typing import Optional

from migrator.runtime import (
  keras_owners,
  optimizer_counts,
  renames,
  rnn_cells,
  suggest,
  transforms,
)
from migrator.runtime.contents import Contents
from migrator.runtime.name_map import NameMap, Source
from migrator.runtime.named import ITERATIONS, LEARNING_RATE, STEP, NamedCheckpoint
from migrator.runtime.plan_items import Item, Plan, near, shape_hint
from migrator.runtime.slots import AVERAGE, Kind, Slot
from migrator.runtime.tf1_reader import Tf1Checkpoint
from migrator.runtime.transforms import Transform

NO_RATE = (
  "{slot}: Keras keeps the learning rate within the velocity, TF1 outside; with a rate that changes no "
  "value is exact. Use migrator.runtime.optimizers.Momentum."
)


def make_plan(
  checkpoint: NamedCheckpoint,
  source: Tf1Checkpoint,
  name_map: Optional[NameMap] = None,
  weights: Optional[str] = None,
  allow_missing: Sequence[str] = (),
) -> Plan:
  """Plans the loading of a TF1 checkpoint.

  Args:
    checkpoint: what to load into; only its names, shapes and dtypes are looked at.
    source: the TF1 checkpoint.
    name_map: names and transforms; without it names have to be equal, or older ones (see `renames`).
    weights: "raw" or "ema": the variables themselves, or their moving averages where there are some.
    allow_missing: names or patterns of the model's variables that may keep their values.

  Raises:
    CheckpointError: if the map does not fit, or Adam's betas are others than the checkpoint's.
  """
  planner = _Planner(
    checkpoint, source, name_map, weights or (name_map and name_map.weights) or "raw"
  )
  allow = (*allow_missing, *(name_map.missing if name_map else ()))
  return planner.plan(allow)


class _Planner:
  def __init__(self, checkpoint, source, name_map, weights):
    self._checkpoint = checkpoint
    self._source = source
    self._contents: Contents = source.contents
    self._map = name_map
    self._ema = weights == "ema"
    self._items: dict[str, Item] = {}
    self._missing: list[str] = []
    self._faults: list[str] = []
    self._notes: list[str] = list(source.contents.notes)
    self._renamed: dict[str, str] = {}
    self._raw: list[str] = []
    self._found: dict[str, Optional[Source]] = {}

  def plan(self, allow: Sequence[str]) -> Plan:
    """Plans everything."""
    checkpoint, contents = self._checkpoint, self._contents
    if self._map is not None:
      self._map.check(checkpoint.weights, contents.variables)
    sources = self._found = self._sources()
    for name in checkpoint.weights:
      source = sources[name]
      if source is None:
        self._missing.append(name)
      else:
        self._add_weight(name, source)
    for name in checkpoint.trainable:
      for slot in checkpoint.states[checkpoint.trained_by[name]].kind.slots:
        self._add_slot(name, slot, sources[name])
    self._check_optimizers(sources)
    owners = self._owners(sources)
    allowed = [n for n in self._missing if any(fnmatch.fnmatchcase(n, p) for p in allow)]
    missing = [n for n in self._missing if n not in allowed]
    used = {key for item in self._items.values() for keys in item.keys for key in keys}
    unused = [k for k in contents.accounted() if k not in used]
    unused = [k for k in unused if k not in contents.counters and k not in contents.unknown]
    self._tell(unused)
    step = contents.step or 0
    counts, counted = optimizer_counts.counts(checkpoint, self._source, self._items, owners)
    self._notes += counted
    return Plan(
      contents=contents,
      items=self._items,
      missing=tuple(missing),
      allowed=tuple(allowed),
      faults=tuple(self._faults),
      unused=tuple(unused),
      step=step,
      counts=counts,
      renamed=self._renamed,
      notes=tuple(self._notes),
      hints=self._hints(missing, unused),
      optimizers=tuple(owners),
    )

  def _hints(self, missing: Sequence[str], unused: Sequence[str]) -> dict[str, str]:
    """Returns what the missing weights may be called in the checkpoint, in words."""
    free = {n: v for n, v in self._contents.variables.items() if n in set(unused)}
    weights = {name: self._checkpoint.by_name[name] for name in missing}
    targets = {
      name: suggest.Target(tuple(v.shape), v.dtype.base_dtype.name)
      for name, v in weights.items()
      if name in self._checkpoint.weights
    }
    if not targets or not free:
      return {}
    suggestion = suggest.suggest(targets, dataclasses.replace(self._contents, variables=free))
    hints = {}
    for name, target in targets.items():
      pair = suggestion.pairs.get(name)
      found = (pair.old,) if pair is not None else suggestion.open[name] or near(name, free)
      words = [shape_hint(old, free[old].shape, target.shape) for old in found]
      if words:
        hints[name] = f"is it {' or '.join(words)}?"
    return hints

  def _sources(self) -> dict[str, Optional[Source]]:
    """Returns where each weight comes from, None if that is not known."""
    variables = self._contents.variables
    sources: dict[str, Optional[Source]] = {}
    for name in self._checkpoint.weights:
      sources[name] = self._map.find(name) if self._map is not None else None
      if sources[name] is None and name in variables:
        sources[name] = Source((name,))
    taken = {old for s in sources.values() if s is not None for old in s.names}
    newer: dict[str, list[str]] = {}
    for old in variables:
      if old not in taken:
        for new in renames.renamed(old):
          newer.setdefault(new, []).append(old)
    for name, source in sources.items():
      if source is not None:
        continue
      shape = tuple(self._checkpoint.by_name[name].shape)
      fitting = [o for o in newer.get(name, ()) if variables[o].shape == shape and o not in taken]
      if len(fitting) == 1:
        taken.add(fitting[0])
        self._renamed[name] = fitting[0]
        sources[name] = Source((fitting[0],))
    return sources

  def _check_optimizers(self, sources: dict[str, Optional[Source]]) -> None:
    """Adds a fault where slots of equal names would be those of another rule, or of two optimizers."""
    trained_by = self._checkpoint.trained_by
    for place, state in enumerate(self._checkpoint.states):
      if state.kind.slots:
        self._check_kind(state.kind, [sources[n] for n, p in trained_by.items() if p == place])

  def _owners(self, sources: dict[str, Optional[Source]]) -> list[Optional[str]]:
    """Returns the name that each optimizer of the model has in a v2 checkpoint, None if it has none."""
    checkpoint = self._checkpoint
    if self._source.flavour != "v2" or checkpoint.optimizer_state.iterations is None:
      return [None] * len(checkpoint.states)
    trained: list[list[str]] = [[] for _ in checkpoint.states]
    for name, place in checkpoint.trained_by.items():
      source = sources[name]
      trained[place] += source.names if source is not None else ()
    owners, unclear = keras_owners.owners(
      self._contents, [state.kind.name for state in checkpoint.states], trained
    )
    self._faults += unclear
    return owners

  def _check_kind(self, kind: Kind, sources: list[Optional[Source]]) -> None:
    # RMSProp_1 is the momentum without centering, the average gradient with it.
    centered = any(slot.attribute == "_average_gradients" for slot in kind.slots)
    wanted = "CenteredRMSProp" if centered else kind.name
    found: set[str] = set()
    for source in sources:
      for old in source.names if source is not None else ():
        found.update(self._contents.variables[old].optimizers)
    kinds = {name: self._contents.optimizers[name].kind for name in found}
    if "RMSProp" in wanted:
      other = sorted(k for k in kinds.values() if "RMSProp" in k and k != wanted)
      if other:
        self._faults.append(
          f"The checkpoint was written with {other[0]}, the model has {wanted}: slots of the same "
          "name are other quantities. Give the optimizer the same `centered`."
        )
    same = sorted(name for name, k in kinds.items() if k == wanted)
    if len(same) > 1:
      self._faults.append(
        f"The checkpoint has several {wanted} optimizers of these weights: {', '.join(same)}. It "
        "cannot be told which one the model goes on from."
      )

  def _add_weight(self, name: str, source: Source) -> None:
    variables = self._contents.variables
    ema = self._ema if source.ema is None else source.ema
    keys = []
    for old in source.names:
      average = variables[old].ema
      if ema and average is None:
        self._raw.append(name)
      keys.append((average,) if ema and average is not None else variables[old].keys)
    rank = len(self._checkpoint.by_name[name].shape)
    fault = rnn_cells.fault(name, source, rank, variables, self._found)
    if fault:
      self._faults.append(fault)
      return
    note = "" if source.names == (name,) and not ema else ", ".join(k[0] for k in keys)
    self._add(name, tuple(keys), source.axis, _transforms(source), False, note)

  def _add_slot(self, weight: str, slot: Slot, source: Optional[Source]) -> None:
    name = f"{weight}/{slot.suffix}"
    if source is None:
      self._missing.append(name)
      return
    keys = []
    for old in source.names:
      if slot is AVERAGE or slot.suffix == AVERAGE.suffix:
        average = self._contents.variables[old].ema
        found: tuple = (average,) if average else ()
      else:
        v2 = self._source.flavour == "v2"
        found = self._contents.slot_keys(old, slot.suffix if v2 else slot.v1_suffix)
        written = self._map.slots.get(slot.v1_suffix) if self._map is not None else None
        if written is not None:
          found = self._contents.variables[old].slots.get(written, ())
        if not found and not v2:
          # What is no slot of a known optimizer still has its own name.
          own = f"{old}/{written or slot.v1_suffix}"
          found = (own,) if own in self._source.shapes else ()
      if not found:
        self._missing.append(name)
        return
      keys.append(found)
    moves = list(_transforms(source))
    if slot.suffix != AVERAGE.suffix:  # An average is one of values, such as the weight has.
      moves = [t for t in (one.for_slots() for one in moves) if t is not None]
    if slot.transform and self._source.flavour == "v1":
      rate = self._checkpoint.states[self._checkpoint.trained_by[weight]].rate()
      if rate is None:
        self._faults.append(NO_RATE.format(slot=name))
        return
      moves.append(transforms.TimesMinusRate(rate))
    self._add(name, tuple(keys), source.axis, tuple(moves), True, ", ".join(k[0] for k in keys))

  def _add(self, name, keys, axis, moves, slot, note) -> None:
    """Adds an item, if its shape and dtype are those of the model."""
    variable = self._checkpoint.by_name[name]
    shape, dtype = tuple(variable.shape), variable.dtype.base_dtype.name
    shapes = [self._source.shapes[k[0]] for k in keys]
    try:
      found = _joined_shape(shapes, axis)
      for move in moves:
        found = move.shape(found)
    except ValueError as error:
      self._faults.append(f"{name} <- {keys[0][0]}: {error}")
      return
    if found != shape:
      self._faults.append(f"{name}: {_shapes(keys[0][0], name, found, shape)}")
      return
    old = self._source.dtype(keys[0][0]).name
    cast = next((m.to for m in moves if isinstance(m, transforms.Cast)), None)
    if (cast or old) != dtype:
      self._faults.append(
        f"{name}: {cast or old} in the checkpoint, {dtype} in the model; a map file may cast it"
      )
      return
    self._items[name] = Item(name, keys, axis, moves, shape, dtype, slot, note)

  def _tell(self, unused: list[str]) -> None:
    """Adds what a person should know."""
    if self._contents.step_note:
      self._notes.append(self._contents.step_note)
    if self._contents.step is None:
      self._notes.append("The checkpoint has no global step: it begins at 0.")
    averages = [v.ema for v in self._contents.variables.values() if v.ema]
    if averages and not self._ema:
      self._notes.append(
        f"The checkpoint has moving averages of {len(averages)} variables; these are the variables "
        'themselves. Evaluation may have used the averages: weights="ema" takes them.'
      )
    if self._ema and not averages:
      self._faults.append("there are no moving averages in the checkpoint, but they are asked for")
    elif self._raw:
      self._notes.append(f"There is no moving average of {', '.join(self._raw)}: raw values.")


def _transforms(source: Source) -> tuple[Transform, ...]:
  """Returns what an entry of a map file asks for."""
  arguments = dict(source.steps)
  moves: list[Transform] = []
  if "rows" in arguments:
    rows = arguments["rows"]
    moves.append(transforms.Rows(rows[0], rows[1] if len(rows) > 1 else None))
  if "split" in arguments:
    moves.append(transforms.Split(**arguments["split"]))
  if "gates" in arguments:
    bias = float(arguments.get("forget_bias", 0.0))
    made = {"lstm": transforms.LstmGates(bias), "gru": transforms.GruGates(), "keep": None}
    gates = made[arguments["gates"]]
    moves += [gates] if gates is not None else []
  if arguments.get("squeeze", False) is not False:
    axes = arguments["squeeze"]
    moves.append(transforms.Squeeze(tuple(axes) if isinstance(axes, list) else None))
  if "transpose" in arguments:
    moves.append(transforms.Transpose(tuple(arguments["transpose"])))
  if "reshape" in arguments:
    moves.append(transforms.Reshape(tuple(arguments["reshape"])))
  if "cast" in arguments:
    moves.append(transforms.Cast(arguments["cast"]))
  return tuple(moves)


def _joined_shape(shapes: list[tuple[int, ...]], axis: int) -> tuple[int, ...]:
  """Returns the shape of several arrays joined along an axis."""
  if len(shapes) == 1:
    return shapes[0]
  first = shapes[0]
  same = all(
    len(s) == len(first) and all(a == b for i, (a, b) in enumerate(zip(s, first)) if i != axis)
    for s in shapes
  )
  if not same or not 0 <= axis < len(first):
    raise ValueError(
      f"{', '.join(str(list(s)) for s in shapes)} cannot be joined along axis {axis}"
    )
  return (*first[:axis], sum(s[axis] for s in shapes), *first[axis + 1 :])


def _shapes(key: str, name: str, found: tuple, wanted: tuple) -> str:
  """Returns what there is to say of two shapes."""
  text = f"{list(found)} in the checkpoint ({key}), {list(wanted)} in the model"
  if len(found) != len(wanted) and math.prod(found) == math.prod(wanted):
    text += (
      f"; the same number of values in another rank: a map file may reshape it to {list(wanted)}"
    )
  elif found == wanted[::-1]:
    text += "; a map file may transpose it"
  return text


COUNTERS = (STEP, ITERATIONS, LEARNING_RATE)
"""What a model's checkpoint has besides weights and slots."""
