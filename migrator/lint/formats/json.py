"""A list of objects."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from migrator.lint import rules
from migrator.lint.finding import Finding
from migrator.lint.formats import Options


def render(findings: Sequence[Finding], options: Options) -> str:
  """The findings as a JSON list; see `Finding.to_json`, and each rule's `url`."""
  return json.dumps([_object(finding) for finding in findings], indent=2) + "\n"


def _object(finding: Finding) -> dict[str, Any]:
  return {
    **finding.to_json(),
    "replacement": finding.replacement,
    "url": rules.load()[finding.code].url,
  }
