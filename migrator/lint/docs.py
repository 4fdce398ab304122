"""The documentation of the rules, made from the rules.

`python -m migrator.lint.docs` writes docs/rules.md of a checkout.
"""

from __future__ import annotations

import pathlib
import sys
from collections.abc import Mapping
from typing import Any

from migrator.lint import rule_examples, rules
from migrator.lint.rule import to_plain
from migrator.lint.rules import Match, Rule

_FIXES = {
  "safe": "safe: a rewrite does the same as before",
  "review": "review: look at what the rewrite changes",
  "manual": "manual: left to a person",
}
_GROUPS = {
  "EM0": "The file itself",
  "EM1": "RunConfig and the checkpoint policy",
  "EM2": "Estimators, calls of theirs, input functions",
  "EM3": "Session hooks and listeners",
  "EM4": "Savers, sessions and the rest of TF1's training",
  "EM5": "Faults of TF2 code",
  "EM6": "Reading and warm-starting from checkpoints, other readers of a model_dir",
  "EM9": "tf.contrib, private modules, names that are not certain",
}


def to_json(rule: Rule) -> dict[str, Any]:
  """The rule as plain values; `example_message` is its message for the first example."""
  plain = {**to_plain(rule), "values": dict(rule.values)}
  return {**plain, "example_message": rule_examples.message(rule)}


def page(rule: Rule, level: int = 1) -> str:
  """The rule as Markdown.

  Args:
    rule: the rule.
    level: of its heading.
  """
  parts = [f"{'#' * level} {rule.name} ({rule.code})", rule_examples.message(rule), rule.why]
  if rule.removed_in:
    parts.append(f"**{_since(rule)}**: TensorFlow {rule.removed_in}")
  if rule.became:
    parts.append(f"**Instead**: {rule.became}")
  parts.append(f"**Fix**: {_FIXES[rule.fix]}.")
  if rule.reported_by == "rewrite":
    parts.append("**Reported by**: `migrator rewrite`, not by `migrator lint`.")
  if rule.url:
    parts.append(f"**Guide**: <{rule.url}>")
  if rule.plugin:
    parts.append("**Flags**:\n\n" + "\n".join(f"- {describe(match)}" for match in rule.match))
  for example in rule.examples:
    if example.bad:
      parts += ["Flagged:", _block(example.bad)]
    if example.good:
      parts += ["Instead:", _block(example.good)]
    if example.ok:
      parts += ["Not flagged:", _block(example.ok)]
  return "\n\n".join(parts) + "\n"


def describe(match: Match) -> str:
  """One sentence that says what a `[[match]]` flags."""
  names = " or ".join(f"`{symbol}`" for symbol in match.symbols)
  if not match.calls_only:
    return f"any use of {names}"
  what = f"calls of {names}"
  if not match.about_argument:
    return what
  argument = f"`{match.keyword}`" if match.keyword else f"argument {(match.position or 0) + 1}"
  if match.missing:
    return f"{what} without {argument}"
  conditions = ["is None"] if match.none else []
  if match.value:
    conditions.append("is " + " or ".join(f"`{value!r}`" for value in match.value))
  conditions += [f"is below {match.below}"] if match.below is not None else []
  conditions += [f"is above {match.above}"] if match.above is not None else []
  conditions += [f"matches `{match.pattern}`"] if match.pattern else []
  if not conditions:
    return f"{what} with {argument}"
  return f"{what} where {argument} {' and '.join(conditions)}"


def document(known: Mapping[str, Rule]) -> str:
  """All rules as one Markdown text."""
  parts = [
    "# Rules",
    "<!-- Made from rules/*.toml by `python -m migrator.lint.docs`. Change those. -->",
    "The messages are those of the first example. **Reported by** rewrite: lint does not say it.",
  ]
  groups: dict[str, list[Rule]] = {}
  for rule in known.values():
    groups.setdefault(rule.code[:3], []).append(rule)
  for group, members in groups.items():
    parts += [f"[{_heading(group)}](#{group.lower()})", _contents(members)]
  for group, members in groups.items():
    parts += [_anchor(group), f"## {_heading(group)}"]
    for rule in members:
      parts += [_anchor(rule.code), page(rule, level=3).rstrip("\n")]
  return "\n\n".join(parts) + "\n"


def _heading(group: str) -> str:
  return f"{group}xx: {_GROUPS.get(group, 'Other')}"


def _anchor(code: str) -> str:
  """What a link to a code or group leads to, whatever its heading may become."""
  return f'<a id="{code.lower()}"></a>'


def _contents(members: list[Rule]) -> str:
  rows = ["| code | name | fix | TensorFlow | reported by |", "|---|---|---|---|---|"]
  for rule in members:
    link = f"[{rule.code}](#{rule.code.lower()})"
    cells = (link, rule.name, rule.fix, rule.removed_in, rule.reported_by)
    rows.append("| " + " | ".join(cells) + " |")
  return "\n".join(rows)


def _since(rule: Rule) -> str:
  """What the version of TensorFlow did to what the rule is about.

  Faults of TF2 code, and old syntax, worked until that version; what rules list is gone since.
  """
  return (
    "Broken since" if rule.code.startswith(("EM0", "EM5")) and not rule.symbols else "Removed in"
  )


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
