"""Rewrites documents: from the bytes of a file to its new bytes, a diff and what to say."""

from __future__ import annotations

import ast
import dataclasses
import difflib
import warnings
from collections.abc import Iterable
from typing import Any, Optional, TypeVar

from migrator.analysis.module import Module, Span
from migrator.lint import engine as lint
from migrator.lint import reading, rules
from migrator.lint.finding import Finding
from migrator.rewrite import all_hooks, engine, notebooks, todo
from migrator.rewrite.notebook_cells import LeftWholeError
from migrator.source import document, errors, newlines, parse
from migrator.source.notebook import Notebook

_Result = TypeVar("_Result", engine.UnitResult, all_hooks.HookResult)


@dataclasses.dataclass
class FileResult:
  """What became of one file.

  Attributes:
    path: the file as the user named it.
    raw: its new bytes; None when it stays as it is.
    diff: unified diff, "" when it stays as it is.
    text: its new text; of a notebook the code of all cells, magics replaced by `pass`.
    units: what became of each unit.
    hooks: what became of each hook class.
    findings: notes on what was rewritten and reasons for what was not.
    left: how many units and findings are left to a person.
    unreadable: whether the file cannot be read as Python 3.
    changed_names: its module-level names that the rewrite changes or removes.
    changed_attributes: the attributes that held an estimator, and hold what takes its place.
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
  changed_attributes: frozenset[str] = frozenset()

  @property
  def keeps_model_fn(self) -> bool:
    """Whether a model_fn of the file is rewritten: what it imports has to run with it."""
    kinds = ("Estimator", "TPUEstimator", "module")
    return any(unit.target and unit.kind in kinds for unit in self.units)

  @property
  def stays(self) -> bool:
    """Whether the file is a module of a program, and has names that cannot be replaced."""
    return any(unit.kind == "module" and not unit.target for unit in self.units)

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
      return _notebook(source, options)
    return _rewrite(source, options)
  except errors.SourceError as error:
    return FileResult(path, findings=[lint.error_finding(error)], unreadable=True)
  except RecursionError as error:
    fault = parse.explain(error, "", path)
    return FileResult(path, findings=[lint.error_finding(fault)], unreadable=True)


def _notebook(source: document.Document, options: engine.Options) -> FileResult:
  """Rewrites a notebook, and each program that a cell of it writes to a file, cell by cell."""
  outcome = FileResult(source.path)
  cells: dict[int, str] = {}
  notebook = source.notebook
  assert notebook is not None
  for part in source.parts():
    assert part.notebook is not None
    if not part.notebook.cells:
      continue
    try:
      joined = notebooks.Joined(part.notebook)
      cells.update(_rewrite_cells(joined, source.path, options, outcome))
    except LeftWholeError as error:
      return _left_whole(source, error, outcome)
  for fault in notebook.errors:
    text = _text_of(notebook, fault.cell)
    if reading.may_hide(source, text):
      outcome.findings.append(lint.error_finding(fault, text))
      outcome.left += 1
  outcome.findings = sorted(set(outcome.findings), key=Finding.sort_key)
  if not cells:
    return outcome
  try:
    outcome.raw = source.replace_cells(cells)
    written = document.Document.from_bytes(outcome.raw, source.path)
    notebooks.check_written(source, written, cells)
  except (ValueError, errors.SourceError) as error:
    return _left_whole(source, LeftWholeError(str(error)), outcome)
  except LeftWholeError as error:
    return _left_whole(source, error, outcome)
  outcome.text = written.text
  for number, text in cells.items():
    path = f"{source.path}:cell {number}"
    outcome.diff += _diff(newlines.unify(_text_of(notebook, number)), newlines.unify(text), path)
  return outcome


def _text_of(notebook: Notebook, number: Optional[int]) -> str:
  return next((cell.text for cell in notebook.cells if cell.number == number), "")


def _rewrite_cells(
  joined: notebooks.Joined, path: str, options: engine.Options, outcome: FileResult
) -> dict[int, str]:
  """The new sources of the cells of one program; adds to the outcome what there is to say.

  Raises:
    LeftWholeError: the notebook must stay as it is.
  """
  result = engine.rewrite(joined.text, path, options)
  findings = [joined.relocate(f, result.text) for f in result.findings]
  outcome.units += [_in_cell(unit, joined) for unit in result.units]
  outcome.hooks += [_in_cell(hook, joined) for hook in result.hooks]
  cells: dict[int, str] = {}
  if result.changed:
    gone = notebooks.bound_names(joined.text) - notebooks.bound_names(result.text)
    joined.check_names(sorted(gone | result.changed_names))
    cells = joined.split(result.text)
    cells_of = notebooks.programs(result.text)
    unmarked = _faults(result.text, path, cells_of, ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    if unmarked:
      findings.append(joined.relocate(unmarked, result.text, new=True))
      outcome.hooks = [dataclasses.replace(hook, callback="") for hook in outcome.hooks]
      cells = {}
  outcome.findings += findings
  outcome.left += result.left + (1 if result.changed and not cells else 0)
  return cells


def _in_cell(result: _Result, joined: notebooks.Joined) -> _Result:
  cell, line = joined.locate(result.line)
  return dataclasses.replace(result, cell=cell, line=line)


def _left_whole(
  source: document.Document, error: LeftWholeError, outcome: FileResult
) -> FileResult:
  """EM005 beside what lint finds; nothing of the outcome is done."""
  found = lint.check(source)
  span, cell = Span(1, 0, 1, 1), error.cell
  if cell is None and found:
    span, cell = found[0].span, found[0].cell
  code = errors.NOTEBOOK_NOT_REWRITTEN
  reason = rules.finding(code, span, source.path, cell=cell, reason=error.reason)
  units = [dataclasses.replace(unit, target="") for unit in outcome.units]
  hooks = [dataclasses.replace(hook, callback="") for hook in outcome.hooks]
  left = len(units) + 1
  return FileResult(source.path, units=units, hooks=hooks, findings=[reason, *found], left=left)


def _rewrite(source: document.Document, options: engine.Options) -> FileResult:
  text = newlines.unify(source.text)
  result = engine.rewrite(text, source.path, options)
  outcome = FileResult(source.path, units=result.units, findings=result.findings, left=result.left)
  outcome.hooks = result.hooks
  if not result.changed:
    return outcome
  unmarked = _faults(result.text, source.path, [result.text])
  if unmarked:
    # Never write what would not run without saying so.
    outcome.findings.append(unmarked)
    outcome.left += 1
    outcome.hooks = [dataclasses.replace(hook, callback="") for hook in result.hooks]
    return outcome
  outcome.text = newlines.restore(source.text, result.text, source.newline)
  outcome.raw = source.replace_text(outcome.text)
  outcome.changed_names = result.changed_names
  outcome.changed_attributes = result.changed_attributes
  outcome.diff = _diff(text, result.text, source.path)
  return outcome


def _faults(text: str, path: str, programs: Iterable[str], flags: int = 0) -> Optional[Finding]:
  """Why the output must not be written, or None.

  Args:
    text: the output.
    path: the file.
    programs: what Python gets at once: the output, or its cells.
    flags: of `compile`.
  """
  try:
    with warnings.catch_warnings():
      warnings.simplefilter("ignore")
      for program in programs:
        # More than parsing: `await` outside of a coroutine is found here only.
        compile(program, path, "exec", flags, dont_inherit=True)
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
