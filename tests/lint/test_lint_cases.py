"""Faults that people met in public, as they wrote them: each is found at its place."""

import json
import pathlib

import pytest

from migrator.lint import engine

PROGRAMS = pathlib.Path(__file__).resolve().parents[2] / "fixtures" / "programs"


def _places(text, path="a.py"):
  """(line, code) of each finding."""
  return [(f.span.line, f.code) for f in engine.check_text(text.lstrip("\n"), path)]


def test_case_01_the_removed_estimator_in_four_spellings():
  text = """
import tensorflow as tf
from tensorflow.compat.v1 import estimator as tf_estimator
from tensorflow.python.estimator import gc            # private path
clf = tf.estimator.DNNClassifier(hidden_units=[8], feature_columns=[], model_dir="/m")
clf.train(input_fn=lambda: None, steps=500)
cfg = tf_estimator.RunConfig(save_checkpoints_steps=50)
"""
  assert _places(text) == [
    (2, "EM216"),
    (3, "EM902"),
    (4, "EM110"),
    (4, "EM201"),
    (5, "EM114"),
    (5, "EM224"),
    (6, "EM101"),
  ]


def test_case_02_the_hook_base_class_in_five_spellings():
  text = """
import tensorflow as tf
from tensorflow.python.training import session_run_hook
class A(tf.train.SessionRunHook): ...
class B(tf.estimator.SessionRunHook): ...
class C(tf.compat.v1.train.SessionRunHook): ...
class D(session_run_hook.SessionRunHook): ...
class E(C):                      # indirect subclass
    def after_run(self, run_context, run_values): ...
class F: ...
class G(F): ...
"""
  assert _places(text) == [
    (2, "EM902"),
    (3, "EM301"),
    (4, "EM301"),
    (5, "EM301"),
    (6, "EM301"),
    (7, "EM301"),
  ]


def test_case_20_what_keep_checkpoint_max_means():
  text = """
import tensorflow as tf
a = tf.estimator.RunConfig(keep_checkpoint_max=0)        # keep all
b = tf.estimator.RunConfig(keep_checkpoint_max=None)     # keep all
c = tf.estimator.RunConfig(keep_checkpoint_max=100)
m = tf.train.CheckpointManager(checkpoint, "/m/tf2", max_to_keep=0)
n = tf.train.CheckpointManager(checkpoint, "/m/tf2", None)
def model_fn(features, labels, mode):
    saver = tf.compat.v1.train.Saver(sharded=True)        # max_to_keep=5 wins over c
    return tf.estimator.EstimatorSpec(mode, loss=l, train_op=t,
                                      scaffold=tf.compat.v1.train.Scaffold(saver=saver))
"""
  found = _places(text)
  assert [line for line, code in found if code == "EM104"] == [2, 3]
  assert [line for line, code in found if code == "EM507"] == [5]
  assert (8, "EM401") in found
  assert (10, "EM404") in found


def test_case_48_a_backup_around_a_model_without_input_shape():
  text = """
import tensorflow as tf, numpy as np
m = tf.keras.Sequential([tf.keras.layers.Dense(1)])          # no Input
m.compile("sgd", "mse")
m.fit(np.ones((8, 4)), np.ones((8, 1)), verbose=0,
      callbacks=[tf.keras.callbacks.BackupAndRestore("run/b")])
"""
  assert _places(text) == [(2, "EM502"), (5, "EM505")]


@pytest.mark.parametrize("frequency", [5, 8], ids=["case-50", "case-51"])
def test_cases_50_and_51_a_backup_every_n_batches(frequency):
  text = f"""
import tensorflow as tf
cb = tf.keras.callbacks.BackupAndRestore("/b", save_freq={frequency})
m.fit(ds, epochs=4, callbacks=[cb])
m2.fit(ds, epochs=4, callbacks=[tf.keras.callbacks.BackupAndRestore("/b", {frequency})])
ok = tf.keras.callbacks.BackupAndRestore("/b", save_freq="epoch", delete_checkpoint=False)
"""
  assert _places(text) == [(2, "EM504"), (2, "EM505"), (4, "EM504"), (4, "EM505")]


def test_case_59_a_manager_in_the_model_dir():
  text = """
import os
import tensorflow as tf
path = os.path.join("models", "a")
e = tf.estimator.Estimator(model_fn, path, tf.estimator.RunConfig(save_checkpoints_steps=5))
bad = tf.train.CheckpointManager(c, path, max_to_keep=2)
worse = tf.train.CheckpointManager(c, directory=e.model_dir, max_to_keep=2)
good = tf.train.CheckpointManager(c, os.path.join(path, "tf2"), max_to_keep=2)
"""
  assert [(n, c) for n, c in _places(text) if c == "EM508"] == [(5, "EM508"), (6, "EM508")]


def test_case_59_directories_of_other_objects_are_not_mixed_up():
  text = """
import tensorflow as tf
class A:
  def build(self):
    return tf.estimator.Estimator(model_fn, model_dir=self.path)
class B:
  def build(self):
    return tf.train.CheckpointManager(c, self.path, max_to_keep=2)
def f(path):
  return tf.estimator.Estimator(model_fn, model_dir=path)
def g(path):
  return tf.train.CheckpointManager(c, path, max_to_keep=2)
"""
  assert not [place for place in _places(text) if place[1] == "EM508"]


def test_case_62_a_cadence_in_seconds():
  text = """
import tensorflow as tf
cfg = tf.estimator.RunConfig(save_checkpoints_secs=600)
est = tf.estimator.Estimator(model_fn, "/m", cfg)
est.train(input_fn, max_steps=100000)
"""
  assert _places(text) == [(2, "EM101"), (2, "EM105"), (3, "EM202")]


def test_case_63_a_backup_that_is_deleted():
  text = """
import tensorflow as tf
m.fit(ds, callbacks=[tf.keras.callbacks.BackupAndRestore("/b")])
m2.fit(ds, callbacks=[tf.keras.callbacks.BackupAndRestore("/b", delete_checkpoint=True)])
m3.fit(ds, callbacks=[tf.keras.callbacks.BackupAndRestore("/b", delete_checkpoint=False)])
m4.fit(ds, callbacks=[tf.keras.callbacks.BackupAndRestore("/b", **options)])
"""
  assert _places(text) == [(2, "EM505"), (3, "EM505")]


def test_case_65_a_notebook_with_magics():
  source = [
    "!pip install x\n",
    "%matplotlib inline\n",
    "import tensorflow as tf\n",
    "s = tf.estimator.RunConfig(save_checkpoints_steps=10)",
  ]
  later = (
    ["%%bash\n", "ls\n"],
    ["hook = tf.train.StopAtStepHook(5)  # noqa: EM303\n", "tf.train.Saver()"],
  )
  cells = [{"cell_type": "markdown", "source": ["# tf.estimator"]}]
  cells += [{"cell_type": "code", "outputs": [], "source": s} for s in (source, *later)]
  raw = json.dumps({"cells": cells, "nbformat": 4, "nbformat_minor": 2}).encode()
  found = engine.check_bytes(raw, "n.ipynb")
  assert [(f.cell, f.span.line, f.span.column, f.code) for f in found] == [
    (2, 4, 4, "EM101"),
    (4, 2, 0, "EM401"),
  ]
  assert str(found[0]).startswith("n.ipynb:cell 2:4:5: EM101 ")


def test_case_66_new_syntax():
  text = """
import tensorflow as tf
async def save(): return tf.train.Saver()
if (n := 3) > 2: s = tf.train.Saver(max_to_keep=n)
print(f"{tf.train.SessionRunHook.__name__}")
"""
  assert _places(text) == [(2, "EM401"), (3, "EM401"), (4, "EM301")]


def test_case_70_tabs_and_comments_at_odd_columns():
  text = """
import tensorflow as tf
def main():
\tcfg = tf.estimator.RunConfig(
\t    save_checkpoints_steps=100,   # cadence
\tkeep_checkpoint_max=3)
  # comment at column 2
\treturn cfg
"""
  assert _places(text) == [(3, "EM101")]


def test_case_72_python_2():
  text = """
import tensorflow as tf
print "starting"
def process(self, (user_id, ratings)): return user_id
cfg = tf.estimator.RunConfig(save_checkpoints_steps=100)
"""
  found = engine.check_text(text.lstrip("\n"), "a.py")
  assert [(f.code, f.span.line) for f in found] == [("EM002", 2)]
  assert "2to3" in found[0].message


@pytest.mark.parametrize(
  ("program", "codes"),
  [
    ("fault_tolerance", ["EM101", "EM201", "EM201", "EM206", "EM215", "EM301", "EM307"]),
    ("iris_policy", ["EM101", "EM105", "EM201", "EM224"]),
    ("iris_default_policy", ["EM110", "EM201", "EM224"]),
    ("iris_temporary_dir", ["EM110", "EM201"]),
    ("changed_hidden_units", ["EM110", "EM201", "EM224"]),
    ("tf2_guide", ["EM501", "EM502", "EM503", "EM505"]),
  ],
)
def test_the_example_programs(program, codes):
  found = engine.check_file(str(PROGRAMS / program / "before.py"))
  assert sorted(f.code for f in found) == codes


def test_the_guide_s_dropped_reader_gets_the_right_code():
  found = engine.check_file(str(PROGRAMS / "tf2_guide" / "before.py"))
  message = next(f.message for f in found if f.code == "EM503")
  assert "`checkpoint.restore(save_path).assert_existing_objects_matched()`" in message


@pytest.mark.parametrize(
  "path", sorted(PROGRAMS.glob("*/after_*.py")), ids=lambda p: f"{p.parent.name}-{p.stem}"
)
def test_the_rewritten_programs_are_clean(path):
  # The guide's second fault is left to a person, and so is whether the backup may go.
  left = {"EM503", "EM505"} if path.parent.name == "tf2_guide" else set()
  assert {f.code for f in engine.check_file(str(path))} == left


def test_an_estimator_is_called_by_its_variable():
  text = """
import tensorflow as tf
classifier = tf.estimator.Estimator(lambda features, labels: None, "m")
class Own(tf.estimator.Estimator): ...
train(tf.estimator.Estimator(model_fn, "m"))
"""
  gone = "`tf.estimator.Estimator` was removed in TF 2.16."
  assert [f.message for f in engine.check_text(text, "a.py") if f.code == "EM202"] == [
    f"`classifier` is an Estimator with a model_fn of its own, and {gone}",
    gone,
    f"This is an Estimator with a model_fn of its own, and {gone}",
  ]


@pytest.mark.parametrize(
  ("name", "removal"),
  [
    ("tf.contrib.tpu.CrossShardOptimizer", "it was removed in TF 2.0."),
    ("tf.estimator.tpu.TPUEstimator", "it was removed in TF 2.16."),
  ],
)
def test_what_trains_on_tpus_is_gone_since_its_own_version(name, removal):
  [found] = engine.check_text(f"import tensorflow as tf\nmaker = {name}\n", "a.py")
  assert (found.code, found.message.split("; ")[1]) == ("EM203", removal)


def test_lint_and_rewrite_report_a_shuffled_input_at_one_place():
  text = """
import tensorflow.compat.v1 as tf
f = tf.estimator.inputs.numpy_input_fn({"x": x}, y, shuffle=True)
"""
  [found] = [f for f in engine.check_text(text, "a.py") if f.code == "EM206"]
  assert (found.span.line, found.span.column) == (3, 60)
