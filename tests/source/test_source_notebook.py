"""Notebooks: magics are skipped, lines lead back to cells."""

import json

import pytest

from migrator.source import errors, notebook


def _notebook(*sources, kind="code"):
  cells = [{"cell_type": kind, "metadata": {}, "outputs": [], "source": s} for s in sources]
  return json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 2})


def test_lines_lead_to_cells():
  book = notebook.read(_notebook("a = 1\nb = 2", ["c = 3\n", "d = 4\n"], "e = 5"), "n.ipynb")
  assert [book.locate(line) for line in range(1, 7)] == [
    (1, 1),
    (1, 2),
    (2, 1),
    (2, 2),
    (2, 3),
    (3, 1),
  ]
  assert book.text == "a = 1\nb = 2\nc = 3\nd = 4\n\ne = 5\n"


def test_cells_are_counted_with_text_cells():
  cells = [
    {"cell_type": "markdown", "source": "# title"},
    {"cell_type": "code", "source": "x = 1"},
    {"cell_type": "raw", "source": "x ="},
  ]
  book = notebook.read(json.dumps({"cells": cells}), "n.ipynb")
  assert [(c.number, c.text) for c in book.cells] == [(2, "x = 1")]
  assert not book.errors


@pytest.mark.parametrize(
  ("source", "code"),
  [
    ("%matplotlib inline\nx = 1", "pass\nx = 1"),
    ("!pip install \\\n  tensorflow\nx = 1", "pass\n\nx = 1"),
    ("files = !ls\nx = 1", "pass\nx = 1"),
    ("if a:\n  !ls\nelse:\n  %time f()", "if a:\n  pass\nelse:\n  pass"),
    ("?print\nprint?\nx = 1", "pass\npass\nx = 1"),
    ("%%bash\nls | grep x", "\n"),
    ("%%writefile a.py\nprint 'x'", "\n"),
    ("%%time\nx = 1", "pass\nx = 1"),
    ("\n%%capture out\nx = 1", "\npass\nx = 1"),
    ("x = (5\n  % 3)", "x = (5\n  % 3)"),
    ("await f()", "await f()"),
    ("", ""),
  ],
)
def test_magics(source, code):
  book = notebook.read(_notebook(source), "n.ipynb")
  assert not book.errors
  assert book.cells[0].code == code
  assert book.cells[0].code.count("\n") == source.count("\n")


def test_a_cell_that_cannot_be_parsed_does_not_hide_the_others():
  book = notebook.read(_notebook("x = 1", "y = # TODO", "print 'a'", "z = 2"), "n.ipynb")
  assert [(e.code, e.cell, e.line) for e in book.errors] == [
    (errors.NOTEBOOK_CELL, 2, 1),
    (errors.NOTEBOOK_CELL, 3, 1),
  ]
  assert "Python 2" in book.errors[1].reason
  assert book.text == "x = 1\n\n\nz = 2\n"


def test_the_cells_of_nbformat_3():
  data = {"worksheets": [{"cells": [{"cell_type": "code", "input": ["x = 1\n", "y = 2"]}]}]}
  assert notebook.read(json.dumps(data), "n.ipynb").text == "x = 1\ny = 2\n"


@pytest.mark.parametrize(
  ("text", "reason"),
  [
    ('{"cells": [', "no valid notebook"),
    ("[]", "no list of cells"),
    ('{"cells": 3}', "no list of cells"),
    ("", "no valid notebook"),
  ],
)
def test_no_notebook(text, reason):
  with pytest.raises(errors.SourceError) as caught:
    notebook.read(text, "n.ipynb")
  assert caught.value.code == errors.SYNTAX
  assert reason in caught.value.reason
