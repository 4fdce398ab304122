"""Programs in unusual styles: what came out wrong once, and must not again."""

import pytest
from helpers import HEAD, NEW, TRAIN, codes, left_whole, program, run, transformed


def test_frame_that_changes_after_pandas_input_fn_is_copied_as_it_copied_it():
  head = HEAD + "import pandas as pd\nframe = pd.read_csv('f')\ntarget = frame['y']\n"
  call = "f = tf1.estimator.inputs.pandas_input_fn(frame, target, shuffle=False)\n"
  text = transformed(head + call + "frame['x'] = frame['x'] / 2\n" + NEW + "e.train(f, steps=3)\n")
  assert "f_features = frame.copy()\nf_labels = target\n" in text
  untouched = transformed(head + call + NEW + "e.train(f, steps=3)\n")
  assert ".copy()" not in untouched


def test_module_that_is_imported_together_with_others_is_not_imported_again():
  text = transformed("import os, sys\n" + program(), target="loop")
  assert "import os, sys\n" in text
  assert "import os\n" not in text
  assert "os.path.join(" in text


def test_module_under_another_name_is_imported():
  text = transformed("import os as o\n" + program(), target="loop")
  assert "import os\n" in text


def test_parameter_of_a_lambda_may_have_the_name_of_a_new_variable():
  head = "tf.estimator.BinaryClassHead(loss_fn=lambda labels, logits: tf.abs(labels - logits))"
  new = f"e = tf.estimator.LinearEstimator({head}, columns, 'm')\n"
  text = transformed(HEAD + new + "e.train(input_fn, steps=3)\n")
  assert "loss_fn=lambda labels, logits: tf.abs(labels - logits)" in text


def test_both_the_directory_and_the_newest_checkpoint_are_read():
  reads = "print(e.model_dir)\nprint(e.latest_checkpoint())\n"
  assert "print(latest_checkpoint())\n" in transformed(program(reads), target="loop")
  assert "print(backup.latest_checkpoint)\n" in transformed(program(reads))


@pytest.mark.parametrize("choose", ["f = {0} if x else {1}\n", "f = {0}\nif x:\n    f = {1}\n"])
def test_activation_of_several_is_not_taken_for_the_first(choose):
  head = HEAD + "x = read()\n" + choose.format("tf.nn.relu", "tf.nn.tanh")
  text = transformed(head + NEW.replace("n_classes=3", "activation_fn=f") + TRAIN)
  assert text.count("activation=f") == 2


@pytest.mark.parametrize("choose", ["f = {0} if x else {1}\n", "f = {0}\nif x:\n    f = {1}\n"])
@pytest.mark.parametrize(
  ("argument", "first", "second", "code"),
  [
    ("optimizer=f(0.1)", "tf1.train.AdagradOptimizer", "tf1.train.AdamOptimizer", "EM211"),
    ("loss_reduction=f", "tf1.losses.Reduction.SUM", "tf1.losses.Reduction.MEAN", "EM208"),
  ],
)
def test_argument_of_several_is_refused(choose, argument, first, second, code):
  head = HEAD + "x = read()\n" + choose.format(first, second)
  left_whole(head + NEW.replace("n_classes=3", argument) + TRAIN, code)


@pytest.mark.parametrize("choose", ["f = {0} if x else {1}\n", "f = {0}\nif x:\n    f = {1}\n"])
def test_estimator_of_several_classes_in_one_name_is_refused(choose):
  kinds = choose.format("tf1.estimator.LinearClassifier", "tf1.estimator.LinearRegressor")
  said = left_whole(HEAD + "x = read()\n" + kinds + "e = f(columns, 'm')\n" + TRAIN, "EM212")
  assert "different classes" in said


@pytest.mark.parametrize("choose", ["f = {0} if x else {1}\n", "f = {0}\nif x:\n    f = {1}\n"])
@pytest.mark.parametrize(
  ("column", "first", "second"),
  [
    ("f('x')", "fc.numeric_column", "fc.bucketized_column"),
    (
      "fc.indicator_column(fc.categorical_column_with_hash_bucket('x', 5, f))",
      "tf.int64",
      "tf.string",
    ),
  ],
  ids=["function", "dtype"],
)
def test_columns_of_several_kinds_in_one_name_are_left_to_the_program(
  choose, column, first, second
):
  head = HEAD + "fc = tf.feature_column\nx = read()\n" + choose.format(first, second)
  result = run(head + NEW.replace("columns", f"[{column}]") + TRAIN)
  assert "EM251" in codes(result)


def test_first_of_two_imports_of_one_module_is_certain():
  head = (
    "try:\n    import tensorflow.compat.v1 as t\nexcept ImportError:\n    import tensorflow as t\n"
  )
  new = NEW.replace("n_classes=3", "activation_fn=t.nn.relu").replace("tf1.", "t.")
  assert 'activation="relu"' in transformed(head + HEAD + new + TRAIN)


def test_directory_that_is_computed_has_no_brackets_around_it():
  text = transformed(HEAD + NEW.replace('"model"', '"m/%d" % 3') + TRAIN, target="loop")
  assert 'model_dir = "m/%d" % 3\n' in text
  text = transformed(HEAD + NEW.replace('"model"', '"m/"\n    "n"') + TRAIN, target="loop")
  assert 'model_dir = ("m/"\n' in text


def test_long_list_of_the_programs_columns_has_a_line_for_each():
  columns = [f"tf.feature_column.numeric_column('a_long_name_{i}', x)" for i in range(3)]
  text = transformed(
    HEAD + "x = read()\n" + NEW.replace("columns", f"[{', '.join(columns)}]") + TRAIN
  )
  assert f"    feature_columns = [\n        {columns[0]},\n        {columns[1]},\n" in text
