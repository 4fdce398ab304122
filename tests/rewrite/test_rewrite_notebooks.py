"""Notebooks: each statement stays in its cell, and nothing else of the file changes."""

import json

import pytest

from migrator.rewrite import notebooks
from migrator.rewrite.engine import Options
from migrator.rewrite.files import rewrite_bytes
from migrator.rewrite.notebook_cells import LeftWholeError
from migrator.source.document import Document

IMPORTS = "import tensorflow as tf\nimport tensorflow.compat.v1 as tf1"
HOOK = """class Stopper(tf1.train.SessionRunHook):
  def after_run(self, run_context, run_values):
    run_context.request_stop()"""
NEW_HOOK = """class Stopper(tf.keras.callbacks.Callback):
  def on_train_batch_end(self, batch, logs=None):
    self.model.stop_training = True"""
DATA = """def input_fn():
  return tf.data.Dataset.from_tensors(({"x": [[1.0] * 4]}, [0]))"""
MODEL = """columns = [tf.feature_column.numeric_column("x", shape=[4])]
classifier = tf1.estimator.DNNClassifier([4, 3], columns, "model", n_classes=3)"""
TRAIN = "classifier.train(input_fn, hooks=[Stopper()], max_steps=10)"
CELLS = (IMPORTS, HOOK, DATA, MODEL, TRAIN)


def code(source, **more):
  """A code cell; its source as a list of lines."""
  common = {"cell_type": "code", "execution_count": 3, "metadata": {"id": "a\u00e9"}}
  outputs = [{"text": ["1\n", "tf1"]}]
  return {**common, "outputs": outputs, "source": source.splitlines(keepends=True), **more}


def book(*cells, **layout):
  """The bytes of a notebook; texts become code cells."""
  listed = [code(cell) if isinstance(cell, str) else cell for cell in cells]
  data = {"cells": listed, "metadata": {}, "nbformat": 4, "nbformat_minor": 2}
  return (json.dumps(data, **{"indent": 1, **layout}) + "\n").encode()


def rewritten(raw, **options):
  """The result, held to what every result of a notebook must be."""
  result = rewrite_bytes(raw, "n.ipynb", Options(**options))
  if result.raw is not None:
    assert rewrite_bytes(result.raw, "n.ipynb", Options(**options)).raw is None, "not stable"
    old, new = json.loads(raw), json.loads(result.raw)
    for cell in (*old["cells"], *new["cells"]):
      cell.pop("source", None)
    assert old == new, "more than sources changed"
    assert Document.from_bytes(result.raw, "n.ipynb").check() is None
  return result


def sources(raw):
  """The sources of the cells, each as one text."""
  cells = json.loads(raw)["cells"]
  return ["".join(cell.get("source", cell.get("input"))) for cell in cells]


def places(result):
  return {(f.code, f.cell, f.span.line) for f in result.findings}


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
  result = rewritten(book(*CELLS[:3], shared, model, TRAIN, "x = 1\nprint(config.model_dir)"))
  (message,) = {f.message for f in result.findings if f.code == "EM109"}
  assert "`config` is also read in line 2 of cell 7" in message


def test_the_diff_shows_each_changed_cell_under_its_number():
  diff = rewritten(book(*CELLS)).diff
  headers = [line for line in diff.split("\n") if line.startswith("--- ")]
  assert headers == [f"--- n.ipynb:cell {number}" for number in (1, 2, 4, 5)]
  assert "-class Stopper(tf1.train.SessionRunHook):\n" in diff
  assert "+class Stopper(tf.keras.callbacks.Callback):\n" in diff


LAYOUTS = {
  "indent of one": {},
  "indent of two": {"indent": 2},
  "indent of tabs": {"indent": "\t"},
  "one line": {"indent": None},
  "no blanks": {"indent": None, "separators": (",", ":")},
  "sorted keys": {"sort_keys": True},
  "plain characters": {"ensure_ascii": False},
}


@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
def test_lines_that_stay_keep_their_bytes(layout):
  comment = "# caf\u00e9 \U0001f600 \\u00e9 \x0c end\n"
  first = code(f"# {chr(233)}t{chr(233)}\n{IMPORTS}\nprint('\\t\\\\ \"quoted\" </b>')")
  text = {"cell_type": "markdown", "metadata": {}, "source": ["tf1.estimator \u00e9"]}
  raw = book(first, text, HOOK, "", DATA, text, comment + MODEL, TRAIN, **layout)
  result = rewritten(raw)
  old = json.loads(raw)["cells"]
  expected = json.loads(raw)
  for cell, source in zip(expected["cells"], sources(result.raw)):
    cell["source"] = source.splitlines(keepends=True)
  # Python writes the same layout, so that every byte is compared.
  for cell, before in zip(expected["cells"], old):
    if "".join(before["source"]) == "".join(cell["source"]):
      cell["source"] = before["source"]
    else:
      cell["source"] = _lines("".join(cell["source"]))
  assert result.raw == (json.dumps(expected, **{"indent": 1, **layout}) + "\n").encode()


def _lines(text):
  """Lines with their ends; a form feed ends none."""
  return [line for line in text.replace("\n", "\n\0").split("\0") if line]


@pytest.mark.parametrize("end", ["", "\n", "\n\n", "\r\n"])
def test_the_end_of_the_file_is_kept(end):
  raw = book(*CELLS).rstrip() + end.encode()
  assert rewritten(raw).raw.endswith(b"}" + end.encode())


def test_a_byte_order_mark_is_kept():
  raw = b"\xef\xbb\xbf" + book(*CELLS)
  result = rewrite_bytes(raw, "n.ipynb", Options())
  assert result.raw.startswith(b"\xef\xbb\xbf{")
  assert rewrite_bytes(result.raw, "n.ipynb", Options()).raw is None


def test_sources_as_one_string_stay_one_string():
  result = rewritten(book(*[{**code(""), "source": cell} for cell in CELLS]))
  cells = json.loads(result.raw)["cells"]
  assert all(isinstance(cell["source"], str) for cell in cells)
  assert cells[1]["source"] == NEW_HOOK


def test_lists_with_several_lines_in_one_string():
  hook = {**code(""), "source": [HOOK[:30], HOOK[30:]]}
  result = rewritten(book(IMPORTS, hook, DATA, MODEL, TRAIN))
  assert sources(result.raw)[1] == NEW_HOOK


def test_strings_that_share_a_line_of_the_file_go_on_doing_so():
  raw = book(IMPORTS, HOOK + "\nx = 1\ny = 2\nz = 3", DATA, MODEL, TRAIN)
  raw = raw.replace(b',\n    "y = 2', b', "y = 2').replace(b',\n    "z = 3', b'  ,"z = 3')
  result = rewritten(raw)
  assert b'"x = 1\\n", "y = 2\\n"  ,"z = 3"\n' in result.raw


def test_escapes_that_json_does_not_need_stay_in_lines_that_stay():
  raw = book(IMPORTS, HOOK, DATA, MODEL + "\nprint('<b>')", TRAIN).replace(
    b"<b>", b"\\u003cb\\u003e"
  )
  result = rewritten(raw)
  assert b"print('\\u003cb\\u003e')" in result.raw


def test_sources_of_nbformat_3():
  cells = [{"cell_type": "code", "input": [cell], "language": "python"} for cell in CELLS]
  raw = json.dumps({"nbformat": 3, "worksheets": [{"cells": cells}]}).encode()
  result = rewrite_bytes(raw, "n.ipynb", Options())
  assert json.loads(result.raw)["worksheets"][0]["cells"][1]["input"] == NEW_HOOK.splitlines(True)


def test_line_ends_of_a_cell_are_kept():
  raw = book(IMPORTS, HOOK.replace("\n", "\r\n"), DATA, MODEL, TRAIN)
  assert sources(rewritten(raw).raw)[1] == NEW_HOOK.replace("\n", "\r\n")


# -- magics -----------------------------------------------------------------------


@pytest.mark.parametrize(
  "magic",
  [
    "%matplotlib inline",
    "!pip install 'tensorflow<2'",
    "!pip install \\\n  tensorflow \\\n  numpy",
    "%load_ext tensorboard\n%tensorboard --logdir model",
    "files = !ls",
    "tf.train?",
    "pip install tensorflow",
  ],
)
@pytest.mark.parametrize("place", ["first", "middle", "last", "alone"])
def test_magics_keep_their_place_and_their_bytes(magic, place):
  first, second = IMPORTS, HOOK
  cells = {
    "first": [f"{magic}\n{first}", f"{magic}\n\n{second}"],
    "middle": [first.replace("\n", f"\n{magic}\n"), f"x = 1\n{magic}\n{second}"],
    "last": [f"{first}\n{magic}", f"{second}\n\n{magic}\n"],
    "alone": [magic, first, magic, second, magic],
  }[place]
  result = rewritten(book(*cells, DATA, MODEL, TRAIN))
  new = sources(result.raw)
  assert result.left == 0
  assert [cell.count(magic) for cell in new[: len(cells)]] == [c.count(magic) for c in cells]
  assert sum(NEW_HOOK in cell for cell in new) == 1
  if place == "first":
    assert new[0] == f"{magic}\nimport tensorflow as tf\nfrom migrator import runtime"
    assert new[1] == f"{magic}\n\n{NEW_HOOK}"
  if place == "last":
    assert new[1] == f"{NEW_HOOK}\n\n{magic}\n"
  if place == "alone":
    assert new[0] == new[2] == new[4] == magic


@pytest.mark.parametrize("head", ["%%time", "%%capture out", "%%bash", "%%html", "# shown\n%%time"])
def test_cell_magics_keep_their_cell(head):
  other = f"{head}\nls model"
  body = f"{head}\n{TRAIN}" if head.endswith(("time", "out")) else TRAIN
  cells = (IMPORTS, HOOK, DATA, MODEL, other if body == TRAIN else "", body)
  new = sources(rewritten(book(*cells)).raw)
  assert new[4] == cells[4]
  assert new[5].startswith(head + "\nif steps :=" if body != TRAIN else "if steps :=")


def test_what_is_measured_keeps_its_magic():
  result = rewritten(book(*CELLS, "%time x = Stopper()\n%timeit -n 3 Stopper()"))
  assert sources(result.raw)[5] == "%time x = Stopper()\n%timeit -n 3 Stopper()"


def test_a_program_that_a_cell_writes_is_rewritten_in_it():
  program = "\n\n".join(CELLS)
  result = rewritten(
    book("%matplotlib inline", f"%%writefile task.py\n{program}", "!python task.py")
  )
  first, written, last = sources(result.raw)
  assert (first, last) == ("%matplotlib inline", "!python task.py")
  assert written.startswith("%%writefile task.py\nimport tensorflow as tf\nfrom migrator import")
  assert NEW_HOOK in written
  assert result.left == 0


# -- what keeps a notebook whole --------------------------------------------------


def left_whole(*cells, **options):
  """The reason why a notebook stays as it is."""
  result = rewritten(book(*cells), **options)
  assert result.raw is None
  assert result.left
  (finding,) = [f for f in result.findings if f.code == "EM005"]
  return finding.message


@pytest.mark.parametrize(
  "old, new, reason",
  [
    ("pass  # <migrator magic 0>\n", "", "a magic of cell 1"),
    ("pass  # <migrator magic 0>\n", "pass  # <migrator magic 0>\n" * 2, "a magic of cell 1"),
    ("pass  # <migrator magic 0>", "  pass  # <migrator magic 0>", "a magic of cell 1"),
    ("0;    f()", "f()", "what cell 2 measures"),
    ("if True:\n", "", "the indented code of cell 3"),
    ("# <migrator cell 2>\n", "", "would move to another one"),
    ("# <migrator cell 2>\n", "# <migrator cell 2>\n" * 2, "would move to another one"),
    ("# <migrator cell 2>\n", "# <migrator cell 3>\n", "would move to another one"),
    ("# <migrator cell end>\n", "# <migrator cell end>\nx = 1\n", "would move to another one"),
    ("# <migrator cell 1>\n", "x = 1\n# <migrator cell 1>\n", "before its first cell"),
  ],
)
def test_nothing_is_written_when_a_magic_or_a_cell_would_be_lost(old, new, reason):
  raw = book("!ls\nx = 1", "%time f()\ny = 1", "  z = 1")
  joined = notebooks.Joined(Document.from_bytes(raw, "n.ipynb").notebook)
  assert joined.split(joined.text) == {}
  changed = joined.text.replace(" = 1", " = 2")
  assert joined.split(changed) == {1: "!ls\nx = 2", 2: "%time f()\ny = 2", 3: "  z = 2"}
  assert old in changed
  with pytest.raises(LeftWholeError, match=reason):
    joined.split(changed.replace(old, new))


def test_a_magic_in_a_method_stays_there():
  result = rewritten(book(IMPORTS, HOOK + "\n    !date", DATA, MODEL, TRAIN))
  assert sources(result.raw)[1] == NEW_HOOK + "\n    !date"


@pytest.mark.parametrize(
  "cell",
  [
    "classifier.train?",
    "!ls {classifier.model_dir}",
    "%lprun -f f classifier.train(input_fn)",
    "print classifier.model_dir",
    "%tensorboard --logdir {classifier.model_dir}",
  ],
)
def test_what_is_no_python_may_not_read_what_changes(cell):
  message = left_whole(*CELLS, cell)
  assert "`classifier` changes, and is read where cell 6 is no Python" in message


@pytest.mark.parametrize("cell", ["!ls classifier", "print 'x'", "x = = 2", "%run classifiers.py"])
def test_other_cells_that_are_no_python_do_no_harm(cell):
  result = rewritten(book(*CELLS, cell))
  assert NEW_HOOK in sources(result.raw)
  assert sources(result.raw)[5] == cell


def test_a_cell_that_cannot_be_read_is_reported_and_left_to_a_person():
  result = rewritten(book(*CELLS, "print 'saved'", "print tf.train.Saver()"))
  assert [f.cell for f in result.findings if f.code == "EM004"] == [7]
  assert result.left == 1


def test_imports_of_a_cell_that_cannot_be_read_get_the_new_one_beside_them():
  first = "import tensorflow as tf\nprint 'loaded'\nimport tensorflow.compat.v1 as tf1"
  message = left_whole(first + "\nprint tf1.VERSION", *CELLS[1:])
  assert "`tf1`" in message
  result = rewritten(book(first.replace(" as tf1", " as tf1\nprint 'all'"), *CELLS[1:]))
  assert "print 'loaded'" in sources(result.raw)[0]
  assert "from migrator import runtime" in sources(result.raw)[0]


def test_a_comment_like_those_that_hold_the_cells_apart():
  assert "`# <migrator`" in left_whole(*CELLS, "# <migrator cell 3>")


# -- cells ------------------------------------------------------------------------


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
    "estimator = tf1.estimator.Estimator(model_fn)\nestimator.train(input_fn, hooks=[Stopper()])"
  )
  result = rewritten(book(IMPORTS, HOOK, "# training\n\n" + rest), hooks="all")
  new = sources(result.raw)
  assert new[1] == f"{HOOK}\n\n\n{NEW_HOOK.replace('Stopper', 'StopperCallback')}"
  assert new[2].startswith("# training\n\n# TODO(EM202)")


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
