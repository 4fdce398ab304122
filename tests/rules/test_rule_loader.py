"""Reading rule files: what is wrong is named; messages need their values."""

import os

import pytest

from migrator.analysis.module import Span
from migrator.lint import rules

SPAN = Span(3, 4, 3, 9)
GOOD = """
code = "EM199"
name = "a-rule"
message = "`{symbol}` is gone."
why = "Because."
became = "Something."
removed_in = "2.16"
url = "https://example.org"
fix = "safe"
symbols = ["tf.a.*"]

[[examples]]
bad = "import tensorflow"
"""


def _read(tmp_path, text):
  path = tmp_path / "EM199-a-rule.toml"
  path.write_text(text, encoding="utf-8")
  return rules.read(path)


def test_a_good_rule(tmp_path):
  rule = _read(tmp_path, GOOD)
  assert (rule.code, rule.name, rule.fix) == ("EM199", "a-rule", "safe")
  assert rule.symbols == ("tf.a.*",)
  assert rule.placeholders == {"symbol"}
  assert rule.reported_by == "lint"


@pytest.mark.parametrize(
  ("old", "new", "message"),
  [
    ('code = "EM199"', 'code = "EM1"', "'code' must be EM and three digits"),
    ('code = "EM199"', "", "'code' is missing"),
    ('name = "a-rule"', 'name = "A Rule"', "'name' must be in kebab-case"),
    ('fix = "safe"', 'fix = "always"', "'fix' must be one of safe, review, manual"),
    ('why = "Because."', 'why = " "', "'why' is empty"),
    ('why = "Because."', "why = 3", "5: 'why' must be a string, is 3"),
    ("is gone.", "{is gone.", "'message' is no format string"),
    ('fix = "safe"', 'fix = "safe"\nfixes = 1', "unknown key 'fixes'; do you mean 'fix'?"),
    ('["tf.a.*"]', '["tf.*.a"]', "'symbols' must be"),
    ('["tf.a.*"]', '"tf.a"', "'symbols' must be"),
    (
      'bad = "import tensorflow"',
      'worse = "x"',
      "13: unknown key 'worse' in [[examples]]; known are bad",
    ),
    ('bad = "import tensorflow"', 'good = "x"', "needs 'bad' or 'ok'"),
    ('[[examples]]\nbad = "import tensorflow"', "", "at least one"),
    ('fix = "safe"', 'fix = "safe"\nreported_by = "me"', "'reported_by' must be"),
    ('fix = "safe"', "fix = safe", "line 9"),
  ],
)
def test_a_faulty_rule_names_the_file_and_the_key(tmp_path, old, new, message):
  assert old in GOOD
  with pytest.raises(rules.RuleError) as caught:
    _read(tmp_path, GOOD.replace(old, new))
  assert "EM199-a-rule.toml" in str(caught.value)
  assert message in str(caught.value)


@pytest.mark.parametrize(
  ("text", "message"),
  [(GOOD, "code EM199 is already taken"), (GOOD.replace("EM199", "EM198"), "name 'a-rule'")],
)
def test_codes_and_names_are_unique(tmp_path, text, message):
  (tmp_path / "a.toml").write_text(GOOD)
  (tmp_path / "b.toml").write_text(text)
  with pytest.raises(rules.RuleError, match=message):
    rules.load(str(tmp_path))


def test_an_empty_folder(tmp_path):
  with pytest.raises(rules.RuleError, match="no rule files"):
    rules.load(str(tmp_path))


def test_a_finding_has_the_message_of_its_rule():
  found = rules.finding("EM106", SPAN, "a.py", keyword="protocol")
  assert found.message == rules.load()["EM106"].message.replace("{keyword}", "protocol")
  assert (found.code, found.name, found.path, found.span) == (
    "EM106",
    "run-config-keyword",
    "a.py",
    SPAN,
  )
  assert str(found).startswith("a.py:3:5: EM106 ")


@pytest.mark.parametrize("code", [c for c, r in rules.load().items() if r.placeholders])
def test_a_missing_value_is_an_error(code):
  needed = rules.load()[code].placeholders
  with pytest.raises(rules.RuleError, match=f"{code}: the message needs"):
    rules.finding(code, SPAN, "a.py")
  with pytest.raises(rules.RuleError, match="needs"):
    rules.finding(code, SPAN, "a.py", **dict.fromkeys(sorted(needed)[1:], "x"))
  assert "{" not in rules.finding(code, SPAN, "a.py", **dict.fromkeys(needed, "x")).message


def test_an_unknown_code():
  with pytest.raises(rules.RuleError, match="no rule EM999"):
    rules.finding("EM999", SPAN, "a.py")


@pytest.mark.parametrize("rule", rules.load().values(), ids=lambda r: r.code)
def test_files_are_named_after_their_rule(rule):
  assert os.path.isfile(os.path.join(rules.directory(), f"{rule.code}-{rule.name}.toml"))


@pytest.mark.parametrize("rule", rules.load().values(), ids=lambda r: r.code)
def test_messages_are_one_sentence(rule):
  assert rule.message.endswith((".", "`"))
  assert ". " not in rule.message
  assert rule.url.startswith("https://")


def test_the_fingerprint_changes_with_the_rules(tmp_path):
  before = rules.fingerprint()
  assert before == rules.fingerprint()
  (tmp_path / "ACME001-x.toml").write_text("code = 1\n")
  try:
    rules.use(["."], root=str(tmp_path))
    changed = rules.fingerprint()
    (tmp_path / "ACME001-x.toml").write_text("code = 2\n")
    assert len({before, changed, rules.fingerprint()}) == 3
  finally:
    rules.use([])
  assert rules.fingerprint() == before
