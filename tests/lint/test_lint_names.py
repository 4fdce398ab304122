"""Names: every alias is seen, and nothing that only looks like TensorFlow."""

import pytest

from migrator.lint import counterparts, engine, rules


def _codes(text):
  return [f.code for f in engine.check_text(text, "a.py")]


@pytest.mark.parametrize(
  ("text", "code"),
  [
    ("import tensorflow as tf\nx = tf.estimator.ModeKeys", "EM229"),
    ("import tensorflow.compat.v1 as tf1\nx = tf1.estimator.ModeKeys", "EM229"),
    ("import tensorflow\nx = tensorflow.compat.v1.estimator.ModeKeys", "EM229"),
    ("import tensorflow as tf\nest = tf.estimator\nx = 1", "EM216"),
    ("def f():\n  import tensorflow as tf\n  return tf.estimator.ModeKeys", "EM229"),
    (
      "import importlib\ntf = importlib.import_module('tensorflow')\nx = tf.estimator.ModeKeys",
      "EM229",
    ),
    ("import tensorflow as tf\nx = getattr(tf, 'estimator')", "EM216"),
    ("from tensorflow.estimator import ModeKeys", "EM229"),
    ("from tensorflow_estimator import estimator", "EM216"),
    ("from tensorflow.keras.estimator import model_to_estimator", "EM231"),
    ("from tensorflow.estimator import *", "EM216"),
    (
      "import tensorflow as tf\nx = tf.estimator.export.build_raw_serving_input_receiver_fn(a)",
      "EM603",
    ),
  ],
)
def test_aliases(text, code):
  assert _codes(text) == [code]


@pytest.mark.parametrize(
  "text",
  [
    "from sklearn import estimator\nestimator.fit()",
    "from sagemaker.tensorflow import TensorFlow\nestimator = TensorFlow()",
    "from ray.air.config import RunConfig\nRunConfig(checkpoint=1)",
    "class RunConfig:\n  pass\nRunConfig(save_checkpoints_secs=1, save_checkpoints_steps=2)",
    "tf = object()\nx = tf.estimator",
    "def f(tf):\n  return tf.estimator.RunConfig()",
    "from .train import Saver\nSaver()",
    "from torch.train import Saver\nSaver()",
    "import tensorflow as tf\ncheckpoint = tf.train.Checkpoint(model=m)\nm2 = tf.keras.Model()",
    "# tf.estimator.RunConfig()\nx = 'tf.estimator.RunConfig()'",
  ],
)
def test_no_false_alarms(text):
  assert _codes(text) == []


def test_a_symbol_below_a_class_belongs_to_the_class():
  text = "import tensorflow as tf\ntf.compat.v1.train.Saver.restore(s, p)"
  assert _codes(text) == ["EM401"]


def test_run_config_without_a_call():
  text = "import tensorflow as tf\nclass C(tf.estimator.RunConfig):\n  pass\n"
  assert _codes(text) == ["EM216"]


@pytest.mark.parametrize(
  ("text", "module"),
  [
    ("from tensorflow.python.estimator import gc", "tensorflow.python.estimator.gc"),
    (
      "from tensorflow.python.training.session_run_hook import SessionRunHook",
      "tensorflow.python.training.session_run_hook.SessionRunHook",
    ),
    (
      "from tensorflow_estimator.python.estimator.canned import head",
      "tensorflow_estimator.python.estimator.canned.head",
    ),
    (
      "import tensorflow as tf\nx = tf.python.training.saver.Saver()",
      "tf.python.training.saver.Saver",
    ),
  ],
)
def test_private_paths(text, module):
  found = engine.check_text(text, "a.py")
  assert [f.code for f in found] == ["EM902"]
  assert f"`{module}`" in found[0].message


def test_private_paths_that_are_not_our_business():
  assert _codes("from tensorflow.python.framework import ops\nops.name_scope('a')") == []


def test_contrib_through_imports():
  text = """from tensorflow.contrib.learn import RunConfig
import tensorflow.contrib.tpu as contrib_tpu
from tensorflow.contrib import slim, estimator as contrib_estimator
cfg = RunConfig(save_checkpoints_secs=60, keep_checkpoint_max=3)
tpu_cfg = contrib_tpu.RunConfig(save_checkpoints_steps=100)
hook = contrib_estimator.stop_if_no_decrease_hook(None, "loss", 100)
"""
  found = engine.check_text(text, "a.py")
  assert [(f.span.line, f.code) for f in found] == [
    (1, "EM901"),
    (2, "EM901"),
    (3, "EM901"),
    (3, "EM901"),
    (4, "EM101"),
    (4, "EM105"),
    (5, "EM101"),
    (6, "EM308"),
    (6, "EM901"),
  ]


def test_the_error_class_that_compat_v1_keeps():
  kept = "import tensorflow as tf\nraise tf.compat.v1.train.NanLossDuringTrainingError\n"
  gone = "import tensorflow as tf\nraise tf.compat.v1.estimator.NanLossDuringTrainingError\n"
  assert _codes(kept) == []
  assert _codes(gone) == ["EM301"]


def test_columns_are_characters():
  text = "import tensorflow as tf\nx = 'éé'; y = tf.train.Saver()\n"
  assert [f.span.column for f in engine.check_text(text, "a.py")] == [14]


@pytest.mark.parametrize(
  ("text", "named"),
  [
    ("from tensorflow.estimator import StopAtStepHook\nStopAtStepHook(1)\n", "tf.estimator"),
    ("import tensorflow as tf\ntf.estimator.StopAtStepHook(1)\n", "tf.estimator"),
    ("from tensorflow.train import StopAtStepHook\nStopAtStepHook(1)\n", "tf.train"),
  ],
)
def test_a_hook_is_called_by_the_name_that_the_program_uses(text, named):
  found = [f.message for f in engine.check_text(text, "a.py") if f.code == "EM303"]
  assert found
  assert all(message.startswith(f"`{named}.StopAtStepHook`") for message in found)


def test_what_helps_hooks_is_not_called_one():
  text = "import tensorflow as tf\ntf.estimator.SecondOrStepTimer()\n"
  assert [f.code for f in engine.check_text(text, "a.py")] == ["EM301"]


@pytest.mark.parametrize(
  ("behind", "reported"),
  [
    ("tf.enable_eager_execution()", False),
    ("tf.compat.v1.enable_v2_behavior()", False),
    ("tf.enable_resource_variables()", True),
    ("def test(): tf.enable_eager_execution()", True),
  ],
)
def test_eager_execution_that_is_enabled_again_is_not_disabled(behind, reported):
  text = f"import tensorflow.compat.v1 as tf\ntf.disable_v2_behavior()\n{behind}\n"
  found = [f.code for f in engine.check_text(text, "a.py")]
  assert found == (["EM217"] if reported else [])


def test_what_turns_eager_execution_off_is_called_by_a_name_that_tf2_has():
  text = "import tensorflow as tf\ntf.compat.v1.disable_eager_execution()\n"
  [found] = engine.check_text(text, "a.py")
  assert found.message.startswith("`tf.compat.v1.disable_eager_execution()` turns eager")


@pytest.mark.parametrize(
  ("chain", "named"),
  [
    ("tf.contrib.rnn.__dict__.values()", "`tf.contrib.rnn` was removed"),
    ("tf.contrib.__name__", "`tf.contrib` was removed"),
    ("tf.train.GlobalStepWaiterHook.__init__", "`tf.train.GlobalStepWaiterHook` is a hook"),
    ("tf.estimator.RunConfig.__doc__", "`tf.estimator.RunConfig`"),
  ],
)
def test_the_name_that_is_shown_ends_before_what_python_adds(chain, named):
  (found,) = engine.check_text(f"import tensorflow as tf\nx = {chain}\n", "a.py")
  assert found.message.startswith(named)
  assert "__" not in found.message


def test_each_built_in_hook_is_told_with_its_counterpart():
  for symbol in rules.load()["EM303"].symbols:
    found = engine.check_text(f"import tensorflow as tf\nx = {symbol}()\n", "a.py")
    (message,) = [f.message for f in found if f.code == "EM303"]
    assert message.endswith(f"; {counterparts.sentence(symbol)}.")
    assert counterparts.sentence(symbol) != counterparts.sentence("tf.train.SessionRunHook")
  assert "TerminateOnNaN" in counterparts.sentence("tf.train.NanTensorHook")
