"""Names that a program uses only where TensorFlow has them, and code that never runs."""

import pytest

from migrator.lint import engine

TF = "import tensorflow as tf\n"


def _places(text):
  """(line, code) of each finding; the same whether or not the text is gone through whole."""
  found = engine.check_text(text, "a.py")
  gated = engine.examine_bytes(text.encode("utf-8"), "a.py", gate=True).findings
  assert list(gated) == found
  return [(f.span.line, f.code) for f in found]


@pytest.mark.parametrize(
  "guard",
  [
    'if hasattr(tf, "estimator"):',
    'if x and hasattr(tf, "estimator"):',
    'if "estimator" in dir(tf):',
    'if tf.__version__ < "2.16":',
    'if "2.16" > tf.__version__:',
    "if tf.version.VERSION < '2':",
    'if tf.__version__.startswith("1."):',
    'if not tf.__version__.startswith("2"):',
    'if tf.__version__[0] == "1":',
    'if int(tf.__version__.split(".")[0]) < 2:',
    "if int(tf.__version__.split('.')[0]) == 1:",
    "if version.parse(tf.__version__) < version.parse('2.16.0rc0'):",
    "if Version(tf.__version__) <= Version('2.15'):",
    "if LooseVersion(tf.VERSION) < '1.14':",
    "if tuple(map(int, tf.__version__.split('.')[:2])) < (2, 16):",
    "if not tf.__version__ >= '2.16':",
    "if tf.__version__ in ('1.14', '1.15'):",
    "if hasattr(tf, 'Session'):",
    "if importlib.util.find_spec('tensorflow.estimator') is not None:",
    "while hasattr(tf, 'estimator'):",
  ],
)
def test_a_guard_lowers_the_code(guard):
  head = TF + "import importlib.util\n"
  text = head + guard + "\n  x = tf.estimator.ModeKeys\n"
  assert (4, "EM905") in _places(text)
  assert (4, "EM229") not in _places(text)


@pytest.mark.parametrize(
  "guard",
  [
    'if hasattr(tf, "contrib"):',
    'if hasattr(tf.compat, "v1"):',
    'if tf.__version__ >= "2":',
    'if tf.__version__ < "2.20":',
    "if int(tf.__version__.split('.')[1]) < 16:",
    'if tf.__version__.startswith("2."):',
    'if not tf.__version__.startswith("1.12"):',
    'if tf.__version__[0] != "1":',
    "if sys.version_info < (3, 9):",
    "if np.__version__ < '1.20':",
    "if FLAGS.estimator:",
    'if not hasattr(tf, "estimator"):',
    'if x or hasattr(tf, "estimator"):',
    "while True:",
    "try:",
  ],
)
def test_other_conditions_are_no_guard(guard):
  end = "finally:\n  pass\n" if guard == "try:" else ""
  text = TF + "FLAGS = tf.flags.FLAGS\n" + guard + "\n  x = tf.estimator.ModeKeys\n" + end
  assert [place for place in _places(text) if place[0] == 4] == [(4, "EM229")]


def test_the_other_branch_is_not_guarded():
  text = TF + 'if hasattr(tf, "estimator"):\n  pass\nelse:\n  x = tf.estimator.ModeKeys\n'
  assert _places(text) == [(5, "EM229")]
  text = TF + 'if tf.__version__ >= "2.16":\n  pass\nelse:\n  x = tf.estimator.ModeKeys\n'
  assert _places(text) == [(5, "EM905")]


def test_a_version_guards_what_it_is_old_enough_for():
  text = TF + 'if tf.__version__ < "2.16":\n  tf.estimator.ModeKeys\n  tf.contrib.slim\n'
  assert _places(text) == [(3, "EM905"), (4, "EM901")]


@pytest.mark.parametrize(
  ("text", "places"),
  [
    (TF + 'V1 = tf.__version__ < "2"\ndef f():\n  if V1:\n    tf.contrib.slim\n', [(5, "EM905")]),
    (
      TF + "major, minor = tf.__version__.split('.')[:2]\nif int(major) < 2:\n  tf.contrib.slim\n",
      [(4, "EM905")],
    ),
    (TF + 'if tf.__version__ >= "2":\n  raise SystemExit\ntf.contrib.slim\n', [(4, "EM905")]),
    (
      TF + 'def f():\n  if not hasattr(tf, "contrib"):\n    return\n  tf.contrib.slim\n',
      [(5, "EM905")],
    ),
    (TF + 'assert tf.__version__ < "2"\ntf.contrib.slim\n', [(3, "EM905")]),
    (TF + 'x = tf.contrib.slim if hasattr(tf, "contrib") else tf_slim\n', [(2, "EM905")]),
    (
      TF + 'y = hasattr(tf, "estimator") and isinstance(x, tf.estimator.Estimator)\n',
      [(2, "EM905")],
    ),
    (TF + 'y = not hasattr(tf, "contrib") or tf.contrib.slim\n', [(2, "EM905")]),
    (
      TF + '@unittest.skipIf(tf.__version__ >= "2", "gone")\ndef test_a():\n  tf.contrib.slim\n',
      [(4, "EM905")],
    ),
    (
      TF + 'e = getattr(tf, "estimator", None)\nif e is not None:\n  e.ModeKeys\n',
      [(2, "EM905"), (4, "EM905")],
    ),
    (TF + 'e = getattr(tf, "estimator")\ne.ModeKeys\n', [(2, "EM216"), (3, "EM229")]),
  ],
)
def test_guards_in_other_shapes(text, places):
  assert _places(text) == places


@pytest.mark.parametrize(
  ("errors", "guarded"),
  [
    ("ImportError", True),
    ("ModuleNotFoundError", True),
    ("(ImportError, AttributeError)", True),
    ("Exception", True),
    ("ValueError", False),
    ("AttributeError", False),
  ],
)
def test_an_import_that_may_fail(errors, guarded):
  text = f"try:\n  from tensorflow import estimator\nexcept {errors}:\n  estimator = None\n"
  assert _places(text) == [(2, "EM905" if guarded else "EM216")]


def test_an_attribute_that_may_be_missing():
  text = TF + "try:\n  H = tf.train.SessionRunHook\nexcept AttributeError:\n  H = object\n"
  assert _places(text) == [(3, "EM905")]
  assert _places(text.replace("AttributeError", "ImportError")) == [(3, "EM301")]


def test_an_error_that_is_raised_again_is_no_guard():
  text = (
    "try:\n  from tensorflow import estimator\nexcept ImportError as e:\n  raise Old() from e\n"
  )
  assert _places(text) == [(2, "EM216")]


def test_a_program_in_a_try_is_not_guarded():
  text = (
    TF
    + "try:\n  e = tf.estimator.Estimator(f, config=c)\n  e.train(g)\nexcept Exception:\n  pass\n"
  )
  assert (3, "EM202") in _places(text)


def test_a_name_with_a_fallback_is_reported_once():
  text = """try:
  import tensorflow.contrib.slim as slim
except ImportError:
  import tf_slim as slim
slim.conv2d(x)
"""
  assert _places(text) == [(2, "EM905")]


def test_a_fallback_that_is_removed_too_is_no_fallback():
  text = """try:
  from tensorflow.estimator import SessionRunHook
except ImportError:
  from tensorflow.compat.v1.train import SessionRunHook
class A(SessionRunHook):
  pass
"""
  assert _places(text) == [(2, "EM905"), (4, "EM301"), (5, "EM301")]


def test_a_name_without_fallback_is_guarded_where_it_is_used():
  text = """try:
  from tensorflow import estimator
except ImportError:
  estimator = None
if estimator is not None:
  keys = estimator.ModeKeys
class C(estimator.Estimator):
  pass
"""
  assert _places(text) == [(2, "EM905"), (6, "EM905"), (7, "EM905")]


def test_suppressed_imports():
  text = "import contextlib\nwith contextlib.suppress(ImportError):\n  from tensorflow import estimator\n"
  assert _places(text) == [(3, "EM905")]


def test_a_guarded_run_config_keeps_what_its_policy_means():
  text = TF + 'if hasattr(tf, "estimator"):\n'
  text += "  c = tf.estimator.RunConfig(save_checkpoints_steps=0, save_checkpoints_secs=None)\n"
  assert _places(text) == [(3, "EM103"), (3, "EM905")]


@pytest.mark.parametrize(
  "text",
  [
    "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n  from tensorflow import estimator\n",
    "import typing\nif typing.TYPE_CHECKING:\n  from tensorflow import estimator\n",
    "MYPY = False\nif MYPY:\n  from tensorflow import estimator\n",
    TF + "if False:\n  tf.estimator.RunConfig()\n",
    TF + "if 0:\n  tf.estimator.RunConfig()\n",
    "import typing as t\nif t.TYPE_CHECKING:\n  from tensorflow.estimator import RunConfig\n"
    "def f(c: 'RunConfig'):\n  pass\n",
    "from __future__ import annotations\nfrom typing import TYPE_CHECKING\nif TYPE_CHECKING:\n"
    "  from tensorflow.estimator import RunConfig\ndef f(c: RunConfig):\n  pass\n",
  ],
)
def test_what_only_a_type_checker_reads_is_no_finding(text):
  assert _places(text) == []


def test_the_else_branch_of_type_checking_runs():
  text = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n  pass\nelse:\n"
  assert _places(text + "  from tensorflow import estimator\n") == [(5, "EM216")]
  text = "from typing import TYPE_CHECKING\nif not TYPE_CHECKING:\n"
  assert _places(text + "  from tensorflow import estimator\n") == [(3, "EM216")]


def test_the_message_names_the_guard():
  text = TF + 'if hasattr(tf, "estimator"):\n  x = tf.estimator.ModeKeys\n'
  assert engine.check_text(text, "a.py")[0].message == (
    "`tf.estimator.ModeKeys` is used only where TensorFlow still has it "
    '(`hasattr(tf, "estimator")`); it was removed in TF 2.16.'
  )


def test_a_bare_except_around_imports_and_a_flag():
  text = """try:
  from tensorflow.contrib import slim as tf_slim
  is_tf2 = False
except:
  import tf_slim
  is_tf2 = True
tf_slim.conv2d(x)
"""
  assert _places(text) == [(2, "EM905")]


def test_a_choice_that_does_not_look_at_tensorflow_is_no_guard():
  text = TF + "f = tf.contrib.slim.conv2d if deep else None\ng(f)\nf(x)\n"
  assert _places(text) == [(2, "EM901"), (4, "EM901")]


@pytest.mark.parametrize(
  "rebinding",
  [
    "if tf.__version__ >= '2.0':\n  tf = tf.compat.v1",
    "if not tf.__version__.startswith('1.12'):\n  tf = tf.compat.v1",
    "if tf.__version__ >= '2.0':\n  import tensorflow.compat.v1 as tf",
    "try:\n  tf = tf.compat.v1\nexcept AttributeError:\n  pass",
  ],
)
def test_tf_that_becomes_compat_v1_in_new_versions_has_its_names(rebinding):
  text = f"{TF}{rebinding}\n\ndef f():\n  tf.train.get_global_step()\n  tf.train.Saver()\n"
  assert [(code, line - text.count("\n")) for line, code in _places(text)] == [("EM401", 0)]


def test_eager_execution_is_disabled_behind_a_test_for_new_versions():
  text = TF + "if not tf.__version__.startswith('1.12'):\n  tf = tf.compat.v1\n"
  text += "  tf.disable_eager_execution()\n"
  assert _places(text) == [(4, "EM217")]


@pytest.mark.parametrize(
  ("name", "removal"),
  [
    ("tf.estimator.SessionRunHook", "it was removed in TF 2.16."),
    ("tf.train.SessionRunHook", "it left `tf` in TF 2.0."),
  ],
)
def test_a_guarded_hook_is_called_what_the_program_calls_it(name, removal):
  text = f"{TF}try:\n  Hook = {name}\nexcept AttributeError:\n  Hook = object\n"
  (found,) = engine.check_text(text, "a.py")
  assert found.code == "EM905"
  assert f"`{name}`" in found.message
  assert found.message.endswith(removal)
