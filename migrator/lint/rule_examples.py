"""The examples of the rules, run: they are the tests of a rule, and the source of its page."""

from __future__ import annotations

import functools
import json
from collections.abc import Iterable
from typing import Optional

from migrator.lint import engine
from migrator.lint.finding import Finding
from migrator.lint.rule import Rule

# Their examples are the cells of a notebook.
_IN_NOTEBOOKS = ("EM004",)


def findings(rule: Rule, text: str) -> list[Finding]:
  """What lint says of the text of an example: of all rules, not only of this one."""
  path = "example.py"
  if rule.code in _IN_NOTEBOOKS:
    path = "example.ipynb"
    lines = text.strip("\n").splitlines(keepends=True)
    cell = {"cell_type": "code", "metadata": {}, "outputs": [], "source": lines}
    text = json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 2})
  return engine.check_bytes(text.encode("utf-8"), path)


def failures(rule: Rule) -> list[str]:
  """What is wrong with the examples of a rule: one line each, [] where all is well."""
  found = []
  for number, example in enumerate(rule.examples, start=1):
    where = f"{rule.code} {rule.name}, example {number}"
    if example.bad:
      found += [f"{where}: {fault}" for fault in _bad(rule, example.bad)]
    for part in ("good", "ok"):
      text = getattr(example, part)
      if text:
        found += [f"{where}: {fault}" for fault in _clean(rule, text, part)]
  return found


@functools.lru_cache(maxsize=512)
def message(rule: Rule) -> str:
  """The rule's message with `rule.values`, else for its first bad example, as a reader sees it."""
  if rule.reported_by == "lint" and not rule.values:
    for example in rule.examples:
      for finding in findings(rule, example.bad) if example.bad else ():
        if finding.code == rule.code:
          return finding.message
  # A placeholder without a value stays as it is.
  return rule.format({**{name: f"{{{name}}}" for name in rule.placeholders}, **dict(rule.values)})


def fixed(text: str, found: Iterable[Finding]) -> Optional[str]:
  """The text with the replacements of findings; None where no finding has one."""
  edits = [f for f in found if f.replacement is not None]
  if not edits:
    return None
  lines = text.splitlines(keepends=True)
  starts = [0]
  for line in lines:
    starts.append(starts[-1] + len(line))
  done = len(text) + 1
  for finding in sorted(edits, key=Finding.sort_key, reverse=True):
    span = finding.span
    start, end = starts[span.line - 1] + span.column, starts[span.end_line - 1] + span.end_column
    if end <= done:  # what overlaps waits for the next time
      text = text[:start] + (finding.replacement or "") + text[end:]
      done = start
  return text


def _bad(rule: Rule, text: str) -> list[str]:
  found = findings(rule, text)
  mine = [f for f in found if f.code == rule.code]
  if rule.reported_by != "lint":
    # Lint must be able to read the example, and not guess what only a rewrite can know.
    return [f"lint reports 'bad' (line {f.span.line})" for f in mine] + _errors(found, "'bad'")
  if not mine:
    return ["'bad' is not reported", *_errors(found, "'bad'")]
  places = [f.span for f in mine]
  faults = []
  if len(places) != len(set(places)):
    faults.append("'bad' is reported twice at one place")
  if not rule.code.startswith("EM0"):
    faults += _errors(found, "'bad'")
  changed = None if rule.code in _IN_NOTEBOOKS else fixed(text, mine)
  if changed is not None:
    after = findings(rule, changed)
    faults += _errors(after, "what the replacement makes of 'bad'")
    left = [f for f in after if f.code == rule.code]
    if len(left) > sum(f.replacement is None for f in mine):
      faults.append(f"the replacement leaves it reported (line {left[-1].span.line})")
  return faults


def _clean(rule: Rule, text: str, part: str) -> list[str]:
  found = findings(rule, text)
  mine = [f for f in found if f.code == rule.code]
  return [f"{part!r} is reported (line {f.span.line})" for f in mine] + _errors(found, f"{part!r}")


def _errors(found: Iterable[Finding], part: str) -> list[str]:
  return [f"{part} cannot be read: {f.message}" for f in found if f.is_error]
