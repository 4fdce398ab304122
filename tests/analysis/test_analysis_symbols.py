"""Every spelling of a TensorFlow name resolves to one symbol."""

import textwrap

import pytest

from migrator.analysis.module import UNKNOWN, Module
from migrator.analysis.symbols import Symbol


def uses(source):
  module = Module(textwrap.dedent(source))
  return [(u.span.line, u.symbol.path, u.symbol.api) for u in module.uses()]


def last(source):
  return uses(source)[-1][1:]


@pytest.mark.parametrize(
  ("source", "path", "api"),
  [
    ("import tensorflow as tf\ntf.estimator.RunConfig()", "tf.estimator.RunConfig", ""),
    ("import tensorflow\ntensorflow.estimator.RunConfig()", "tf.estimator.RunConfig", ""),
    ("import tensorflow as tf\ntf.compat.v1.estimator.RunConfig()", "tf.estimator.RunConfig", "v1"),
    (
      "import tensorflow.compat.v1 as tf1\ntf1.estimator.RunConfig()",
      "tf.estimator.RunConfig",
      "v1",
    ),
    (
      "from tensorflow.compat.v1 import estimator as e\ne.RunConfig()",
      "tf.estimator.RunConfig",
      "v1",
    ),
    ("from tensorflow.estimator import RunConfig as R\nR()", "tf.estimator.RunConfig", ""),
    (
      "from tensorflow_estimator import estimator\nestimator.RunConfig()",
      "tf.estimator.RunConfig",
      "",
    ),
    ("import tensorflow as tf\nest = tf.estimator\nest.RunConfig()", "tf.estimator.RunConfig", ""),
    (
      "import tensorflow as tf\ngetattr(tf, 'estimator').RunConfig()",
      "tf.estimator.RunConfig",
      "",
    ),
    (
      "import importlib\nt = importlib.import_module('tensorflow')\nt.estimator.RunConfig()",
      "tf.estimator.RunConfig",
      "",
    ),
    (
      "import tensorflow as tf\nprint(f'{tf.train.SessionRunHook.__name__}')",
      "tf.train.SessionRunHook.__name__",
      "",
    ),
    (
      "import tensorflow as tf\nclass A(tf.estimator.SessionRunHook): ...",
      "tf.train.SessionRunHook",
      "",
    ),
    (
      "from tensorflow.python.training import session_run_hook as s\ns.SessionRunHook",
      "tf.train.SessionRunHook",
      "v1",
    ),
    (
      "try:\n  import tensorflow as tf\nexcept ImportError:\n  tf = None\ntf.Session",
      "tf.Session",
      "",
    ),
    ("def f():\n  import tensorflow as tf\n  return tf.Session", "tf.Session", ""),
  ],
)
def test_spelling_resolves_to_the_symbol(source, path, api):
  assert last(source) == (path, api)


@pytest.mark.parametrize(
  "source",
  [
    "class tf:\n  estimator = 1\ntf.estimator",
    "def f(tf):\n  return tf.estimator",
    "from sklearn import base as tf\ntf.estimator",
    "import tensorflow as tf\ndef f(tf):\n  return tf.estimator",
    "for tf in []:\n  tf.estimator",
  ],
)
def test_other_meanings_of_a_name_are_no_symbol(source):
  assert not [u for u in uses(source) if "estimator" in u[1]]


def test_function_scopes_hide_module_imports():
  source = """
    import tensorflow as tf
    def f():
      import tensorflow.compat.v1 as tf
      return tf.Session
    tf.Session
    """
  assert uses(source)[-2:] == [(5, "tf.Session", "v1"), (6, "tf.Session", "")]


def test_private_paths_are_marked():
  module = Module("from tensorflow.python.estimator.run_config import RunConfig\nRunConfig()")
  use = list(module.uses())[-1]
  assert use.symbol == Symbol("tf.estimator.RunConfig", private=True)


@pytest.mark.parametrize(
  ("source", "path", "api"),
  [
    (
      "from tensorflow_estimator.python.estimator.canned.dnn import DNNClassifier\nDNNClassifier",
      "tf.estimator.DNNClassifier",
      "v1",
    ),
    (
      "from tensorflow_estimator.python.estimator.canned import dnn\ndnn.DNNClassifierV2",
      "tf.estimator.DNNClassifier",
      "v2",
    ),
    (
      "from tensorflow.python import pywrap_tensorflow as p\np.NewCheckpointReader",
      "tf.train.NewCheckpointReader",
      "",
    ),
    ("import tensorflow_core.estimator as e\ne.RunConfig", "tf.estimator.RunConfig", ""),
    (
      "from tensorflow.python.tpu import tpu_config\ntpu_config.RunConfig",
      "tf.estimator.tpu.RunConfig",
      "v1",
    ),
  ],
)
def test_private_paths_have_the_public_name_and_api_of_what_they_hold(source, path, api):
  use = list(Module(source).uses())[-1]
  assert use.symbol == Symbol(path, api, private=True)


@pytest.mark.parametrize(
  ("dotted", "path"),
  [
    ("tpu.python.tpu.tpu_config.RunConfig", "tpu.RunConfig"),
    ("tpu.python.tpu.tpu_estimator.TPUEstimator", "tpu.TPUEstimator"),
    ("training.python.training.evaluation.checkpoints_iterator", "training.checkpoints_iterator"),
    ("learn.python.learn.estimators.run_config.RunConfig", "learn.RunConfig"),
    ("framework.python.ops.arg_scope", "framework.python.ops.arg_scope"),
    ("tpu.python.tpu.tpu_config.Other", "tpu.python.tpu.tpu_config.Other"),
    ("tpu.python", "tpu.python"),
  ],
)
def test_deep_paths_of_contrib_have_the_name_of_the_part(dotted, path):
  module = Module(f"import tensorflow\nx = tensorflow.contrib.{dotted}")
  assert list(module.uses())[-1].symbol == Symbol(f"tf.contrib.{path}")


@pytest.mark.parametrize(
  "source",
  [
    "class C:\n  est = tf.estimator\n  def f(self):\n    return self.est.RunConfig()",
    "class C:\n  est = tf.estimator\nC.est.RunConfig()",
    "class C:\n  def __init__(self):\n    self.tf = tf\n  def f(self):\n    self.tf.estimator.RunConfig",
    "e = tf.estimator if x else None\ne.RunConfig",
    "e = getattr(tf, 'estimator', None)\ne.RunConfig",
    "if (e := tf.estimator):\n  e.RunConfig",
    "e, t = tf.estimator, tf.train\ne.RunConfig",
    "tf = tf.compat.v1\ndef f():\n  tf.estimator.RunConfig",
    "import importlib\nimportlib.import_module('.estimator', 'tensorflow').RunConfig",
    "import pytest\nt = pytest.importorskip('tensorflow')\nt.estimator.RunConfig",
    "__import__('tensorflow.estimator').estimator.RunConfig",
    "def f():\n  global e\n  e = tf.estimator\ndef g():\n  e.RunConfig",
    "f = lambda: tf.estimator.RunConfig",
    "x = tf.estimator.RunConfig\ndel tf",
  ],
)
def test_roundabout_spellings_resolve_too(source):
  assert "tf.estimator.RunConfig" in [
    path for _, path, _ in uses("import tensorflow as tf\n" + source)
  ]


@pytest.mark.parametrize(
  "source",
  [
    "tf = other()\ntf.estimator.RunConfig",
    "tf = other()\ndef f():\n  tf.estimator.RunConfig",
    "class C:\n  est = tf.estimator\n  est = other\n  def f(self):\n    self.est.RunConfig",
    "[tf.estimator.RunConfig for tf in x]",
    "lambda tf: tf.estimator.RunConfig",
    "def f(a):\n  def g(tf):\n    return tf.estimator.RunConfig",
    "class C:\n  def f(self):\n    self.a = self.b\n    self.b = self.a\n    self.a.RunConfig",
    "self.est.RunConfig",
  ],
)
def test_other_meanings_after_the_import_are_no_symbol(source):
  assert not [u for u in uses("import tensorflow as tf\n" + source) if "RunConfig" in u[1]]


def test_columns_count_characters_not_bytes():
  module = Module('import tensorflow as tf\nx = "äöü", tf.Session')
  use = list(module.uses())[-1]
  assert (use.span.column, use.span.end_column) == (11, 21)


@pytest.mark.parametrize(
  ("source", "value"),
  [
    ("x = 20 * 60", 1200),
    ("n = 5\nx = n", 5),
    ("n = [10, 10]\nx = n", [10, 10]),
    ("n = 5\nn = 6\nx = n", UNKNOWN),
    ("x = -1", -1),
    ("x = [2, 3 * 2]", [2, 6]),
    ("x = 1 / 0", UNKNOWN),
    ("x = f()", UNKNOWN),
  ],
)
def test_constant(source, value):
  module = Module(source)
  assert module.constant(module.tree.body[-1].value) == value


def test_every_node_has_a_parent_and_a_scope():
  import ast

  source = """
    @d(1)
    class A(B, metaclass=M):
      x: int = 3
      def f(self, a: int = 1, *args: str, b=2, **kw) -> int:
        global g
        return [i for i in range(a) if i for j in i]
    async def k():
      async with a as (b, *c):
        pass
      return lambda x, y=1: (z := x)
    try:
      pass
    except E as e:
      raise
    """
  module = Module(textwrap.dedent(source))
  for node in ast.walk(module.tree):
    if isinstance(node, (ast.expr, ast.stmt)):
      assert node in module.parents
      assert node in module.scope_of
