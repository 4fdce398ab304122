"""Programs whose model_fn makes its spec with a head keep it; the head is the runtime's."""

import textwrap

import pytest

from tests.rewrite.helpers import codes, run
from tests.rewrite.replaced import codes as refused
from tests.rewrite.replaced import replaced

PROGRAM = '''\
import tensorflow as tf


def model_fn(features, labels, mode, params):
  """One layer."""
  head = {head}
  logits = tf.layers.dense(features["x"], head.logits_dimension)
  return head.create_estimator_spec(
    features=features,
    labels=labels,
    mode=mode,
    logits=logits,
    optimizer=tf.train.AdamOptimizer(params["rate"]),
  )


def input_fn():
  return tf.data.Dataset.from_tensors(({"x": [[1.0] * 4]}, [0])).repeat()


estimator = tf.estimator.Estimator(model_fn, "models", params={"rate": 0.1})
{more}estimator.train(input_fn, max_steps=10)
'''


def program(head="tf.contrib.estimator.multi_class_head(3)", more=""):
  """A program with a head in its model_fn."""
  return PROGRAM.replace("{head}", head).replace("{more}", more)


def test_a_model_fn_with_a_head_is_hosted_and_the_reason_is_told():
  result = run(program())
  assert {unit.target for unit in result.units} == {"hosted"}
  assert not result.left, [str(f) for f in result.findings]
  assert "  head = runtime.contrib.estimator.multi_class_head(3)\n" in result.text
  assert "uses a head" in next(f.message for f in result.findings if f.code == "EM234")


def test_features_are_forwarded_from_a_hosted_model():
  more = 'estimator = tf.contrib.estimator.forward_features(estimator, "x")\n'
  result = run(program(more=more))
  assert {unit.target for unit in result.units} == {"hosted"}
  assert not result.left, [str(f) for f in result.findings]
  assert 'estimator = runtime.contrib.estimator.forward_features(estimator, "x")\n' in result.text


@pytest.mark.parametrize(
  "name",
  """binary_classification_head multi_class_head multi_label_head regression_head multi_head
  poisson_regression_head logistic_regression_head clip_gradients_by_norm TowerOptimizer
  replicate_model_fn""".split(),
)
def test_heads_and_optimizers_of_contrib_are_those_of_the_runtime(name):
  new = replaced(f"import tensorflow as tf\n\nmade = tf.contrib.estimator.{name}(given)\n")
  assert f"made = runtime.contrib.estimator.{name}(given)" in new


@pytest.mark.parametrize(
  "name",
  """BinaryClassHead MultiClassHead MultiLabelHead RegressionHead PoissonRegressionHead
  LogisticRegressionHead MultiHead""".split(),
)
def test_public_heads_are_those_of_the_runtime_in_a_model_fn(name):
  result = run(program(f"tf.estimator.{name}(params)"))
  assert not result.left, [str(f) for f in result.findings]
  assert f"  head = runtime.graph_heads.v2.{name}(params)\n" in result.text


def test_a_public_head_of_a_canned_estimator_is_the_loss_of_its_model():
  hosted = program("tf.estimator.BinaryClassHead()")
  canned = """\
columns = [tf.feature_column.numeric_column("x")]
other = tf.estimator.DNNEstimator(
  tf.estimator.BinaryClassHead(), [3], columns, model_dir="others", optimizer="Adam"
)
other.train(input_fn, max_steps=10)
"""
  result = run(hosted + canned)
  assert not result.left, [str(f) for f in result.findings]
  assert "  head = runtime.graph_heads.v2.BinaryClassHead()\n" in result.text
  assert "loss=runtime.heads.BinaryClassHead()" in result.text


@pytest.mark.parametrize(
  "text",
  [
    "from tensorflow.python.estimator.canned import head as head_lib",
    "from tensorflow_estimator.python.estimator.canned import head as head_lib",
    "import tensorflow.python.estimator.canned.head as head_lib",
    "import tensorflow_estimator.python.estimator.canned.head as head_lib",
  ],
)
@pytest.mark.parametrize(
  "private, public",
  [
    ("_binary_logistic_or_multi_class_head", "for_classes"),
    ("_binary_logistic_head_with_sigmoid_cross_entropy_loss", "BinaryHead"),
    ("_multi_class_head_with_softmax_cross_entropy_loss", "MultiClassHead"),
    ("_regression_head", "RegressionHead"),
    ("_regression_head_with_mean_squared_error_loss", "RegressionHead"),
  ],
)
def test_private_heads_are_those_of_the_runtime(text, private, public):
  new = replaced(
    f"import tensorflow as tf\n{text}\n\nmade = head_lib.{private}(2)\nx = tf.ones(3)\n"
  )
  assert f"made = runtime.graph_heads.{public}(2)" in new
  assert "head_lib" not in new


def test_what_else_the_private_module_has_is_refused():
  text = """
  from tensorflow.python.estimator.canned import head

  class Mine(head._Head):
    pass
  """
  assert refused(textwrap.dedent(text)) == ["EM902"]


def test_a_head_of_an_estimator_that_is_not_carried_over_is_left_with_it():
  text = """\
  import tensorflow as tf

  head = tf.contrib.estimator.binary_classification_head()
  columns = [tf.feature_column.numeric_column("x")]
  estimator = tf.estimator.DNNEstimator(head, [3], columns, model_dir="models")
  estimator.train(input_fn, max_steps=10)
  """
  result = run(textwrap.dedent(text))
  assert not result.changed
  assert {"EM264", "EM901"} <= set(codes(result))
