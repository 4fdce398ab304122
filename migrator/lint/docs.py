"""The documentation of the rules, made from the rules.

`python -m migrator.lint.docs` writes docs/rules.md of a checkout.
"""

from __future__ import annotations

import dataclasses
import pathlib
import sys
from collections.abc import Mapping
from typing import Any

from migrator.lint import rules
from migrator.lint.rules import Rule

_FIXES = {
  "safe": "safe: a rewrite does the same as before",
  "review": "review: look at what the rewrite changes",
  "manual": "manual: left to a person",
}
_GROUPS = {
  "EM0": "The file itself",
  "EM1": "RunConfig and the checkpoint policy",
  "EM2": "Estimators and input functions",
  "EM3": "Session hooks and listeners",
  "EM4": "Savers and sessions",
  "EM5": "Faults of TF2 code",
  "EM6": "Other readers of a model_dir",
  "EM9": "tf.contrib and private modules",
}


def to_json(rule: Rule) -> dict[str, Any]:
  """The rule as plain values."""
  return dataclasses.asdict(rule)


def page(rule: Rule, level: int = 1) -> str:
  """The rule as Markdown.

  Args:
    rule: the rule.
    level: of its heading.
  """
  mark = "#" * level
  removed = f" TensorFlow {rule.removed_in} removed or broke it." if rule.removed_in else ""
  said = " A rewrite says it, lint does not." if rule.reported_by == "rewrite" else ""
  parts = [
    f"{mark} {rule.name} ({rule.code})",
    rule.message,
    rule.why + removed,
    f"**Instead**: {rule.became}",
    f"**Fix**: {_FIXES[rule.fix]}.{said}",
    f"**Guide**: <{rule.url}>",
  ]
  for example in rule.examples:
    if example.bad:
      parts += ["Flagged:", _block(example.bad)]
    if example.good:
      parts += ["Instead:", _block(example.good)]
    if example.ok:
      parts += ["Not flagged:", _block(example.ok)]
  return "\n\n".join(parts) + "\n"


def document(known: Mapping[str, Rule]) -> str:
  """All rules as one Markdown text."""
  parts = [
    "# Rules",
    "<!-- Made from rules/*.toml by `python -m migrator.lint.docs`. Change those. -->",
    "`{placeholders}` in a message stand for the values at the place of the finding.",
    _contents(known),
  ]
  group = ""
  for rule in known.values():
    if rule.code[:3] != group:
      group = rule.code[:3]
      parts.append(f"## {group}xx: {_GROUPS.get(group, 'Other')}")
    parts.append(page(rule, level=3).rstrip("\n"))
  return "\n\n".join(parts) + "\n"


def _contents(known: Mapping[str, Rule]) -> str:
  rows = ["| code | name | fix | TensorFlow |", "|---|---|---|---|"]
  for rule in known.values():
    anchor = f"{rule.name}-{rule.code.lower()}"
    rows.append(f"| [{rule.code}](#{anchor}) | {rule.name} | {rule.fix} | {rule.removed_in} |")
  return "\n".join(rows)


def _block(code: str) -> str:
  return "```python\n" + code.strip("\n") + "\n```"


def main() -> int:
  """Writes docs/rules.md beside the folder of the rules."""
  target = pathlib.Path(rules.directory()).parent / "docs" / "rules.md"
  if not target.parent.is_dir():
    print(f"{target.parent} does not exist: run this in a checkout", file=sys.stderr)
    return 2
  target.write_text(document(rules.load()), encoding="utf-8")
  return 0


if __name__ == "__main__":
  sys.exit(main())
