"""`--write-baseline` and `--add-noqa`: findings of today that are to be known."""

from __future__ import annotations

import os

import click

from migrator.cli import config
from migrator.cli.checking import Report, Request
from migrator.lint import baseline


def write_baseline(report: Report, request: Request, quiet: bool) -> int:
  """Writes the findings to the baseline, or the baselines of the configurations.

  What stands there of other files and of rules that are not selected stays.

  Returns:
    0, or 2 if something could not be checked.

  Raises:
    InputError: there is no baseline to write, or a faulty one is there.
    WriteError: it cannot be written.
  """
  targets = report.by_baseline(request.baseline)
  if not targets:
    raise config.InputError(
      "--write-baseline needs --baseline FILE, or `baseline` in [tool.migrator]."
    )
  for path, findings in targets.items():
    selected = report.selected(None if request.baseline is not None else path)
    try:
      old = baseline.Baseline.read(path) if os.path.exists(path) else baseline.Baseline.of(path, ())
    except baseline.BaselineError as error:
      raise config.InputError(f"baseline {error}") from error
    new = old.updated(findings, examined=report.examined, selected=selected)
    new.write(path)
    if not quiet:
      plural = "" if new.count == 1 else "s"
      click.echo(f"{os.path.relpath(path)}: {new.count} known finding{plural}.", err=True)
  return _failed(report)


def _failed(report: Report) -> int:
  for finding in report.findings:
    if finding.is_error:
      click.echo(str(finding), err=True)
  return 2 if report.exit_code == 2 else 0
