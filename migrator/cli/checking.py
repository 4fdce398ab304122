"""One run of `migrator lint`: from paths and options to a report."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Callable, NamedTuple, Optional

import click

from migrator.cli import config, files
from migrator.cli.progress import progress
from migrator.lint import cache as caches
from migrator.lint import run
from migrator.source import walk

if TYPE_CHECKING:
  from migrator.lint.changed import ChangedLines
  from migrator.lint.examined import Examined
  from migrator.lint.finding import Finding

STDIN = "-"


class Request(NamedTuple):
  """What the command line asks for.

  Attributes:
    paths: files and folders; "-" is stdin; none is the current folder.
    stdin_filename: the name of what stdin holds.
    overrides: selection and files, above the configurations.
    config, isolated: see `config.Settings`.
    force_exclude: leave out excluded files even where they are named.
    noqa: whether noqa comments count.
    jobs: number of processes; None: as many as are of use.
    cache, cache_dir: whether to use the cache, and its folder if it is not the default one.
    baseline: the file of known findings of all files; None: the one of each configuration.
    use_baseline: whether to leave out known findings.
    diff_base: a revision: only findings in what was changed since.
    quiet: whether to say only what is wrong.
  """

  paths: Sequence[str] = ()
  stdin_filename: str = "<stdin>"
  overrides: Optional[config.Overrides] = None
  config: Optional[str] = None
  isolated: bool = False
  force_exclude: bool = False
  noqa: bool = True
  jobs: Optional[int] = None
  cache: bool = True
  cache_dir: Optional[str] = None
  baseline: Optional[str] = None
  use_baseline: bool = True
  diff_base: Optional[str] = None
  quiet: bool = False

  @property
  def named(self) -> list[str]:
    """The paths to search."""
    found = [path for path in self.paths if path != STDIN]
    return found if self.paths else ["."]


class Report:
  """What a run found.

  Attributes:
    settings: the configurations that were in use.
    findings: what is reported, in the order of the files.
    examined: the paths of the files that were examined.
    problems: one line for each thing that could not be examined; they are on stderr already.
    known: how many findings a baseline knows.
    stale: by baseline, how many of its entries no longer occur.
  """

  def __init__(self, settings: config.Settings):
    self.settings = settings
    self.findings: list[Finding] = []
    self.examined: list[str] = []
    self.problems: list[str] = []
    self.known = 0
    self.stale: dict[str, int] = {}

  @property
  def exit_code(self) -> int:
    """0: no findings; 1: findings; 2: something could not be checked at all."""
    if self.problems or any(finding.is_error for finding in self.findings):
      return 2
    return 1 if self.findings else 0

  def by_baseline(self, given: Optional[str]) -> dict[str, list[Finding]]:
    """The findings by the baseline of their files, `given` being that of all."""
    found: dict[str, list[Finding]] = {}
    if given is not None:
      return {given: self.findings}
    for settings in self.settings.configs():
      if settings.baseline is not None:
        found[settings.baseline] = []
    for finding in self.findings if found else ():
      baseline = self.settings.of(finding.path).config.baseline
      if baseline is not None:
        found[baseline].append(finding)
    return found

  def selected(self, baseline: Optional[str]) -> Callable[[str], bool]:
    """A function that says whether codes are selected in all files of a baseline."""
    from migrator.lint.selection import Selection

    chosen = [
      Selection(c.select, c.extend_select, c.ignore)
      for c in map(self.settings.merged, self.settings.configs())
      if baseline is None or c.config.baseline == baseline
    ]
    return lambda code: all(code in selection for selection in chosen)


def check(request: Request) -> Report:
  """Examines files and selects their findings; what cannot be examined is said on stderr.

  Raises:
    InputError: the command line, a configuration, baseline or revision is faulty.
    RuleError: a rule file is faulty.
  """
  settings = config.Settings(request.overrides, request.config, request.isolated)
  report = Report(settings)
  start = settings.start([p for p in request.paths if p != STDIN] or [_stdin_folder(request)])
  listed: list[walk.SourceFile] = []
  if request.named:
    listed, problems = files.collect(
      request.named, settings.excludes_of, settings.is_excluded if request.force_exclude else None
    )
    report.problems += [f"{p.filename}: {p.strerror or p}" for p in problems]
  explicit = {os.path.dirname(file.path) for file in listed if file.explicit}
  if STDIN in request.paths:
    explicit.add(os.path.dirname(request.stdin_filename))
  for folder in sorted(explicit):
    settings.config(folder)
  for problem in settings.problems:
    _complain(report, problem)
  settings.use_rules()
  silent = request.quiet or request.force_exclude or report.problems
  if request.named and not listed and not silent:
    files.say_none(request.named)
  if STDIN in request.paths:
    _examine_stdin(request, report)
  changes = None
  if request.diff_base is not None:
    changes = _changes(request.diff_base, request)
    listed = [file for file in listed if changes.concerns(file.path)]
  cache = caches.Cache(start.root, request.cache_dir or start.cache_dir) if request.cache else None
  outcomes = run.examine_all(listed, jobs=request.jobs, cache=cache)
  for outcome in progress(outcomes, len(listed), "Checking"):
    _take(outcome, request, report)
  if request.use_baseline:
    _leave_out_known(request, report)
  if changes is not None:
    report.findings = changes.filter(report.findings)
  return report


def _stdin_folder(request: Request) -> str:
  return request.stdin_filename if STDIN in request.paths else "."


def _examine_stdin(request: Request, report: Report) -> None:
  name = request.stdin_filename
  if request.force_exclude and report.settings.is_excluded(name):
    return
  _take(run.examine_stdin(sys.stdin.buffer.read(), name), request, report)


def _take(outcome: run.Outcome, request: Request, report: Report) -> None:
  """Adds what became of one file."""
  if outcome.problem is not None:
    _complain(report, outcome.problem)
  if outcome.examined is None:
    return
  report.examined.append(outcome.path)
  if outcome.examined.findings or outcome.examined.directives:
    report.findings += _selected(outcome.examined, request, report.settings)


def _selected(examined: Examined, request: Request, settings: config.Settings) -> list[Finding]:
  from migrator.lint import selection

  chosen = settings.of(examined.path)
  if chosen.foreign:
    findings = tuple(f for f in examined.findings if f.code not in chosen.foreign)
    examined = examined._replace(findings=findings)
  return selection.apply(
    examined,
    select=chosen.select,
    extend_select=chosen.extend_select,
    ignore=chosen.ignore,
    per_file_ignores=chosen.per_file_ignores,
    noqa=request.noqa,
  )


def _leave_out_known(request: Request, report: Report) -> None:
  known: set[int] = set()
  for path, found in report.by_baseline(request.baseline).items():
    from migrator.lint import baseline

    if not os.path.exists(path):
      raise config.InputError(f"baseline {path}: no such file; `--write-baseline` makes it.")
    try:
      filtered = baseline.Baseline.read(path).filter(
        found,
        examined=report.examined,
        within=request.named,
        selected=report.selected(None if request.baseline is not None else path),
      )
    except baseline.BaselineError as error:
      raise config.InputError(f"baseline {error}") from error
    known.update(map(id, filtered.known))
    if filtered.stale:
      report.stale[path] = filtered.stale
  report.known = len(known)
  report.findings = [finding for finding in report.findings if id(finding) not in known]


def _changes(base: str, request: Request) -> ChangedLines:
  from migrator.lint import changed

  first = request.named[0] if request.named else "."
  folder = first if os.path.isdir(first) else os.path.dirname(first) or "."
  try:
    return changed.changed_lines(base, folder)
  except changed.ChangedError as error:
    raise config.InputError(str(error)) from error


def _complain(report: Report, problem: str) -> None:
  report.problems.append(problem)
  click.echo(problem, err=True)
