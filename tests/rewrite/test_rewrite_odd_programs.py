"""Programs in unusual styles: what came out wrong once, and must not again."""

from helpers import HEAD, NEW, program, transformed


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
