"""The files that import a program with a model_fn of its own: its command line, its tests, its tools.

They have no estimator of their own, but make the configurations and specifications that the program
takes, and run in one process with it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from migrator.analysis import units
from migrator.analysis.span import Span
from migrator.lint import rules
from migrator.lint.finding import Finding
from migrator.rewrite import importers, libraries
from migrator.rewrite.files import FileResult


class Drivers:
  """The files that are to follow the programs that they import.

  A file that has to follow by hand, since it or what it imports reads a name that the rewrite of
  another file changes, does not: what stands in for an estimator there need not be a
  `runtime.ModelFn`.

  Args:
    graph: of the imports.
    programs: the files whose model_fn is, or was, rewritten.
    results: what became of each file by itself.
    changed: what the rewrite changes of each file.
    paths: the files of this run.

  Attributes:
    paths: the files that follow.
  """

  def __init__(
    self,
    graph: libraries.ImportGraph,
    programs: Collection[str],
    results: Sequence[FileResult],
    changed: Mapping[str, importers.Changed],
    paths: Iterable[str],
  ):
    self._programs: dict[str, list[str]] = {}
    self._others = frozenset(
      result.path for result in results if any(not _is_custom(unit.kind) for unit in result.units)
    )
    self._by_hand: dict[str, Finding] = {}
    for finding in importers.findings(changed, paths):
      self._by_hand.setdefault(finding.path, finding)
    self._left: dict[str, Finding] = {}
    self.paths: list[str] = []
    for result in results:
      if result.units or result.unreadable or result.path in programs:
        continue
      reached = dict.fromkeys(one.path for one in graph.reached(result.path))
      used = [path for path in reached if path in programs]
      if not used:
        continue
      self._programs[result.path] = used
      reasons = [self._by_hand[p] for p in (result.path, *reached) if p in self._by_hand]
      if reasons:
        self._left[result.path] = reasons[0]
      else:
        self.paths.append(result.path)

  def kept_by(self, program: str) -> Collection[str]:
    """The files that do not change though a program imports them.

    Canned estimators of a file that only a driver imports are as they would be without it.
    """
    return self._others if program in self._programs else ()

  def findings(
    self, left: Mapping[str, Finding], results: Mapping[str, FileResult]
  ) -> Iterator[Finding]:
    """EM915 in each program for each file that imports it and stays.

    Args:
      left: the first reason of each file that could not be rewritten.
      results: what became of each file.
    """
    for path, used in self._programs.items():
      reason = self._left.get(path) or left.get(path)
      if reason is None:
        continue
      where = "" if reason.path == path else f" of {reason.path}"
      why = f"{reason.code} in line {reason.span.line}{where}"
      for program in used:
        line = next((u.line for u in results[program].units if u.target), 1)
        yield rules.finding("EM915", Span(line, 0, line, 1), program, importer=path, reason=why)


def _is_custom(kind: str) -> bool:
  return kind in units.CUSTOM or kind == units.MODULE
