"""The engine: noqa, selection, order, files that cannot be read."""

import json

import pytest

from migrator.lint import engine, selection

CALL = "tf.estimator.RunConfig(keep_checkpoint_max=0)"


def _codes(text):
  return [f.code for f in engine.check_text("import tensorflow as tf\n" + text, "a.py")]


@pytest.mark.parametrize(
  ("comment", "codes"),
  [
    ("", ["EM101", "EM110", "EM104"]),
    ("  # noqa", []),
    ("  # noqa: EM101", ["EM110", "EM104"]),
    ("  # NOQA:em101,EM110", ["EM104"]),
    ("  # type: ignore  # noqa: E501, EM101 EM104", ["EM110"]),
    ("  # noqa: E501", ["EM101", "EM110", "EM104"]),
    ("  # noqa: because", ["EM101", "EM110", "EM104"]),
    ("  + '# noqa'", ["EM101", "EM110", "EM104"]),
  ],
)
def test_noqa(comment, codes):
  assert _codes(f"x = {CALL}{comment}\n") == codes


def test_syntax_errors_cannot_be_silenced():
  assert _codes("x = (  # noqa\n") == ["EM001"]


@pytest.mark.parametrize(
  ("select", "ignore", "codes"),
  [
    ((), (), ["EM101", "EM110", "EM104"]),
    (("EM101",), (), ["EM101"]),
    (("EM1",), ("EM10",), ["EM110"]),
    ((), ("EM",), []),
    (("EM104",), ("EM1",), ["EM104"]),
    (("EM1",), ("EM1",), []),
    (("EM2",), (), []),
  ],
)
def test_selection_the_longest_prefix_decides(select, ignore, codes):
  text = f"import tensorflow as tf\nx = {CALL}\n"
  examined = engine.examine_bytes(text.encode(), "a.py")
  found = selection.apply(examined, select=select, ignore=ignore)
  assert [f.code for f in found] == codes


def test_what_cannot_be_read_is_always_selected():
  examined = engine.examine_bytes(b"x = (\n", "a.py")
  found = selection.apply(examined, select=("EM101",), ignore=("EM0",))
  assert found == list(examined.findings)


def test_the_gate_spares_files_without_tensorflow(tmp_path):
  path = tmp_path / "old.py"
  path.write_text('print "no such library"\n')
  assert engine.check_file(str(path), gate=True) == []
  assert [f.code for f in engine.check_file(str(path))] == ["EM002"]


def test_latin_1_without_a_cookie():
  found = engine.check_bytes(b"import tensorflow as tf\nx = '\xe9'\n", "a.py")
  assert [(f.code, f.span.line) for f in found] == [("EM003", 2)]


def test_expressions_nested_too_deeply_are_an_error_not_a_crash():
  text = "import tensorflow as tf\nx = " + "-" * 20000 + "1\n"
  assert [f.code for f in engine.check_text(text, "a.py")] == ["EM001"]


def test_expressions_that_the_parser_still_reads_are_no_error():
  text = "import tensorflow as tf\nx = " + "-" * 150 + "1\ntf.train.Saver()\n"
  assert [f.code for f in engine.check_text(text, "a.py")] == ["EM401"]


def test_a_long_sum_is_an_error_or_no_finding():
  text = "import tensorflow as tf\nx = " + " + ".join(["1"] * 5000) + "\n"
  assert [f.code for f in engine.check_text(text, "a.py")] in ([], ["EM001"])


def test_json_of_a_finding():
  finding = engine.check_text("import tensorflow as tf\ntf.train.Saver()\n", "a.py")[0]
  assert json.loads(json.dumps(finding.to_json())) == {
    "code": "EM401",
    "name": "saver",
    "message": finding.message,
    "path": "a.py",
    "cell": None,
    "line": 2,
    "column": 1,
    "end_line": 2,
    "end_column": 15,
    "fix": "manual",
  }


def test_findings_are_in_the_order_of_the_file():
  text = f"""
def g():
  return {CALL}

class A(tf.train.SessionRunHook):
  pass

tf.train.Saver()
"""
  found = engine.check_text("import tensorflow as tf\n" + text, "a.py")
  assert found == sorted(found, key=lambda f: f.sort_key())
  assert [f.span.line for f in found] == [4, 4, 4, 6, 9]


def test_places_in_messages_are_those_of_the_cell():
  first = "import tensorflow as tf\n\ne = tf.estimator.Estimator(f, model_dir='m')"
  second = "x = tf.train.latest_checkpoint('m')"
  cells = [{"cell_type": "code", "source": s} for s in ("a = 1", first, second)]
  raw = json.dumps({"cells": cells, "nbformat": 4}).encode()
  found = [f for f in engine.check_bytes(raw, "n.ipynb") if f.code == "EM601"]
  assert [(f.cell, f.span.line) for f in found] == [(3, 1)]
  assert "the Estimator of line 3 of cell 2;" in found[0].message
