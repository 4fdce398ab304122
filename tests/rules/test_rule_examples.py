"""Every rule's examples: the bad ones are reported with its code, the good ones are not.

And no rule is half written.
"""

import re

import pytest

from migrator.lint import engine, rule_examples, rules
from migrator.lint.rule import Example, Rule

RULES = rules.load()
# A TOML file cannot hold bytes that are no UTF-8, and should not hold megabytes.
WITHOUT_EXAMPLE = ("EM003", "EM007")

each_rule = pytest.mark.parametrize("rule", RULES.values(), ids=lambda r: r.code)


@each_rule
def test_the_examples_are_as_they_should_be(rule):
  assert rule_examples.failures(rule) == []


@each_rule
def test_every_rule_shows_a_bad_example(rule):
  assert rule.code in WITHOUT_EXAMPLE or any(example.bad for example in rule.examples)


@each_rule
def test_the_message_that_a_reader_sees_has_no_placeholder_left(rule):
  message = rule_examples.message(rule)
  parts = re.split(r"\\{\w+\\}", re.escape(rule.message))
  assert re.fullmatch(".+".join(parts), message), "not the message of this rule"
  assert not any(f"{{{name}}}" in message for name in rule.placeholders)


@each_rule
def test_a_rule_says_where_to_read_on_and_what_its_fix_needs(rule):
  assert re.match(r"https?://\S+$", rule.url)
  assert rule.fix in ("safe", "review", "manual")
  assert re.fullmatch(r"|\d+\.\d+", rule.removed_in)
  assert rule.became.endswith((".", "`")) or rule.became[-1].isalnum()


@each_rule
def test_only_the_message_says_what_values_it_has(rule):
  assert {name for name, _ in rule.values} <= rule.placeholders


RUN_CONFIG = "import tensorflow as tf\nconfig = tf.estimator.RunConfig(save_checkpoints_steps=7)\n"
TODAY = RULES["EM101"]


def _rule(**changed):
  parts = {"code": "EM101", "name": "x", "message": "x", "why": "x", "became": "x", "url": "x"}
  return Rule(**{**parts, "removed_in": "", "fix": "manual", **changed})


@pytest.mark.parametrize(
  ("example", "failure"),
  [
    (Example(bad="x = 1"), "EM101 x, example 1: 'bad' is not reported"),
    (Example(ok=RUN_CONFIG), "'ok' is reported (line 2)"),
    (Example(bad=RUN_CONFIG, good=RUN_CONFIG), "'good' is reported (line 2)"),
    (Example(ok="x = ("), "'ok' cannot be read"),
  ],
)
def test_a_failing_example_is_named(example, failure):
  (found,) = rule_examples.failures(_rule(examples=(example,)))
  assert failure in found


def test_what_only_a_rewrite_knows_must_not_be_reported_by_lint():
  rule = _rule(reported_by="rewrite", examples=(Example(bad=RUN_CONFIG),))
  assert rule_examples.failures(rule) == ["EM101 x, example 1: lint reports 'bad' (line 2)"]


def test_the_message_of_a_rule_is_that_of_its_first_example():
  assert rule_examples.message(TODAY) == next(
    f.message for f in engine.check_text(TODAY.examples[0].bad, "x.py") if f.code == "EM101"
  )


@pytest.mark.parametrize(
  ("imported", "spelled", "replacement"),
  [
    ("import tensorflow as tf", "tf.keras.callbacks.experimental.{}", "tf.keras.callbacks.{}"),
    ("from tensorflow import keras as k", "k.callbacks.experimental.{}", "k.callbacks.{}"),
    ("from tensorflow.keras.callbacks import experimental as e", "e.{}", None),
    ("from tensorflow.keras.callbacks.experimental import BackupAndRestore", "{}", None),
  ],
)
def test_the_new_name_of_the_backup_is_offered_where_it_can_be_spelled(
  imported, spelled, replacement
):
  name = "BackupAndRestore"
  found = engine.check_text(f"{imported}\n{spelled.format(name)}('b')\n", "x.py")
  here = [f.replacement for f in found if f.code == "EM501" and f.span.line == 2]
  assert here == [replacement and replacement.format(name)]
