"""`migrator eject`."""

from __future__ import annotations

import traceback as tracebacks

import click

FAILED = 2
LEFT = 1


@click.command(short_help="Print a model without its tf.feature_column objects.")
@click.argument("factory", metavar="MODULE:FACTORY")
@click.option("--traceback", is_flag=True, help="Show the traceback when the factory fails.")
@click.pass_context
def eject(context: click.Context, factory: str, traceback: bool) -> None:
  """Print the model that a function makes, without feature columns: layers that you own.

  A model that `migrator rewrite` made of columns that only the running program knows has layers over
  tf.feature_column objects (runtime.columns.DenseFeatures, LinearFeatures, SequenceFeatures). The
  printed function makes the same model of layers that take their place: same results to the last bit,
  same names of variables, so that its checkpoints go on. MODULE is imported, and FACTORY called without
  arguments; nothing is written.

  \b
    migrator eject my.models:create > my/explicit.py

  Exit code: 0 printed; 1 printed, and a TODO in it is left to you (a lambda, or layers that are not of
  the columns); 2 it cannot be printed.
  """
  from migrator.eject.load import CheckpointError, load

  try:
    model = load(factory)
    from migrator.eject.models import eject as printed

    ejected = printed(model, factory)
  except CheckpointError as error:
    click.echo(f"Error: {error}", err=True)
    if traceback and error.__cause__ is not None:
      cause = error.__cause__.__cause__ or error.__cause__
      click.echo("".join(tracebacks.format_exception(None, cause, cause.__traceback__)), err=True)
    context.exit(FAILED)
  click.echo(ejected.text, nl=False)
  for problem in ejected.problems:
    click.echo(f"TODO: {problem}", err=True)
  context.exit(LEFT if ejected.problems else 0)
