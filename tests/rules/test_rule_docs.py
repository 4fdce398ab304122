"""docs/rules.md is what the rules say; docs/plugins.md holds a rule that works."""

import re

import pytest

from migrator.lint import docs, engine, rule_examples, rules
from migrator.lint.rule import Match


def test_the_committed_file_is_up_to_date(repository):
  committed = (repository / "docs" / "rules.md").read_text(encoding="utf-8")
  assert committed == docs.document(rules.load()), "run `python -m migrator.lint.docs`"


def test_every_rule_has_its_page_and_its_line_in_the_contents():
  text = docs.document(rules.load())
  for rule in rules.load().values():
    assert f"\n### {rule.name} ({rule.code})\n" in text
    assert f"| [{rule.code}](#{rule.code.lower()}) | {rule.name} |" in text
    assert rule.url in text


def test_every_link_of_the_contents_leads_to_one_place():
  text = docs.document(rules.load())
  places = re.findall(r'<a id="(.*?)"></a>', text)
  assert len(places) == len(set(places))
  assert set(re.findall(r"\]\(#(.*?)\)", text)) == set(places)


def test_the_page_says_what_the_version_did():
  known = rules.load()
  assert "**Removed in**: TensorFlow 2.16" in docs.page(known["EM101"])
  assert "**Broken since**: TensorFlow 2.16" in docs.page(known["EM502"])
  assert "**Removed in**: TensorFlow 2.16" in docs.page(known["EM501"])


@pytest.mark.parametrize(
  ("match", "text"),
  [
    (Match(("a.b", "a.c")), "any use of `a.b` or `a.c`"),
    (Match(("a.b",), at="call"), "calls of `a.b`"),
    (Match(("a.b",), keyword="x"), "calls of `a.b` with `x`"),
    (Match(("a.b",), position=1, none=True), "calls of `a.b` where argument 2 is None"),
    (Match(("a.b",), keyword="x", missing=True), "calls of `a.b` without `x`"),
    (Match(("a.b",), keyword="x", value=(0, "y")), "calls of `a.b` where `x` is `0` or `'y'`"),
    (
      Match(("a.b",), keyword="x", above=0, below=9),
      "calls of `a.b` where `x` is below 9 and is above 0",
    ),
    (Match(("a.b",), keyword="x", pattern="^y"), "calls of `a.b` where `x` matches `^y`"),
  ],
)
def test_what_a_match_flags_in_words(match, text):
  assert docs.describe(match) == text


def _guide(repository):
  return (repository / "docs" / "plugins.md").read_text(encoding="utf-8")


def test_the_rules_of_the_guide_work(repository, tmp_path):
  blocks = re.findall(r"```toml\n(code = .*?)```", _guide(repository), re.DOTALL)
  assert len(blocks) >= 2
  for number, block in enumerate(blocks):
    (tmp_path / f"{number}.toml").write_text(block, encoding="utf-8")
  rules.use([str(tmp_path)])
  try:
    own = [rule for rule in rules.load().values() if rule.plugin]
    assert len(own) == len(blocks)
    assert [rule_examples.failures(rule) for rule in own] == [[]] * len(own)
    # What the guide says that the replacement makes of the first example.
    example = own[0].examples[0]
    found = [f for f in engine.check_text(example.bad, "x.py") if f.code == own[0].code]
    assert rule_examples.fixed(example.bad, found) == example.good
  finally:
    rules.use([])


def test_the_guide_knows_all_keys(repository):
  text = _guide(repository)
  for field in Match._fields:
    assert f"| `{field}` |" in text
