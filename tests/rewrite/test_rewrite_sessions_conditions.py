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


def test_a_step_that_nothing_counts_is_said_wherever_the_code_reads_it():
  said = "nothing here counts the global step: `step.assign_add(1)` has to stand in `train_step`"
  assert said in comments(proposed(monitored("checkpoint_dir='m'")))
  uncounted = "train_op = tf.train.AdamOptimizer().minimize(loss)\n"
  assert said in comments(proposed(uncounted + monitored("checkpoint_dir='m'")))
  assert said not in comments(proposed(TRAINED + monitored("checkpoint_dir='m'")))
  by_hand = "op = tf.assign_add(global_step, 1)\n"
  assert said not in comments(proposed(by_hand + monitored("checkpoint_dir='m'")))
  own_number = "saver = tf.train.Saver()\nfor i in n:\n  saver.save(s, 'a/m', global_step={})\n"
  assert said not in comments(proposed(own_number.format("i")))
  assert said in comments(proposed(own_number.format("global_step")))


def test_the_counting_has_the_name_of_the_step_in_the_code():
  code = proposed(TRAINED + "step = 1\n" + monitored("checkpoint_dir='m'"))
  assert "`step_counter.assign_add(1)` stands for `global_step=global_step`" in comments(code)


def test_of_two_scaffolds_both_are_listed():
  text = (
    "if warm:\n  scaffold = tf.train.Scaffold(init_fn=load)\n"
    "else:\n  scaffold = tf.train.Scaffold(saver=tf.train.Saver(max_to_keep=2))\n"
  )
  said = comments(proposed(monitored("checkpoint_dir='m', scaffold=scaffold", text)))
  assert "line 4: `init_fn=load`: called where there was no checkpoint to restore" in said
  assert "(the Scaffold is one of lines 4, 6; this is of line 4)" in said
  assert "line 6: this Scaffold brings `tf.train.Saver(max_to_keep=2)`" in said


HOOKED = """\
def session(scaffold, directory, creator=None):
  hooks = []
  if directory:
    hooks.append(tf.train.CheckpointSaverHook(directory, save_steps=3{hook}))
  {before}
  return tf.train.{session})
"""


def hooked(session, hook="", before="pass"):
  return comments(proposed(HOOKED.format(session=session, hook=hook, before=before)))


def test_a_hook_with_a_scaffold_from_elsewhere_may_keep_something_else():
  said = hooked("MonitoredSession(session_creator=creator, hooks=hooks", ", scaffold=scaffold")
  assert "`scaffold` may bring a Saver, whose `max_to_keep` decides what stays, and an" in said
  own = ", scaffold=scaffold, saver=tf.train.Saver()"
  said = hooked("MonitoredSession(session_creator=creator, hooks=hooks", own)
  assert "`scaffold` may bring an `init_fn`" in said


def test_a_saving_hook_under_a_condition_is_said():
  said = hooked("MonitoredSession(session_creator=creator, hooks=hooks")
  assert "line 6: this CheckpointSaverHook is there only if `directory`; else nothing" in said


def test_creators_of_sessions_are_listed_where_several_can_be_meant():
  before = "creator = tf.train.ChiefSessionCreator()\n  if warm:\n    creator = Warm(scaffold)"
  said = hooked("MonitoredSession(session_creator=creator, hooks=hooks", before=before)
  assert "up to its `session_creator` (line 7: `tf.train.ChiefSessionCreator()`, line 9:" in said
  assert "`Warm(scaffold)`)" in said


@pytest.mark.parametrize(
  ("session", "restores"),
  [
    ("MonitoredSession(hooks=hooks", False),
    ("MonitoredTrainingSession(hooks=hooks", False),
    ("MonitoredTrainingSession(checkpoint_dir=directory, save_checkpoint_steps=0, hooks=hooks", 1),
  ],
)
def test_a_session_that_restored_nothing_is_said(session, restores):
  said = hooked(session)
  assert ("each start of the program began anew" in said) is not bool(restores)


def test_a_directory_that_is_none_on_other_workers_is_said():
  text = "if rank == 0:\n  logs = 'm'\nelse:\n  logs = None\n"
  said = comments(proposed(monitored("checkpoint_dir=logs", text)))
  assert "line 6: `logs` is None there, and the session neither saves nor restores" in said


def test_only_the_chief_of_supervisors_saves():
  text = SUPERVISED.format(arguments=", is_chief=(task == 0)", session="", save="pass")
  assert "`is_chief=task == 0`: only the chief saves" in comments(proposed(text))
  text = SUPERVISED.format(arguments=", is_chief=True", session="", save="pass")
  assert "only the chief" not in comments(proposed(text))


@pytest.mark.parametrize(
  ("before", "hooks", "more"),
  [
    ("", "[Mine()]", ""),
    ("", "[Mine(), *others]", "`others`"),
    ("", "make_hooks(3)", "`make_hooks(3)`"),
    ("", "[Mine()] + model.hooks", "`model.hooks`"),
    ("hooks = [Mine()]\nhooks.extend([Other()])\n", "hooks", ""),
    ("hooks = list()\nhooks.append(Other())\n", "hooks", ""),
    ("hooks = [Mine()]\nhooks.extend(own())\n", "hooks", "`own()`"),
    ("hooks = [Mine()]\nhooks += own()\n", "hooks", "`own()`"),
    ("hooks = [Hook(n) for n in names]\n", "hooks", "`[Hook(n) for n in names]`"),
    ("hooks = None\nhooks = hooks or []\n", "hooks", ""),
  ],
)
def test_hooks_from_elsewhere_are_said(before, hooks, more):
  said = comments(proposed(monitored(f"checkpoint_dir='m', hooks={hooks}", before)))
  assert ("may bring more hooks" in said) is bool(more)
  assert not more or f"{more} may bring more hooks than stand here" in said


def test_hooks_of_the_caller_are_said():
  text = """\
    def train(hooks=None):
      hooks = hooks or []
      hooks.append(Mine())
      with tf.train.MonitoredTrainingSession(checkpoint_dir='m', hooks=hooks) as session:
        while not session.should_stop():
          session.run(op)
    """
  said = comments(proposed(text))
  assert "`hooks` may bring more hooks than stand here" in said
  assert "`Mine()` becomes a callback" in said
