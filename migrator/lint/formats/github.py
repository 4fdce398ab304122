"""Annotations of GitHub Actions: workflow commands, one line each."""

from __future__ import annotations

from collections.abc import Sequence

from migrator.lint.finding import Finding
from migrator.lint.formats import Options, places


def render(findings: Sequence[Finding], options: Options) -> str:
  """`::error file=...,line=...::message`; the message begins with the place."""
  lines = []
  for finding in findings:
    level = "error" if places.is_severe(finding) else "warning"
    values = {"title": f"{finding.code} {finding.name}", "file": places.relative(finding, options)}
    values.update(_position(finding))
    properties = ",".join(f"{key}={_property(value)}" for key, value in values.items())
    cell = f"cell {finding.cell}, line {finding.span.line}: " if finding.cell is not None else ""
    text = f"{cell}{finding.code} {finding.message}"
    lines.append(f"::{level} {properties}::{_data(text)}\n")
  return "".join(lines)


def _position(finding: Finding) -> dict[str, str]:
  region = places.region(finding)
  found = {"line": str(region.line), "endLine": str(region.end_line)}
  # The service takes columns only within one line.
  if region.line == region.end_line and region.end_column:
    found.update(col=str(region.column + 1), endColumn=str(region.end_column + 1))
  return found


def _data(text: str) -> str:
  return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
  return _data(text).replace(":", "%3A").replace(",", "%2C")
