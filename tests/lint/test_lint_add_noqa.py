"""Adding noqa comments: where they count, and nothing else changes."""

import ast
import codecs
import json

import pytest

from migrator.lint import add_noqa, engine
from migrator.source.document import Document

HEADER = "import tensorflow as tf\n"


def _add(raw, path="a.py"):
  """Adds comments for all findings; the result has none, and adding again changes nothing."""
  document = Document.from_bytes(raw, path)
  found = engine.check_bytes(raw, path)
  added = add_noqa.add(document, found)
  assert added.left == ()
  assert added.count == len([f for f in found if not f.is_error])
  left = engine.check_bytes(added.data, path)
  assert [f for f in left if not f.is_error] == []
  again = add_noqa.add(Document.from_bytes(added.data, path), left)
  assert (again.data, again.count) == (added.data, 0)
  return added.data


def _added(text):
  result = _add((HEADER + text).encode()).decode()
  assert ast.dump(ast.parse(result)) == ast.dump(ast.parse(HEADER + text))
  return result[len(HEADER) :]


@pytest.mark.parametrize(
  ("text", "expected"),
  [
    ("tf.train.Saver()\n", "tf.train.Saver()  # noqa: EM401\n"),
    ("tf.train.Saver()", "tf.train.Saver()  # noqa: EM401"),
    ("tf.train.Saver() \n", "tf.train.Saver()  # noqa: EM401\n"),
    ("tf.train.Saver()\t\n", "tf.train.Saver()\t # noqa: EM401\n"),
    ("tf.train.Saver()   \n", "tf.train.Saver()   # noqa: EM401\n"),
    ("tf.train.Saver()  # ours\n", "tf.train.Saver()  # ours  # noqa: EM401\n"),
    ("tf.train.Saver()  # noqa: E501\n", "tf.train.Saver()  # noqa: E501, EM401\n"),
    ("tf.train.Saver()  # noqa:E501 x\n", "tf.train.Saver()  # noqa:E501, EM401 x\n"),
    ("tf.train.Saver()  # noqa: no\n", "tf.train.Saver()  # noqa: no  # noqa: EM401\n"),
    ("tf.train.Saver()  # noqa\n", "tf.train.Saver()  # noqa\n"),
    (
      "tf.estimator.RunConfig(keep_checkpoint_max=0)\n",
      "tf.estimator.RunConfig(keep_checkpoint_max=0)  # noqa: EM101, EM104, EM110\n",
    ),
    (
      "s = tf.train.Saver(\n  max_to_keep=5,\n)\n",
      "s = tf.train.Saver(  # noqa: EM401\n  max_to_keep=5,\n)\n",
    ),
    (
      "s = [1,\n  tf.train.Saver(),\n  tf.train.Saver()]\n",
      "s = [1,\n  tf.train.Saver(),  # noqa: EM401\n  tf.train.Saver()]  # noqa: EM401\n",
    ),
    (
      "s = tf.train.Saver(), '''\n# noqa\n'''\n",
      "s = tf.train.Saver(), '''\n# noqa\n'''  # noqa: EM401\n",
    ),
    (
      "s = tf.train.Saver(), f'''\n{1}\n''', '''\n''', \\\n  2, \\\n  3\n",
      "s = tf.train.Saver(), f'''\n{1}\n''', '''\n''', \\\n  2, \\\n  3  # noqa: EM401\n",
    ),
    ("if tf.train.Saver(): pass\n", "if tf.train.Saver(): pass  # noqa: EM401\n"),
    ("tf.train.Saver(); x = 1\n", "tf.train.Saver(); x = 1  # noqa: EM401\n"),
    ("# migrator: noqa: EM110\ntf.train.Saver()\n", None),
  ],
)
def test_where_comments_go(text, expected):
  if expected is None:  # the unused comment of the file stays a finding: it should go
    raw = (HEADER + text).encode()
    added = add_noqa.add(Document.from_bytes(raw, "a.py"), engine.check_bytes(raw, "a.py"))
    assert added.data.decode() == HEADER + text.replace("Saver()", "Saver()  # noqa: EM401")
    return
  assert _added(text) == expected


@pytest.mark.parametrize(
  "raw",
  [
    codecs.BOM_UTF8 + b"import tensorflow as tf\ntf.train.Saver()\nx = '\xc3\xa4'\n",
    b"import tensorflow as tf\r\ntf.train.Saver()\r\n",
    b"import tensorflow as tf\rtf.train.Saver()\rx = 1",
    b"import tensorflow as tf\r\ntf.train.Saver()\rx = 1\n\x0c\ntf.train.Saver()\r\ny = 1\r",
    b"# coding: latin-1\nimport tensorflow as tf\ntf.train.Saver('\xe4')\n",
    b"# coding: shift_jis\nimport tensorflow as tf\ns = '\x83\x5c\x83\x5c'; tf.train.Saver()\n",
    "import tensorflow as tf\ns = 'ä\u2028\U0001f600\x1c'; tf.train.Saver()\n".encode(),
  ],
)
def test_encoding_mark_and_line_ends_stay(raw):
  comment = b"  # noqa: EM401"
  added = _add(raw)
  assert added.count(comment) == raw.count(b"Saver")
  assert added.replace(comment, b"") == raw


def test_a_stateful_encoding_that_would_change_other_bytes_is_let_be():
  raw = b"# coding: iso2022_jp\nimport tensorflow as tf\ntf.train.Saver() # \x1b$B\x1b(B\n"
  document = Document.from_bytes(raw, "a.py")
  found = engine.check_bytes(raw, "a.py")
  added = add_noqa.add(document, found)
  assert (added.data, added.count, added.left) == (raw, 0, tuple(found))


def test_a_file_that_cannot_be_parsed_is_let_be():
  raw = b"import tensorflow as tf\ntf.train.Saver(\n"
  document = Document.from_bytes(raw, "a.py")
  assert add_noqa.add(document, engine.check_bytes(raw, "a.py")).data == raw


def test_an_error_in_a_part_that_was_not_looked_at_is_no_hindrance():
  raw = b"import tensorflow as tf\ndef f():\n  print 'x'\ndef g():\n  tf.train.Saver()\n"
  document = Document.from_bytes(raw, "a.py")
  found = engine.check_bytes(raw.replace(b"print 'x'", b"print('x')"), "a.py")
  added = add_noqa.add(document, found)
  assert added.data == raw.replace(b"Saver()", b"Saver()  # noqa: EM401")


# -- notebooks --------------------------------------------------------------------

HARD = 's = "\\u00e4 \U0001f600 \\" \\\\"; tf.train.Saver()'


@pytest.mark.parametrize("ascii", [True, False])
@pytest.mark.parametrize("indent", [None, 1, "\t"])
@pytest.mark.parametrize(
  "source",
  [
    f"!ls\nä = 1\n{HARD}\ntf.train.Saver()",
    ["!ls\n", "ä = 1\n", f"{HARD}\n", "tf.train.Saver()\n"],
    ["!ls", f"\nä = 1\n{HARD[:9]}", HARD[9:], "\ntf.train", ".Saver", "()", "", "\n"],
    f"  # indented\r\n  {HARD}\r\n  tf.train.Saver()",
  ],
)
def test_a_notebook_changes_only_in_the_lines_with_findings(source, indent, ascii):
  cells = [
    {"cell_type": "markdown", "source": ["tf.train.Saver()"]},
    {"source": HEADER, "cell_type": "code", "outputs": [{"text": "tf.train.Saver()", "n": 1.50}]},
    {"cell_type": "code", "source": source, "metadata": {"source": "tf.train.Saver()"}},
    {"cell_type": "code", "source": "x ="},
    {"cell_type": "code", "source": []},
  ]
  data = {"metadata": {"cells": [1]}, "cells": cells, "nbformat": 4}
  raw = json.dumps(data, indent=indent, ensure_ascii=ascii).encode() + b"\n\n"
  added = _add(raw, "n.ipynb")
  comment = b"  # noqa: EM401"
  assert added.count(comment) == 2
  assert added.replace(comment, b"") == raw
  lines = "".join(json.loads(added)["cells"][2]["source"]).splitlines()
  assert [line.endswith("# noqa: EM401") for line in lines if "Saver" in line] == [True, True]


def test_a_notebook_of_nbformat_3():
  sheets = [{"cells": [{"cell_type": "code", "input": s}]} for s in (HEADER, ["tf.train.Saver()"])]
  raw = json.dumps({"worksheets": sheets, "nbformat": 3}).encode()
  assert b'["tf.train.Saver()  # noqa: EM401"]' in _add(raw, "n.ipynb")


def test_what_is_measured_by_a_magic_is_silenced():
  cells = [{"cell_type": "code", "source": s} for s in (HEADER, "%time s = tf.train.Saver()")]
  raw = json.dumps({"cells": cells, "nbformat": 4}).encode()
  assert b'"%time s = tf.train.Saver()  # noqa: EM401"' in _add(raw, "n.ipynb")
