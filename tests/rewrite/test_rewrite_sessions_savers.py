"""Savers in loops, and programs that only restore: the code for their checkpoints."""

import json

import pytest
from session_helpers import comments, found, proposed, saver

from migrator.rewrite import engine, files


@pytest.mark.parametrize(
  ("path", "directory", "name"),
  [
    ('"logs/model"', '"logs"', '"model"'),
    ('"model"', '"."', '"model"'),
    ('os.path.join(FLAGS.dir, "m.ckpt")', "FLAGS.dir", '"m.ckpt"'),
    ('os.path.join(FLAGS.dir, "a", NAME)', 'FLAGS.dir, "a"', "NAME"),
    ('os.path.join(FLAGS.dir, "a/m")', 'FLAGS.dir, "a"', '"m"'),
    ('FLAGS.dir + "/m"', "FLAGS.dir", '"m"'),
    ("FLAGS.path", "os.path.dirname(FLAGS.path)", "os.path.basename(FLAGS.path)"),
  ],
)
def test_directory_and_name_come_from_the_path(path, directory, name):
  code = proposed(saver(save=f"saver.save(s, {path}, global_step=global_step)"))
  assert f'os.path.join({directory}, "tf2")' in code
  assert f"checkpoint_name={name}" in code
  assert "manager.save(check_interval=False)" in code


@pytest.mark.parametrize(
  ("path", "number"),
  [
    ('"logs/model", i', "i"),
    ('"logs/model", global_step=i + 1', "i + 1"),
    ('"logs/model-%d" % i', "i"),
    ('"logs/model-{}".format(epoch)', "epoch"),
    ('f"logs/model-{i}"', "i"),
    ('"logs/model-" + str(i)', "i"),
    ('os.path.join("logs", "model_%04d" % i)', "i"),
  ],
)
def test_the_number_of_a_checkpoint_is_the_programs(path, number):
  code = proposed(saver(save=f"saver.save(s, {path})"))
  assert f"manager.save(checkpoint_number={number}, check_interval=False)" in code
  assert 'checkpoint_name="model"' in code


@pytest.mark.parametrize(
  "step",
  [
    "global_step",
    "tf.train.global_step(s, global_step)",
    "s.run(global_step)",
    "model.global_step",
  ],
)
def test_the_global_step_is_that_of_the_manager(step):
  code = proposed(saver(save=f'saver.save(s, "logs/model", global_step={step})'))
  assert "manager.save(check_interval=False)" in code


def test_a_saver_keeps_what_it_is_told_and_nothing_of_earlier_runs():
  code = proposed(saver("max_to_keep=KEEP", 'saver.save(s, "logs/m", i)'))
  assert "  keep_checkpoint_max=KEEP,\n" in code
  assert "  recover_last_checkpoints=False,\n" in code
  recovered = 'saver.recover_last_checkpoints(paths); saver.save(s, "logs/m", i)'
  assert "recover_last_checkpoints" not in proposed(saver(save=recovered))


def test_a_saver_of_some_variables_is_said():
  code = proposed(saver("tf.trainable_variables()", 'saver.save(s, "logs/m", i)'))
  assert "`tf.trainable_variables()`: the Saver knows these variables only" in comments(code)
  assert "knows these" not in proposed(saver("tf.global_variables()", 'saver.save(s, "logs/m", i)'))


def test_a_condition_that_asks_for_a_checkpoint_goes_with_the_restore():
  text = """\
    saver = tf.train.Saver()
    with tf.Session() as s:
      state = tf.train.get_checkpoint_state("logs")
      if state and state.model_checkpoint_path:
        saver.restore(s, state.model_checkpoint_path)
        first = int(state.model_checkpoint_path.split("-")[-1])
      else:
        s.run(tf.global_variables_initializer())
      for i in range(9):
        saver.save(s, "logs/m", global_step=i)
    """
  code = proposed(text)
  assert "# In place of lines 6-10, `if state and state.model_checkpoint_path`" in code
  assert "manager.restore_or_initialize()\n" in code
  assert "take `int(step)`" in comments(code)
  assert 'load_tf1_checkpoint, checkpoint, "logs")' in code


@pytest.mark.parametrize(
  ("restored", "own"),
  [('tf.train.latest_checkpoint("logs")', True), ('"logs/m-3"', False), ("FLAGS.init", False)],
)
def test_what_is_restored_from_elsewhere_is_said(restored, own):
  text = saver(save='saver.save(s, "logs/m", i)', restore=f"saver.restore(s, {restored})")
  code = proposed(text)
  assert "manager.restore_or_initialize()" in code
  assert ("is another place" in comments(code)) is not own


def test_an_option_of_the_user_stays_around_the_restore():
  restore = 'if FLAGS.resume:\n    saver.restore(s, tf.train.latest_checkpoint("logs"))'
  code = proposed(saver(save='saver.save(s, "logs/m", i)', restore=restore))
  assert "# In place of line 8, `saver.restore(" in code


def test_a_saver_without_restore_begins_anew_as_before():
  code = proposed(saver(save='saver.save(s, "logs/m", i)'))
  assert "restore" not in code
  assert "init_fn" not in code


def test_one_file_is_written_once_under_its_name():
  text = 'saver = tf.train.Saver()\nwith tf.Session() as s:\n  saver.save(s, FLAGS.out + "/m")\n'
  code = proposed(text)
  assert 'checkpoint.write(FLAGS.out + "/m")' in code
  assert "CheckpointManager" not in code


def test_two_savers_of_one_directory_get_two_directories():
  text = """\
    latest, best = FLAGS.dir, FLAGS.dir
    saver = tf.train.Saver()
    best_saver = tf.train.Saver(max_to_keep=1)
    for i in range(9):
      saver.save(s, FLAGS.dir + "/m", global_step=i)
      best_saver.save(s, FLAGS.dir + "/best", global_step=i, latest_filename="best")
    """
  first, second = (f.proposal for f in found(text))
  assert 'os.path.join(FLAGS.dir, "tf2")' in first
  assert 'os.path.join(FLAGS.dir, "tf2", "best_saver")' in second
  assert '`latest_filename="best"`: the manager\'s list is the file `checkpoint`' in comments(
    second
  )


def test_a_name_that_is_bound_again_is_another_saver():
  text = """\
    saver = tf.train.Saver(max_to_keep=1)
    saver.save(s, "a/m", global_step=1)
    saver = tf.train.Saver(max_to_keep=2)
    saver.save(s, "b/m", global_step=2)
    """
  first, second = (f.proposal for f in found(text))
  assert "keep_checkpoint_max=1" in first
  assert 'os.path.join("b", "tf2")' in second
  assert "keep_checkpoint_max=2" in second


def test_a_saver_that_is_made_on_two_paths_is_one():
  text = """\
    if long:
      saver = tf.train.Saver(max_to_keep=9)
    else:
      saver = tf.train.Saver(max_to_keep=2)
    saver.save(s, "a/m", global_step=1)
    """
  code = proposed(text)
  assert "# In place of lines 4, 6:" in code
  assert "line 6: on another path it is `tf.train.Saver(max_to_keep=2)`" in comments(code)


def test_what_saves_elsewhere_in_the_file_belongs_to_the_saver():
  text = """\
    class Model:
      def __init__(self):
        self.saver = tf.train.Saver(max_to_keep=7)
      def save(self, s, step):
        self.saver.save(s, "logs/m", global_step=step)

    def export(model, s):
      model.saver.restore(s, "logs/m-3")
    """
  code = proposed(text)
  assert "# In place of line 7, `self.saver.save" in code
  assert "# In place of line 10, `model.saver.restore" in code


@pytest.mark.parametrize(
  ("text", "code"),
  [
    (
      'saver = tf.train.Saver()\nsaver.restore(s, tf.train.latest_checkpoint("logs"))',
      'runtime.load_tf1_checkpoint(model, "logs")',
    ),
    (
      "ema = tf.train.ExponentialMovingAverage(0.9)\n"
      "saver = tf.train.Saver(ema.variables_to_restore())\nsaver.restore(s, path)",
      'runtime.load_tf1_checkpoint(model, path, weights="ema")',
    ),
    (
      'saver = tf.train.import_meta_graph("m.meta")\nsaver.restore(s, "logs/m-3")',
      'runtime.load_tf1_checkpoint(model, "logs/m-3")',
    ),
    (
      'with tf.train.SingularMonitoredSession(checkpoint_dir="logs") as s:\n  s.run(y)',
      'runtime.load_tf1_checkpoint(model, "logs")',
    ),
    (
      "with tf.train.SingularMonitoredSession(checkpoint_filename_with_path=P) as s:\n  s.run(y)",
      "runtime.load_tf1_checkpoint(model, P)",
    ),
    (
      "creator = tf.train.ChiefSessionCreator(checkpoint_filename_with_path=P)\n"
      "with tf.train.MonitoredSession(session_creator=creator) as s:\n  s.run(y)",
      "runtime.load_tf1_checkpoint(model, P)",
    ),
  ],
)
def test_a_program_that_only_restores_loads_into_the_model(text, code):
  (finding,) = found(text + "\n")
  assert finding.code == "EM418"
  assert code in finding.proposal


def test_a_graph_from_a_meta_file_has_to_be_written():
  text = 'saver = tf.train.import_meta_graph("m.meta")\nsaver.restore(s, "logs/m-3")\n'
  assert "line 3: `tf.train.import_meta_graph`: the graph comes from" in comments(proposed(text))


def test_a_saver_without_session_works_in_tf2_and_has_no_proposal():
  text = (
    'saver = tf.train.Saver([a])\nsaver.save(None, "m", 1)\nsaver.restore(sess=None, save_path=p)\n'
  )
  assert found(text) == []


def test_what_has_to_change_is_looked_for_around_the_saver_first():
  text = """\
    def one(s):
      y = tf.layers.dense(x, 1)
      saver = tf.train.Saver()
      saver.save(s, "a/m", 1)

    def two():
      return tf.layers.dense(x, 2)
    """
  assert "- line 4: `tf.layers.dense`" in comments(proposed(text))


def test_what_stands_in_the_same_graph_comes_first():
  text = """\
    with tf.Graph().as_default():
      y = tf.layers.dense(x, 1)
      saver = tf.train.Saver()
      saver.save(s, "a/m", 1)
    with tf.Graph().as_default():
      z = tf.layers.dense(x, 2)
    """
  assert "- line 4: `tf.layers.dense`" in comments(proposed(text))


def test_lines_of_a_notebook_are_those_of_its_cells():
  cells = [
    "import tensorflow.compat.v1 as tf",
    "x = 1\ny = tf.layers.dense(x, 1)",
    'z = tf.layers.dense(y, 1)\nsaver = tf.train.Saver()\nsaver.save(s, "a/m", 1)',
  ]
  notebook = {
    "cells": [
      {"cell_type": "code", "metadata": {}, "outputs": [], "source": text} for text in cells
    ],
    "metadata": {},
    "nbformat": 4,
    "nbformat_minor": 2,
  }
  result = files.rewrite_bytes(json.dumps(notebook).encode(), "p.ipynb", engine.Options())
  (finding,) = [f for f in result.findings if f.proposal]
  assert (finding.cell, finding.span.line) == (3, 2)
  assert "- lines 2 of cell 2, 1 of cell 3: `tf.layers.dense`" in comments(finding.proposal)
  assert "# In place of line 3 of cell 3, `saver.save" in finding.proposal
