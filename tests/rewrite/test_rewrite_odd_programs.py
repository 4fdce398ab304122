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
