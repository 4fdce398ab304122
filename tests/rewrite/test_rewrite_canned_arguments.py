"""Canned estimators: what each argument of their constructors becomes, and which are refused."""

import re

import pytest
from helpers import HEAD, TRAIN, codes, left_whole, run, transformed

BASE = "[4, 3], columns, 'm'"


def dnn(arguments, kind="DNNClassifier", head=HEAD):
  return head + f"e = tf1.estimator.{kind}({arguments})\n" + TRAIN


def compact(text):
  """The text without its layout."""
  return re.sub(r",([)\]}])", r"\1", "".join(text.split()))


def assert_written(code, source, **options):
  text = transformed(source, **options)
  assert compact(code) in compact(text), text


@pytest.mark.parametrize(
  ("arguments", "units", "loss"),
  [
    ("", "1", 'tf.keras.losses.BinaryCrossentropy(from_logits=True, reduction="sum")'),
    ("n_classes=2", "1", 'tf.keras.losses.BinaryCrossentropy(from_logits=True, reduction="sum")'),
    (
      "n_classes=3",
      "3",
      'tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True, reduction="sum")',
    ),
    (
      "weight_column='w'",
      "1",
      "runtime.heads.BinaryClassHead(weight_column='w', loss_reduction=\"sum\")",
    ),
    (
      "n_classes=3, label_vocabulary=['a', 'b', 'c']",
      "3",
      "runtime.heads.MultiClassHead(3, label_vocabulary=['a', 'b', 'c'], loss_reduction=\"sum\")",
    ),
    (
      "weight_column=tf.feature_column.numeric_column('w')",
      "1",
      "runtime.heads.BinaryClassHead(weight_column='w', loss_reduction=\"sum\")",
    ),
    (
      "weight_column=tf.feature_column.numeric_column('w', normalizer_fn=half)",
      "1",
      "runtime.heads.BinaryClassHead(weight_column=tf.feature_column.numeric_column("
      "'w', normalizer_fn=half), loss_reduction=\"sum\")",
    ),
    (
      "loss_reduction=tf1.losses.Reduction.MEAN",
      "1",
      'runtime.heads.BinaryClassHead(loss_reduction="mean")',
    ),
    (
      "loss_reduction=tf1.losses.Reduction.SUM_OVER_BATCH_SIZE",
      "1",
      "runtime.heads.BinaryClassHead()",
    ),
    (
      "loss_reduction=tf1.losses.Reduction.SUM",
      "1",
      'tf.keras.losses.BinaryCrossentropy(from_logits=True, reduction="sum")',
    ),
    (
      "n_classes=number",
      "number if number > 2 else 1",
      'runtime.heads.for_classes(number, loss_reduction="sum")',
    ),
  ],
)
def test_head_of_a_classifier(arguments, units, loss):
  source = dnn(f"{BASE}, {arguments}" if arguments else BASE, head=HEAD + "number = count()\n")
  assert_written(f'logits = tf.keras.layers.Dense({units}, name="logits")(net)', source)
  assert_written(f"loss={loss}", source)
  assert_written(f"loss_fn = {loss}", source, target="loop")


@pytest.mark.parametrize(
  ("arguments", "units", "loss"),
  [
    ("", "1", 'tf.keras.losses.MeanSquaredError(reduction="sum")'),
    (
      "label_dimension=2",
      "2",
      'runtime.heads.RegressionHead(label_dimension=2, loss_reduction="sum")',
    ),
    (
      "weight_column='w'",
      "1",
      "runtime.heads.RegressionHead(weight_column='w', loss_reduction=\"sum\")",
    ),
  ],
)
def test_head_of_a_regressor(arguments, units, loss):
  source = dnn(f"{BASE}, {arguments}" if arguments else BASE, "DNNRegressor")
  assert_written(f'logits = tf.keras.layers.Dense({units}, name="logits")(net)', source)
  assert_written(f"loss={loss}", source)


def test_v2_takes_the_mean_and_writes_the_reduction_only_where_it_is_another():
  def loss(arguments):
    source = dnn(f"{BASE}, {arguments}").replace("tf1.estimator", "tf.estimator")
    return compact(run(source).text)

  assert "loss=tf.keras.losses.BinaryCrossentropy(from_logits=True))" in loss("n_classes=2")
  weighted = loss("weight_column='w'")
  assert "loss=runtime.heads.BinaryClassHead(weight_column='w'))" in weighted
  summed = loss("loss_reduction=tf.losses.Reduction.SUM")
  assert 'loss=runtime.heads.BinaryClassHead(loss_reduction="sum"))' in summed


@pytest.mark.parametrize(
  ("argument", "code", "words"),
  [
    ("n_classes=count()", "EM208", "n_classes"),
    ("n_classes=1", "EM208", "n_classes=1"),
    ("loss_reduction=tf1.losses.Reduction.NONE", "EM208", "loss_reduction"),
    ("loss_reduction=reduction", "EM208", "loss_reduction"),
    ("activation_fn=tf.contrib.layers.maxout", "EM208", "activation_fn"),
  ],
)
def test_argument_that_is_not_carried_over_is_refused(argument, code, words):
  assert words in left_whole(dnn(f"{BASE}, {argument}"), code)


def test_missing_hidden_units_are_refused():
  assert "hidden_units" in left_whole(dnn("feature_columns=columns"), "EM208")
  assert "dnn_hidden_units" in left_whole(
    dnn("'m', dnn_feature_columns=columns", "DNNLinearCombinedClassifier"), "EM208"
  )
  left_whole(dnn("'m'", "DNNLinearCombinedClassifier"), "EM208")


def test_activation_may_be_any_function_of_the_program():
  assert "activation=activations[0]" in transformed(dnn(f"{BASE}, activation_fn=activations[0]"))


def test_batch_normalization_comes_after_dropout_with_the_constants_of_the_estimator():
  text = compact(transformed(dnn("[4], columns, 'm', dropout=0.1, batch_norm=True")))
  norm = 'BatchNormalization(momentum=0.999,epsilon=0.001,name="batchnorm_0")(net)'
  assert f"Dropout(0.1)(net)net=tf.keras.layers.{norm}" in text
  assert "BatchNorm" not in transformed(dnn("[4], columns, 'm', batch_norm=False"))
  asked = transformed(dnn("[4], columns, 'm', batch_norm=FLAG"))
  assert "    if FLAG:\n        net = tf.keras.layers.BatchNormalization(" in asked


def test_partitioner_is_left_out_with_a_code():
  result = run(dnn(f"{BASE}, input_layer_partitioner=p"))
  assert result.changed
  assert "partitioner" not in result.text
  assert "EM262" in codes(result)
  assert "EM262" not in codes(run(dnn(f"{BASE}, input_layer_partitioner=None")))
  assert "EM262" in codes(run(dnn("columns, 'm', partitioner=p", "LinearClassifier")))


@pytest.mark.parametrize(
  ("given", "written"),
  [
    ("'old'", "'old'"),
    ("path", "path"),
    (
      "tf1.estimator.WarmStartSettings('old', vars_to_warm_start='.*hidden.*')",
      "runtime.WarmStartSettings('old', vars_to_warm_start='.*hidden.*')",
    ),
    (
      "tf1.estimator.WarmStartSettings('old', '.*', {'x': tf1.train.VocabInfo(n, 3, 0, 'f')})",
      "runtime.WarmStartSettings('old', '.*', {'x': runtime.VocabInfo(n, 3, 0, 'f')})",
    ),
  ],
)
def test_warm_start(given, written):
  source = dnn(f"{BASE}, warm_start_from={given}")
  assert_written(f"warm_start_from={written}", source)
  assert_written(f"model_dir, warm_start_from={written})", source, target="loop")


def test_warm_start_settings_in_a_variable_move_to_the_call():
  head = HEAD + "settings = tf1.estimator.WarmStartSettings('old')\n"
  text = transformed(dnn(f"{BASE}, warm_start_from=settings", head=head))
  assert "warm_start_from=runtime.WarmStartSettings('old')" in text
  assert "settings =" not in text


def test_no_warm_start():
  assert "warm_start" not in transformed(dnn(f"{BASE}, warm_start_from=None"))


def test_labels_are_made_what_a_head_takes():
  source = dnn("[4], columns, 'm', label_vocabulary=['a', 'b']")
  assert ".map(runtime.only_inputs(e))" in transformed(source)
  loop = transformed(source, target="loop")
  assert "dataset = input_fn().map(runtime.only_inputs(e, loss_fn))" in loop
  assert "for features, labels in dataset" in loop


def test_loop_hands_the_weights_of_the_examples_to_the_head():
  loop = transformed(dnn("[4], columns, 'm', weight_column='w'"), target="loop")
  assert "for features, labels, *weights in dataset" in loop
  assert "loss = train_step(features, labels, *weights)" in loop
  assert "loss_fn(labels, e(features, training=True), *weights)" in loop


def test_predict_in_the_loop_knows_the_head_unless_three_logits_show_it():
  def predict(arguments):
    source = dnn(f"[4], columns, 'm'{arguments}") + "print(next(e.predict(input_fn)))\n"
    return transformed(source, target="loop")

  assert "runtime.predict(e, dataset, loss_fn=loss_fn)" in predict("")
  assert "runtime.predict(e, dataset)" in predict(", n_classes=3")


@pytest.mark.parametrize(
  "change",
  [
    "columns.append(tf.feature_column.numeric_column('y'))\n",
    "columns += [tf.feature_column.numeric_column('y')]\n",
    "units.append(3)\n",
    "units[0] = 3\n",
    "if True:\n    units.pop()\n",
  ],
)
def test_list_that_changes_between_the_constructor_and_a_call_is_refused(change):
  made = HEAD + "units = [4, 3]\ne = tf1.estimator.DNNClassifier(units, columns, 'm')\n"
  assert "changed in line" in left_whole(made + change + TRAIN, "EM208")
  assert transformed(made + TRAIN + change)


def test_list_that_changes_before_the_constructor_or_after_another_binding_is_read_at_once():
  made = "units = [4]\nunits.append(2)\ne = tf1.estimator.DNNClassifier(units, columns, 'm')\n"
  assert transformed(HEAD + made + "units = []\nunits.append(3)\n" + TRAIN)


def test_list_that_grows_in_the_loop_around_its_estimator_is_read_at_once():
  made = "units.append(4)\n    e = tf1.estimator.DNNClassifier(units, columns, None)\n    "
  assert transformed(HEAD + "units = []\nfor _ in range(3):\n    " + made + TRAIN)


def test_list_that_grows_for_the_next_estimator_of_the_variable_is_read_at_once():
  made = "e = tf1.estimator.DNNClassifier(units, columns, 'm')\n" + TRAIN
  assert transformed(HEAD + "units = [4]\n" + made + "units.append(3)\n" + made)
