"""The rules as a whole."""

from migrator.lint import rules

RULES = rules.load()
GROUPS = ("EM0", "EM1", "EM2", "EM3", "EM4", "EM5", "EM6", "EM9")


def test_lint_has_at_least_45_rules_of_all_groups():
  reported = [rule.code for rule in RULES.values() if rule.reported_by == "lint"]
  assert len(reported) >= 45
  for group in GROUPS:
    assert any(code.startswith(group) for code in reported), group
