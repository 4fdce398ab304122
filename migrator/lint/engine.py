"""From a document to its findings."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from typing import Optional

from migrator.analysis.module import Module, Span
from migrator.lint import noqa, reading, rules, selection
from migrator.lint.checks import registry
from migrator.lint.examined import Examined
from migrator.lint.finding import Finding
from migrator.source import document, errors, newlines, parse


def examine_file(path: str, *, gate: bool = False) -> Examined:
  """Examines a file; one that cannot be read as Python has findings of EM0xx.

  Args:
    path: the file.
    gate: look only at what can hold a finding; see `reading`.

  Raises:
    OSError: the file cannot be read.
  """
  with open(path, "rb") as file:
    return examine_bytes(file.read(), path, gate=gate)


def examine_bytes(raw: bytes, path: str, *, gate: bool = False) -> Examined:
  """Examines the bytes of a file; see `examine_file`."""
  if gate and not passes_gate(raw) and not noqa.mentions(raw):
    return Examined(path)
  try:
    return examine(document.Document.from_bytes(raw, path), gate=gate)
  except errors.SourceError as error:
    return Examined(path, (error_finding(error),))


def examine(source: document.Document, *, gate: bool = False) -> Examined:
  """Examines a document; see `examine_file`."""
  found = []
  if source.notebook is not None:
    texts = {cell.number: cell.text for cell in source.notebook.cells}
    for error in source.notebook.errors:
      text = texts.get(error.cell or 0, "")
      if not gate or reading.may_hide(source, text):
        found.append(error_finding(error, text))
  read: Optional[reading.Reading] = None
  collecting = gc.isenabled()
  gc.disable()  # a syntax tree is many objects and no garbage
  try:
    for part in source.parts():
      read = reading.parts(part) if gate else reading.whole(part)
      if read is not None:
        found += [_finding(report, read.module, part) for report in _reports(read)]
        read.module.release()
  except parse.FAULTS as error:
    fault = parse.explain(error, source.text, source.path)
    return Examined(source.path, (error_finding(fault, source.text),))
  finally:
    read = None  # or the collector would go through the tree at once
    if collecting:
      gc.enable()
  findings = tuple(sorted(set(found), key=Finding.sort_key))
  if gate and not findings and not noqa.mentions(source.raw):
    return Examined(source.path)
  return Examined(source.path, findings, noqa.parse(source))


def passes_gate(raw: bytes) -> bool:
  """Whether bytes, or a part of a file, say anything that a rule may be about."""
  return reading.interest().mentions(raw)


def check_file(path: str, *, gate: bool = False) -> list[Finding]:
  """Findings of one file that no `# noqa` comment silences; see `examine_file`."""
  return _check(examine_file(path, gate=gate))


def check_bytes(raw: bytes, path: str) -> list[Finding]:
  """Findings of the bytes of a file; see `check_file`."""
  return _check(examine_bytes(raw, path))


def check(source: document.Document) -> list[Finding]:
  """Findings of a document that no `# noqa` comment silences."""
  return _check(examine(source))


def check_text(text: str, path: str) -> list[Finding]:
  """Findings of a text that is in no file yet."""
  return check(document.Document.from_text(text, path))


def _check(examined: Examined) -> list[Finding]:
  return selection.apply(examined)


def error_finding(error: errors.SourceError, text: str = "") -> Finding:
  """The finding of a file, or a cell, that cannot be read as Python.

  Args:
    error: what is wrong.
    text: the text of the file or the cell, to show the line.
  """
  span = Span(error.line, error.column, error.line, error.column + 1)
  found = rules.finding(
    error.code, span, error.path, cell=error.cell, reason=error.reason, what=error.reason
  )
  lines = newlines.unify(text).split("\n")
  return found._replace(source=lines[min(error.line, len(lines)) - 1])


def _reports(read: reading.Reading) -> Iterator[registry.Report]:
  context = registry.Context(read.module, rules.load())
  for entry in read.checks:
    yield from entry.function(context)


def _finding(report: registry.Report, module: Module, source: document.Document) -> Finding:
  span = report.span
  values = dict(report.values)
  text = module.parser_lines[span.line - 1] if span.line <= len(module.parser_lines) else ""
  cell, line = source.locate(span.line)
  if cell is not None:
    last = line + span.end_line - span.line
    span = Span(line, span.column, last, span.end_column)
    assert source.notebook is not None
    text = source.notebook.source_line(cell, line)
    if "line" in values:  # another place that the message names
      other, number = source.locate(values["line"])
      values["line"] = f"{number} of cell {other}"
  found = rules.finding(report.code, span, source.path, cell=cell, **values)
  return found._replace(source=text, replacement=report.replacement)
