"""RunConfigs that are replaced, handed to functions, or read elsewhere."""

import textwrap

import pytest
from helpers import HEAD, left_whole, transformed

NEW = 'tf1.estimator.DNNClassifier([4, 3], columns, "m", n_classes=3, config={})'
TRAIN = "e.train(input_fn, max_steps=10)\n"
PLAIN = "e = " + NEW + "\n" + TRAIN


def config(value):
  return HEAD + "config = " + value + "\n" + PLAIN.format("config")


@pytest.mark.parametrize(
  ("value", "there", "gone"),
  [
    ("RunConfig().replace(save_checkpoints_steps=3)", "save_checkpoints_steps=3", "points_secs"),
    (
      "RunConfig(save_checkpoints_secs=9).replace(save_checkpoints_steps=3)",
      "save_checkpoints_steps=3",
      "points_secs",
    ),
    (
      "RunConfig(save_checkpoints_steps=9).replace(save_checkpoints_secs=3)",
      "save_checkpoints_secs=3",
      "points_steps",
    ),
    (
      "RunConfig(keep_checkpoint_max=9).replace(keep_checkpoint_max=2).replace(model_dir='m')",
      "keep_checkpoint_max=2",
      "=9",
    ),
  ],
)
def test_replace_overrides_keywords_and_the_other_cadence(value, there, gone):
  text = transformed(config("tf1.estimator." + value).replace('"m"', "'m'"))
  assert there in text
  assert gone not in text
  assert "RunConfig" not in text


def test_a_variable_that_is_replaced_step_by_step_is_read():
  source = HEAD + (
    "config = tf1.estimator.RunConfig(keep_checkpoint_max=2)\n"
    "config = config.replace(save_checkpoints_steps=3)\n"
  )
  text = transformed(source + PLAIN.format("config"))
  assert "save_checkpoints_steps=3" in text
  assert "keep_checkpoint_max=2" in text
  assert "config" not in text


def test_a_variable_that_is_replaced_under_a_condition_is_refused():
  source = HEAD + (
    "config = tf1.estimator.RunConfig(keep_checkpoint_max=2)\n"
    "if fast:\n    config = config.replace(save_checkpoints_steps=3)\n"
  )
  left_whole(source + PLAIN.format("config"), "EM109")


def build(calls):
  body = "    return " + NEW.format("config") + "\n"
  return HEAD + "def build(config=None):\n" + body + textwrap.dedent(calls)


MADE = "made = tf1.estimator.RunConfig(save_checkpoints_steps=3, model_dir='m')\n"


@pytest.mark.parametrize("call", ["build(made)", "build(config=made)"])
def test_the_keywords_that_callers_give_a_factory_are_written_in_it(call):
  text = transformed(build(MADE + f"e = {call}\n{TRAIN}").replace('"m"', "'m'"))
  assert text.index("save_checkpoints_steps=3") < text.index("e = ")
  assert f"e = {call.replace('made', 'None')}\n" in text
  assert "RunConfig" not in text


@pytest.mark.parametrize("target", ["fit", "loop"])
@pytest.mark.parametrize(
  "hint",
  ["tf1.estimator.RunConfig", '"tf1.estimator.RunConfig"', "Optional[tf1.estimator.RunConfig]"],
)
def test_type_hints_of_a_configuration_name_no_run_config(hint, target):
  made = MADE.replace("made =", f"made: {hint} =")
  source = build(made + f"e = build(made)\n{TRAIN}").replace(
    "(config=None)", f"(config: {hint} = None)"
  )
  source = source.replace('"m"', "'m'")
  text = transformed("from typing import Optional\n" + source, target=target)
  assert "def build(config: None = None):" in text
  assert "RunConfig" not in text
  assert "save_checkpoints_steps=3" in text


def test_a_configuration_that_no_caller_gives_has_the_defaults():
  assert "save_checkpoints_secs=600" in transformed(build(f"e = build()\n{TRAIN}"))


@pytest.mark.parametrize(
  "calls",
  [
    MADE + "e = build(made)\nd = build(tf1.estimator.RunConfig())\nd.train(input_fn)\n",
    MADE + "e = build(made)\nd = build()\nd.train(input_fn)\n",
    "def main(n):\n"
    "    e = build(tf1.estimator.RunConfig(save_checkpoints_steps=n))\n"
    "    e.train(input_fn, max_steps=10)\nmain(3)\n",
    "n = 1\n" + MADE.replace("=3", "=n") + "n = 2\ne = build(made)\n" + TRAIN,
  ],
)
def test_keywords_that_cannot_stand_in_the_factory_are_refused(calls):
  left_whole(build(calls), "EM109")


def test_reads_of_the_model_directory_get_what_was_given():
  source = HEAD + (
    "where = 'm'\n"
    "config = tf1.estimator.RunConfig(model_dir=where, keep_checkpoint_max=2)\n"
    "print(config.model_dir, config.keep_checkpoint_max)\n"
  )
  text = transformed(source + "e = " + NEW.replace('"m"', "where").format("config") + "\n" + TRAIN)
  assert "print(where, 2)\n" in text
  none = transformed(config("tf1.estimator.RunConfig()") + "print(config.model_dir)\n")
  assert "print(None)\n" in none


def test_reads_of_what_only_a_call_gives_are_refused():
  source = HEAD + (
    "config = tf1.estimator.RunConfig(model_dir=make_dir())\nprint(config.model_dir)\n"
  )
  left_whole(source + PLAIN.replace('"m", ', "").format("config"), "EM109")


def test_a_cadence_that_only_the_run_knows_unsets_the_other_one_unless_it_is_none():
  text = transformed(config("tf1.estimator.RunConfig().replace(save_checkpoints_steps=n)"))
  assert "save_checkpoints_steps=n" in text
  assert "save_checkpoints_secs=600 if n is None else None" in text
  value = "tf1.estimator.RunConfig(save_checkpoints_steps=9).replace(save_checkpoints_secs=n)"
  assert "save_checkpoints_steps=9 if n is None else None" in transformed(config(value))
