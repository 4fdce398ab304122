"""SARIF 2.1.0, for code scanning services and editors."""

from __future__ import annotations

import json
import os
import pathlib
import urllib.parse
from collections.abc import Sequence
from typing import Any, Optional

from migrator import __version__
from migrator.lint import docs, rules
from migrator.lint.finding import Finding
from migrator.lint.formats import Options, places
from migrator.lint.rules import Rule

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_ROOT = "SRCROOT"


def render(findings: Sequence[Finding], options: Options) -> str:
  """One run, with the rules that have findings, and fixes where a finding has a replacement."""
  codes = sorted({finding.code for finding in findings})
  known = rules.load()
  marks = places.fingerprints(findings, options)
  run = {
    "tool": {
      "driver": {
        "name": "migrator",
        "fullName": "migrator lint",
        "version": __version__,
        "semanticVersion": __version__,
        "rules": [_rule(known[code]) for code in codes],
      }
    },
    "columnKind": "unicodeCodePoints",
    "originalUriBaseIds": {_ROOT: {"uri": _folder_uri(options.root)}},
    "invocations": [_invocation(findings, options)],
    "results": [
      _result(finding, mark, codes.index(finding.code), options)
      for finding, mark in zip(findings, marks)
    ],
  }
  return json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2) + "\n"


def _rule(rule: Rule) -> dict[str, Any]:
  found: dict[str, Any] = {
    "id": rule.code,
    "name": "".join(part.capitalize() for part in rule.name.split("-")),
    "shortDescription": {"text": rule.name.replace("-", " ")},
    "fullDescription": {"text": rule.why},
    "help": {
      "text": f"{rule.why}\n\nInstead: {rule.became}" if rule.became else rule.why,
      "markdown": docs.page(rule),
    },
    "defaultConfiguration": {"level": "error" if places.is_severe_rule(rule) else "warning"},
    "properties": {"fix": rule.fix, "removedIn": rule.removed_in},
  }
  if rule.url:
    found["helpUri"] = rule.url
  return found


def _result(finding: Finding, mark: str, index: int, options: Options) -> dict[str, Any]:
  location: dict[str, Any] = {
    "physicalLocation": {
      "artifactLocation": _artifact(finding.path, options),
      "region": _region(finding),
    }
  }
  text = f"{finding.message}"
  if finding.cell is not None:
    text = f"Cell {finding.cell}, line {finding.span.line}: {text}"
    location["logicalLocations"] = [{"name": f"cell {finding.cell}", "kind": "module"}]
  found = {
    "ruleId": finding.code,
    "ruleIndex": index,
    "level": "error" if places.is_severe(finding) else "warning",
    "message": {"text": text},
    "locations": [location],
    "partialFingerprints": {"migratorLine/v1": mark},
  }
  replacement = _replacement(finding)
  if replacement is not None:
    found["fixes"] = [_fix(finding, replacement, options)]
  return found


def _region(finding: Finding) -> dict[str, Any]:
  span = places.region(finding)
  found: dict[str, Any] = {
    "startLine": span.line,
    "startColumn": span.column + 1,
    "endLine": span.end_line,
    "endColumn": span.end_column + 1,
  }
  if finding.cell is None and span.line == span.end_line:
    text = finding.source[span.column : span.end_column]
    if text:
      found["snippet"] = {"text": text}
  return found


def _replacement(finding: Finding) -> Optional[str]:
  """The text to insert in the file as it stands on disk: for a notebook, into a JSON string."""
  text = finding.replacement
  if text is None or finding.cell is None:
    return text
  if places.region(finding).end_column == 0 or "\n" in text:
    return None
  if finding.span.line != finding.span.end_line:  # lines are strings of their own
    return None
  return json.dumps(text, ensure_ascii=False)[1:-1]


def _fix(finding: Finding, replacement: str, options: Options) -> dict[str, Any]:
  region = {key: value for key, value in _region(finding).items() if key != "snippet"}
  return {
    "description": {"text": f"{finding.name}: replace it ({finding.fix})"},
    "artifactChanges": [
      {
        "artifactLocation": _artifact(finding.path, options),
        "replacements": [{"deletedRegion": region, "insertedContent": {"text": replacement}}],
      }
    ],
  }


def _artifact(path: str, options: Options) -> dict[str, Any]:
  found = places.relative_path(path, options.root)
  if os.path.isabs(found):
    return {"uri": pathlib.Path(found).as_uri()}
  return {"uri": urllib.parse.quote(found, errors="surrogateescape"), "uriBaseId": _ROOT}


def _folder_uri(folder: str) -> str:
  uri = pathlib.Path(os.path.realpath(folder)).as_uri()
  return uri if uri.endswith("/") else uri + "/"


def _invocation(findings: Sequence[Finding], options: Options) -> dict[str, Any]:
  found: dict[str, Any] = {"executionSuccessful": not options.problems}
  if options.problems:
    found["toolExecutionNotifications"] = [
      {"level": "error", "message": {"text": problem}} for problem in options.problems
    ]
  return found
