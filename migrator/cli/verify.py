"""`migrator verify`: runs a legacy program and its migrated twin and compares them."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

import click

from migrator.verify import CannotRunError, report
from migrator.verify.compare import STOCK
from migrator.verify.runs import default_python

USAGE = 2
ENVIRONMENTS = "run `python3 tests/run.py` in a checkout, which makes it under .venvs/, or give {}"


@click.command(
  context_settings={"ignore_unknown_options": False, "show_default": True},
  short_help="Run a program and its migrated twin, and compare.",
)
@click.option(
  "--legacy-python",
  envvar="MIGRATOR_LEGACY_PYTHON",
  metavar="PYTHON",
  help="Interpreter with Estimators for BEFORE. Default: .venvs/tf2.15.",
)
@click.option(
  "--python",
  "pythons",
  multiple=True,
  metavar="PYTHON",
  help="Interpreter for AFTER; may be repeated. Default: .venvs/tf2.15 and .venvs/tf2.21.",
)
@click.option(
  "--kill-at",
  type=click.IntRange(min=1),
  multiple=True,
  metavar="STEP",
  help="Kill both programs (kill -9) after this step and start them again; may be repeated. "
  "Default: a step in the middle of the training.",
)
@click.option("--no-kill", is_flag=True, help="Kill nothing.")
@click.option(
  "--steps",
  type=click.IntRange(min=1),
  default=20,
  metavar="N",
  help="Compare the losses of the first N steps: rounding errors grow with the steps.",
)
@click.option(
  "--tolerance",
  type=click.FloatRange(min=0),
  default=STOCK,
  help="Of losses, evaluations and predictions, relative. 1e-6 suits exact optimizers.",
)
@click.option("--timeout", type=float, default=600, help="Seconds that one run may take.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")
@click.option("--keep", is_flag=True, help="Keep the directory in which the programs ran.")
@click.argument("before", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.argument("after", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.argument("arguments", nargs=-1)
@click.pass_context
def verify(
  context,
  legacy_python,
  pythons,
  kill_at,
  no_kill,
  steps,
  tolerance,
  timeout,
  as_json,
  keep,
  before,
  after,
  arguments,
):
  """Runs BEFORE with Estimators and AFTER without, and compares the steps at which they save, the
  checkpoints that they leave, where they resume after a kill -9, and, from the same first
  checkpoint, each step's loss, evaluations and predictions.

  The programs run as they are, each with a scratch directory of its own as working directory:
  relative model directories and temporary ones are made there, data has to be given by absolute
  paths. Program arguments come after --; in them {model_dir} is a directory of the scratch one:

  \b
    migrator verify before.py after.py -- --model_dir {model_dir} --no_shuffle

  Exit code: 0 equal, 1 different, 2 a program could not be run.
  """
  # Imported late: `migrator verify --help` needs none of it.
  from migrator.verify import verify as run_verify

  legacy_python = legacy_python or _default("tf2.15", "--legacy-python")
  if not pythons:
    from_environment = os.environ.get("MIGRATOR_PYTHONS")
    pythons = (
      from_environment.split(os.pathsep)
      if from_environment
      else [_default("tf2.15", "--python"), _default("tf2.21", "--python")]
    )
  for python in (legacy_python, *pythons):
    if not shutil.which(python):
      raise click.UsageError(f"{python} is no interpreter that can be run")
  workspace = Path(tempfile.mkdtemp(prefix="migrator-verify-"))
  try:
    result = run_verify(
      before,
      after,
      arguments,
      workspace,
      shutil.which(legacy_python),
      [shutil.which(python) for python in pythons],
      kill_at=[] if no_kill else list(dict.fromkeys(kill_at)) or None,
      tolerance=tolerance,
      steps=steps,
      timeout=timeout,
      progress=lambda line: click.echo(line, err=True),
    )
  except CannotRunError as error:
    click.echo(f"migrator verify: {error}", err=True)
    context.exit(USAGE)
  finally:
    if keep:
      click.echo(f"the programs ran in {workspace}", err=True)
    else:
      shutil.rmtree(workspace, ignore_errors=True)
  click.echo(report.to_json(result) if as_json else report.to_text(result))
  context.exit(0 if result.equal else 1)


def _default(name, option):
  """Finds an environment of the test command from here or from the checkout upwards."""
  for start in (Path.cwd(), Path(__file__).resolve().parent):
    python = default_python(name, start)
    if python:
      return python
  raise click.UsageError(
    f"no environment .venvs/{name} in this directory or above: "
    + ENVIRONMENTS.format(f"{option} PYTHON")
  )
