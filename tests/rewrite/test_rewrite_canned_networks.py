"""Canned estimators: the networks of the different kinds, and the heads of *Estimator."""

import re

import pytest
from helpers import HEAD, TRAIN, left_whole, run, transformed

COLUMNS = (
  "fc = tf.feature_column\n"
  "color = fc.categorical_column_with_vocabulary_list('color', ['r', 'g'])\n"
  "deep = [fc.numeric_column('x'), fc.embedding_column(color, 2)]\n"
  "wide = [color]\n"
)


def program(call, head=HEAD):
  return head + COLUMNS + f"e = tf1.estimator.{call}\n" + TRAIN


def compact(text):
  """The text without its layout."""
  return re.sub(r",([)\]}])", r"\1", "".join(text.split()))


def assert_written(code, text):
  assert compact(code) in compact(text), text


def test_linear_model_is_a_layer_with_the_scope_of_the_estimator():
  text = transformed(program("LinearClassifier(wide, 'm', n_classes=3, sparse_combiner='mean')"))
  layer = 'LinearModel(3, num_buckets={"color": 2}, sparse_combiner=\'mean\', name="linear_model")'
  assert_written(f"logits = runtime.columns.{layer}(", text)
  assert 'model = tf.keras.Model(inputs, logits, name="linear")' in text
  assert 'variable_scope="linear"' in text


def test_wide_and_deep_model_has_a_nested_model_for_each_part():
  text = transformed(
    program("DNNLinearCombinedClassifier('m', wide, 'Ftrl', deep, 'Adagrad', [4], n_classes=4)")
  )
  assert 'dnn_logits = tf.keras.layers.Dense(4, name="logits")(net)' in text
  assert 'dnn = tf.keras.Model(inputs, dnn_logits, name="dnn")' in text
  assert 'linear = tf.keras.Model(inputs, linear_logits, name="linear")' in text
  assert "logits = tf.keras.layers.Add()([dnn(inputs), linear(inputs)])" in text
  assert 'model = tf.keras.Model(inputs, logits, name="dnn_linear_combined")' in text
  assert "scope=" not in text  # the models inside are the scopes


@pytest.mark.parametrize(
  ("arguments", "part", "other"),
  [("'m', wide", "linear", "dnn"), ("'m', [], 'Ftrl', deep, 'Adagrad', [4]", "dnn", "linear")],
)
def test_wide_and_deep_model_of_one_part(arguments, part, other):
  text = transformed(program(f"DNNLinearCombinedRegressor({arguments})"))
  assert f"logits = {part}(inputs)" in text
  assert f"{other} =" not in text
  assert "Combined(" not in text


def test_baseline_is_a_model_of_one_bias():
  head = HEAD + (
    "data = {'b': y, 'a': x}\n"
    "input_fn = tf1.estimator.inputs.numpy_input_fn(data, y, shuffle=False)\n"
  )
  head = head.replace("def input_fn():", "def other():")
  text = transformed(program("BaselineClassifier('m', n_classes=3)", head))
  assert 'inputs = {"a": tf.keras.Input([None], name="a")}' in text
  assert 'logits = runtime.columns.Bias(3, name="bias")(inputs)' in text
  assert 'model = tf.keras.Model(inputs, logits, name="baseline")' in text
  assert "optimizer=tf.keras.optimizers.Ftrl(0.3)" in text
  assert 'variable_scope="baseline"' in text
  assert ".map(runtime.only_inputs(e))" in text


def test_baseline_whose_features_are_not_known_is_refused():
  assert "features" in left_whole(program("BaselineClassifier('m')"), "EM263")


@pytest.mark.parametrize(
  ("head", "units", "loss"),
  [
    ("BinaryClassHead()", "1", "BinaryClassHead()"),
    ("BinaryClassHead('w', [0.3])", "1", "BinaryClassHead(weight_column='w', thresholds=[0.3])"),
    ("LogisticRegressionHead(name='a')", "1", "LogisticRegressionHead(name='a')"),
    ("MultiClassHead(n_classes=5)", "5", "MultiClassHead(5)"),
    (
      "MultiLabelHead(number, classes_for_class_based_metrics=[1])",
      "number",
      "MultiLabelHead(number, classes_for_class_based_metrics=[1])",
    ),
    ("RegressionHead()", "1", "RegressionHead()"),
    (
      "RegressionHead(2, loss_reduction=tf.losses.Reduction.SUM)",
      "2",
      'RegressionHead(label_dimension=2, loss_reduction="sum")',
    ),
    (
      "PoissonRegressionHead(compute_full_loss=False)",
      "1",
      "PoissonRegressionHead(compute_full_loss=False)",
    ),
    (
      "MultiHead([tf.estimator.MultiClassHead(3, name='a'), tf.estimator.RegressionHead(2, name='b')])",
      "5",
      "MultiHead([runtime.heads.MultiClassHead(3, name='a'), "
      "runtime.heads.RegressionHead(label_dimension=2, name='b')])",
    ),
    (
      "MultiHead(heads=[tf.estimator.MultiClassHead(number, name='a'), tf.estimator.BinaryClassHead(name='b')])",
      "number + 1",
      "MultiHead([runtime.heads.MultiClassHead(number, name='a'), "
      "runtime.heads.BinaryClassHead(name='b')])",
    ),
  ],
)
def test_head_of_an_estimator(head, units, loss):
  before = HEAD + f"number = count()\nhead = tf.estimator.{head}\n"
  for call in (f"DNNEstimator(tf.estimator.{head}, [4], deep)", "DNNEstimator(head, [4], deep)"):
    text = run(program(call, before)).text
    assert_written(f'logits = tf.keras.layers.Dense({units}, name="logits")(net)', text)
    assert_written(f"loss=runtime.heads.{loss})", text)
  assert "head = tf" not in text


@pytest.mark.parametrize(
  "head",
  [
    "make_head()",
    "tf.contrib.estimator.multi_label_head(3)",
    "tf.estimator.MultiHead(heads, head_weights=[1.0])",
    "tf.estimator.MultiHead(heads)",
    "tf.estimator.MultiClassHead()",
    "tf.estimator.MultiClassHead(count())",
  ],
)
def test_other_heads_are_refused(head):
  before = HEAD + f"head = {head}\n"
  left_whole(program("LinearEstimator(head, wide)", before), "EM264")


def test_estimator_without_a_head_is_refused():
  left_whole(program("LinearEstimator(feature_columns=wide)"), "EM208")


@pytest.mark.parametrize(
  ("units", "written"),
  [
    ("FLAGS.units.split(',')", "int(units)"),
    ("[int(u) for u in FLAGS.units.split(',')]", "units"),
    ("list(map(int, FLAGS.units.split(',')))", "units"),
    ("FLAGS.units", "units"),
  ],
)
def test_units_that_are_texts_become_numbers_as_the_estimator_s_layers_made_them(units, written):
  new = f"e = tf1.estimator.DNNClassifier({units}, columns, 'm', n_classes=3)\n"
  text = transformed(HEAD + "FLAGS = tf.compat.v1.flags.FLAGS\n" + new + TRAIN)
  assert f"Dense({written}, activation" in " ".join(text.split()).replace("( ", "(")
