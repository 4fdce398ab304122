"""Savers of TF1: two on one directory, the one of a Scaffold, what MonitoredTrainingSession saves."""

import textwrap

import pytest

from migrator.lint import engine

HEAD = "import tensorflow.compat.v1 as tf\n"


def _found(text, *codes):
  """(line, code, message) of the findings with these codes; the import is line 1."""
  found = engine.check_text(HEAD + textwrap.dedent(text).lstrip("\n"), "a.py")
  return [(f.span.line, f.code, f.message) for f in found if f.code in codes]


def _places(text, *codes):
  return [(line, code) for line, code, _ in _found(text, *codes)]


def test_case_10_a_hook_and_a_session_save_to_one_directory():
  text = """
  tf1 = tf
  hook = tf1.train.CheckpointSaverHook("/m", save_steps=3, saver=tf1.train.Saver(max_to_keep=2))
  with tf1.train.MonitoredTrainingSession(checkpoint_dir="/m", save_checkpoint_steps=4,
                                          hooks=[hook, tf1.train.StopAtStepHook(last_step=14)]) as sess:
      while not sess.should_stop():
          sess.run(train_op)
  """
  [(line, _, message)] = _found(text, "EM410")
  assert line == 3
  assert "every 3 steps, and MonitoredTrainingSession every 4 steps to the same" in message


@pytest.mark.parametrize(
  ("session", "reported"),
  [
    ("checkpoint_dir=path", True),
    ("checkpoint_dir=path + '/b'", False),
    ("checkpoint_dir=path, save_checkpoint_secs=None", False),
    ("checkpoint_dir=path, save_checkpoint_steps=0", False),
    ("checkpoint_dir=None", False),
    ("", False),
    ("checkpoint_dir=path, **options", False),
  ],
)
def test_a_session_competes_only_where_it_saves_to_the_same_place(session, reported):
  text = f"""
  def main(path, options):
    hooks = []
    hooks.append(tf.train.CheckpointSaverHook(path, save_secs=60))
    return tf.train.MonitoredTrainingSession(hooks=hooks, {session})
  """
  assert _places(text, "EM410") == ([(4, "EM410")] if reported else [])


@pytest.mark.parametrize(
  ("config", "words"),
  [
    ("tf.estimator.RunConfig(save_checkpoints_steps=2)", "asks for a checkpoint every 2 steps."),
    ("tf.estimator.RunConfig()", "asks for the default of a checkpoint every 600 seconds."),
    ("common.config()", "so that the cadence of RunConfig is not looked at."),
    ("tf.estimator.RunConfig(save_checkpoints_steps=None)", None),
  ],
)
def test_a_hook_takes_the_place_of_the_estimator_s_saver(config, words):
  text = f"""
  import common
  e = tf.estimator.Estimator(model_fn, "m", {config})
  e.train(input_fn, hooks=[tf.train.CheckpointSaverHook("m", save_steps=5)])
  """
  found = _found(text, "EM410")
  assert [line for line, _, _ in found] == ([4] if words else [])
  if words:
    assert "saves every 5 steps and takes the place of the Estimator's" in found[0][2]
    assert found[0][2].endswith(words)


def test_on_a_tpu_both_save():
  text = """
  def model_fn(features, labels, mode):
    hook = tf.train.CheckpointSaverHook("m", save_steps=5)
    return tf.estimator.tpu.TPUEstimatorSpec(mode, loss=loss, training_hooks=[hook])
  """
  [(_, _, message)] = _found(text, "EM410")
  assert "or on a TPU stands beside it" in message


def test_a_hook_that_nobody_gets_is_no_second_saver():
  text = """
  hook = tf.train.CheckpointSaverHook("m", save_steps=5)
  with tf.train.MonitoredTrainingSession(checkpoint_dir="m") as session:
    session.run(op)
  """
  assert not _places(text, "EM410")


def test_lists_that_name_themselves_come_to_an_end():
  text = """
  hooks = [tf.train.CheckpointSaverHook("m", save_steps=5)]
  hooks = hooks + more
  hooks.extend(hooks)
  s = tf.train.MonitoredTrainingSession(checkpoint_dir="m", hooks=hooks)
  """
  assert _places(text, "EM410") == [(2, "EM410")]


def test_case_20_the_saver_of_a_scaffold_decides():
  text = """
  c = tf.estimator.RunConfig(keep_checkpoint_max=100)
  def model_fn(features, labels, mode):
      saver = tf.compat.v1.train.Saver(sharded=True)        # max_to_keep=5 wins over c
      return tf.estimator.EstimatorSpec(mode, loss=l, train_op=t,
                                        scaffold=tf.compat.v1.train.Scaffold(saver=saver))
  """
  [(line, _, message)] = _found(text, "EM411")
  assert line == 4
  assert "max_to_keep=5; RunConfig's `keep_checkpoint_max=100` is not looked at" in message


@pytest.mark.parametrize(
  ("saver", "keep"),
  [
    ("tf.train.Saver(max_to_keep=None)", "None (all)"),
    ("tf.train.Saver(None, False, False, 7)", "7"),
    ("tf.train.Saver(max_to_keep=FLAGS.keep)", "`FLAGS.keep`"),
    ("tf.train.Saver(**options)", None),
    ("tf.train.Saver(max_to_keep=9)", None),  # as RunConfig says
    ("None", None),
  ],
)
def test_what_the_saver_keeps(saver, keep):
  text = f"""
  c = tf.estimator.RunConfig(keep_checkpoint_max=9)
  def model_fn(features, labels, mode):
    s = tf.train.Scaffold(saver={saver})
    return tf.estimator.EstimatorSpec(mode, loss=l, train_op=t, scaffold=s)
  """
  found = [message for _, _, message in _found(text, "EM411")]
  assert [f"max_to_keep={keep};" in m for m in found] == ([True] if keep else [])


@pytest.mark.parametrize(
  "test",
  [
    "mode == tf.estimator.ModeKeys.EVAL",
    "mode != tf.estimator.ModeKeys.TRAIN",
    "mode == 'infer'",
    "not is_training",
    "use_averages and not self.is_training",
  ],
)
def test_savers_of_evaluations_are_left_alone(test):
  text = f"""
  def build(features, mode, is_training):
    if {test}:
      def scaffold_fn():
        return tf.train.Scaffold(saver=tf.train.Saver(averages))
    return tf.estimator.EstimatorSpec(mode, loss=l, scaffold=scaffold)
  def restore():
    tf.add_to_collection(tf.GraphKeys.SAVERS, tf.train.Saver())
  """
  assert not _places(text, "EM411")


@pytest.mark.parametrize(
  ("test", "variables", "reported"),
  [
    ("is_training", "tf.global_variables()", False),
    ("mode == tf.estimator.ModeKeys.EVAL", "tf.global_variables()", True),
    ("use_tpu", "tf.global_variables()", True),
    ("use_tpu", "averages.variables_to_restore()", False),
    ("use_tpu", "restored", False),
  ],
)
def test_the_saver_of_an_else_branch(test, variables, reported):
  text = f"""
  def build(features, mode, is_training, averages):
    restored = averages.variables_to_restore()
    if {test}:
      scaffold = None
    else:
      scaffold = tf.train.Scaffold(saver=tf.train.Saver({variables}))
    return tf.estimator.EstimatorSpec(mode, loss=l, scaffold=scaffold)
  """
  assert _places(text, "EM411") == ([(7, "EM411")] if reported else [])


@pytest.mark.parametrize(
  ("arguments", "policy"),
  [
    ("", "every 600 seconds (the default) and at the first and last step, the newest 5 kept"),
    ("save_checkpoint_steps=4", "every 4 steps and at the first and last step, the newest 5 kept"),
    (
      "save_checkpoint_steps=N",
      "every `N` steps and at the first and last step, the newest 5 kept",
    ),
    ("save_checkpoint_secs=1", "every second and at the first and last step, the newest 5 kept"),
    ("save_checkpoint_secs=None", "no checkpoint at all"),
    ("save_checkpoint_steps=-1", "no checkpoint at all"),
    ("save_checkpoint_secs=None, hooks=[saver_hook()]", "no checkpoint of its own"),
    ("save_checkpoint_secs=None, save_checkpoint_steps=4", "every 4 steps and at"),
    ("scaffold=tf.train.Scaffold(saver=tf.train.Saver(max_to_keep=0))", "step, all of them kept"),
    ("scaffold=make()", "kept as the Saver of its Scaffold does"),
  ],
)
def test_the_policy_of_a_monitored_session(arguments, policy):
  text = f"s = tf.train.MonitoredTrainingSession('', True, 'm', {arguments})\n"
  [(_, _, message)] = _found(text, "EM415")
  assert policy in message


@pytest.mark.parametrize("arguments", ["", "checkpoint_dir=None", "checkpoint_dir='m', **options"])
def test_a_session_without_a_directory_has_no_policy(arguments):
  assert not _places(f"s = tf.train.MonitoredTrainingSession({arguments})\n", "EM415")


@pytest.mark.parametrize(
  ("call", "codes"),
  [
    (
      "MonitoredTrainingSession(checkpoint_dir='m', save_checkpoint_secs=5, "
      "save_checkpoint_steps=4)",
      ["EM102"],
    ),
    ("CheckpointSaverHook('m', 600, 100)", ["EM102"]),
    ("CheckpointSaverHook('m', save_steps=100, save_secs=None)", []),
  ],
)
def test_both_cadences_of_a_session_or_a_hook(call, codes):
  assert [code for _, code in _places(f"s = tf.train.{call}\n", "EM102", "EM415")] == codes


@pytest.mark.parametrize(
  ("spelling", "removal"),
  [
    ("tf.train.Saver()", "TF2 has it in `tf.compat.v1` only."),
    ("plain.train.Saver()", "it left `tf` in TF 2.0."),
    ("tf.train.MonitoredTrainingSession()", "TF2 has it in `tf.compat.v1` only."),
    ("plain.train.MonitoredTrainingSession()", "it left `tf` in TF 2.0."),
  ],
)
def test_what_tf2_still_has_is_not_called_gone(spelling, removal):
  found = _found(f"import tensorflow as plain\nx = {spelling}\n", "EM401", "EM402")
  assert [message.endswith(removal) for _, _, message in found] == [True]


@pytest.mark.parametrize(
  ("saver", "config", "reported"),
  [
    ("max_to_keep=keep", "keep_checkpoint_max=keep", False),
    ("max_to_keep=keep", "keep_checkpoint_max=keep, **options", False),
    ("max_to_keep=FLAGS.keep_checkpoint_max", "save_checkpoints_steps=9", False),
    ("max_to_keep=params['keep_checkpoint_max']", "save_checkpoints_steps=9", False),
    ("max_to_keep=keep", "keep_checkpoint_max=other", True),
    ("", "keep_checkpoint_max=keep", True),
  ],
)
def test_a_saver_that_keeps_what_the_config_keeps_takes_nothing_away(saver, config, reported):
  text = f"""
  def model_fn(features, labels, mode):
    scaffold = tf.train.Scaffold(saver=tf.train.Saver({saver}))
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=op, scaffold=scaffold)
  config = tf.estimator.RunConfig({config})
  """
  assert _places(text, "EM411") == ([(3, "EM411")] if reported else [])
