"""Conditions of a session program: what happened only sometimes is not proposed for every run."""

import pytest
from session_helpers import SUPERVISED, TRAINED, comments, monitored, proposed, saver


@pytest.mark.parametrize(
  "start", ["sv.start_standard_services(s)", "sv.StartStandardServices(s)", "pass"]
)
def test_services_that_are_started_later_save_too(start):
  text = SUPERVISED.format(
    arguments=", save_model_secs=30", session="start_standard_services=False", save="pass"
  ).replace("  while", f"  {start}\n  while")
  code = proposed(TRAINED + text)
  started = start != "pass"
  assert ("  save_checkpoints_secs=30,\n" in code) is started
  assert ("manager.save()  # when due" in code) is started


@pytest.mark.parametrize(
  ("arguments", "lines"),
  [
    ("last_step=N", ["  if N > 0 and step >= N:"]),
    ("num_steps=N", ["last_step = int(step) + N if N > 0 else None", "  if N > 0 and step >="]),
  ],
)
@pytest.mark.parametrize(
  "hooks",
  [
    "hooks = []\nif N > 0:\n  hooks.append(tf.train.StopAtStepHook({}))\n",
    "hooks = []\nstop = tf.train.StopAtStepHook({})\nif N > 0:\n  hooks.append(stop)\n",
    "hooks = []\nif not N > 0:\n  pass\nelse:\n  hooks.append(tf.train.StopAtStepHook({}))\n",
    "hooks = [] + ([tf.train.StopAtStepHook({})] if N > 0 else [])\n",
  ],
)
def test_a_stop_that_stands_under_a_condition_is_asked_under_it(hooks, arguments, lines):
  code = proposed(monitored("checkpoint_dir='m', hooks=hooks", hooks.format(arguments)))
  for line in lines:
    assert f"\n{line}" in code


def test_a_condition_around_the_session_itself_goes_without_saying():
  hooks = "if FLAGS.train:\n  hooks = [tf.train.StopAtStepHook(last_step=N)]\n"
  text = monitored("checkpoint_dir='m', hooks=hooks").replace("\n", "\n  ")
  code = proposed(f"{hooks}  {text.rstrip()}\n")
  assert "\n  if step >= N:" in code


def test_conditions_within_each_other_and_other_branches_are_joined():
  text = (
    "hooks = []\nif chief:\n  if a or b:\n    pass\n  elif c:\n    hooks.append(Mine())\n"
    "else:\n  hooks.append(Other())\n"
  )
  said = comments(proposed(monitored("checkpoint_dir='m', hooks=hooks", text)))
  assert "called around `train_step`, only if `chief and not (a or b) and c`." in said
  assert "called around `train_step`, only if `not chief`." in said


def test_a_save_under_a_condition_is_said_with_it():
  save = "if chief and i % 9 == 0:\n      saver.save(s, 'logs/m', global_step=i)"
  code = proposed(saver(save=save))
  assert ", only if `chief and i % 9 == 0`:" in comments(code)
  plain = proposed(saver(save="saver.save(s, 'logs/m', global_step=i)"))
  assert "only if" not in plain


@pytest.mark.parametrize(
  ("arguments", "said"),
  [
    ("save_summaries_steps=None, save_summaries_secs=None", "none"),
    ("save_summaries_steps=0", "none"),
    ("save_summaries_steps=None", "none"),
    ("save_summaries_steps=7", "every 7 steps:"),
    ("save_summaries_secs=9", "every 9 seconds:"),
    ("save_summaries_steps=n, save_summaries_secs=s", "every n steps or s seconds:"),
    ("", "every 100 steps:"),
  ],
)
def test_summaries_are_named_only_where_the_session_writes_any(arguments, said):
  words = comments(proposed(monitored(f"checkpoint_dir='m', {arguments}")))
  assert "global_step/sec" in words
  assert ("graph's summaries" in words) is (said != "none")
  assert said == "none" or said in words


def test_a_session_that_counts_no_steps_and_writes_no_summaries_says_nothing_of_them():
  arguments = "checkpoint_dir='m', log_step_count_steps=None, save_summaries_steps=None"
  assert "The session wrote" not in proposed(monitored(arguments))
  assert "output_dir=L`" not in proposed(monitored("checkpoint_dir='m', summary_dir=L"))
  assert "output_dir=L)`" in proposed(monitored("checkpoint_dir='m', summary_dir=L"))
