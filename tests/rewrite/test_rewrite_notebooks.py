"""Notebooks: each statement stays in its cell."""

import json

import pytest
from notebook_helpers import (
  CELLS,
  DATA,
  HOOK,
  IMPORTS,
  MODEL,
  NEW_HOOK,
  TRAIN,
  book,
  places,
  rewritten,
  sources,
)

from migrator.rewrite.engine import Options
from migrator.rewrite.files import rewrite_bytes


def test_each_statement_lands_in_the_cell_in_which_it_belongs():
  result = rewritten(book(*CELLS))
  imports, hook, data, model, train = sources(result.raw)
  assert imports == "import tensorflow as tf\nfrom migrator import runtime"
  assert hook == NEW_HOOK
  assert data == DATA
  assert model.startswith("def create_classifier():\n")
  assert "backup = runtime.BackupAndRestore(" in model
  assert train.startswith("if steps := backup.remaining_steps(max_steps=10):\n")
  assert "callbacks=[backup, Stopper()]" in train
  assert result.left == 0


@pytest.mark.parametrize("target", ["fit", "loop"])
def test_a_notebook_becomes_what_a_file_with_its_code_becomes(target):
  result = rewritten(book(*CELLS), target=target)
  file = rewrite_bytes(("\n\n".join(CELLS) + "\n").encode(), "p.py", Options(target=target))

  def lines(text):
    return [line for line in text.split("\n") if line]

  assert lines("\n".join(sources(result.raw))) == lines(file.raw.decode())


def test_the_report_names_cells_and_their_lines():
  result = rewritten(book(*CELLS))
  assert ("EM210", 5, 1) in places(result)
  assert {f.cell for f in result.findings} <= {1, 2, 3, 4, 5}
  shown = result.to_json()
  assert shown["changed"]
  (unit,), (hook,) = shown["units"], shown["hooks"]
  assert (unit["name"], unit["cell"], unit["line"], unit["target"]) == ("classifier", 4, 2, "fit")
  assert (hook["name"], hook["cell"], hook["line"]) == ("Stopper", 2, 1)


def test_lines_that_messages_name_are_lines_of_cells():
  shared = 'config = tf1.estimator.RunConfig("model", save_checkpoints_steps=5)'
  model = MODEL.replace('"model"', "config=config")
  result = rewritten(book(*CELLS[:3], shared, model, TRAIN, "x = 1\nprint(config.is_chief)"))
  (message,) = {f.message for f in result.findings if f.code == "EM109"}
  assert "`config` is also read in line 2 of cell 7" in message


def test_the_diff_shows_each_changed_cell_under_its_number():
  diff = rewritten(book(*CELLS)).diff
  headers = [line for line in diff.split("\n") if line.startswith("--- ")]
  assert headers == [f"--- n.ipynb:cell {number}" for number in (1, 2, 4, 5)]
  assert "-class Stopper(tf1.train.SessionRunHook):\n" in diff
  assert "+class Stopper(tf.keras.callbacks.Callback):\n" in diff


def test_a_comment_at_the_end_of_a_cell_stays_there():
  cells = (IMPORTS, HOOK + "\n# the hook", "# the data\n" + DATA, MODEL + "\n# made", TRAIN)
  new = sources(rewritten(book(*cells)).raw)
  assert new[1] == NEW_HOOK + "\n# the hook"
  assert new[2] == cells[2]
  assert new[3].endswith(")\n# made")


def test_blank_lines_around_the_code_of_a_cell_stay():
  cells = (IMPORTS, f"\n{HOOK}\n\n\n", DATA, MODEL, f"\n\n{TRAIN}\n")
  new = sources(rewritten(book(*cells)).raw)
  assert new[1] == f"\n{NEW_HOOK}\n\n\n"
  assert new[4].startswith("\n\nif steps")
  assert new[4].endswith(")\n")


def test_a_cell_of_which_nothing_is_left_is_empty():
  columns, model = MODEL.split("\n")
  new = sources(rewritten(book(IMPORTS, HOOK, DATA, columns, "print(1)", model, TRAIN)).raw)
  assert new[3] == ""
  assert new[4] == "print(1)"


def test_a_class_with_a_twin_has_it_in_its_cell():
  rest = (
    "estimator = tf1.estimator.BoostedTreesRegressor(columns, 1)\n"
    "estimator.train(input_fn, hooks=[Stopper()])"
  )
  result = rewritten(book(IMPORTS, HOOK, "# training\n\n" + rest), hooks="all")
  new = sources(result.raw)
  assert new[1] == f"{HOOK}\n\n\n{NEW_HOOK.replace('Stopper', 'StopperCallback')}"
  assert new[2].startswith("# training\n\n# TODO(EM260)")


def test_new_imports_go_to_the_first_import_of_tensorflow():
  later = "import tensorflow as tf\nimport os\nprint(os.getcwd())"
  new = sources(rewritten(book("# all of it", IMPORTS, *CELLS[1:], later), target="loop").raw)
  assert "from migrator import runtime" in new[1]
  assert "import functools" in new[1]
  assert new[-1] == later


def test_a_notebook_in_which_imports_come_late():
  new = sources(
    rewritten(book("x = 1", "%cd src", "import os", DATA, IMPORTS, HOOK, MODEL, TRAIN)).raw
  )
  assert new[:4] == ["x = 1", "%cd src", "import os", DATA]
  assert new[4] == "import tensorflow as tf\nfrom migrator import runtime"


def test_magics_among_the_imports_do_not_end_them():
  cells = ("!pip install x", "import argparse", "%cd src", "import tempfile", *CELLS)
  new = sources(rewritten(book(*cells), target="loop").raw)
  assert new[:4] == [
    "!pip install x",
    "import argparse",
    "%cd src",
    "import functools\nimport os\nimport tempfile",
  ]


def test_indented_code_of_a_cell_stays_indented():
  cell = "\n".join("  " + line for line in HOOK.split("\n"))
  result = rewritten(book(IMPORTS, cell, "x = 1"), hooks="all")
  assert sources(result.raw)[1] == "\n".join("  " + line for line in NEW_HOOK.split("\n"))


def test_await_outside_of_functions_is_allowed_in_cells():
  new = sources(rewritten(book("import asyncio\nawait asyncio.sleep(0)", *CELLS)).raw)
  assert new[2] == NEW_HOOK


def test_imports_from_the_future_in_later_cells_are_allowed():
  future = "from __future__ import print_function\n"
  new = sources(rewritten(book(IMPORTS, future + HOOK, *CELLS[2:])).raw)
  assert new[1] == future + NEW_HOOK


def test_notebooks_in_other_languages_stay():
  raw = book(*CELLS).replace(b'"metadata": {}, "nb', b'"metadata": {}, "nb')
  data = json.loads(raw)
  data["metadata"] = {"kernelspec": {"language": "R"}}
  result = rewritten(json.dumps(data).encode())
  assert result.raw is None
  assert result.findings == []
