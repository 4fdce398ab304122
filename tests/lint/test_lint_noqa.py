"""noqa comments: where they count, and those that silence nothing."""

import json

import pytest

from migrator.lint import engine, noqa, selection
from migrator.lint.examined import Directive
from migrator.source.document import Document

HEADER = "import tensorflow as tf\n"
CALL = "tf.estimator.RunConfig(keep_checkpoint_max=0)"  # EM101, EM104, EM110


def _found(text, path="a.py"):
  return engine.check_text(HEADER + text, path)


def _codes(text):
  return [f.code for f in _found(text)]


@pytest.mark.parametrize(
  ("comment", "left"),
  [
    ("# noqa", []),
    ("# NoQA", []),
    ("#noqa:EM101,EM104,EM110", []),
    ("# noqa : EM101", ["EM110", "EM104"]),
    ("# noqa: EM101 because the old job still runs", ["EM110", "EM104"]),
    ("# noqa: em101, em104 - kept", ["EM110"]),
    ("# noqa: EM101, because EM104", ["EM110", "EM104"]),
    ("# noqa: E501, EM101 EM104", ["EM110"]),
    ("# noqa: E501  # noqa: EM101", ["EM110", "EM104"]),
    ("# pylint: disable=x  # noqa: EM101", ["EM110", "EM104"]),
    ("# migrator: noqa: EM101", ["EM110", "EM104"]),
    ("# noqa: EM101x", ["EM101", "EM110", "EM104"]),
    ("# noqa: because", ["EM101", "EM110", "EM104"]),
    ("# noqa:", ["EM101", "EM110", "EM104"]),
    ("# noqas", ["EM101", "EM110", "EM104"]),
  ],
)
def test_spellings(comment, left):
  assert _codes(f"x = {CALL}  {comment}\n") == left


@pytest.mark.parametrize(
  "text",
  [
    "x = tf.estimator.DNNClassifier(\n    config=config)  # noqa: EM201\n",
    "x = tf.estimator.DNNClassifier(  # noqa: EM201\n    config=config)\n",
    "x = [\n  1,\n  tf.estimator.DNNClassifier(),  # noqa: EM201\n]\n",
    "x = [\n  1,\n  tf.estimator.DNNClassifier(),\n]  # noqa: EM201\n",
    "x = tf.estimator.DNNClassifier, '''\n'''  # noqa: EM201\n",
    "x = tf.estimator.DNNClassifier, \\\n  2  # noqa: EM201\n",
    "x = (tf.estimator.DNNClassifier, '''\n''',  # noqa: EM201\n  3)\n",
    "x = (tf.estimator.DNNClassifier, f'''\n{2}\n''',  # noqa: EM201\n  3)\n",
    "if tf.estimator.DNNClassifier(\n  x\n):  # noqa: EM201\n  pass\n",
  ],
)
def test_a_comment_counts_where_a_formatter_may_put_it(text):
  assert "EM201" not in _codes(text)
  assert "EM006" not in _codes(text)


@pytest.mark.parametrize(
  "text",
  [
    "x = tf.estimator.DNNClassifier(\n    a=1,  # noqa: EM201\n    config=config)\n",
    "x = tf.estimator.DNNClassifier()\n# noqa: EM201\n",
    "# noqa: EM201\nx = tf.estimator.DNNClassifier()\n",
    "if tf.estimator.DNNClassifier():\n  x = 1  # noqa: EM201\n",
    "x = tf.estimator.DNNClassifier('# noqa: EM201')\n",
  ],
)
def test_a_comment_elsewhere_does_not_count(text):
  assert "EM201" in _codes(text)


def test_old_line_ends_and_form_feeds_do_not_shift_comments():
  for newline in ("\r", "\r\n"):
    text = f"{HEADER}s = '\\x0c'\n\x0c\nx = {CALL}  # noqa\ny = {CALL}\n".replace("\n", newline)
    assert {f.span.line for f in engine.check_text(text, "a.py")} == {5}


def test_a_comment_of_its_own_line_counts_for_the_whole_file():
  assert _codes(f"x = {CALL}\n# migrator: noqa\n") == []
  assert _codes(f"# migrator: noqa: EM110, EM104\nx = {CALL}\n") == ["EM101"]
  assert _codes(f"# ruff: noqa\n# flake8: noqa\nx = {CALL}\n") == ["EM101", "EM110", "EM104"]


def test_behind_code_it_counts_for_the_line_only():
  text = f"x = {CALL}  # migrator: noqa\ny = {CALL}\n"
  assert {f.span.line for f in _found(text)} == {3}


def test_what_cannot_be_read_is_never_silenced():
  cells = [{"cell_type": "code", "source": s} for s in ("# migrator: noqa: EM004", "x = # noqa")]
  raw = json.dumps({"cells": cells, "nbformat": 4}).encode()
  assert [f.code for f in engine.check_bytes(raw, "n.ipynb")] == ["EM006", "EM004"]


# -- EM006 ----------------------------------------------------------------------


@pytest.mark.parametrize(
  ("line", "reason", "mended"),
  [
    ("x = 1  # noqa: EM101", "EM101 silences nothing here", "x = 1"),
    ("x = 1  # noqa: EM101, EM105", "EM101 and EM105 silence nothing here", "x = 1"),
    ("x = 1  # noqa: EM999", "there is no rule EM999", "x = 1"),
    ("x = 1  # noqa: EM999, em101", "EM101 silences nothing here; there is no rule EM999", "x = 1"),
    ("x = 1  # noqa: EM101  # type: int", "EM101 silences nothing here", "x = 1  # type: int"),
    ("x = 1  # type: int # noqa: EM101", "EM101 silences nothing here", "x = 1  # type: int"),
    ("x = 1  # noqa: EM101 - old job", "EM101 silences nothing here", "x = 1  # old job"),
    ("x = 1  # noqa: EM101,E501", "EM101 silences nothing here", "x = 1  # noqa: E501"),
    ("x = 1  # noqa:E501 EM101 W605", "EM101 silences nothing here", "x = 1  # noqa:E501 W605"),
    ("x = 1  # noqa: E501, EM101, b2", "EM101 silences nothing here", "x = 1  # noqa: E501, b2"),
    (
      "# migrator: noqa: EM101, EM2",
      "EM101 silences nothing in this file; there is no rule EM2",
      "",
    ),
    ("x = 1  # migrator: noqa: EM101", "EM101 silences nothing here", "x = 1"),
  ],
)
def test_comments_without_use_are_found_and_can_be_taken_out(line, reason, mended):
  (finding,) = _found(f"{line}\n")
  assert finding.code == "EM006"
  assert finding.message == f"Unused noqa comment: {reason}."
  assert finding.source == line
  span = finding.span
  assert (span.line, span.end_line) == (2, 2)
  assert line[: span.column] + finding.replacement + line[span.end_column :] == mended


@pytest.mark.parametrize(
  "line",
  [
    "x = 1  # noqa",
    "x = 1  # noqa: E501",
    "x = 1  # noqa: EM101, EM006",
    "x = '# noqa: EM101'",
    "raise ValueError('text')  # noqa: EM101",
    "raise ValueError(\n  f'text {x}'  # noqa: EM102\n)",
    "x = 1  # ruff: noqa: EM101",
  ],
)
def test_other_linters_and_blanket_comments_are_let_be(line):
  assert _codes(f"{line}\n") == []


def test_a_used_comment_with_an_unused_code():
  found = _found("x = tf.estimator.DNNClassifier()  # noqa: EM201, EM105\n")
  (finding,) = (f for f in found if f.code == "EM006")
  assert finding.replacement == "# noqa: EM201"


def _apply(text, **options):
  examined = engine.examine(Document.from_text(HEADER + text, "src/a.py"))
  return [f.code for f in selection.apply(examined, **options)]


def test_codes_that_are_not_selected_are_not_called_unused():
  text = "x = 1  # noqa: EM101\n"
  assert _apply(text) == ["EM006"]
  assert _apply(text, select=("EM2",)) == []
  assert _apply(text, select=("EM2", "EM006")) == []
  assert _apply(text, select=("EM1", "EM006")) == ["EM006"]
  assert _apply(text, ignore=("EM006",)) == []
  assert _apply(text, ignore=("EM1",)) == []
  assert _apply(text, per_file_ignores=((lambda path: True, ("EM1",)),)) == []
  assert _apply(text, noqa=False) == []


@pytest.mark.parametrize(
  ("options", "codes"),
  [
    ({}, ["EM101", "EM110", "EM104"]),
    ({"select": ("EM104",), "extend_select": ("EM11",)}, ["EM110", "EM104"]),
    ({"extend_select": ("EM104",), "ignore": ("EM1",)}, ["EM104"]),
    (
      {"per_file_ignores": ((lambda path: path.startswith("src/"), ("EM11",)),)},
      ["EM101", "EM104"],
    ),
    ({"per_file_ignores": ((lambda path: False, ("EM",)),)}, ["EM101", "EM110", "EM104"]),
    ({"select": ("EM101",), "per_file_ignores": ((lambda path: True, ("EM1",)),)}, []),
  ],
)
def test_selection(options, codes):
  assert _apply(f"x = {CALL}\n", **options) == codes


def test_comments_far_from_a_finding_are_not_looked_at(monkeypatch):
  calls = []
  real = Directive.covers
  monkeypatch.setattr(Directive, "covers", lambda d, f: calls.append(d) or real(d, f))
  text = "import tensorflow as tf\n" + "tf.train.Saver()  # noqa: EM401, EM402\n" * 200
  found = selection.apply(engine.examine(Document.from_text(text, "a.py")))
  assert [f.code for f in found] == ["EM006"] * 200
  assert len(calls) < 2000


def test_without_noqa_nothing_is_silenced():
  assert _apply(f"x = {CALL}  # noqa\n", noqa=False) == ["EM101", "EM110", "EM104"]


@pytest.mark.parametrize(
  ("raw", "expected"),
  [
    (b"x = 1  # noqa: EM101", True),
    (b"x = 1  # NOQA:em101", True),
    (b"x = 1  # noqa: E501, EM001", True),
    (b"x = 1  # noqa: E501, W605", False),
    (b"x = 1  # noqa", False),
    (b"x = 1\nnoqa:\nEM101", False),
  ],
)
def test_bytes_that_may_hold_comments_with_codes(raw, expected):
  assert noqa.mentions(raw) is expected
