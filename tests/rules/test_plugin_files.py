"""Rule files of a team: what is wrong in them is named with its line."""

import json
import re

import pytest

from migrator.lint import rule, rule_file, rules

GOOD = """code = "ACME001"
name = "a-rule"
message = "`{name}` has {keyword}={value}."
why = "Because."

[[match]]
symbols = ["acme.training.make"]
keyword = "steps"
value = 0
at = "call"
replacement = "{symbol}({arguments}, {argument:steps})"

[[match]]
symbols = ["acme.training.*", "tf.compat.v1.train.Saver"]
keyword = "steps"
below = 5

[[examples]]
ok = "x = 1"
"""


@pytest.fixture
def load(tmp_path):
  """A function that puts the text of a rule file in use, and loads all rules."""

  def load_text(text, name="own.toml"):
    (tmp_path / name).write_text(text, encoding="utf-8")
    rules.use(["."], root=str(tmp_path))
    return rules.load()

  yield load_text
  rules.use([])


def test_a_good_rule_stands_behind_ours_and_has_defaults(load):
  known = load(GOOD)
  assert list(known)[-1] == "ACME001"
  own = known["ACME001"]
  assert (own.plugin, known["EM101"].plugin) == (True, False)
  assert (own.fix, own.url, own.became, own.removed_in, own.reported_by) == (
    *("manual", "", "", ""),
    "lint",
  )
  assert own.match[1].symbols == ("acme.training.*", "tf.train.Saver")
  assert own.words == ("Saver", "make", "training")


def test_a_rule_survives_json(load):
  for known in load(GOOD).values():
    assert rule.from_plain(json.loads(json.dumps(rule.to_plain(known)))) == known


@pytest.mark.parametrize(
  ("old", "new", "message"),
  [
    ("ACME001", "EM950", ":1: 'code' must not begin with EM"),
    ("ACME001", "Em950", ":1: 'code' must not begin with EM"),
    ("ACME001", "acme-1", ":1: 'code' must be capital letters and then digits"),
    ('why = "Because."', "", "own.toml: 'why' is missing"),
    ('why = "Because."', 'reason = "x"', ":4: unknown key 'reason'; known are"),
    ('why = "Because."', 'why = "Because."\nexample = 1', ":5: unknown key 'example'; do you mean"),
    ('why = "Because."', 'why = ""', ":4: 'why' is empty"),
    ('why = "Because."', 'why = "x"\nurl = "wiki"', ":5: 'url' must begin with https://"),
    (
      'why = "Because."',
      'why = "x"\nsymbols = ["a"]',
      ":5: 'symbols' of a rule of your own belongs",
    ),
    ("[[match]]", "[[matches]]", "unknown key 'matches'; do you mean 'match'?"),
    ("{value}.", "{valeu}.", ":3: 'message' cannot have {valeu}: [[match]] 1 knows {symbol}"),
    ("{value}.", "{value!r}.", ":3: 'message' is no format string"),
    ("{value}.", "{value.", ":3: 'message' is no format string"),
    ("below = 5", "below = '5'", ":16: 'below' in [[match]] must be a number, is '5'"),
    ("below = 5", "below = true", ":16: 'below' in [[match]] must be a number, is True"),
    ("below = 5", "bellow = 5", ":16: unknown key 'bellow' in [[match]]; do you mean 'below'?"),
    ("below = 5", "missing = true\nnone = true", ":16: 'missing' and 'none' exclude each other"),
    ("below = 5", "value = []", ":16: 'value' must be strings, numbers, true or false"),
    ("below = 5", "value = [[1]]", ":16: 'value' must be strings, numbers, true or false"),
    ("below = 5", "pattern = '('", ":16: 'pattern' is no regular expression"),
    ("below = 5", "position = -1", ":16: 'position' must be a number from 0"),
    ("below = 5", 'at = "line"', ":16: 'at' must be one of name, call, argument, value"),
    ("below = 5", 'missing = true\nat = "value"', ":17: 'at' = 'value' needs an argument"),
    ("below = 5", "missing = true", ":3: 'message' cannot have {value}: [[match]] 2 knows"),
    ('"tf.compat.v1.train.Saver"', '"tf-x"', ":14: 'symbols' must be a list of dotted names"),
    ('keyword = "steps"\nbelow', 'keyword = "a b"\nbelow', ":15: 'keyword' must be a name"),
    ('keyword = "steps"\nbelow', "below", ":15: 'below' needs 'keyword' or 'position'"),
    ('symbols = ["acme.training.make"]\n', "", ":6: 'symbols' is missing in [[match]]"),
    ("{arguments}", "{args}", ":11: 'replacement' cannot have {args} here; it can have {symbol}"),
    ("{arguments}", "{argument:}", ":11: 'replacement' cannot have {argument} here"),
    ("{arguments}", "{arguments", ":11: 'replacement' is no format string"),
    ('ok = "x = 1"', 'okay = "x"', ":19: unknown key 'okay' in [[examples]]; do you mean 'ok'?"),
    ('ok = "x = 1"', 'good = "x"', ":18: [[examples]] needs 'bad' or 'ok'"),
    ('ok = "x = 1"', 'ok = " "', ":19: 'ok' in [[examples]] is empty"),
    ('ok = "x = 1"', "ok = x", "(at line 19, column 6)"),
  ],
)
def test_a_fault_is_named_with_its_line(load, old, new, message):
  assert old in GOOD
  with pytest.raises(rules.RuleError) as caught:
    load(GOOD.replace(old, new, 1))
  assert "own.toml" in str(caught.value)
  assert message in str(caught.value)


def test_a_byte_order_mark_is_no_fault_and_other_bytes_are_named_with_their_line(tmp_path):
  raw = GOOD.replace("\n", "\r\n").encode("utf-8")
  (tmp_path / "own.toml").write_bytes(b"\xef\xbb\xbf" + raw)
  assert rule_file.read(tmp_path / "own.toml", plugin=True).code == "ACME001"
  (tmp_path / "own.toml").write_bytes(raw.replace(b"Because", b"Gr\xfcnde"))
  with pytest.raises(rule.RuleError, match=r"own.toml:4: byte 0xfc is not UTF-8$"):
    rule_file.read(tmp_path / "own.toml", plugin=True)


def test_one_table_is_no_list_of_tables(load):
  text = GOOD[: GOOD.index("[[match]]")] + '[match]\nsymbols = ["a.b"]\n'
  with pytest.raises(rules.RuleError, match=r":6: 'match' must be written as \[\[match\]\]"):
    load(text)


def test_a_replacement_needs_what_it_is_made_of(load):
  match = '[[match]]\nsymbols = ["a.b"]\nreplacement = "{arguments}"\n'
  text = re.sub(r"\[\[match.*(?=\[\[ex)", match, GOOD, flags=re.DOTALL)
  text = text.replace("has {keyword}={value}", "")
  with pytest.raises(rules.RuleError, match=r"'replacement' cannot have \{arguments\} here"):
    load(text)


@pytest.mark.parametrize(
  ("text", "message"),
  [
    (GOOD, "code ACME001 is already taken by a-rule"),
    (GOOD.replace("ACME001", "ACME002"), "name 'a-rule' is already taken by ACME001"),
    (GOOD.replace("ACME001", "X1").replace("a-rule", "run-config"), "already taken by EM101"),
  ],
)
def test_codes_and_names_are_unique_among_all_rules(load, text, message):
  load(GOOD)
  with pytest.raises(rules.RuleError, match=message):
    load(text, "own2.toml")


@pytest.mark.parametrize("name", ["missing", "missing.toml", "empty"])
def test_a_place_without_rules_is_named(tmp_path, name):
  (tmp_path / "empty").mkdir()
  rules.use([name], root=str(tmp_path))
  try:
    with pytest.raises(rules.RuleError, match=f"{name}: (there is no such|no rule files)"):
      rules.load()
  finally:
    rules.use([])


def test_a_file_is_read_once_however_it_is_named(load, tmp_path):
  load(GOOD)
  rules.use([".", "own.toml", str(tmp_path)], root=str(tmp_path))
  assert "ACME001" in rules.load()
  assert len(rules.plugins()) == 2


def test_what_is_in_use_can_be_handed_to_another_process(load, tmp_path):
  load(GOOD)
  handed = rules.plugins()
  assert handed == (str(tmp_path),)
  rules.use([])
  assert "ACME001" not in rules.load()
  rules.use(handed, root="/")
  assert "ACME001" in rules.load()


@pytest.mark.parametrize(
  ("symbol", "text", "expected"),
  [
    ("acme.t.make", "import acme.t\nacme.t.make()", True),
    ("acme.t.make", "import acme.t as x\nx.  \\\n  make()", True),
    ("acme.t.make", "import acme.t as x\n(x.  # why\n make())", True),
    ("acme.t.make", "from acme.t import (a,\n  make)", True),
    ("acme.t.make", "from acme.t import *\nmake()", True),
    ("acme.t.make", "from acme import *\nt.make()", True),
    ("acme.t.make", "from .t import make", True),
    ("acme.t.make", "import acme.t as x\ngetattr(x, 'make')", True),
    ("acme.t.make", "import acme.t as x\ndef make(): pass", False),
    ("acme.t.make", "import acme.t as x\nx.makes()", False),
    ("acme.t.make", "import other.t as x\nx.make()", False),
    ("acme.t.*", "from acme import t", True),
    ("acme.t.*", "import acme.t.u", True),
    ("acme", "import acme", True),
    ("acme", "import acmes", False),
    ("tf.train.Saver", "from tensorflow.python.training import saver\nsaver.Saver", True),
    ("tf.train.Saver", "from other import Saver", False),
    ("tf.keras.Model", "import keras\nkeras.Model", True),
  ],
)
def test_a_text_that_a_rule_can_flag_is_told_by_its_spelling(symbol, text, expected):
  match = (rule.Match((symbol,)),)
  own = rule.Rule("X1", "x", "", "", "", "", "", "manual", match=match)
  assert own.may_flag(text) == expected
  assert own.may_flag(text) <= any(word in text for word in own.words)
