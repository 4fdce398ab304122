"""From a document to its findings."""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Iterator, Mapping, Sequence
from typing import Optional

from migrator.analysis.module import Module, Span
from migrator.lint import rules
from migrator.lint.checks import backup, checkpoints, inputs, names, registry, run_config
from migrator.lint.finding import Finding
from migrator.source import document, errors, parse

# Imported for their registration.
_TOPICS = (backup, checkpoints, inputs, names, run_config)
_NOQA = re.compile(
  r"#\s*noqa(?P<colon>:\s*(?P<codes>[A-Z]+[0-9]+(?:[,\s]+[A-Z]+[0-9]+)*))?(?![\w:])", re.I
)


def check_file(path: str, *, gate: bool = False) -> list[Finding]:
  """Findings of one file; also EM0xx for one that cannot be read as Python.

  Args:
    path: the file.
    gate: look at the file only if it mentions TensorFlow, Keras or an estimator at all.

  Raises:
    OSError: the file cannot be read.
  """
  with open(path, "rb") as file:
    raw = file.read()
  if gate and not document.mentions(raw):
    return []
  return check_bytes(raw, path)


def check_bytes(raw: bytes, path: str) -> list[Finding]:
  """Findings of the bytes of a file; see `check_file`."""
  try:
    return check(document.Document.from_bytes(raw, path))
  except errors.SourceError as error:
    return [error_finding(error)]


def check_text(text: str, path: str) -> list[Finding]:
  """Findings of a text that is in no file yet."""
  return check(document.Document.from_text(text, path))


def check(source: document.Document) -> list[Finding]:
  """Findings of a document, in order, without those that a `# noqa` comment silences."""
  found = []
  if source.notebook is not None:
    found = [error_finding(error) for error in source.notebook.errors]
  try:
    module = Module(source.text, source.path)
  except parse.FAULTS as error:
    return [error_finding(parse.explain(error, source.text, source.path))]
  try:
    reports = list(_reports(module))
  except RecursionError as error:
    return [error_finding(parse.explain(error, source.text, source.path))]
  silenced = _noqa(source.text) if reports else {}
  for report in reports:
    if not _is_silenced(report, silenced):
      found.append(_finding(report, source))
  return sorted(set(found), key=Finding.sort_key)


def error_finding(error: errors.SourceError) -> Finding:
  """The finding of a file, or a cell, that cannot be read as Python."""
  span = Span(error.line, error.column, error.line, error.column + 1)
  return rules.finding(
    error.code, span, error.path, cell=error.cell, reason=error.reason, what=error.reason
  )


def is_error(finding: Finding) -> bool:
  """Whether a finding means that something could not be checked at all."""
  return finding.code.startswith("EM0")


def selected(
  found: Sequence[Finding], select: Sequence[str] = (), ignore: Sequence[str] = ()
) -> list[Finding]:
  """The findings whose code begins with one of `select` (empty: all) and none of `ignore`.

  The longest prefix that fits decides. What could not be read at all always stays.
  """

  def keep(finding: Finding) -> bool:
    chosen = _longest(finding.code, select) if select else 0
    return is_error(finding) or chosen > _longest(finding.code, ignore)

  return [finding for finding in found if keep(finding)]


def _longest(code: str, prefixes: Sequence[str]) -> int:
  return max((len(p) for p in prefixes if code.startswith(p)), default=-1)


def _reports(module: Module) -> Iterator[registry.Report]:
  context = registry.Context(module, rules.load())
  for check_function in registry.CHECKS:
    yield from check_function(context)


def _finding(report: registry.Report, source: document.Document) -> Finding:
  span = report.span
  values = dict(report.values)
  cell, line = source.locate(span.line)
  if cell is not None:
    last = line + span.end_line - span.line
    span = Span(line, span.column, last, span.end_column)
    if "line" in values:  # another place that the message names
      other, number = source.locate(values["line"])
      values["line"] = f"{number} of cell {other}"
  return rules.finding(report.code, span, source.path, cell=cell, **values)


def _is_silenced(report: registry.Report, silenced: Mapping[int, Optional[frozenset]]) -> bool:
  for line in (report.span.line, report.span.end_line):
    if line in silenced:
      codes = silenced[line]
      if codes is None or report.code in codes:
        return True
  return False


def _noqa(text: str) -> dict[int, Optional[frozenset]]:
  """Lines with a noqa comment: the codes that it names, None for all."""
  if "noqa" not in text.lower():
    return {}
  found: dict[int, Optional[frozenset]] = {}
  try:
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
      if token.type == tokenize.COMMENT:
        match = _NOQA.search(token.string)
        if match:
          codes = match["codes"]
          listed = frozenset(re.split(r"[,\s]+", codes.upper())) if codes else None
          found[token.start[0]] = listed
  except (tokenize.TokenError, IndentationError):
    return found  # Python parsed what its tokenizer does not read: the comments so far count
  return found
