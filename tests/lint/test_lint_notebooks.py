"""Notebooks: findings stand where the cell's source has them, magics or not."""

import json
import re

import pytest

from migrator.lint import add_noqa, engine
from migrator.source.document import Document

IMPORT = "import tensorflow as tf"


def _raw(*sources, **extra):
  cells = [{"cell_type": "code", "metadata": {}, "outputs": [], "source": s} for s in sources]
  return json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, **extra}).encode()


def _places(*sources):
  """(cell, line, text at the place) of the findings of EM401; the text is cut from the source."""
  found = []
  for finding in engine.check_bytes(_raw(*sources), "n.ipynb"):
    if finding.code == "EM401":
      source = sources[finding.cell - 1]
      lines = re.split(r"\r\n|\r|\n", source if isinstance(source, str) else "".join(source))
      line = lines[finding.span.line - 1]
      assert line == finding.source
      found.append((finding.cell, finding.span.line, line[finding.span.column :]))
  return found


@pytest.mark.parametrize(
  ("source", "line"),
  [
    ("s = tf.train.Saver()", 1),
    (["x = 1\n", "s = tf.train.Saver()"], 2),
    (["x = 1\ny = 2\n", "s = ", "tf.train.", "Saver()"], 3),
    ("%%time\n!ls\nfiles = !ls\n%cd x\nx?\nif files:\n  s = tf.train.Saver()", 7),
    ("!pip install \\\n  x\ns = tf.train.Saver()", 3),
    ("%time s = tf.train.Saver()", 1),
    ("!ls\n%timeit -n 3 -r 1 tf.train.Saver()", 2),
    ("  x = 1\n  s = tf.train.Saver()", 2),
    ("é = 'ä\U0001f600'; s = tf.train.Saver()", 1),
    ("x = 1\r\ns = tf.train.Saver()", 2),
    ("x = '\x0c\u2028'\n\x0c\ns = tf.train.Saver()", 3),
  ],
)
def test_places(source, line):
  (found,) = _places("x = 0", IMPORT, source, "y = 1")
  assert found == (3, line, "tf.train.Saver()")


def test_names_of_earlier_cells_are_known_in_later_ones():
  assert _places("import tensorflow as t\nfrom tensorflow import train", "n = t.train", "n.Saver()")


def test_a_broken_cell_does_not_hide_the_others():
  raw = _raw(IMPORT, "x = = 1", "print 'x'", "tf.train.Saver()")
  found = [(f.code, f.cell) for f in engine.check_bytes(raw, "n.ipynb")]
  assert found == [("EM004", 2), ("EM004", 3), ("EM401", 4)]


def test_a_shell_script_is_no_python():
  assert _places(IMPORT, "%%bash\ntf.train.Saver()", "%%html\ntf.train.Saver()") == []


def test_the_small_notebook_of_a_public_report():
  source = ["!pip install x\n", "%matplotlib inline\n", f"{IMPORT}\n"]
  source += ["s = tf.estimator.RunConfig(save_checkpoints_steps=10)"]
  (finding,) = engine.check_bytes(_raw(source), "n.ipynb")
  assert str(finding).startswith("n.ipynb:cell 1:4:5: EM101 ")


def test_programs_that_cells_write_have_names_of_their_own():
  program = f"%%writefile a.py\n{IMPORT}\ntf.train.Saver()  # noqa: EM105"
  raw = _raw("tf = 1", program, "%%writefile -a a.py\n\ntf.train.Saver()", "tf.train.Saver()")
  found = engine.check_bytes(raw, "n.ipynb")
  assert [(f.code, f.cell, f.span.line) for f in found] == [
    ("EM401", 2, 3),
    ("EM006", 2, 3),
    ("EM401", 3, 3),
  ]
  added = add_noqa.add(Document.from_bytes(raw, "n.ipynb"), found)
  assert added.count == 2
  assert b"# noqa: EM105, EM401" in added.data
  assert [f.code for f in engine.check_bytes(added.data, "n.ipynb")] == ["EM006"]


def test_a_folder_is_searched_for_the_same(tmp_path):
  path = tmp_path / "n.ipynb"
  path.write_bytes(
    _raw(IMPORT, f"%%writefile a.py\n{IMPORT}\ntf.train.Saver()", "tf.train.Saver()")
  )
  assert engine.check_file(str(path), gate=True) == engine.check_file(str(path))


def test_nbformat_3():
  cells = [{"cell_type": "code", "input": s} for s in (IMPORT, ["tf.train", ".Saver()"])]
  raw = json.dumps({"worksheets": [{"cells": cells}], "nbformat": 3}).encode()
  assert [(f.code, f.cell) for f in engine.check_bytes(raw, "n.ipynb")] == [("EM401", 2)]


def test_another_language():
  raw = _raw("x <- 1", "tf.train.Saver()", metadata={"kernelspec": {"language": "R"}})
  assert engine.check_bytes(raw, "n.ipynb") == []


@pytest.mark.parametrize(
  ("raw", "line"),
  [
    (b'{\n "cells": [\n  {"cell_type": "code",,\n', 3),
    (b"", 1),
    (b'{"cells": 3}', 1),
    (b"[" * 100000, 1),
  ],
)
def test_what_is_no_notebook_is_named_with_its_line(raw, line):
  (finding,) = engine.check_bytes(raw, "n.ipynb")
  assert (finding.code, finding.cell, finding.span.line) == ("EM001", None, line)
  assert "no valid notebook" in finding.message


def test_a_notebook_that_is_no_utf_8():
  (finding,) = engine.check_bytes(b'{\n"cells": ["\xe4"]}', "n.ipynb")
  assert (finding.code, finding.span.line) == ("EM003", 2)


def test_imports_of_a_cell_that_cannot_be_parsed_still_bind_their_names():
  broken = "import os\nimport tensorflow as tf\nprint tf.__version__\ntf.train.Saver()"
  raw = _raw(broken, "saver = tf.train.Saver()")
  found = [(f.code, f.cell, f.span.line) for f in engine.check_bytes(raw, "n.ipynb")]
  assert found == [("EM004", 1, 3), ("EM401", 2, 1)]


@pytest.mark.parametrize(
  ("broken", "reported"),
  [
    ("x = # write code here", False),
    ("@manual{Title, year=2020}", False),
    ("data = tf.data.Dataset.range(3", False),
    ("saver = tf.train.Saver(", True),
    ("print 'x'\ntf.train.Saver()", True),
    ("import tensorflow.contrib.slim as\n", True),
    ("model = tf.keras.Model(\nmodel.save_weights('x.h5'", True),
  ],
)
def test_in_a_folder_a_broken_cell_matters_only_if_it_can_hold_a_finding(broken, reported):
  raw = _raw(IMPORT, broken)
  assert [f.code for f in engine.check_bytes(raw, "n.ipynb")] == ["EM004"]
  found = engine.examine_bytes(raw, "n.ipynb", gate=True).findings
  assert [f.code for f in found] == (["EM004"] if reported else [])
