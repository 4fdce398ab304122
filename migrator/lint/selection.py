"""Which findings of a file are reported: selection, per-file ignores, noqa comments."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Callable, Optional

from migrator.analysis.span import Span
from migrator.lint import noqa as comments
from migrator.lint import rules
from migrator.lint.examined import Directive, Examined
from migrator.lint.finding import Finding

UNUSED_NOQA = "EM006"
# Codes that flake8-errmsg has too; it reports them in `raise` statements only.
_ERRMSG = frozenset(("EM101", "EM102", "EM103"))
_HEAD = r"(?i)#\s*(migrator\s*:\s*)?noqa\s*:\s*"
_OURS = r"EM\d+"
# Whether a path (as the user named it) is meant, and codes or beginnings of them.
PerFileIgnore = tuple[Callable[[str], bool], Sequence[str]]


class Selection:
  """Codes, or beginnings of them; the longest that fits a code decides.

  Attributes:
    select: only these; empty: all.
    extend_select: these too.
    ignore: not these.
  """

  def __init__(
    self,
    select: Sequence[str] = (),
    extend_select: Sequence[str] = (),
    ignore: Sequence[str] = (),
  ):
    self.select = select
    self.extend_select = extend_select
    self.ignore = ignore

  def __contains__(self, code: str) -> bool:
    chosen = _longest(code, self.select) if self.select else 0
    return max(chosen, _longest(code, self.extend_select)) > _longest(code, self.ignore)


def apply(
  examined: Examined,
  *,
  select: Sequence[str] = (),
  ignore: Sequence[str] = (),
  extend_select: Sequence[str] = (),
  per_file_ignores: Sequence[PerFileIgnore] = (),
  noqa: bool = True,
) -> list[Finding]:
  """The findings of a file that are reported, in order.

  What could not be checked at all (`Finding.is_error`) always stays.

  Args:
    examined: what is known of the file.
    select, ignore, extend_select: see `Selection`.
    per_file_ignores: codes that are not reported in some files, whatever is selected.
    noqa: whether noqa comments count. If so, those that silence nothing are findings (EM006).
  """
  if not examined.findings and not examined.directives:
    return []
  chosen = Selection(select, extend_select, ignore)
  ignored = [c for matches, codes in per_file_ignores if matches(examined.path) for c in codes]

  def reported(code: str) -> bool:
    return code in chosen and not code.startswith(tuple(ignored))

  found = [f for f in examined.findings if f.is_error or reported(f.code)]
  if not noqa or not examined.directives:
    return found
  kept = comments.silence(found, examined.directives)
  if reported(UNUSED_NOQA):
    near = _by_line(found)
    unused = [
      _unused(d, examined.path, found if d.whole else _near(d, near), reported)
      for d in examined.directives
    ]
    named = [f for f in unused if f is not None]
    kept += comments.silence(named, examined.directives)
  return sorted(kept, key=Finding.sort_key)


def _longest(code: str, prefixes: Sequence[str]) -> int:
  return max((len(p) for p in prefixes if code.startswith(p)), default=-1)


_Lines = dict[tuple[Optional[int], int], list[Finding]]


def _by_line(findings: Sequence[Finding]) -> _Lines:
  """The findings by cell and each of their two lines."""
  found: _Lines = {}
  for finding in findings:
    for line in {finding.span.line, finding.span.end_line}:
      found.setdefault((finding.cell, line), []).append(finding)
  return found


def _near(directive: Directive, findings: _Lines) -> list[Finding]:
  """The findings that a comment may silence by its place."""
  lines = range(directive.first or directive.line, directive.line + 1)
  return [finding for line in lines for finding in findings.get((directive.cell, line), ())]


def _unused(
  directive: Directive,
  path: str,
  found: Sequence[Finding],
  reported: Callable[[str], bool],
) -> Optional[Finding]:
  """The finding of a comment whose codes silence nothing, or None."""
  if directive.codes is None:
    return None
  known = rules.load()
  idle, unknown = [], []
  for code in dict.fromkeys(directive.codes):
    if code == UNUSED_NOQA or (directive.raises and code in _ERRMSG):
      continue
    if code not in known:
      unknown += [code] if re.fullmatch(_OURS, code) else []
    elif reported(code) and not any(f.code == code and directive.covers(f) for f in found):
      idle.append(code)
  if not idle and not unknown:
    return None
  reasons = []
  if idle:
    where = "in this file" if directive.whole else "here"
    reasons.append(f"{_listed(idle)} {'silences' if len(idle) == 1 else 'silence'} nothing {where}")
  if unknown:
    reasons.append(f"there is no rule {_listed(unknown, 'or')}")
  line, start, end, text = _without(directive, {*idle, *unknown})
  span = Span(line, start, line, end)
  finding = rules.finding(UNUSED_NOQA, span, path, cell=directive.cell, reason="; ".join(reasons))
  return finding._replace(source=directive.source, replacement=text)


def _listed(codes: Sequence[str], word: str = "and") -> str:
  return ", ".join(codes[:-1]) + f" {word} " + codes[-1] if len(codes) > 1 else codes[0]


def _without(directive: Directive, codes: set[str]) -> tuple[int, int, int, str]:
  """The edit that takes codes out of a comment: line, begin and end column, new text."""
  start, end = directive.column, directive.end_column
  text = directive.source[start:end]
  if not set(directive.codes or ()) <= codes:
    head = re.match(_HEAD, text)
    names = text[head.end() :] if head else text
    kept = [c for c in re.split(r"[,\s]+", names) if c.upper() not in codes]
    joint = ", " if re.search(r",\s", names) else "," if "," in names else " "
    return directive.line, start, end, text[: len(text) - len(names)] + joint.join(kept)
  before, rest = directive.source[:start], directive.source[end:]
  if not rest.strip():
    return directive.line, len(before.rstrip()), len(directive.source), ""
  if rest.lstrip().startswith("#"):
    return directive.line, start, len(directive.source) - len(rest.lstrip()), ""
  # An explanation follows: it stays a comment.
  words = rest.lstrip(" \t,:;.-")
  if not words.strip():
    return directive.line, len(before.rstrip()), len(directive.source), ""
  return directive.line, start, len(directive.source) - len(words), "# "
