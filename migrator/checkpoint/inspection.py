"""What `migrator inspect` knows of one checkpoint: from its index and a few scalars alone."""

from __future__ import annotations

import dataclasses
import fnmatch
import math
import os
import re
from collections.abc import Iterable
from typing import Any, Optional

from migrator.runtime import bundle, dialects, files, state
from migrator.runtime.contents import Contents, Variable
from migrator.runtime.errors import CheckpointError

# TF1's defaults, for the count of Adam's updates: no checkpoint holds the betas.
BETA1, BETA2 = 0.9, 0.999


@dataclasses.dataclass(frozen=True)
class Inspection:
  """One checkpoint.

  Attributes:
    contents: its variables, slots, optimizers and counters.
    index: what lies where.
    shards: (path, bytes that it must have, bytes that it has or None) of each data file.
  """

  contents: Contents
  index: bundle.Index
  shards: tuple[tuple[str, int, Optional[int]], ...]

  @property
  def prefix(self) -> str:
    """The path without suffix."""
    return self.contents.prefix

  @property
  def faults(self) -> list[str]:
    """One sentence for each data file that is missing or too short."""
    sentences = []
    for path, expected, found in self.shards:
      if found is None:
        sentences.append(f"{path} does not exist, it should have {expected} bytes.")
      elif found < expected:
        sentences.append(f"{path} should have {expected} bytes, it has {found}.")
    return sentences

  def slot_bytes(self, variable: Variable) -> int:
    """Returns the bytes of all slots and of the average of one variable."""
    keys = [key for slot in variable.slots.values() for key in slot]
    keys += [variable.ema] if variable.ema else []
    return sum(self.index.num_bytes(key) for key in keys)


def open_checkpoint(prefix: str) -> Inspection:
  """Reads the index of a checkpoint. Data files that are missing or short are no error here.

  Args:
    prefix: as `state.resolve` returns it.

  Raises:
    CheckpointError: if the index is damaged.
  """
  try:
    index = bundle.read_index(prefix)
    contents = dialects.describe(prefix, index)
  except bundle.DamagedIndexError:
    state.check_intact(prefix)  # Says it with the way out.
    raise
  shards = []
  for shard in range(index.num_shards):
    path = bundle.shard_path(prefix, shard, index.num_shards)
    found = files.size(path) if files.exists(path) else None
    shards.append((path, index.data_sizes.get(shard, 0), found))
  return Inspection(contents, index, tuple(shards))


def selected(
  inspection: Inspection, patterns: Iterable[str], order: str = "name"
) -> list[Variable]:
  """Returns the variables to show.

  Args:
    inspection: the checkpoint.
    patterns: as in a shell, of which one has to match; all variables if there is none.
    order: "name" (numbers by value), "size" (the largest first) or "file" (as they lie there).
  """
  patterns = list(patterns)
  variables = [
    variable
    for name, variable in inspection.contents.variables.items()
    if not patterns or any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns)
  ]
  if order == "size":
    return sorted(variables, key=lambda v: (-v.num_bytes, natural(v.name)))
  if order == "file":
    entries = inspection.index.entries
    return sorted(variables, key=lambda v: (entries[v.keys[0]].shard, entries[v.keys[0]].offset))
  return sorted(variables, key=lambda v: natural(v.name))


def natural(name: str) -> list:
  """Returns a key that sorts `layer_2` before `layer_10`."""
  return [
    (0, int(part), "") if part.isdigit() else (1, 0, part) for part in re.split(r"(\d+)", name)
  ]


def updates(contents: Contents, optimizer: str) -> Optional[int]:
  """Returns Adam's own count of updates, if its betas were the defaults; None if it has none.

  Raises:
    CheckpointError: if the betas were others.
  """
  if not contents.optimizers[optimizer].beta_powers:
    return None
  return dialects.adam_updates(contents, optimizer, BETA1, BETA2)


def updates_text(contents: Contents, optimizer: str) -> str:
  """Returns what there is to say of Adam's count, "" if it has none."""
  try:
    count = updates(contents, optimizer)
  except CheckpointError:
    return "its beta1 and beta2 were not 0.9 and 0.999, or several Adams differ"
  if count is None:
    return ""
  return f"{count} updates (if beta1 = {BETA1}, beta2 = {BETA2})"


def to_dict(inspection: Inspection, variables: list[Variable]) -> dict[str, Any]:
  """Returns a checkpoint as JSON can hold it.

  The keys: prefix, dialect, step, step_key, step_note, variables (name, dtype, shape, parameters,
  bytes, keys, parts, slots, optimizers, ema, trainable), optimizers (name, kind, roles, variables,
  updates, hyperparameters), counters, shards, totals, notes, faults.
  """
  contents = inspection.contents
  return {
    "prefix": contents.prefix,
    "dialect": contents.dialect_id,
    "step": contents.step,
    "step_key": contents.step_key,
    "step_note": contents.step_note,
    "variables": [
      {
        "name": v.name,
        "dtype": v.dtype,
        "shape": list(v.shape),
        "parameters": math.prod(v.shape),
        "bytes": v.num_bytes,
        "slot_bytes": inspection.slot_bytes(v),
        "keys": list(v.keys),
        "parts": [[list(axis) for axis in bounds] for bounds in v.parts],
        "slots": {name: list(keys) for name, keys in v.slots.items()},
        "optimizers": list(v.optimizers),
        "ema": v.ema,
        "trainable": v.trainable,
      }
      for v in variables
    ],
    "optimizers": [
      {
        "name": o.name,
        "kind": o.kind,
        "roles": o.roles,
        "variables": len(o.variables),
        "updates": _updates_or_none(contents, o.name),
        "hyperparameters": o.hyperparameters,
      }
      for o in contents.optimizers.values()
    ],
    "counters": contents.counters,
    "shards": [
      {"path": path, "expected_bytes": expected, "bytes": found}
      for path, expected, found in inspection.shards
    ],
    "totals": totals(inspection, variables),
    "notes": list(contents.notes),
    "faults": inspection.faults,
  }


def _updates_or_none(contents: Contents, optimizer: str) -> Optional[int]:
  try:
    return updates(contents, optimizer)
  except CheckpointError:
    return None


def totals(inspection: Inspection, variables: list[Variable]) -> dict[str, int]:
  """Returns the sums over `variables`: variables, parameters, bytes, slot_bytes."""
  return {
    "variables": len(variables),
    "parameters": sum(math.prod(v.shape) for v in variables),
    "bytes": sum(v.num_bytes for v in variables),
    "slot_bytes": sum(inspection.slot_bytes(v) for v in variables),
  }


def prefixes(path: str, every: bool) -> list[str]:
  """Returns the checkpoints that `path` means.

  Args:
    path: a prefix, a model directory, one of the files.
    every: whether all checkpoints of a directory are meant, lowest step first.

  Raises:
    CheckpointError: if there is none.
  """
  if every and files.isdir(path):
    found = state.all_prefixes(path)[::-1]
  else:
    prefix = state.resolve(path)
    found = [prefix] if prefix is not None else []
  if found:
    return found
  if not files.exists(path):
    raise CheckpointError(f"There is no {path}.")
  inside = _below(path) if files.isdir(path) else []
  hint = f" There are some in {', '.join(inside[:5])}." if inside else ""
  raise CheckpointError(f"There is no checkpoint in {path}.{hint}")


def _below(directory: str) -> list[str]:
  """Returns the sub-directories that hold checkpoints."""
  paths = (os.path.join(directory, name) for name in sorted(files.listdir(directory)))
  return [path for path in paths if files.isdir(path) and state.all_prefixes(path)]
