"""Prints checkpoints for people: a table of variables, and what there is to say besides."""

from __future__ import annotations

import os
from typing import Any, Optional

from migrator.checkpoint.inspection import Inspection, totals, updates_text
from migrator.runtime.contents import Variable

Stats = dict[str, Optional[dict[str, Any]]]
_NUMBERS = ("min", "max", "mean", "std", "zeros", "nans", "infs")


def size(number: int) -> str:
  """Returns bytes as people read them."""
  value = float(number)
  for unit in ("bytes", "KB", "MB", "GB"):
    if value < 1000 or unit == "GB":
      return f"{number:,} bytes" if unit == "bytes" else f"{value:.1f} {unit}"
    value /= 1000
  raise AssertionError


def plural(number: int, what: str) -> str:
  """Returns e.g. "1 slot" or "2 slots"."""
  return f"{number:,} {what}{'' if number == 1 else 's'}"


def lines(
  inspection: Inspection, variables: list[Variable], stats: Optional[Stats] = None
) -> list[str]:
  """Returns the description of one checkpoint.

  Args:
    inspection: the checkpoint.
    variables: the ones to list, in order.
    stats: by name of the variable; None if nobody asked.
  """
  contents = inspection.contents
  step = "no step" if contents.step is None else f"step {contents.step:,}"
  result = [f"{contents.prefix}: {contents.dialect}, {step}"]
  if contents.step_note:
    result.append(f"  {contents.step_note}")
  for optimizer in contents.optimizers.values():
    called = "" if optimizer.name == optimizer.kind else f", called {optimizer.name}"
    count = updates_text(contents, optimizer.name)
    result.append(
      f"  optimizer: {optimizer.kind}{called}, of {plural(len(optimizer.variables), 'variable')}"
      + (f", {count}" if count else "")
    )
  averaged = sum(v.ema is not None for v in contents.variables.values())
  if averaged:
    result.append(
      f"  moving averages: of {averaged} of {plural(len(contents.variables), 'variable')}"
    )
  result += [f"  note: {note}" for note in contents.notes]
  result.append("")
  header = ["variable", "dtype", "shape", "bytes", "slots"]
  if stats is not None:
    header += list(_NUMBERS)
  rows = [header]
  for variable in variables:
    row = [
      variable.name,
      variable.dtype,
      str(list(variable.shape)).replace(" ", ""),
      f"{variable.num_bytes:,}",
      _slots(variable),
    ]
    if stats is not None:
      found = stats.get(variable.name)
      row += [_number(found[name]) if found else "-" for name in _NUMBERS]
    rows.append(row)
  result += table(rows, right={3, *range(5, 12)})
  sums = totals(inspection, variables)
  result += [
    "",
    f"{plural(sums['variables'], 'variable')}, {plural(sums['parameters'], 'parameter')}, "
    f"{size(sums['bytes'])}; slots and averages {size(sums['slot_bytes'])}",
  ]
  shards = inspection.shards
  total = sum(found or 0 for _, _, found in shards)
  result.append(f"{plural(len(shards), 'data file')}, {size(total)}")
  return result


def key_lines(inspection: Inspection) -> list[str]:
  """Returns every key of the index: dtype, shape, data file, offset, bytes, checksum, and its parts."""
  index = inspection.index
  rows = [["key", "dtype", "shape", "shard", "offset", "bytes", "crc32c"]]
  for key in sorted(index.entries):
    entry = index.entries[key]
    shape = str(list(entry.shape)).replace(" ", "")
    if not entry.slices:
      where = [str(entry.shard), str(entry.offset), str(entry.size), f"{entry.crc32c:08x}"]
      rows.append([key, entry.dtype, shape, *where])
      continue
    rows.append([key, entry.dtype, shape, "", "", str(index.num_bytes(key)), ""])
    for bounds, piece in index.pieces(key):
      part = ", ".join(f"{start}:{start + length}" for start, length in bounds)
      where = [str(piece.shard), str(piece.offset), str(piece.size), f"{piece.crc32c:08x}"]
      rows.append(["", "", f"[{part}]", *where])
  return table(rows, right={3, 4, 5})


def overview_lines(inspections: list[Inspection]) -> list[str]:
  """Returns one line for each of several checkpoints."""
  rows = [["checkpoint", "step", "variables", "bytes", "files"]]
  for inspection in inspections:
    contents = inspection.contents
    rows.append(
      [
        os.path.basename(contents.prefix),
        "-" if contents.step is None else str(contents.step),
        str(len(contents.variables)),
        f"{sum(found or 0 for _, _, found in inspection.shards):,}",
        "damaged" if inspection.faults else "whole",
      ]
    )
  return table(rows, right={1, 2, 3})


def difference_lines(first: Inspection, second: Inspection, apart: Stats) -> list[str]:
  """Returns how two checkpoints differ in their variables; one line if they do not.

  Args:
    first: a checkpoint.
    second: the other.
    apart: name -> {"difference": greatest absolute difference}, of those that were compared.
  """
  one, two = first.contents.variables, second.contents.variables
  result = [f"- {name}: only in {first.prefix}" for name in one if name not in two]
  result += [f"+ {name}: only in {second.prefix}" for name in two if name not in one]
  for name in one:
    if name not in two:
      continue
    a, b = one[name], two[name]
    if (a.dtype, a.shape) != (b.dtype, b.shape):
      result.append(f"! {name}: {a.dtype} {list(a.shape)} and {b.dtype} {list(b.shape)}")
    elif (found := apart.get(name)) is not None and found["difference"]:
      result.append(f"~ {name}: values differ by up to {_number(found['difference'])}")
  same = "variables" + (" and values" if apart else "")
  return result or [f"The {same} of {first.prefix} and {second.prefix} are the same."]


def table(rows: list[list[str]], right: set[int]) -> list[str]:
  """Returns rows in columns; the columns `right` end, the others begin, at the same place."""
  widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
  result = []
  for row in rows:
    cells = (
      cell.rjust(width) if i in right else cell.ljust(width)
      for i, (cell, width) in enumerate(zip(row, widths))
    )
    result.append("  ".join(cells).rstrip())
  return result


def _slots(variable: Variable) -> str:
  """Returns the slots of a variable, and in how many parts it is."""
  texts = []
  for name, keys in variable.slots.items():
    texts.append(name if len(keys) == 1 else f"{name} ({len(keys)} parts)")
  if variable.ema:
    texts.append("average")
  if variable.parts:
    texts.append(f"in {len(variable.parts)} parts")
  return ", ".join(texts)


def _number(value: Any) -> str:
  if value is None:
    return "-"
  return f"{value:,}" if isinstance(value, int) else f"{value:.6g}"
