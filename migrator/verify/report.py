"""Shows a comparison as a table or as JSON."""

from __future__ import annotations

import json
import textwrap

from migrator.verify.compare import Report

VERDICTS = {True: "ok", False: "DIFFERS", None: "-"}


def to_json(report: Report) -> str:
  """Returns the report as a JSON object."""
  document = {
    "equal": report.equal,
    "legacy": report.legacy_label,
    "migrated": report.labels,
    "checks": [
      {
        "name": check.name,
        "legacy": check.legacy,
        "migrated": [{"found": cell.text, "equal": cell.equal} for cell in check.cells],
      }
      for check in report.checks
    ],
    "notes": report.notes,
  }
  return json.dumps(document, indent=2)


def to_text(report: Report) -> str:
  """Returns the report as a table with one line per check, the notes and a verdict."""
  header = ["check", f"legacy, {report.legacy_label}"]
  header += [f"migrated, {label}" for label in report.labels]
  rows = [[*header, ""]]
  for check in report.checks:
    verdicts = [cell.equal for cell in check.cells]
    verdict = False if False in verdicts else None if None in verdicts else True
    rows.append([check.name, check.legacy, *(c.text for c in check.cells), VERDICTS[verdict]])
  widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
  lines = [
    "  ".join(text.ljust(width) for text, width in zip(row, widths)).rstrip() for row in rows
  ]
  lines.insert(1, "  ".join("-" * width for width in widths if width))
  for note in report.notes:
    lines += ["", *textwrap.wrap(f"note: {note}", 100)]
  differing = sum(any(c.equal is False for c in check.cells) for check in report.checks)
  lines.append("")
  if differing:
    lines.append(f"{differing} of {len(report.checks)} checks differ")
  elif any(c.equal is None for check in report.checks for c in check.cells):
    lines.append(
      "The migrated program does what the legacy program did, as far as the two could be compared: "
      "the checks with - could not."
    )
  else:
    lines.append("The migrated program does what the legacy program did.")
  return "\n".join(lines)
