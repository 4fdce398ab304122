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
