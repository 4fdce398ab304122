"""A plan of what comes from where, and what there is to say if it cannot be carried out."""

from __future__ import annotations

import dataclasses
import difflib
import math
from collections.abc import Iterable
from typing import Any, Optional

from migrator.runtime import transforms
from migrator.runtime.contents import Contents
from migrator.runtime.errors import CheckpointError
from migrator.runtime.tf1_reader import Tf1Checkpoint
from migrator.runtime.transforms import Transform


@dataclasses.dataclass(frozen=True)
class Item:
  """Where one variable or slot of the model comes from.

  Attributes:
    name: of the variable of the model.
    keys: the keys of the checkpoint; one list per variable that is joined, each with one key or those of
      the parts of a partitioned slot.
    axis: along which several variables are joined.
    transforms: what is done then, in order; () if the bytes do not change.
    shape: in the model.
    dtype: in the model, and in the checkpoint unless there is a cast.
    slot: whether it is a slot.
    note: why it is not the key of its own name; "" if it is.
  """

  name: str
  keys: tuple[tuple[str, ...], ...]
  axis: int
  transforms: tuple[Transform, ...]
  shape: tuple[int, ...]
  dtype: str
  slot: bool
  note: str = ""

  @property
  def unchanged(self) -> bool:
    """Whether the value's bytes are those of the checkpoint."""
    return len(self.keys) == 1 and not self.transforms

  def value(self, source: Tf1Checkpoint) -> Any:
    """Reads the value, of `shape` and `dtype`.

    Raises:
      CheckpointError: if the data are damaged.
    """
    parts = [source.read(list(keys)) for keys in self.keys]
    value = transforms.concatenate(parts, self.axis)
    for transform in self.transforms:
      value = transform.apply(value)
    return value


@dataclasses.dataclass(frozen=True)
class Plan:
  """Where everything comes from, and what is wrong with it.

  Attributes:
    contents: the checkpoint.
    items: by name of the model's variables.
    missing: the model's names that the checkpoint does not have and that may not be missing.
    allowed: those that may be missing; they keep their values.
    faults: sentences on shapes and types that differ.
    unused: keys of the checkpoint that nothing takes; no counters.
    step: the global step, 0 without one.
    counts: the optimizers' own counts, by their names in the model's checkpoint; `iterations` is the first.
    renamed: the model's name -> the checkpoint's, where an older name was taken.
    notes: sentences that a person should read.
    hints: a missing weight -> what it may be in the checkpoint, in words.
    optimizers: of each of the model's optimizers, the name that it has in a v2 checkpoint; None if there is
      none.
  """

  contents: Contents
  items: dict[str, Item]
  missing: tuple[str, ...]
  allowed: tuple[str, ...]
  faults: tuple[str, ...]
  unused: tuple[str, ...]
  step: int
  counts: dict[str, int]
  renamed: dict[str, str]
  notes: tuple[str, ...]
  hints: dict[str, str] = dataclasses.field(default_factory=dict)
  optimizers: tuple[Optional[str], ...] = ()

  @property
  def updates(self) -> int:
    """The count of the first optimizer."""
    return next(iter(self.counts.values()))

  def check(self) -> None:
    """Raises if the plan cannot be carried out.

    Raises:
      CheckpointError: listing all that is missing, with its nearest candidates, and all that differs.
    """
    if not (self.missing or self.faults):
      return
    lines = [f"{self.contents.prefix} does not fit the model; nothing has been loaded."]
    lines += [f"  {fault}" for fault in self.faults]
    for name in self.missing:
      hint = f"; {self.hints[name]}" if name in self.hints else ""
      # Of a weight that is not there, the slots are not either.
      if not any(name.startswith(weight + "/") for weight in self.missing):
        lines.append(f"  {name}: not in the checkpoint{hint}")
    free = any(name in self.unused for name in self.contents.variables)
    if self.faults or len(self.missing) > 1 or free:
      lines.append(
        "Ways out: name the variables in a map file (runtime.suggest_map, and migrator convert --suggest-map, "
        "make one to start from); give the scope that the old names begin with; or "
        "allow what is new in the model to be missing."
      )
    raise CheckpointError("\n".join(lines))


def near(name: str, free: Iterable[str]) -> list[str]:
  """Returns the names that `name` may have in the checkpoint, whatever their shape."""
  tail = name.split("/", 1)[-1]
  found = [n for n in free if n == tail or n.endswith("/" + tail) or name.endswith("/" + n)]
  return (found or difflib.get_close_matches(name, list(free), n=2, cutoff=0.7))[:3]


def shape_hint(old: str, found: tuple[int, ...], wanted: tuple[int, ...]) -> str:
  """Returns the name of a variable of the checkpoint, with both shapes if they differ."""
  if found == wanted:
    return old
  text = f"{old} ({list(found)} in the checkpoint, {list(wanted)} in the model"
  if len(found) != len(wanted) and math.prod(found) == math.prod(wanted):
    text += (
      f": the same number of values in another rank, which a map file reshapes to {list(wanted)}"
    )
  return text + ")"
