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
      "",
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
