"""`migrator rewrite`."""

from __future__ import annotations

import json
import os
import sys
import textwrap
from collections.abc import Sequence
from typing import Optional

import click

from migrator.analysis import units
from migrator.cli import config, files
from migrator.cli.progress import progress
from migrator.rewrite.engine import Options
from migrator.rewrite.files import FileResult
from migrator.rewrite.outcomes import UnitResult
from migrator.rewrite.run import Run


@click.command()
@click.argument(
  "paths", nargs=-1, type=click.Path(allow_dash=True, readable=False), metavar="PATH..."
)
@click.option("--write", "apply", is_flag=True, help="Change the files; the default prints a diff.")
@click.option("--check", is_flag=True, help="Print no diff, only what would change; for CI.")
@click.option(
  "--target",
  type=click.Choice(config.TARGETS),
  help="Model.fit with BackupAndRestore, or a CheckpointManager loop. auto: fit for canned "
  "estimators, a loop for those with a model_fn.  [default: auto]",
)
@click.option(
  "--stock", is_flag=True, help="With fit: Keras' own BackupAndRestore; says what that loses."
)
@click.option(
  "--exact", is_flag=True, help="TF1's own update rules for every optimizer (losses within 1e-6)."
)
@click.option(
  "--resume-data", is_flag=True, help="With loop: keep the input position in the checkpoint."
)
@click.option(
  "--hosted", is_flag=True, help="Run every model_fn as it is, in a graph; else only where it must."
)
@click.option(
  "--source-version",
  type=click.Choice(["1", "2"]),
  help="What plain tf.estimator.X means: TF1's or TF2's estimator.  [default: by the file]",
)
@click.option(
  "--hooks",
  type=click.Choice(["used", "all"]),
  default="used",
  show_default=True,
  help="Which hook classes become callbacks: those of a training that is rewritten, or every one that can.",
)
@click.option(
  "--report",
  type=click.Path(dir_okay=False, writable=True),
  metavar="FILE",
  help="Write all findings as JSON.",
)
@click.option("--stdin-filename", metavar="NAME", default="<stdin>", help="Name of what `-` reads.")
@click.pass_context
def rewrite(
  context: click.Context,
  paths: Sequence[str],
  apply: bool,
  check: bool,
  target: Optional[str],
  stock: bool,
  exact: bool,
  resume_data: bool,
  hosted: bool,
  source_version: Optional[str],
  hooks: str,
  report: Optional[str],
  stdin_filename: str,
) -> None:
  """Rewrite Estimator programs to TF2; prints a diff, changes nothing without --write.

  An estimator is rewritten whole, with its RunConfig, hooks, input functions and calls, or
  left whole with a code that says why. With `-`, reads stdin; `- --write` prints the new
  source. Findings go to stderr, with their places in the source as it was.

  Exit code: 0 nothing to do, or all done; 1 pending changes, or work left for a person; 2
  something could not be read, parsed or written (the rest is still done).
  """
  named = [path for path in paths if path != "-"]
  configurations = config.Settings()
  settings = configurations.start(named)
  target = target or settings.target
  if stock and target == "loop":
    raise config.InputError("--stock goes with --target fit.")
  if resume_data and target != "loop":
    raise config.InputError("--resume-data goes with --target loop.")
  if apply and check:
    raise config.InputError("--write and --check exclude each other.")
  if not paths:
    raise config.InputError("Name files or folders, or `-` for stdin.")
  version = int(source_version) if source_version else settings.source_version
  options = Options(target, stock, exact, resume_data, version, hooks, hosted)
  run = Run(options, apply, lambda line: click.echo(line, err=True))
  if "-" in paths:
    raw = sys.stdin.buffer.read()
    result = run.rewrite_text(raw, stdin_filename)
    if apply and not result.unreadable:
      sys.stdout.buffer.write(result.raw if result.raw is not None else raw)
  listed, problems = files.collect(named, configurations.excludes_of) if named else ([], [])
  if named and not listed and not problems:
    files.say_none(named)
  for problem in configurations.problems:
    click.echo(problem, err=True)
  run.rewrite_files(progress(listed, len(listed), "Rewriting"))
  _print(run.results, apply, check, "-" in paths, hooks)
  if report:
    _write_report(report, run.results)
  if run.failed or problems or configurations.problems or run.unreadable:
    context.exit(2)
  context.exit(1 if run.left or (run.changed and not apply) else 0)


def _print(
  results: Sequence[FileResult], apply: bool, check: bool, stdin: bool, hooks: str
) -> None:
  verb = "rewritten" if apply else "would be rewritten"
  for result in results:
    if result.raw is not None and not apply and not check:
      _print_diff(result.diff)
    elif result.raw is not None and not stdin:
      click.echo(f"{result.path}: {verb}")
  for result in results:
    for finding in result.findings:
      click.echo(str(finding), err=True)
      if finding.proposal is not None:
        click.echo(textwrap.indent(finding.proposal, "    "), err=True)
  found = [unit for result in results for unit in result.units]
  done = [u for r in results if r.raw is not None for u in r.units if u.target]
  changed = sum(result.raw is not None for result in results)
  left = sum(result.left for result in results)
  if not found and not changed and not left:
    click.echo("Nothing to rewrite.", err=True)
    return
  counts = [(what, _count(found, what), _count(done, what)) for what in ("estimator", "module")]
  parts = [f"{n} of {_several(total, what)}" for what, total, n in counts if total]
  unit_text = f"{' and '.join(parts)} {verb}, " if parts else ""
  file_text = f"{changed} file{'' if changed == 1 else 's'} {'changed' if apply else 'to change'}"
  classes = [hook for result in results for hook in result.hooks]
  callbacks = sum(bool(h.callback) for r in results if r.raw is not None for h in r.hooks)
  if classes:
    unit_text += (
      f"{callbacks} of {len(classes)} hook class{'' if len(classes) == 1 else 'es'} {verb}, "
    )
  rest = [(total - n, what) for what, total, n in counts]
  rest.append((left - len(found) + len(done), "other finding"))
  named = [_several(n, what) for n, what in rest if n > 0]
  click.echo(
    f"{unit_text}{file_text}; left to you: {' and '.join(named) or 'nothing'}.",
    err=True,
  )
  if hooks == "used" and callbacks < len(classes):
    click.echo("--hooks all converts hook classes without their training, too.", err=True)


def _count(found: Sequence[UnitResult], what: str) -> int:
  """How many units are modules that programs import, or how many are estimators."""
  return sum((unit.kind == units.MODULE) == (what == "module") for unit in found)


def _several(number: int, what: str) -> str:
  return f"{number} {what}{'' if number == 1 else 's'}"


def _print_diff(diff: str) -> None:
  colors = {"+": "green", "-": "red", "@": "cyan"}
  for line in diff.splitlines():
    bold = line.startswith(("+++", "---"))
    color = None if bold else colors.get(line[:1])
    click.echo(click.style(line, fg=color, bold=bold) if "NO_COLOR" not in os.environ else line)


def _write_report(path: str, results: Sequence[FileResult]) -> None:
  data = {"version": 1, "files": [result.to_json() for result in results]}
  with open(path, "w", encoding="utf-8") as file:
    json.dump(data, file, indent=2)
    file.write("\n")
