"""Tells from the names of a checkpoint which tensors are slots, and of which variable.

TF1 named a slot `<variable>/<optimizer>` and `<variable>/<optimizer>_1`, within the scope in which
`minimize` ran. For a partitioned variable the name got an infix besides, which is an accident: the last
characters of `.../part_3/`, as many as the scope's name has, and one. So names are matched with the
variables that are known, never taken apart by themselves.
"""

from __future__ import annotations

import dataclasses
import re
from typing import Optional

from migrator.runtime.bundle import Entry

EMA = "ExponentialMovingAverage"
_AVERAGE = re.compile(
  r"(?:.*_|.*[a-z])?EMA(?:_\d+)?|(?:.*_)?ema(?:_.*)?|.*(?:[Aa]verage|[Ss]hadow|[Mm]oving_?[Aa]vg).*"
)

# Default names of the optimizers of TF 1.15, of tf.contrib and of BERT's and its descendants' code.
_DEFAULTS = (
  "Adam Adagrad Momentum RMSProp Ftrl Adadelta AdagradDA ProximalAdagrad AdaMax AdamW MomentumW "
  "LazyAdam NadamOptimizer Nadam LARS LARSOptimizer LAMB AddSign PowerSign GGT Shampoo Adafactor "
  "AddSignOptimizer PowerSignOptimizer RegAdagrad adam_m adam_v lamb_m lamb_v"
).split()
_KNOWN = re.compile(rf"({'|'.join([*_DEFAULTS, EMA])})(_\d+)?")
_NUMBERED = re.compile(r"(.+)_(\d+)")
# What is left of `<end of the variable's name>/part_<k>` when its beginning is cut off.
_INFIX = re.compile(r"(?:.*/)?(?:(?:(?:(?:p?a)?r)?t)?_)?\d+")
# Mesh TensorFlow's Adafactor: `<variable>_slot_v`, or the means of its rows and columns.
_MESH = re.compile(r"(.+)_(slot_(?:vr|vc|v|m))")
# They stand below a variable and are none of an optimizer's: the helpers of an average.
_HELPERS = ("biased", "local_step")


@dataclasses.dataclass(frozen=True)
class Slot:
  """One key that holds a slot.

  Attributes:
    key: of the index.
    variable: whose slot it is.
    suffix: what it is called: the last component of the key.
    scope: what stands before the variable's name.
  """

  key: str
  variable: str
  suffix: str
  scope: str


def is_average(suffix: str) -> bool:
  """Returns whether a slot is a moving average of its variable, by TF1's name or one that says so."""
  return suffix.startswith(EMA) or bool(_AVERAGE.fullmatch(suffix))


def find_slots(entries: dict[str, Entry]) -> list[Slot]:
  """Returns the slots that TF1's optimizers and moving averages made.

  A name that is known counts wherever there is a variable for it. Any other counts if all tensors of
  that name have the shape of a variable, as with an optimizer that the program named itself.
  """
  candidates: dict[str, list[Slot]] = {}
  slots = [
    Slot(key, match.group(1), match.group(2), "")
    for key in entries
    if (match := _MESH.fullmatch(key)) and _like_mesh(match, entries)
  ]
  mesh = {slot.key for slot in slots}
  for key in entries:
    slot = None if key in mesh else _owned(key, entries)
    if slot is not None:
      candidates.setdefault(slot.suffix, []).append(slot)
  for suffix, group in candidates.items():
    if _KNOWN.fullmatch(suffix) or _like_slots(suffix, group, entries):
      slots += group
  keys = {slot.key for slot in slots}
  # The slot of a slot is none: an average of an accumulator is kept as a variable of its own.
  return [slot for slot in slots if slot.variable not in keys]


def _owned(key: str, entries: dict[str, Entry]) -> Optional[Slot]:
  """Returns the slot that `key` would be, by the longest variable whose name is in it."""
  rest, _, suffix = key.rpartition("/")
  if not rest:
    return None
  if rest in entries:
    return Slot(key, rest, suffix, "")
  entry = entries[key]
  found: list[Slot] = []
  # <variable>/<infix>: the name of a variable, then the rest of `part_<k>`.
  end = rest.rfind("/")
  while end > 0:
    if rest[:end] in entries and _INFIX.fullmatch(rest[end + 1 :]):
      found.append(Slot(key, rest[:end], suffix, ""))
      break
    end = rest.rfind("/", 0, end)
  # <scope>/<variable>, and both.
  begin = rest.find("/") + 1
  while begin and not found:
    name = rest[begin:]
    if name in entries:
      found.append(Slot(key, name, suffix, rest[: begin - 1]))
      break
    end = name.rfind("/")
    if end > 0 and name[:end] in entries and _INFIX.fullmatch(name[end + 1 :]):
      found.append(Slot(key, name[:end], suffix, rest[: begin - 1]))
      break
    begin = rest.find("/", begin) + 1
  if found and entry.shape == entries[found[0].variable].shape:
    return found[0]
  return None


def _like_slots(suffix: str, group: list[Slot], entries: dict[str, Entry]) -> bool:
  """Returns whether the tensors of an unknown suffix can be slots."""
  if suffix in _HELPERS:
    return False
  for slot in group:
    own, other = entries[slot.key], entries[slot.variable]
    if (own.shape, own.dtype) != (other.shape, other.dtype):
      return False
  # Numbers below numbers, such as `loss_scale/good_steps`, tell nothing.
  return any(entries[slot.key].shape for slot in group)


def _like_mesh(match: re.Match, entries: dict[str, Entry]) -> bool:
  """Returns whether the shape is that of a slot of Mesh TensorFlow's."""
  owner = entries.get(match.group(1))
  if owner is None:
    return False
  shape = entries[match.group(0)].shape
  if match.group(2) in ("slot_v", "slot_m"):
    return shape == owner.shape
  # The means are over one axis, that of the rows or that of the columns.
  return any(
    shape == owner.shape[:axis] + owner.shape[axis + 1 :] for axis in range(len(owner.shape))
  )


def numbered(suffix: str, present: set[str]) -> tuple[str, int]:
  """Returns the optimizer's name and the slot's number: ("Adam", 1) of "Adam_1" beside "Adam".

  Args:
    suffix: of the slot.
    present: all suffixes of the same variable and scope.
  """
  match = _NUMBERED.fullmatch(suffix)
  if match and match.group(1) in present:
    return match.group(1), int(match.group(2))
  return suffix, 0
