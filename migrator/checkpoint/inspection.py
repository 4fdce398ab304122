"""What `migrator inspect` knows of one checkpoint: from its index and a few scalars alone."""

from __future__ import annotations

import dataclasses
import fnmatch
import math
import re
from collections.abc import Sequence
from typing import Any, Optional

from migrator.runtime import bundle, bundle_values, dialects, files, state
from migrator.runtime.contents import Contents, Variable
from migrator.runtime.errors import CheckpointError as CheckpointError
from migrator.runtime.paths import prefixes as prefixes
from migrator.runtime.paths import readable as readable

# TF1's defaults, for the count of Adam's updates: no checkpoint holds the betas.
BETA1, BETA2 = 0.9, 0.999


@dataclasses.dataclass(frozen=True)
class Inspection:
  """One checkpoint.

  Attributes:
    contents: its variables, slots, optimizers and counters.
    index: what lies where.
    shards: (path, bytes that it must have, bytes that it has or None) of each data file.
    faults: one sentence for each data file that is missing or too short, or else for each scalar that
      cannot be read.
  """

  contents: Contents
  index: bundle.Index
  shards: tuple[tuple[str, int, Optional[int]], ...]
  faults: tuple[str, ...]

  @property
  def prefix(self) -> str:
    """The path without suffix."""
    return self.contents.prefix

  def slot_bytes(self, variable: Variable) -> int:
    """Returns the bytes of all slots and of the average of one variable."""
    keys = [key for slot in variable.slots.values() for key in slot]
    keys += [variable.ema] if variable.ema else []
    return sum(self.index.num_bytes(key) for key in keys)


def open_checkpoint(prefix: str) -> Inspection:
  """Reads the index of a checkpoint. Data files that are missing or short are no error here.

  Args:
    prefix: as `paths.prefixes` returns it.

  Raises:
    CheckpointError: if the index is damaged, or remote and out of reach.
    OSError: if it cannot be read.
  """
  with readable(prefix):
    try:
      index = bundle.read_index(prefix)
      for key in index.entries:
        index.pieces(key)  # Every part is there.
      contents = dialects.describe(prefix, index)
    except bundle.DamagedIndexError as error:
      state.check_intact(prefix)  # Says it with the way out.
      raise CheckpointError(f"{prefix}.index {error}.") from error
    shards = []
    faults = []
    for shard in range(index.num_shards):
      path = bundle.shard_path(prefix, shard, index.num_shards)
      found = files.size(path) if files.exists(path) else None
      expected = index.data_sizes.get(shard, 0)
      shards.append((path, expected, found))
      if found is None:
        faults.append(f"{path} does not exist, it should have {expected} bytes.")
      elif found < expected and files.is_lfs_pointer(files.read(path, 0, 64)):
        faults.append(f"{path} is a pointer of Git LFS: `git lfs pull` brings the file.")
      elif found < expected:
        faults.append(f"{path} should have {expected} bytes, it has {found}.")
    if not faults:
      faults = _unread(contents, index)
  return Inspection(contents, index, tuple(shards), tuple(faults))


def _unread(contents: Contents, index: bundle.Index) -> list[str]:
  """Returns why scalars, which are all that is read of the data, could not be read."""
  faults = []
  for key in (key for key, value in contents.counters.items() if value is None):
    try:
      bundle_values.read_scalar(contents.prefix, index, key)
    except bundle.DamagedIndexError as error:
      faults.append(f"{key} cannot be read: {contents.prefix}.index {error}.")
    except OSError as error:
      faults.append(f"{key} cannot be read: {error.filename}: {error.strerror}.")
    except ValueError:
      continue  # It is no number, and the file is whole.
  return faults


def selected(
  inspection: Inspection, patterns: Sequence[str], order: str = "name"
) -> list[Variable]:
  """Returns the variables to show.

  Args:
    inspection: the checkpoint.
    patterns: as in a shell, of which one has to match; all variables if there is none.
    order: "name" (numbers by value), "size" (the largest first) or "file" (as they lie there).
  """
  variables = [v for n, v in inspection.contents.variables.items() if matches(n, patterns)]
  if order == "size":
    return sorted(variables, key=lambda v: (-v.num_bytes, natural(v.name)))
  if order == "file":
    return sorted(variables, key=lambda v: _place(inspection.index, v))
  return sorted(variables, key=lambda v: natural(v.name))


def _place(index: bundle.Index, variable: Variable) -> tuple[int, int]:
  """Returns the data file of a variable, and where in it the variable begins."""
  return min((piece.shard, piece.offset) for key in variable.keys for _, piece in index.pieces(key))


def matches(name: str, patterns: Sequence[str]) -> bool:
  """Returns whether a name matches one of the patterns, or there is none."""
  return not patterns or any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns)


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


def to_dict(
  inspection: Inspection, variables: list[Variable], keys: bool = False
) -> dict[str, Any]:
  """Returns a checkpoint as JSON can hold it; docs/inspect.md describes each key.

  Args:
    inspection: the checkpoint.
    variables: the ones to list, in order.
    keys: also list what the index says of each key.
  """
  contents = inspection.contents
  result: dict[str, Any] = {
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
    "unknown": list(contents.unknown),
    "shards": [
      {"path": path, "expected_bytes": expected, "bytes": found}
      for path, expected, found in inspection.shards
    ],
    "totals": totals(inspection, variables),
    "notes": list(contents.notes),
    "faults": list(inspection.faults),
  }
  if keys:
    result["entries"] = [
      {
        "key": key,
        "dtype": entry.dtype,
        "shape": list(entry.shape),
        "pieces": [
          {
            "bounds": [list(axis) for axis in bounds],
            "shard": piece.shard,
            "offset": piece.offset,
            "bytes": piece.size,
            "crc32c": f"{piece.crc32c:08x}",
          }
          for bounds, piece in inspection.index.pieces(key)
        ],
      }
      for key, entry in sorted(inspection.index.entries.items())
    ]
  return result


def finite(value: Any) -> Any:
  """Returns `value` with texts ("nan", "inf", "-inf") in place of floats that JSON does not have."""
  if isinstance(value, float) and not math.isfinite(value):
    return str(value)
  if isinstance(value, dict):
    return {key: finite(item) for key, item in value.items()}
  if isinstance(value, list):
    return [finite(item) for item in value]
  return value


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
