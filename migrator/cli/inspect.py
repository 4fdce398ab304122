"""`migrator inspect`."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Sequence
from typing import Any, Optional

import click

DIFFERENT = 1
BAD_INPUT = 2


@click.command(short_help="Show what is in a TF1 checkpoint.")
@click.argument("checkpoints", nargs=-1, required=True, metavar="CKPT...")
@click.option(
  "--stats", is_flag=True, help="Read the values: min, max, mean, std, zeros, NaN, inf."
)
@click.option(
  "--filter",
  "patterns",
  multiple=True,
  metavar="PATTERN",
  help="Only names that match, as in a shell: 'dnn/*/kernel'; may be repeated.",
)
@click.option(
  "--sort",
  "order",
  type=click.Choice(["name", "size", "file"]),
  default="name",
  show_default=True,
  help="The order: by name, the largest first, or as they lie in the files.",
)
@click.option("--keys", is_flag=True, help="Show every key of the index, with slots and parts.")
@click.option(
  "--all", "every", is_flag=True, help="All checkpoints of the directories CKPT, briefly."
)
@click.option(
  "--diff",
  "other",
  metavar="CKPT",
  help="How it differs from another checkpoint; with --stats the values are compared, too.",
)
@click.option(
  "--json", "as_json", is_flag=True, help="Print JSON: a list with one object for each CKPT."
)
@click.pass_context
def inspect(
  context: click.Context,
  checkpoints: Sequence[str],
  stats: bool,
  patterns: Sequence[str],
  order: str,
  keys: bool,
  every: bool,
  other: Optional[str],
  as_json: bool,
) -> None:
  """Show the variables of a checkpoint, their slots, the optimizers, and the step.

  CKPT is a prefix, a model directory (its newest checkpoint), an .index or a .data file. Needs no
  TensorFlow; --stats needs numpy.

  \b
    migrator inspect model_dir
    migrator inspect model_dir/model.ckpt-1000 --stats --filter 'dnn/*'
    migrator inspect model_dir --diff converted --stats
    migrator inspect model_dir --json

  Exit code: 0, with --diff 1 if they differ; 2 if a checkpoint cannot be read or is damaged.
  """
  if other is not None:
    if len(checkpoints) != 1 or every or keys:
      raise click.UsageError("--diff compares one checkpoint with another.")
    context.exit(_diff(checkpoints[0], other, patterns, stats, as_json))
  if every and not as_json and (stats or keys or patterns):
    raise click.UsageError("--all shows one line for each checkpoint; name one for its variables.")

  from migrator.checkpoint import inspection, inspection_text

  failed, found = _open(checkpoints, every)
  if as_json:
    objects = []
    for one in filter(None, (one for _, one in found)):
      variables = inspection.selected(one, patterns, order)
      data = inspection.to_dict(one, variables, keys)
      values, fault = _statistics(one, variables) if stats else ({}, False)
      failed |= fault
      for item in data["variables"]:
        if item["name"] in values:
          item["stats"] = values[item["name"]]
      objects.append(inspection.finite(data))
    click.echo(json.dumps(objects, indent=2, allow_nan=False))
  elif every:
    if found:
      _print(inspection_text.overview_lines(found))
  else:
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
    for number, (_, one) in enumerate(found):
      if one is None:
        continue
      if keys:
        block = inspection_text.key_lines(one, patterns)
      else:
        variables = inspection.selected(one, patterns, order)
        values, fault = _statistics(one, variables) if stats else ({}, False)
        failed |= fault
        block = inspection_text.lines(one, variables, values or None, width)
      _print([""] * bool(number) + block)
  for _, one in found:
    for fault in one.faults if one is not None else ():
      click.echo(f"Error: {fault}", err=True)
      failed = True
  context.exit(BAD_INPUT if failed else 0)


def _open(paths: Sequence[str], every: bool = False) -> tuple[bool, list[tuple[str, Any]]]:
  """Returns whether any failed, and (prefix, inspection) of each; None if its index is damaged."""
  from migrator.checkpoint import inspection
  from migrator.checkpoint.inspection import prefixes

  failed = False
  found: list[tuple[str, Any]] = []
  for path in paths:
    try:
      inside = prefixes(path, every)
    except (inspection.CheckpointError, OSError) as error:
      failed = _report(error)
      continue
    for prefix in inside:
      try:
        found.append((prefix, inspection.open_checkpoint(prefix)))
      except (inspection.CheckpointError, OSError) as error:
        failed = _report(error)
        found.append((prefix, None))
  return failed, found


def _diff(checkpoint: str, other: str, patterns: Sequence[str], values: bool, as_json: bool) -> int:
  """Prints how two checkpoints differ; returns the exit code."""
  from migrator.checkpoint import inspection, inspection_diff, inspection_text
  from migrator.cli.progress import Bytes

  failed, found = _open([checkpoint, other])
  if failed:
    return BAD_INPUT
  (_, first), (_, second) = found
  faults = [*first.faults, *second.faults]
  bar = Bytes("Comparing")
  bar.expect(sum(first.index.num_bytes(key) for key in first.index.entries))
  try:
    differences = list(
      inspection_diff.differences(first, second, patterns, values and not faults, bar.advance)
    )
  except (inspection.CheckpointError, OSError, ModuleNotFoundError) as error:
    _report(error)
    return BAD_INPUT
  finally:
    bar.close()
  if as_json:
    import dataclasses

    data = [inspection.finite(dataclasses.asdict(difference)) for difference in differences]
    click.echo(json.dumps(data, indent=2, allow_nan=False))
  else:
    compared = values and not faults
    _print(inspection_text.difference_lines(first.prefix, second.prefix, differences, compared))
  for fault in faults:
    click.echo(f"Error: {fault}", err=True)
  if faults:
    return BAD_INPUT
  return DIFFERENT if differences else 0


def _statistics(one: Any, variables: Sequence[Any]) -> tuple[dict, bool]:
  """Reads the values of the variables of one checkpoint; shows how far it is.

  Returns:
    The statistics by name of the variable, and whether something could not be read; all of them, or
    none.
  """
  from migrator.checkpoint.inspection import CheckpointError, readable
  from migrator.cli.progress import Bytes

  if one.faults:  # Which are reported by themselves.
    return {}, True
  bar = Bytes("Reading")
  bar.expect(sum(variable.num_bytes for variable in variables))
  try:
    from migrator.checkpoint import stats

    with readable(one.prefix):
      return {v.name: stats.statistics(one, v.keys, bar.advance) for v in variables}, False
  except (CheckpointError, OSError, ModuleNotFoundError) as error:
    return {}, _report(error)
  finally:
    bar.close()


def _report(error: BaseException) -> bool:
  """Prints one line for what could not be done; returns True."""
  text = str(error)
  if isinstance(error, ModuleNotFoundError):
    if error.name != "numpy":
      raise error
    text = "--stats needs numpy: pip install numpy"
  elif isinstance(error, OSError) and error.filename:
    text = f"{error.filename}: {error.strerror}"
  click.echo(f"Error: {text}", err=True)
  return True


def _print(lines: Sequence[str]) -> None:
  """Prints lines; the header of a table is bold on a terminal."""
  bold = None
  if sys.stdout.isatty() or os.environ.get("FORCE_COLOR"):
    from migrator.lint.formats import colors

    bold = colors.Palette(colors.wanted(sys.stdout.isatty()))
  for line in lines:
    header = line.startswith(("variable ", "key ", "checkpoint "))
    click.echo(bold.bold(line) if bold and header else line, color=True if bold else None)
