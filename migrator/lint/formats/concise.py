"""One line for each finding."""

from __future__ import annotations

from collections.abc import Sequence

from migrator.lint.finding import Finding
from migrator.lint.formats import Options
from migrator.lint.formats.colors import Palette


def render(findings: Sequence[Finding], options: Options) -> str:
  """`path:line:column: CODE message`, with `cell N:` before the line in a notebook."""
  palette = Palette(options.color)
  return "".join(headline(finding, palette) + "\n" for finding in findings)


def headline(finding: Finding, palette: Palette) -> str:
  """The line of one finding; without colors it is `str(finding)`."""
  if not palette:
    return str(finding)
  place, _, rest = str(finding)[len(finding.path) :].partition(f" {finding.code} ")
  return f"{palette.bold(finding.path)}{palette.cyan(place)} {palette.red(finding.code)} {rest}"
