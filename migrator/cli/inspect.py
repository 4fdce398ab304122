"""`migrator inspect`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Optional

import click

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
  help="Only variables whose name matches, as in a shell: 'dnn/*/kernel'; may be repeated.",
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
  help="How the variables differ from another checkpoint's; with --stats their values, too.",
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
    migrator inspect model_dir --json

  Exit code: 0, with --diff 1 if they differ; 2 if a checkpoint cannot be read.
  """
  from migrator.checkpoint import inspection, inspection_text
  from migrator.runtime.errors import CheckpointError

  if other is not None and (len(checkpoints) != 1 or every or keys):
    raise click.UsageError("--diff compares one checkpoint with another.")
  code = 0
  found = []
  for path in checkpoints:
    try:
      found += [inspection.open_checkpoint(p) for p in inspection.prefixes(path, every)]
    except (CheckpointError, OSError, ImportError) as error:
      code = _report(error)
  if other is not None and found:
    try:
      second = inspection.open_checkpoint(inspection.prefixes(other, False)[0])
      apart = _differences(found[0], second) if stats else {}
    except (CheckpointError, OSError, ImportError) as error:
      context.exit(_report(error))
    lines = inspection_text.difference_lines(found[0], second, apart)
    click.echo("\n".join(lines))
    context.exit(1 if lines[0][:2] in ("- ", "+ ", "! ", "~ ") else 0)
  objects = []
  blocks = []
  if every and not as_json:
    blocks.append(inspection_text.overview_lines(found))
  for one in found if not blocks else []:
    variables = inspection.selected(one, patterns, order)
    values = None
    if stats and not one.faults:
      try:
        values = _statistics(one, variables)
      except (CheckpointError, OSError, ImportError) as error:
        code = _report(error)
    if as_json:
      objects.append(inspection.to_dict(one, variables))
      if values is not None:
        for item in objects[-1]["variables"]:
          item["stats"] = values[item["name"]]
    elif keys:
      blocks.append(inspection_text.key_lines(one))
    else:
      blocks.append(inspection_text.lines(one, variables, values))
  if as_json:
    click.echo(json.dumps(objects, indent=2))
  elif blocks:
    click.echo("\n\n".join("\n".join(block) for block in blocks))
  for one in found:
    for fault in one.faults:
      click.echo(f"Error: {fault} The checkpoint is damaged.", err=True)
      code = BAD_INPUT
  context.exit(code)


def _report(error: BaseException) -> int:
  """Prints one line for what could not be done; returns the exit code."""
  text = str(error)
  if isinstance(error, ModuleNotFoundError):
    need = {"numpy": "--stats needs numpy", "tensorflow": "Remote paths need TensorFlow"}
    text = f"{need.get(error.name or '', text)}: pip install {error.name}"
  elif isinstance(error, OSError) and error.filename:
    text = f"{error.filename}: {error.strerror}"
  click.echo(f"Error: {text}", err=True)
  return BAD_INPUT


def _statistics(one: Any, variables: list) -> dict:
  """Reads the values of the variables of one checkpoint; shows how far it is."""
  from migrator.checkpoint import stats
  from migrator.cli.progress import Bytes
  from migrator.runtime import files
  from migrator.runtime.bundle import DamagedIndexError
  from migrator.runtime.errors import CheckpointError

  if files.is_remote(one.prefix):
    raise CheckpointError(f"{one.prefix} is remote: copy it here to read its values.")
  bar = Bytes("Reading")
  bar.expect(sum(v.num_bytes for v in variables))
  try:
    return {v.name: stats.statistics(one.prefix, one.index, v.keys, bar.advance) for v in variables}
  except DamagedIndexError as error:
    raise CheckpointError(f"{one.prefix}.index {error}.") from error
  finally:
    bar.close()


def _differences(first: Any, second: Any) -> dict:
  """Returns the greatest absolute difference of the values of each variable that both have."""
  from migrator.checkpoint import stats

  one, two = first.contents.variables, second.contents.variables
  return {
    name: {"difference": stats.greatest_difference(first, second, one[name], two[name])}
    for name in one
    if name in two and (one[name].dtype, one[name].shape) == (two[name].dtype, two[name].shape)
  }
