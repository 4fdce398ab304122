"""`--write-baseline` and `--add-noqa`: findings of today that are to be known."""

from __future__ import annotations

import itertools
import os

import click

from migrator.cli import config
from migrator.cli.checking import Report, Request
from migrator.lint import add_noqa as comments
from migrator.lint import baseline
from migrator.lint.finding import Finding
from migrator.source import document, errors, write


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
    new = old.updated(findings, examined=report.examined, within=request.named, selected=selected)
    new.write(path)
    if not quiet:
      plural = "" if new.count == 1 else "s"
      click.echo(f"{os.path.relpath(path)}: {new.count} known finding{plural}.", err=True)
  return _failed(report)


def add_noqa(report: Report, request: Request, quiet: bool) -> int:
  """Adds comments that silence the findings; what they cannot silence is printed.

  Returns:
    0; 1 if findings are left; 2 if something could not be checked or written.
  """
  files = count = 0
  left: list[Finding] = []
  for path, found in itertools.groupby(report.findings, lambda finding: finding.path):
    findings = list(found)
    try:
      added = comments.add(document.Document.read(path), findings)
      if added.count:
        write.write(path, added.data)
    except errors.SourceError:  # among the findings
      continue
    except OSError as error:
      report.problems.append(f"{path}: {error.strerror or error}")
      click.echo(report.problems[-1], err=True)
      continue
    files += bool(added.count)
    count += added.count
    left += added.left
  for finding in left:
    click.echo(f"{finding} (no comment can silence it)")
  if not quiet:
    what = f"{count} finding{'' if count == 1 else 's'}"
    click.echo(f"Silenced {what} in {files} file{'' if files == 1 else 's'}.", err=True)
  return _failed(report) or (1 if left else 0)


def _failed(report: Report) -> int:
  for finding in report.findings:
    if finding.is_error:
      click.echo(str(finding), err=True)
  return 2 if report.exit_code == 2 else 0
