"""`migrator lint`."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence

import click

from migrator.cli import config, files
from migrator.cli.progress import progress
from migrator.lint import engine
from migrator.lint.finding import Finding
from migrator.lint.rules import RuleError


@click.command()
@click.argument("paths", nargs=-1, type=click.Path(exists=True, allow_dash=True), metavar="PATH...")
@click.option(
  "--output-format",
  type=click.Choice(["text", "json"]),
  default="text",
  show_default=True,
  help="How findings are printed.",
)
@click.option(
  "--select", multiple=True, metavar="CODES", help="Only these rules; EM1 means all of EM1xx."
)
@click.option("--ignore", multiple=True, metavar="CODES", help="Not these rules.")
@click.option(
  "--stdin-filename",
  metavar="NAME",
  default="<stdin>",
  help="Name of what `-` reads; .ipynb for a notebook.",
)
@click.pass_context
def lint(
  context: click.Context,
  paths: Sequence[str],
  output_format: str,
  select: Sequence[str],
  ignore: Sequence[str],
  stdin_filename: str,
) -> None:
  """Report deprecated and faulty checkpoint APIs in files and folders (default: this one).

  Reads `-` from stdin. Exit code: 0 no findings, 1 findings, 2 something could not be read
  or parsed (the rest is still checked).
  """
  settings = config.load()
  chosen = config.codes(select, "--select") if select else settings.select
  ignored = config.codes(ignore, "--ignore") if ignore else settings.ignore
  found: list[Finding] = []
  failed = False
  named = [path for path in paths if path != "-"]
  count = 0
  if "-" in paths:
    raw = sys.stdin.buffer.read()
    found += engine.check_bytes(raw, stdin_filename)
    count += 1
  if named or not paths:
    listed, problems = files.collect(named or ["."], settings)
    failed = bool(problems)
    count += len(listed)
    if not count and not failed:
      if output_format == "json":
        click.echo("[]")
      return
    for file in progress(listed, len(listed), "Checking"):
      try:
        found += engine.check_file(file.path, gate=not file.explicit)
      except OSError as error:
        files.report(error, file.path)
        failed = True
      except RuleError:
        raise
      except Exception as error:  # a defect of ours in one file must not cost the others
        files.report_defect(error, file.path)
        failed = True
  found = engine.selected(found, chosen, ignored)
  _print(found, output_format)
  _summarize(found, count)
  if failed or any(engine.is_error(finding) for finding in found):
    context.exit(2)
  context.exit(1 if found else 0)


def _print(found: Sequence[Finding], output_format: str) -> None:
  if output_format == "json":
    click.echo(json.dumps([finding.to_json() for finding in found], indent=2))
    return
  for finding in found:
    click.echo(str(finding))
  sys.stdout.flush()


def _summarize(found: Sequence[Finding], count: int) -> None:
  """The last line, on stderr so that stdout holds findings only."""
  checked = f"{count} file{'' if count == 1 else 's'} checked"
  if not found:
    click.echo(f"No findings; {checked}.", err=True)
    return
  paths = len({finding.path for finding in found})
  plural = "" if len(found) == 1 else "s"
  places = f"{paths} file{'' if paths == 1 else 's'}"
  click.echo(f"{len(found)} finding{plural} in {places}; {checked}.", err=True)
