"""docs/rules.md is what the rules say."""

from migrator.lint import docs, rules


def test_the_committed_file_is_up_to_date(repository):
  committed = (repository / "docs" / "rules.md").read_text(encoding="utf-8")
  assert committed == docs.document(rules.load()), "run `python -m migrator.lint.docs`"


def test_every_rule_has_its_page():
  text = docs.document(rules.load())
  for rule in rules.load().values():
    assert f"\n### {rule.name} ({rule.code})\n" in text
    assert f"(#{rule.name}-{rule.code.lower()})" in text
    assert rule.url in text
