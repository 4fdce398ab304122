"""Removed names of TensorFlow become those of the runtime, wherever and however they are named."""

import ast

import pytest

from migrator.analysis import symbols
from migrator.lint import rules
from migrator.rewrite import replacements
from tests.rewrite.replaced import codes, replaced


def _body(text, **options):
  """The new text without its imports."""
  lines = replaced(text, **options).split("\n")
  return "\n".join(s for s in lines if not s.startswith(("import ", "from "))).strip()


SPELLINGS = {
  "plain": "import tensorflow as tf\ne = tf.estimator.Estimator(f)",
  "compat": "import tensorflow.compat.v1 as tf1\ne = tf1.estimator.Estimator(f)",
  "attribute": "import tensorflow as tf\ne = tf.compat.v1.estimator.Estimator(f)",
  "from": "from tensorflow.estimator import Estimator\ne = Estimator(f)",
  "renamed": "from tensorflow.estimator import Estimator as E\ne = E(f)",
  "module": "from tensorflow import estimator\ne = estimator.Estimator(f)",
  "private": "from tensorflow.python.estimator.estimator import Estimator\ne = Estimator(f)",
  "package": "from tensorflow_estimator.python.estimator import estimator as l\ne = l.Estimator(f)",
  "compat package": "from tensorflow.compat.v1 import estimator as tfe\ne = tfe.Estimator(f)",
  "getattr": 'import tensorflow as tf\ne = getattr(tf.estimator, "Estimator")(f)',
}


@pytest.mark.parametrize("text", SPELLINGS.values(), ids=SPELLINGS)
def test_every_spelling_of_the_estimator_becomes_the_one_of_the_runtime(text):
  new = replaced(text)
  assert "e = runtime.ModelFn(f)" in new
  assert "from migrator import runtime" in new
  assert "estimator" not in new
  ast.parse(new)


def test_a_variable_that_holds_a_module_holds_the_module_of_the_runtime():
  new = _body("""
    import tensorflow as tf
    layers = tf.layers
    x = layers.dense(tf.layers.flatten(x), 10)
  """)
  assert new == "layers = runtime.layers\nx = layers.dense(runtime.layers.flatten(x), 10)"


def test_an_attribute_that_holds_a_module_is_followed():
  new = _body("""
    import tensorflow as tf

    class Trainer:
      est = tf.estimator

      def build(self, f):
        return self.est.Estimator(f, config=self.est.RunConfig())
  """)
  assert "est = runtime\n" in new
  assert "return runtime.ModelFn(f, config=self.est.RunConfig())" in new


def test_an_imported_module_is_imported_from_the_runtime_when_its_names_are_the_same():
  new = replaced("""
    import tensorflow as tf
    from tensorflow.nn import rnn_cell
    cell = rnn_cell.LSTMCell(3)
  """)
  assert "from migrator.runtime import rnn_cell\n" in new
  assert "cell = rnn_cell.LSTMCell(3)" in new
  assert "from migrator import runtime" not in new


def test_an_imported_module_goes_when_all_its_names_are_replaced_one_by_one():
  new = replaced("""
    import tensorflow as tf
    from tensorflow.contrib import cluster_resolver, rnn, tpu
    x = rnn.static_rnn(cell, x)
    e = tpu.TPUEstimator(f)
  """)
  assert "contrib" not in new
  assert "x = tf.nn.static_rnn(cell, x)" in new
  assert "e = runtime.TPUModelFn(f)" in new


def test_a_contrib_module_imported_without_a_name_of_its_own_leaves_tensorflow_imported():
  new = replaced("""
    import tensorflow.contrib.tpu
    e = tensorflow.contrib.tpu.TPUEstimator(f)
    x = tensorflow.placeholder(tensorflow.float32)
  """)
  assert "import tensorflow.compat.v1 as tensorflow\n" in new
  assert "x = tensorflow.placeholder(tensorflow.float32)" in new


def test_attributes_of_a_replaced_name_stay():
  new = _body("""
    import tensorflow as tf
    train = mode == tf.estimator.ModeKeys.TRAIN
    infer = mode == tf.contrib.learn.ModeKeys.INFER
    key = tf.estimator.export.PredictOutput.__name__
    hosts = tf.contrib.tpu.InputPipelineConfig.PER_HOST_V2
  """)
  assert new.split("\n") == [
    "train = mode == runtime.ModeKeys.TRAIN",
    "infer = mode == runtime.ModeKeys.PREDICT",
    "key = runtime.export.PredictOutput.__name__",
    "hosts = runtime.tpu.InputPipelineConfig.PER_HOST_V2",
  ]


def test_hooks_that_the_estimator_module_had_a_second_time_are_those_of_train():
  text = """
    import tensorflow as tf

    class Hook(tf.estimator.SessionRunHook):
      pass
    e = tf.estimator.Estimator(f)
  """
  assert "class Hook(tf.compat.v1.train.SessionRunHook):" in replaced(text)
  assert "class Hook(tf.train.SessionRunHook):" in replaced(text, source_version=1)


def test_a_class_that_is_derived_from_is_replaced():
  new = _body("""
    import tensorflow as tf

    class Mine(tf.estimator.Estimator):
      pass
  """)
  assert new.startswith("class Mine(runtime.ModelFn):")


def test_the_name_of_the_runtime_gives_way_to_the_one_of_the_file():
  new = replaced("""
    import tensorflow as tf
    runtime = 3
    e = tf.estimator.Estimator(f, params={"x": runtime})
  """)
  assert "from migrator import runtime as migrator_runtime" in new
  assert 'e = migrator_runtime.ModelFn(f, params={"x": runtime})' in new


def test_names_of_other_modules_are_left_alone():
  text = """
    import tensorflow as tf
    from sagemaker import estimator
    from mine import layers
    e = estimator.Estimator(f)
    x = layers.dense(x)
    y = tf.estimator.RunConfig()
  """
  new = replaced(text)
  assert "e = estimator.Estimator(f)" in new
  assert "x = layers.dense(x)" in new
  assert "from sagemaker import estimator" in new


def test_names_without_a_replacement_are_refused_with_the_rule_of_lint():
  assert codes("""
    import tensorflow as tf
    from tensorflow.contrib import gan
    from tensorflow.examples.tutorials.mnist import mnist
    a = tf.estimator.DNNClassifier([1])
    b = gan.GANEstimator()
    c = mnist.inference(x, 10, 10)
    d = tf.keras.backend.set_session(s)
  """) == ["EM201", "EM901", "EM903", "EM219"]


def test_strategies_of_contrib_are_replaced_unless_their_arguments_are_gone():
  text = "import tensorflow as tf\ns = tf.contrib.distribute.MirroredStrategy({})\n"
  assert "s = tf.distribute.MirroredStrategy()" in replaced(text.format(""))
  assert codes(text.format("num_gpus=2")) == ["EM901"]


def test_a_name_that_may_be_something_else_is_refused():
  assert "EM906" in codes("""
    import tensorflow as tf
    layers = tf.layers if old else mine
    x = layers.dense(x, 3)
  """)


def test_a_variable_with_several_values_stays_when_each_value_is_replaced():
  new = _body("""
    import tensorflow as tf
    cell = tf.nn.rnn_cell.LSTMCell
    if other:
      cell = make_cell
    cells = [cell(3), cell(4)]
  """)
  assert new.startswith("cell = runtime.rnn_cell.LSTMCell\n")
  assert new.endswith("cells = [cell(3), cell(4)]")


def test_star_imports_of_removed_modules_are_refused():
  assert set(codes("from tensorflow.estimator import *\ne = Estimator(f)")) == {"EM907"}


def test_a_package_that_hands_a_removed_name_on_is_refused():
  from tests.rewrite.replaced import planned

  _, obstacles = planned("from tensorflow.estimator import RunConfig\n", path="package/__init__.py")
  assert [o.code for o in obstacles] == ["EM906"]


def test_comments_of_imports_stay():
  new = replaced("""
    # TensorFlow
    import tensorflow as tf  # noqa: E402
    tf.placeholder(tf.float32)
  """)
  assert "# TensorFlow\nimport tensorflow.compat.v1 as tf  # noqa: E402\n" in new


def test_the_replaced_file_has_nothing_left_to_replace():
  once = replaced("\n".join(["import tensorflow as tf", "x = tf.layers.dense(x, 3)"]))
  assert replaced(once) == once


@pytest.mark.parametrize("name", ["tf.layers.dense", "tf.nn.rnn_cell.LSTMCell", "tf.contrib.x"])
def test_what_compat_v1_lacks_counts_as_removed(name):
  assert replacements.removed(symbols.Symbol(name))


@pytest.mark.parametrize("name", ["tf.train.Saver", "tf.nn.dynamic_rnn", "tf.get_variable"])
def test_what_compat_v1_has_does_not_count_as_removed(name):
  assert not replacements.removed(symbols.Symbol(name))


def test_every_removed_name_outside_of_contrib_has_a_replacement_or_a_rule():
  from migrator.analysis import tables

  for line in tables.read("gone_names.txt").splitlines():
    module, *names = line.split()
    for name in names:
      symbol = symbols.canonical(f"tensorflow{module[2:]}.{name}")
      found = replacements.find(symbol.path)
      assert found is not None or replacements.code_of(symbol) in rules.load(), symbol.path


SLIM = {
  "renamed": "import tf_slim as slim\nx = slim.conv2d(x, 3, 3)",
  "plain": "import tf_slim\nx = tf_slim.conv2d(x, 3, 3)",
  "names": "from tf_slim import conv2d\nx = conv2d(x, 3, 3)",
  "contrib": "import tensorflow.contrib.slim as slim\nx = slim.conv2d(x, 3, 3)",
  "either": """
    try:
      from tensorflow.contrib import slim
    except ImportError:
      import tf_slim as slim
    x = slim.conv2d(x, 3, 3)""",
}


@pytest.mark.parametrize("text", SLIM.values(), ids=SLIM)
def test_slim_is_that_of_the_runtime_wherever_it_came_from(text):
  new = replaced(text)
  assert "tf_slim" not in new.replace("as tf_slim", "").replace("tf_slim.conv2d", "")
  assert "contrib import slim" in new or "runtime.contrib.slim.conv2d(x, 3, 3)" in new
  ast.parse(new)


def test_inner_modules_of_slim_are_found():
  new = _body("""
    import tf_slim as slim
    a = slim.losses.softmax_cross_entropy(x, y)
    b = slim.initializers.xavier_initializer()
    with slim.arg_scope([slim.layers.conv2d], stride=2):
      pass
  """)
  assert "runtime.contrib.losses.softmax_cross_entropy" in new
  assert "runtime.contrib.layers.initializers.xavier_initializer" in new
  assert "[runtime.contrib.layers.conv2d]" in new


def test_what_slim_of_the_runtime_lacks_is_refused():
  assert codes("""
    import tf_slim as slim
    from tf_slim.nets import resnet_v1
    x = slim.flatten(x)
    y = resnet_v1.resnet_v1_50(x)
    slim.learning.train(op, "d")
  """) == ["EM911", "EM911"]


def test_batch_renormalization_of_contrib_is_refused_where_it_is_asked_for():
  assert codes("""
    import tensorflow as tf
    slim = tf.contrib.slim
    a = slim.batch_norm(x, renorm=False, adjustment=None)
    b = slim.batch_norm(x, renorm=flag)
    c = slim.batch_norm(x, renorm=True)
    d = tf.contrib.layers.batch_norm(x, adjustment=noise)
  """) == ["EM912", "EM912"]


def test_tables_of_words_are_those_of_the_runtime():
  new = replaced("""
    import tensorflow as tf
    from tensorflow.contrib import lookup
    a = tf.contrib.lookup.index_table_from_file("words.txt", num_oov_buckets=1)
    b = lookup.index_to_string_table_from_file("words.txt")
  """)
  assert "a = runtime.contrib.lookup.index_table_from_file(" in new
  assert "from migrator.runtime.contrib import lookup\n" in new
  assert "b = lookup.index_to_string_table_from_file(" in new
