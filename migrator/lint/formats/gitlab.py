"""GitLab's code quality report."""

from __future__ import annotations

import json
from collections.abc import Sequence

from migrator.lint.finding import Finding
from migrator.lint.formats import Options, places


def render(findings: Sequence[Finding], options: Options) -> str:
  """The findings as a JSON list, each with a fingerprint that moved lines do not change."""
  found = []
  marks = places.fingerprints(findings, options)
  for finding, mark in zip(findings, marks):
    region = places.region(finding)
    cell = f" (cell {finding.cell}, line {finding.span.line})" if finding.cell is not None else ""
    found.append(
      {
        "check_name": finding.code,
        "description": f"{finding.code} {finding.message}{cell}",
        "severity": "major" if places.is_severe(finding) else "minor",
        "fingerprint": mark,
        "location": {
          "path": places.relative(finding, options),
          "positions": {
            "begin": {"line": region.line, "column": region.column + 1},
            "end": {"line": region.end_line, "column": region.end_column + 1},
          },
        },
      }
    )
  return json.dumps(found, indent=2) + "\n"
