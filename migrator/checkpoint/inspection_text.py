"""Prints checkpoints for people: a table of variables, and what there is to say besides."""

from __future__ import annotations

import math
import os
import time
import unicodedata
from collections.abc import Sequence
from typing import Any, Optional

from migrator.checkpoint.inspection import Inspection, matches, totals, updates_text
from migrator.checkpoint.inspection_diff import Difference
from migrator.checkpoint.wording import plural, size
from migrator.runtime.contents import Optimizer, Variable

Stats = dict[str, Optional[dict[str, Any]]]
_NUMBERS = ("min", "max", "mean", "std", "zeros", "nans", "infs")
_SHORTEST = 24  # Columns: names are not cut to less.


def lines(
  inspection: Inspection,
  variables: list[Variable],
  stats: Optional[Stats] = None,
  width: Optional[int] = None,
) -> list[str]:
  """Returns the description of one checkpoint.

  Args:
    inspection: the checkpoint.
    variables: the ones to list, in order.
    stats: by name of the variable; None if nobody asked.
    width: columns of the terminal; None if nothing is to be cut.
  """
  contents = inspection.contents
  step = "no step" if contents.step is None else f"step {contents.step:,}"
  result = [f"{contents.prefix}: {contents.dialect}, {step}"]
  if contents.step_note:
    result.append(f"  {contents.step_note}")
  elif contents.step is not None and (contents.step_key or "").split("/.")[0] != "global_step":
    result.append(f"  the step is that of {contents.step_key}")
  result += [_optimizer(inspection, optimizer) for optimizer in contents.optimizers.values()]
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
      shown(variable.name),
      variable.dtype,
      _shape(variable.shape),
      f"{variable.num_bytes:,}",
      _slots(variable),
    ]
    if stats is not None:
      found = stats.get(variable.name)
      row += [_number(found[name]) if found else "-" for name in _NUMBERS]
    rows.append(row)
  result += table(rows, right={3, *range(5, 12)}, limit=width)
  sums = totals(inspection, variables)
  result += [
    "",
    f"{plural(sums['variables'], 'variable')}, {plural(sums['parameters'], 'parameter')}, "
    f"{size(sums['bytes'])}; slots and averages {size(sums['slot_bytes'])}",
  ]
  shards = inspection.shards
  sizes = [size(found or 0) for _, _, found in shards]
  total = sum(found or 0 for _, _, found in shards)
  each = f" ({', '.join(sizes)})" if 1 < len(shards) <= 8 else ""
  result.append(f"{plural(len(shards), 'data file')}, {size(total)}{each}")
  return result


def key_lines(inspection: Inspection, patterns: Sequence[str] = ()) -> list[str]:
  """Returns every key of the index: dtype, shape, data file, offset, bytes, checksum, and its parts."""
  index = inspection.index
  rows = [["key", "dtype", "shape", "shard", "offset", "bytes", "crc32c"]]
  for key in sorted(index.entries):
    if not matches(key, patterns):
      continue
    entry = index.entries[key]
    if not entry.slices:
      where = [str(entry.shard), str(entry.offset), str(entry.size), f"{entry.crc32c:08x}"]
      rows.append([shown(key), entry.dtype, _shape(entry.shape), *where])
      continue
    num_bytes = str(index.num_bytes(key))
    rows.append([shown(key), entry.dtype, _shape(entry.shape), "", "", num_bytes, ""])
    for bounds, piece in index.pieces(key):
      part = ", ".join(f"{start}:{start + length}" for start, length in bounds)
      where = [str(piece.shard), str(piece.offset), str(piece.size), f"{piece.crc32c:08x}"]
      rows.append(["", "", f"[{part}]", *where])
  return table(rows, right={3, 4, 5})


def overview_lines(found: Sequence[tuple[str, Optional[Inspection]]]) -> list[str]:
  """Returns one line for each of several checkpoints; those without inspection are damaged."""
  rows = [["checkpoint", "step", "variables", "bytes", "written", "files"]]
  for prefix, inspection in found:
    row = [os.path.basename(prefix), "-", "-", "-", _time(prefix), "damaged"]
    if inspection is not None:
      contents = inspection.contents
      row[1] = "-" if contents.step is None else str(contents.step)
      row[2] = str(len(contents.variables))
      row[3] = f"{sum(found or 0 for _, _, found in inspection.shards):,}"
      row[5] = "damaged" if inspection.faults else "whole"
    rows.append(row)
  return table(rows, right={1, 2, 3})


def difference_lines(
  first: str, second: str, differences: Sequence[Difference], values: bool
) -> list[str]:
  """Returns how two checkpoints differ; one line if they do not.

  Args:
    first: the prefix of the one.
    second: the prefix of the other.
    differences: of the two.
    values: whether the values were compared.
  """
  result = []
  for found in differences:
    name = shown(found.name)
    if found.kind == "only in the first":
      result.append(f"- {name}: only in {first}")
    elif found.kind == "only in the second":
      result.append(f"+ {name}: only in {second}")
    elif found.kind == "values":
      far = "" if math.isinf(found.largest or 0) else f" by up to {_number(found.largest)}"
      result.append(f"~ {name}: values differ{far}")
    else:
      result.append(f"! {name}: {found.first} and {found.second}")
  what = "variables, slots and values" if values else "variables and slots"
  return result or [f"The {what} of {first} and {second} are the same."]


def table(rows: list[list[str]], right: set[int], limit: Optional[int] = None) -> list[str]:
  """Returns rows in columns, two spaces between them.

  Args:
    rows: texts, the header first.
    right: the columns whose texts end, not begin, at the same place.
    limit: if the table is wider, the texts of its first column are cut in the middle.
  """
  widths = [max(_width(row[i]) for row in rows) for i in range(len(rows[0]))]
  if limit is not None:
    rest = sum(widths[1:]) + 2 * len(widths[1:])
    widths[0] = min(widths[0], max(limit - rest, _SHORTEST))
  result = []
  for row in rows:
    cells = []
    for i, (cell, width) in enumerate(zip([_cut(row[0], widths[0]), *row[1:]], widths)):
      blank = " " * (width - _width(cell))
      cells.append(blank + cell if i in right else cell + blank)
    result.append("  ".join(cells).rstrip())
  return result


def shown(name: str) -> str:
  """Returns a name without characters that would do something to a terminal."""
  if name.isprintable():
    return name
  return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in name)


def _optimizer(inspection: Inspection, optimizer: Optimizer) -> str:
  called = "" if optimizer.name == optimizer.kind else f", called {shown(optimizer.name)}"
  text = f"  optimizer: {optimizer.kind}{called}, of {plural(len(optimizer.variables), 'variable')}"
  count = updates_text(inspection.contents, optimizer.name)
  if count:
    text += f", {count}"
  known = (f"{n} {_number(v)}" for n, v in optimizer.hyperparameters.items() if v is not None)
  values = ", ".join(known)
  return f"{text} ({values})" if values else text


def _time(prefix: str) -> str:
  """Returns when a checkpoint was written, "-" if only its remote file system knows."""
  try:
    modified = os.path.getmtime(prefix + ".index")
  except OSError:
    return "-"
  return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(modified))


def _shape(shape: Sequence[int]) -> str:
  return str(list(shape)).replace(" ", "")


def _slots(variable: Variable) -> str:
  """Returns the slots of a variable, and in how many parts it is."""
  texts = []
  for name, keys in variable.slots.items():
    texts.append(shown(name) if len(keys) == 1 else f"{shown(name)} ({len(keys)} parts)")
  if variable.ema:
    texts.append("average")
  if variable.parts:
    texts.append(f"in {plural(len(variable.parts), 'part')}")
  return ", ".join(texts)


def _number(value: Any) -> str:
  if value is None:
    return "-"
  return f"{value:,}" if isinstance(value, int) else f"{value:.6g}"


def _width(text: str) -> int:
  """Returns the columns that a text takes: two for the wide characters of East Asia."""
  if text.isascii():
    return len(text)
  wide = sum(unicodedata.east_asian_width(c) in "WF" for c in text)
  return len(text) + wide - sum(unicodedata.combining(c) != 0 for c in text)


def _cut(text: str, width: int) -> str:
  """Returns a text with its middle left out, if it is too wide."""
  if _width(text) <= width:
    return text
  half = (width - 3) // 2
  # By characters, so a name of wide ones is a little wider than asked for.
  return f"{text[: width - 3 - half]}...{text[len(text) - half :]}"
