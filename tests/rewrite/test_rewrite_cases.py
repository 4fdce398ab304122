"""Faults that people met in public, on the rewriting side: one test per case."""

import re

import pytest
from helpers import HEAD, TRAIN, codes, program, run, transformed

from migrator.analysis.module import Module
from migrator.rewrite import todo

ADAM = (
  "e = tf1.estimator.DNNClassifier([4], columns, 'm', n_classes=3, "
  "optimizer=tf1.train.AdamOptimizer(0.01))\n"
)


def test_case_01_no_removed_name_stays_unmarked():
  source = (
    "import tensorflow as tf\n"
    "from tensorflow.compat.v1 import estimator as tf_estimator\n"
    "from tensorflow.python.estimator import gc\n"
    "fc = [tf.feature_column.numeric_column('x')]\n"
    "def f():\n    return tf.data.Dataset.from_tensors(({'x': [1.0]}, [0]))\n"
    "cfg = tf_estimator.RunConfig(save_checkpoints_steps=50)\n"
    "clf = tf.estimator.DNNClassifier([8], fc, '/m', n_classes=3, config=cfg)\n"
    "clf.train(f, steps=500)\n"
  )
  result = run(source)
  assert "clf = create_clf()" in result.text
  assert "estimator.RunConfig" not in result.text
  assert "# TODO(EM902)" in result.text  # the private path
  assert not todo.unmarked(result.text, "p.py")
  assert result.left


def test_case_02_hooks_never_become_tf_estimator_hooks():
  hook = "class H(tf.train.SessionRunHook):\n    def after_run(self, c, v):\n        pass\n"
  indirect = "class E(H):\n    def end(self, session):\n        pass\n"
  train = "e.train(input_fn, hooks=[E()], max_steps=3)\n"
  text = transformed(program(head=HEAD + hook + indirect, train=train))
  assert "class H(tf.keras.callbacks.Callback)" in text
  assert "SessionRunHook" not in text


def test_case_22_none_is_unset():
  config = "tf1.estimator.RunConfig(save_checkpoints_secs=None, save_checkpoints_steps=100)"
  new = f"e = tf1.estimator.DNNClassifier([4], columns, 'm', n_classes=3, config={config})\n"
  text = transformed(HEAD + new + TRAIN)
  assert "save_checkpoints_steps=100" in text
  assert "save_checkpoints_secs" not in text


def test_case_25_steps_add_and_max_steps_bound():
  body = "e.train(input_fn, max_steps=75)\ne.train(input_fn, steps=5)\ne.train(input_fn)\n"
  text = transformed(program(train=body))
  assert "if steps := backup.remaining_steps(max_steps=75):" in text
  assert ".take(5)" in text
  assert "steps_per_epoch=-1" in text


@pytest.mark.parametrize("target", ["fit", "loop"])
def test_case_43_tf1_epsilon_is_written_out(target):
  assert "Adam(0.01, epsilon=1e-8)" in transformed(HEAD + ADAM + TRAIN, target=target)


@pytest.mark.parametrize("target", ["fit", "loop"])
def test_case_48_generated_models_have_an_input(target):
  text = transformed(program(), target=target)
  assert "tf.keras.Input(" in text
  assert "Sequential" not in text


@pytest.mark.parametrize("stock", [False, True])
def test_cases_50_and_51_no_backup_counts_batches(stock):
  config = "tf1.estimator.RunConfig(save_checkpoints_steps=5)"
  new = f"e = tf1.estimator.DNNClassifier([4], columns, 'm', n_classes=3, config={config})\n"
  text = transformed(HEAD + new + TRAIN, stock=stock)
  assert not re.search(r"save_freq=\d", text)
  if stock:
    assert "steps_per_epoch=5" in text  # never an unknown number of batches


@pytest.mark.parametrize("target", ["fit", "loop"])
def test_case_59_the_old_directory_is_not_the_managers(target):
  text = transformed(program(), target=target)
  assert 'CheckpointManager(\n    checkpoint,\n    os.path.join(model_dir, "tf2")' in text or (
    target == "fit" and 'BackupAndRestore(\n    e,\n    "model"' in text
  )


@pytest.mark.parametrize("target", ["fit", "loop"])
def test_case_60_the_restarting_input_is_reported(target):
  assert "EM210" in codes(run(program(), target=target))


@pytest.mark.parametrize("target", ["fit", "loop"])
def test_case_62_seconds_stay_seconds(target):
  assert "save_checkpoints_secs=600" in transformed(program(), target=target)


def test_case_63_stock_backups_are_kept_at_the_end():
  config = "tf1.estimator.RunConfig(save_checkpoints_steps=5)"
  new = f"e = tf1.estimator.DNNClassifier([4], columns, 'm', n_classes=3, config={config})\n"
  assert "delete_checkpoint=False" in transformed(HEAD + new + TRAIN, stock=True)


def test_case_66_names_in_f_strings_are_found():
  source = program('print(f"{tf.estimator.Estimator.__name__}")\n')
  result = run(source)
  assert "# TODO(" in result.text
  assert [u for u in Module(result.text).uses() if todo.is_removed(Module(result.text), u)]


CASE_04 = """
import tensorflow as tf
tf1 = tf.compat.v1
class Count(tf1.train.SessionRunHook):
    n = 0
    def after_run(self, ctx, vals): Count.n += 1
with tf1.train.MonitoredTrainingSession(hooks=[Count()]) as sess:
    while not sess.should_stop():
        sess.run(train_op)
        sess.run(queue_size_op)      # also triggers the hook
"""


def test_case_04_a_hook_that_every_run_calls_is_refused():
  result = run(CASE_04, hooks="all")
  assert result.text == CASE_04
  (message,) = [f.message for f in result.findings if f.code == "EM302"]
  assert "2 times in each round" in message
  once = run(CASE_04.replace("        sess.run(queue_size_op)", "        #"), hooks="all")
  assert "class CountCallback(tf.keras.callbacks.Callback):" in once.text


CASE_08 = """
class Rate(tf.estimator.SessionRunHook):
    def before_run(self, ctx):
        return tf.estimator.SessionRunArgs(tf.compat.v1.train.get_global_step())
    def after_run(self, ctx, vals):
        if vals.results % 7 == 0:
            print("step", vals.results)
"""


@pytest.mark.parametrize(("version", "step"), [(1, ""), (2, " - 1")])
def test_case_08_the_step_is_no_batch_index(version, step):
  train = "e.train(input_fn, hooks=[Rate()], max_steps=21)\n"
  text = run(program(head=HEAD + CASE_08, train=train), source_version=version).text
  assert f"global_step = runtime.global_step(self.model){step}\n" in text
  assert "batch %" not in text


def test_case_12_a_listener_keeps_its_step_and_its_answer():
  listener = (
    "class Upload(tf.estimator.CheckpointSaverListener):\n"
    "    def after_save(self, session, global_step_value):\n"
    "        print('copy model.ckpt-%d' % global_step_value)\n"
    "        return global_step_value >= 100       # True stops training\n"
  )
  train = "e.train(input_fn, saving_listeners=[Upload()])\n"
  text = transformed(program(head=HEAD + listener, train=train))
  assert "class Upload(runtime.CheckpointSaverListener):" in text
  assert "def after_save(self, model, global_step_value):" in text
  assert "backup.with_listeners([Upload()])" in text


def test_case_14_early_stopping_counts_steps_as_before():
  train = (
    "hook = tf.estimator.experimental.stop_if_no_decrease_hook(\n"
    "    e, metric_name='loss', max_steps_without_decrease=1300, min_steps=500)\n"
    "e.train(input_fn, hooks=[hook], max_steps=10000)\n"
  )
  text = transformed(program(train=train))
  assert "max_steps_without_decrease=1300" in text
  assert "patience" not in text


def test_case_52_a_counter_that_begins_anew_is_said():
  hook = (
    "class Count(tf1.train.SessionRunHook):\n    def begin(self):\n        self.n = 0\n"
    "    def after_run(self, c, v):\n        self.n += 1\n"
  )
  result = run(program(head=HEAD + hook, train="e.train(input_fn, hooks=[Count()], max_steps=9)\n"))
  (message,) = [f.message for f in result.findings if f.code == "EM327"]
  assert "counts in `n`" in message
  assert "from 0 again" in message


def test_case_55_no_integer_save_freq_is_written():
  for target in ("fit", "loop"):
    text = transformed(program(), target=target)
    assert "save_freq" not in text
    assert "ModelCheckpoint" not in text


TOGETHER = (
  "tf1.estimator.train_and_evaluate(\n"
  "    e, tf1.estimator.TrainSpec(input_fn, max_steps=10),\n"
  "    tf1.estimator.EvalSpec(input_fn{}))\n"
)


@pytest.mark.parametrize("target", ["fit", "loop"])
def test_case_17_evaluation_follows_saves_and_says_how_often(target):
  text = transformed(program(train=TOGETHER.format(", steps=2, throttle_secs=0")), target=target)
  assert "runtime.Evaluation(" in text
  assert "throttle_secs=0" in text
  assert "steps=2" in text
  defaults = transformed(program(train=TOGETHER.format("")), target=target)
  assert "throttle_secs=600" in defaults
  assert "steps=100" in defaults


@pytest.mark.parametrize(
  ("target", "built"),
  [
    ("fit", "  e.fit(input_fn()"),
    ("loop", "  train(input_fn(), steps=3)"),
  ],
)
def test_case_18_each_round_builds_its_input_anew(target, built):
  rounds = "for _ in range(10):\n  e.train(input_fn, steps=3)\n  e.evaluate(input_fn)\n"
  text = transformed(program(train=rounds), target=target)
  _, _, loop = text.partition("for _ in range(10):")
  assert built in loop


@pytest.mark.parametrize("kept", ["0", "None"])
@pytest.mark.parametrize("target", ["fit", "loop"])
def test_case_20_all_checkpoints_are_kept(target, kept):
  config = f"tf1.estimator.RunConfig(keep_checkpoint_max={kept})"
  new = f"e = tf1.estimator.DNNClassifier([4], columns, 'm', n_classes=3, config={config})\n"
  text = transformed(HEAD + new + TRAIN, target=target)
  assert f"keep_checkpoint_max={kept}" in text  # the runtime's manager takes both for all
  assert "max_to_keep" not in text


@pytest.mark.parametrize("target", ["fit", "loop"])
def test_case_36_the_constants_of_batch_normalization_are_written_out(target):
  new = "e = tf1.estimator.DNNClassifier([4], columns, 'm', n_classes=3, batch_norm=True)\n"
  text = transformed(HEAD + new + TRAIN, target=target)
  assert "BatchNormalization(" in text
  assert "momentum=0.999" in text
  assert "epsilon=0.001" in text
