"""`migrator convert`."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Sequence
from typing import Any, Optional

import click

from migrator.cli.progress import Bytes

FORMATS = ("checkpoint", "keras", "weights.h5", "safetensors")
FAILED = 2
MISSING = 1


@click.command(short_help="Convert TF1 checkpoints to TF2.")
@click.argument("checkpoints", nargs=-1, metavar="CKPT...")
@click.option(
  "--out",
  metavar="OUT",
  help="Where to: the prefix or file, or a directory (one that exists, or with a slash at the end), in "
  "which the output is called model.ckpt-STEP and, if it is a checkpoint, gets into the state file.",
)
@click.option(
  "--format",
  "format_",
  type=click.Choice(FORMATS),
  help="checkpoint: by name, for both versions of Keras.  [default: by the ending of OUT, else "
  "checkpoint]",
)
@click.option(
  "--model",
  metavar="MODULE:FACTORY",
  help="A function that returns the new model, built and compiled, or (model, optimizer), or "
  "runtime.named_checkpoint(...). Without it every variable keeps its name.",
)
@click.option("--map", "map_file", metavar="FILE", help="Names and transforms, TOML or JSON.")
@click.option("--scope", default="", help="What the old names begin with, e.g. dnn.")
@click.option(
  "--flavour",
  type=click.Choice(["v1", "v2"]),
  help="Of the old Estimator.  [default: by the checkpoint]",
)
@click.option(
  "--weights",
  type=click.Choice(["raw", "ema"]),
  help="The variables, or their moving averages.  [default: raw, or what the map file says]",
)
@click.option(
  "--allow-missing",
  multiple=True,
  metavar="PATTERN",
  help="Variables of the model that may keep their initial values; may be repeated.",
)
@click.option(
  "--suggest-map", metavar="FILE", help="Write a map file to start from (- prints it), and stop."
)
@click.option("--dry-run", is_flag=True, help="Only say what would be done.")
@click.option(
  "--link",
  type=click.Choice(["auto", "hard", "copy"]),
  default="auto",
  help="Share the data files with the source by hard links: if it can be, always, or never.  "
  "[default: auto]",
)
@click.option("--force", is_flag=True, help="Replace an existing output.")
@click.option("--all", "all_", is_flag=True, help="All checkpoints of the directories CKPT.")
@click.option("--skip-strings", is_flag=True, help="safetensors: leave out variables of strings.")
@click.option(
  "--verify",
  type=click.Choice(["quick", "full", "none"]),
  default="quick",
  help="After writing, compare every tensor with the source; full also reads data that are the "
  "source's own files.  [default: quick]",
)
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
@click.option("--traceback", is_flag=True, help="Show the traceback when the factory fails.")
@click.pass_context
def convert(
  context: click.Context,
  checkpoints: Sequence[str],
  out: Optional[str],
  format_: Optional[str],
  dry_run: bool,
  as_json: bool,
  traceback: bool,
  all_: bool,
  **asked: Any,
) -> None:
  """Convert TF1 checkpoints: every variable, optimizer slot and step, exactly, or one error.

  CKPT is a prefix, a model directory (its newest checkpoint), an .index or a .data file. It is never
  written to.

  \b
    migrator convert model_dir --out converted/
    migrator convert model_dir --model my.models:create --scope dnn --out model_dir/tf2/
    migrator convert model_dir/model.ckpt-1000 --out weights.safetensors

  Exit code: 0 done; 1 a dry run found variables missing; 2 something could not be converted (nothing of
  it was written, the others are done).
  """
  from migrator.checkpoint import batch

  if not checkpoints:
    raise click.UsageError("Name a checkpoint or a model directory.")
  suggest = asked["suggest_map"]
  if suggest and not asked["model"]:
    raise click.UsageError("--suggest-map needs --model.")
  if not out and not dry_run and not suggest:
    raise click.UsageError("--out says where to write.")
  if not asked["model"]:
    for name in ("map_file", "scope", "flavour", "weights", "allow_missing"):
      if asked[name]:
        option = "map" if name == "map_file" else name.replace("_", "-")
        raise click.UsageError(f"--{option} goes with --model.")
  request = batch.Request(
    checkpoints=checkpoints,
    out=out or os.curdir + os.sep + "converted" + os.sep,
    format=format_,
    dry_run=dry_run,
    all=all_,
    **asked,
  )
  progress = Bytes("Converting")
  say = None if as_json else _say
  previous = signal.signal(signal.SIGTERM, _interrupt)
  try:
    results = batch.run(request, say, progress)
  finally:
    progress.close()
    signal.signal(signal.SIGTERM, previous)
  for result in results:
    if result.error is not None:
      click.echo(f"Error: {result.error}", err=True)
      if traceback and result.trace:
        click.echo(result.trace, err=True)
  if as_json:
    click.echo(json.dumps([result.to_dict() for result in results], indent=2))
  if any(result.error is not None for result in results):
    context.exit(FAILED)
  context.exit(MISSING if any(result.report and result.report.missing for result in results) else 0)


def _say(lines: Sequence[str]) -> None:
  for line in lines:
    click.echo(line)


def _interrupt(number: int, frame: Any) -> None:
  """What is unfinished is removed also when the process is asked to end."""
  raise KeyboardInterrupt
