"""`migrator lint`."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any, Callable, Optional

import click

from migrator.cli import config
from migrator.cli.checking import STDIN, Report, Request, check
from migrator.cli.completion import codes
from migrator.cli.grouped import Command, Option

FORMATS = ("text", "concise", "json", "github", "gitlab", "sarif", "junit")
_option: Callable[..., Any] = functools.partial(click.option, cls=Option)
_rules: Callable[..., Any] = functools.partial(_option, group="Rules", multiple=True)
_files: Callable[..., Any] = functools.partial(_option, group="Files")
_known: Callable[..., Any] = functools.partial(_option, group="Known findings")
_output: Callable[..., Any] = functools.partial(_option, group="Output")
_running: Callable[..., Any] = functools.partial(_option, group="Running")


def _refuse_fix(context: click.Context, _: click.Parameter, given: bool) -> None:
  """Who comes from another linter tries `--fix`."""
  if given:
    raise click.UsageError(
      "lint changes no code: `migrator rewrite` shows a diff, and with `--write` applies it.",
      context,
    )


@click.command(cls=Command)
@click.argument(
  "paths", nargs=-1, type=click.Path(allow_dash=True, readable=False), metavar="[PATH]..."
)
@_rules(
  "--select", metavar="CODES", shell_complete=codes, help="Only these rules; EM1 is all of EM1xx."
)
@_rules("--extend-select", metavar="CODES", shell_complete=codes, help="These rules too.")
@_rules(
  "--ignore",
  metavar="CODES",
  shell_complete=codes,
  help="Not these rules; the longest code decides.",
)
@_rules("--per-file-ignores", metavar="PAT:CODES", help="Not these in the files that PAT names.")
@_option("--ignore-noqa", is_flag=True, group="Rules", help="Report what noqa comments silence.")
@_files(
  "--exclude", metavar="PATTERNS", multiple=True, help="Leave out files; patterns as in .gitignore."
)
@_files("--extend-exclude", metavar="PATTERNS", multiple=True, help="Leave these out too.")
@_files("--force-exclude", is_flag=True, help="Leave them out even if PATH names them.")
@_files("--stdin-filename", metavar="NAME", default="<stdin>", help="Name of what stdin (-) holds.")
@_known(
  "--baseline",
  type=click.Path(dir_okay=False),
  metavar="FILE",
  help="Leave out the findings that FILE knows.",
)
@_known("--ignore-baseline", is_flag=True, help="Report what the baseline knows, too.")
@_known("--write-baseline", is_flag=True, help="Write the baseline: all findings of now.")
@_known("--diff-base", metavar="REV", help="Only findings in lines changed since REV.")
@_known("--add-noqa", is_flag=True, help="Add noqa comments for all findings.")
@_output(
  "--output-format",
  type=click.Choice(FORMATS),
  default="text",
  metavar="FORMAT",
  envvar="MIGRATOR_OUTPUT_FORMAT",
  help=", ".join(FORMATS) + ".",
)
@_output(
  "--output-file",
  "-o",
  type=click.Path(dir_okay=False),
  metavar="FILE",
  help="Print findings to FILE.",
)
@_output("--statistics", is_flag=True, help="Print counts by rule, as text or json.")
@_output("--quiet", "-q", is_flag=True, help="Print findings and errors only.")
@_output("--exit-zero", "-e", is_flag=True, help="Exit code 0 even if there are findings.")
@_running("--watch", "-w", is_flag=True, help="Check again whenever a file changes.")
@_running("--jobs", "-j", type=click.IntRange(min=1), metavar="N", help="Number of processes.")
@_running(
  "--no-cache",
  "-n",
  is_flag=True,
  envvar="MIGRATOR_NO_CACHE",
  help="Neither read nor write the cache.",
)
@_running(
  "--cache-dir", type=click.Path(file_okay=False), metavar="DIR", help="Folder of the cache."
)
@_running(
  "--config",
  "config_file",
  type=click.Path(exists=True, dir_okay=False),
  metavar="FILE",
  help="Use it, not the nearest pyproject.toml.",
)
@_running("--isolated", is_flag=True, help="Use no configuration.")
@click.option("--fix", is_flag=True, hidden=True, expose_value=False, callback=_refuse_fix)
@click.pass_context
def lint(
  context: click.Context,
  paths: Sequence[str],
  select: Sequence[str],
  extend_select: Sequence[str],
  ignore: Sequence[str],
  per_file_ignores: Sequence[str],
  ignore_noqa: bool,
  exclude: Sequence[str],
  extend_exclude: Sequence[str],
  force_exclude: bool,
  stdin_filename: str,
  baseline: Optional[str],
  ignore_baseline: bool,
  write_baseline: bool,
  diff_base: Optional[str],
  add_noqa: bool,
  output_format: str,
  output_file: Optional[str],
  statistics: bool,
  quiet: bool,
  exit_zero: bool,
  watch: bool,
  jobs: Optional[int],
  no_cache: bool,
  cache_dir: Optional[str],
  config_file: Optional[str],
  isolated: bool,
) -> None:
  """Report deprecated and faulty checkpoint APIs in files and folders (default: this one).

  Reads `-` from stdin. CODES and PATTERNS take commas, and the options may be repeated. Exit
  code: 0 no findings; 1 findings; 2 something could not be read or parsed (the rest is still
  checked), or a usage error.
  """
  request = Request(
    paths=paths,
    stdin_filename=stdin_filename,
    overrides=config.Overrides(
      select, extend_select, ignore, per_file_ignores, exclude, extend_exclude
    ),
    config=config_file,
    isolated=isolated,
    force_exclude=force_exclude,
    noqa=not ignore_noqa,
    jobs=jobs,
    cache=not no_cache,
    cache_dir=cache_dir,
    baseline=baseline,
    use_baseline=not (write_baseline or ignore_baseline),
    diff_base=diff_base,
    quiet=quiet,
  )
  actions = {"--write-baseline": write_baseline, "--add-noqa": add_noqa, "--watch": watch}
  _refuse_clashes(request, [name for name, given in actions.items() if given])
  if statistics and output_format not in ("text", "concise", "json"):
    raise config.InputError(f"--statistics is text or json, not {output_format}.")

  def once() -> int:
    report = check(request)
    if write_baseline or add_noqa:
      from migrator.cli import known

      return (known.write_baseline if write_baseline else known.add_noqa)(report, request, quiet)
    _print(report, output_format, output_file, statistics)
    if not quiet:
      _summarize(report)
    return 0 if exit_zero and report.exit_code == 1 else report.exit_code

  if watch:
    from migrator.cli import watching

    watching.forever(once, request)
  context.exit(once())


def _refuse_clashes(request: Request, actions: Sequence[str]) -> None:
  if len(actions) > 1:
    raise config.InputError(f"{actions[0]} and {actions[1]} exclude each other.")
  if actions and STDIN in request.paths:
    raise config.InputError(f"{actions[0]} needs files, not stdin.")
  if actions == ["--write-baseline"] and request.diff_base is not None:
    raise config.InputError("--write-baseline and --diff-base exclude each other.")
  if request.config and request.isolated:
    raise config.InputError("--config and --isolated exclude each other.")


def _print(report: Report, style: str, file: Optional[str], statistics: bool) -> None:
  from migrator.cli import output

  if statistics:
    output.statistics(report.findings, style, file)
  else:
    output.findings(report.findings, style, report.problems, file)


def _summarize(report: Report) -> None:
  """The last lines, on stderr so that stdout holds findings only."""
  from migrator.cli import output

  for path, count in report.stale.items():
    click.echo(output.stale(path, count), err=True)
  if report.examined or report.findings:
    click.echo(output.summary(report.findings, len(report.examined), report.known), err=True)
