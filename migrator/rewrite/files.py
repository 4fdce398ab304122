"""Rewrites documents: from the bytes of a file to its new bytes, a diff and what to say."""

from __future__ import annotations

import dataclasses
import difflib
import warnings
from typing import Any, Optional

from migrator.analysis.module import Module, Span
from migrator.lint import engine as lint
from migrator.lint import rules
from migrator.lint.finding import Finding
from migrator.rewrite import all_hooks, engine, todo
from migrator.source import document, errors, newlines, parse


@dataclasses.dataclass
class FileResult:
  """What became of one file.

  Attributes:
    path: the file as the user named it.
    raw: its new bytes; None when it stays as it is.
    diff: unified diff, "" when it stays as it is.
    text: its new text.
    units: what became of each unit.
    hooks: what became of each hook class.
    findings: notes on what was rewritten and reasons for what was not.
    left: how many units and findings are left to a person.
    unreadable: whether the file cannot be read as Python 3.
    changed_names: its module-level names that the rewrite changes or removes.
  """

  path: str
  raw: Optional[bytes] = None
  diff: str = ""
  text: str = ""
  units: list[engine.UnitResult] = dataclasses.field(default_factory=list)
  hooks: list[all_hooks.HookResult] = dataclasses.field(default_factory=list)
  findings: list[Finding] = dataclasses.field(default_factory=list)
  left: int = 0
  unreadable: bool = False
  changed_names: frozenset[str] = frozenset()

  def to_json(self) -> dict[str, Any]:
    return {
      "path": self.path,
      "changed": self.raw is not None,
      "unreadable": self.unreadable,
      "left": self.left,
      "units": [unit.to_json() for unit in self.units],
      "hooks": [hook.to_json() for hook in self.hooks],
      "findings": [finding.to_json() for finding in self.findings],
    }


def rewrite_bytes(raw: bytes, path: str, options: engine.Options) -> FileResult:
  """Rewrites the bytes of one file. Faults of the file are findings, not exceptions."""
  try:
    source = document.Document.from_bytes(raw, path)
    fault = source.check()
    if fault is not None:
      raise fault
    if source.is_notebook:
      return _notebook(source)
    return _rewrite(source, options)
  except errors.SourceError as error:
    return FileResult(path, findings=[lint.error_finding(error)], unreadable=True)
  except RecursionError as error:
    fault = parse.explain(error, "", path)
    return FileResult(path, findings=[lint.error_finding(fault)], unreadable=True)


def _notebook(source: document.Document) -> FileResult:
  """Notebooks are checked only: EM005 beside what lint finds."""
  found = lint.check(source)
  if not found:
    return FileResult(source.path)
  first = found[0]
  left = rules.finding(errors.NOTEBOOK_NOT_REWRITTEN, first.span, source.path, cell=first.cell)
  return FileResult(source.path, findings=[left, *found], left=1)


def _rewrite(source: document.Document, options: engine.Options) -> FileResult:
  text = newlines.unify(source.text)
  result = engine.rewrite(text, source.path, options)
  outcome = FileResult(source.path, units=result.units, findings=result.findings, left=result.left)
  outcome.hooks = result.hooks
  if not result.changed:
    return outcome
  unmarked = _faults(result.text, source.path)
  if unmarked:
    # Never write what would not run without saying so.
    outcome.findings.append(unmarked)
    outcome.left += 1
    outcome.hooks = [dataclasses.replace(hook, callback="") for hook in result.hooks]
    return outcome
  outcome.text = newlines.restore(source.text, result.text, source.newline)
  outcome.raw = source.replace_text(outcome.text)
  outcome.changed_names = result.changed_names
  outcome.diff = _diff(text, result.text, source.path)
  return outcome


def _faults(text: str, path: str) -> Optional[Finding]:
  """Why the output must not be written, or None."""
  try:
    with warnings.catch_warnings():
      warnings.simplefilter("ignore")
      # More than parsing: `await` outside of a coroutine is found here only.
      compile(text, path, "exec", dont_inherit=True)
    module = Module(text, path)
  except SyntaxError as error:
    span = Span(1, 0, 1, 1)
    what = f"the rewritten file would not compile ({error.msg}, line {error.lineno})"
    return rules.finding("EM220", span, path, what=what)
  statements = todo.unmarked(text, path)
  if not statements:
    return None
  what = "a removed name would stay without a mark"
  return rules.finding("EM220", module.span(statements[0]), path, what=what)


def _diff(before: str, after: str, path: str) -> str:
  lines = difflib.unified_diff(_lines(before), _lines(after), path, path)
  return "".join(
    line if line.endswith("\n") else line + "\n\\ No newline at end of file\n" for line in lines
  )


def _lines(text: str) -> list[str]:
  """Lines with their ends; a form feed ends none, as for `patch`."""
  return [line + "\n" for line in text.split("\n")[:-1]] + [
    line for line in text.split("\n")[-1:] if line
  ]
