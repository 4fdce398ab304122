"""JUnit XML: a suite for each file, a failed case for each finding."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence
from xml.sax import saxutils

from migrator.lint.finding import Finding
from migrator.lint.formats import Options, places

# What XML 1.0 cannot hold, not even escaped.
_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def render(findings: Sequence[Finding], options: Options) -> str:
  """The report; what could not be read is an error; without findings one case passes."""
  return "".join(line + "\n" for line in _lines(findings, options))


def _lines(findings: Sequence[Finding], options: Options) -> Iterator[str]:
  errors = sum(finding.is_error for finding in findings) + len(options.problems)
  failures = len(findings) + len(options.problems) - errors
  total = max(failures + errors, 1)
  # Everything beyond ASCII is escaped: the encoding of the output does not matter.
  yield '<?xml version="1.0" encoding="UTF-8"?>'
  yield f'<testsuites name="migrator" tests="{total}" failures="{failures}" errors="{errors}">'
  for path, group in itertools.groupby(findings, lambda finding: finding.path):
    yield from _suite(path, list(group), options)
  if options.problems:
    count = len(options.problems)
    yield f'  <testsuite name="not checked" tests="{count}" failures="0" errors="{count}">'
    for problem in options.problems:
      yield f"    <testcase name={_quoted(problem)} classname={_quoted('migrator')}>"
      yield f"      <error message={_quoted(problem)}/>"
      yield "    </testcase>"
    yield "  </testsuite>"
  elif not findings:
    yield '  <testsuite name="migrator" tests="1" failures="0" errors="0">'
    yield '    <testcase name="no findings" classname="migrator"/>'
    yield "  </testsuite>"
  yield "</testsuites>"


def _suite(path: str, findings: Sequence[Finding], options: Options) -> Iterator[str]:
  name = places.relative_path(path, options.root)
  errors = sum(finding.is_error for finding in findings)
  counts = f'tests="{len(findings)}" failures="{len(findings) - errors}" errors="{errors}"'
  yield f"  <testsuite name={_quoted(name)} {counts}>"
  for finding in findings:
    cell = f"cell {finding.cell}, " if finding.cell is not None else ""
    place = f"{cell}line {finding.span.line}, column {finding.span.column + 1}"
    title = f"{finding.code} {finding.name} ({place})"
    kind = "error" if finding.is_error else "failure"
    # The line of a notebook is that of the file, for tools that open it.
    line = places.region(finding).line
    where = f'file={_quoted(name)} line="{line}"'
    yield f"    <testcase name={_quoted(title)} classname={_quoted(name)} {where}>"
    message = f"message={_quoted(finding.message)} type={_quoted(finding.code)}"
    yield f"      <{kind} {message}>{_text(str(finding))}</{kind}>"
    yield "    </testcase>"
  yield "  </testsuite>"


def _quoted(text: str) -> str:
  return _ascii(saxutils.quoteattr(_clean(text)))


def _text(text: str) -> str:
  return _ascii(saxutils.escape(_clean(text)))


def _clean(text: str) -> str:
  return _FORBIDDEN.sub("\N{REPLACEMENT CHARACTER}", text)


def _ascii(text: str) -> str:
  return text.encode("ascii", "xmlcharrefreplace").decode()
