"""Where a finding is, in the words of the machine formats."""

from __future__ import annotations

import functools
import hashlib
import os
from collections import Counter
from collections.abc import Mapping, Sequence

from migrator.analysis.span import Span
from migrator.lint import rules
from migrator.lint.finding import Finding
from migrator.lint.formats import Options
from migrator.source import cells

# What raises in every TensorFlow.
_RAISES = frozenset(("EM102", "EM113", "EM225", "EM507", "EM511"))


def relative(finding: Finding, options: Options) -> str:
  """The finding's path from the root, with slashes; the absolute path where it is not below it."""
  return relative_path(finding.path, options.root)


def relative_path(path: str, root: str) -> str:
  """A path from the root, with slashes; the absolute path where it is not below it."""
  if path.startswith("<"):  # stdin without a name
    return path.strip("<>")
  return _relative(os.path.abspath(path), os.path.abspath(root))


@functools.lru_cache(maxsize=1024)
def _relative(path: str, root: str) -> str:
  absolute = os.path.realpath(path)
  base = os.path.realpath(root)
  try:
    inside = os.path.commonpath((absolute, base)) == base
  except ValueError:  # on another drive
    inside = False
  found = os.path.relpath(absolute, base) if inside else path
  return found.replace(os.sep, "/")


def region(finding: Finding) -> Span:
  """The place in the file as it stands on disk: for a notebook, in its JSON.

  Where that cannot be told (a notebook from stdin) it is the first line.
  """
  if finding.cell is None:
    return finding.span
  span = finding.span
  try:
    status = os.stat(finding.path)
    text, sources = _notebook(finding.path, status.st_mtime_ns, status.st_size)
    source = sources[finding.cell]
    begin = source.offset(text, span.line, span.column)
    try:
      end = source.offset(text, span.end_line, span.end_column)
    except IndexError:  # one character, behind the end of the line
      end = begin
  except (OSError, ValueError, KeyError, IndexError):
    return Span(1, 0, 1, 0)
  return Span(*_position(text, begin), *_position(text, end))


@functools.lru_cache(maxsize=4)
def _notebook(path: str, changed: int, size: int) -> tuple[str, Mapping[int, cells.Source]]:
  with open(path, encoding="utf-8-sig", newline="") as file:
    text = file.read()
  return text, cells.sources(text)


def _position(text: str, offset: int) -> tuple[int, int]:
  """1-based line and 0-based column."""
  return text.count("\n", 0, offset) + 1, offset - (text.rfind("\n", 0, offset) + 1)


def is_severe(finding: Finding) -> bool:
  """Whether code does not work (in some TensorFlow), or could not be read at all."""
  return finding.is_error or is_severe_rule(rules.load()[finding.code])


def is_severe_rule(rule: rules.Rule) -> bool:
  """Whether a rule is about what does not work: in some TensorFlow, or in any."""
  return bool(rule.removed_in) or rule.code in _RAISES


def fingerprints(findings: Sequence[Finding], options: Options) -> list[str]:
  """A fingerprint of each finding that stays when its lines move.

  Made of path, code and line of source; equal ones in a file are counted, so that each differs.
  """
  seen: Counter = Counter()
  found = []
  for finding in findings:
    key = (relative(finding, options), finding.code, " ".join(finding.source.split()))
    seen[key] += 1
    data = "\0".join((*key, str(seen[key]))).encode("utf-8", "surrogatepass")
    found.append(hashlib.sha256(data).hexdigest()[:32])
  return found
