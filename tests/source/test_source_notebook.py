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
    ("%%capture\n%cd x\nx = 1", "pass\npass\nx = 1"),
    ("!pip install \\\n  tensorflow\nx = 1", "pass\n\nx = 1"),
    ("!pip install \\\n  a \\\n  b", "pass\n\n"),
    ("files = !ls\nx = 1", "pass\nx = 1"),
    ("a.b, c['d'] = !ls\nx = 1", "pass\nx = 1"),
    ("if a:\n  !ls\nelse:\n  %cd f", "if a:\n  pass\nelse:\n  pass"),
    ("?print\nprint?\nnp.ra*??\nx = 1", "pass\npass\npass\nx = 1"),
    ("%time x = f()\n%timeit -n 10 -r3 f(x)", "0;    x = f()\n0;                f(x)"),
    ("%time\n%timeit -o\n%time for x in y: f(x)", "pass\npass\npass"),
    (
      '!ls\nx = (5\n  % 3)\ns = """\n%d\n!\n""" % 3',
      'pass\nx = (5\n  % 3)\ns = """\n%d\n!\n""" % 3',
    ),
    ("!ls ) '\nx = '(' # (\n!ls", "pass\nx = '(' # (\npass"),
    ("pip install a==2\nx = 1", "pass\nx = 1"),
    ("cd ..\nls ./x\nrm -rf y\nless = 2\nless - x.y", "pass\npass\npass\nless = 2\nless - x.y"),
    ("%%bash\nls | grep x", "\n"),
    ("# first\n\n%%bash\nls | grep x", "\n\n\n"),
    ("%bash\nls | grep x", "\n"),
    ("# first\n%bq query --name q\nSELECT a FROM b", "\n\n"),
    ("%writefile a.yaml\nx: y", "\n"),
    ("%bashful\nx = 1", "pass\nx = 1"),
    ("%%writefile a.txt\nprint 'x'", "\n"),
    ("%%time\nx = 1", "pass\nx = 1"),
    ("# first\n%%timeit -n 3\nx = 1", "# first\npass\nx = 1"),
    ("\n%%capture out\nx = 1", "\npass\nx = 1"),
    ("x = (5\n  % 3)", "x = (5\n  % 3)"),
    ("await f()", "await f()"),
    ("async for x in y:\n  pass", "async for x in y:\n  pass"),
    ("f();", "f();"),
    ("", ""),
  ],
)
def test_magics(source, code):
  book = notebook.read(_notebook(source), "n.ipynb")
  assert not book.errors
  assert book.cells[0].code == code
  assert book.cells[0].code.count("\n") == source.count("\n")


@pytest.mark.parametrize(
  "source",
  [
    "  x = 1\n  if x:\n    y = 2",
    "\n  x = 1\ny = 2",
    "  !ls\n  x = 1",
    "%%time\n  x = 1",
  ],
)
def test_a_cell_whose_first_line_is_indented_is_read_as_ipython_does(source):
  book = notebook.read(_notebook("a = 1", source, "b = 2"), "n.ipynb")
  assert not book.errors
  rows = [book.row(2, line) for line in range(1, source.count("\n") + 2)]
  assert [book.locate(row) for row in rows] == [(2, line + 1) for line in range(len(rows))]
  assert book.locate(book.row(3, 1)) == (3, 1)
  assert book.text.split("\n")[book.row(3, 1) - 1] == "b = 2"
  compile(book.text, "n", "exec")


def test_the_place_of_an_error_in_an_indented_cell():
  (error,) = notebook.read(_notebook("  x = 1\n  y = = 2"), "n.ipynb").errors
  assert (error.line, error.column) == (2, 6)
  assert error.reason.endswith("line 2")


def test_the_place_of_an_error_behind_magics():
  (error,) = notebook.read(_notebook("!ls\n%time f()\nx = = 2"), "n.ipynb").errors
  assert (error.line, error.column) == (3, 4)


def test_lines_are_given_as_they_stand_in_the_notebook():
  book = notebook.read(_notebook("x = 1", "!ls\r\n%time f()"), "n.ipynb")
  assert [book.source_line(2, line) for line in (1, 2)] == ["!ls", "%time f()"]
  with pytest.raises(KeyError):
    book.source_line(9, 1)


def test_rows_and_places_belong_together():
  book = notebook.read(_notebook("a = 1\nb", "  c = 3\n", "x =", "e = 5"), "n.ipynb")
  for row in range(1, book.text.count("\n") + 1):
    number, line = book.locate(row)
    assert book.row(number, line) == row or book.text.split("\n")[row - 1] == "if True:"
  with pytest.raises(KeyError):
    book.row(9, 1)


def test_programs_that_cells_write_to_files_are_apart():
  book = notebook.read(
    _notebook(
      "x = 1",
      "%%writefile a.py\ndef f():\n  if x:",
      "# more\n%%writefile -a 'a.py'\n    y = 1\n",
      "%%writefile -a b/c d.py\nz = 1",
      "%%file a.py\nprint 'old'",
      "%%writefile --append a.py\nz = 2",
      "%%writefile a.txt\nprint 'old'",
      "%%writefile a.py",
    ),
    "n.ipynb",
  )
  assert book.text.split() == ["x", "=", "1"]
  assert [file.text for file in book.files] == [
    "\ndef f():\n  if x:\n\n\n    y = 1\n\n",
    "\nz = 1\n",
    "\nz = 2\n",
    "\n\n",
  ]
  assert [(error.cell, error.line) for error in book.errors] == [(5, 2)]
  assert book.files[0].locate(6) == (3, 3)
  assert book.files[2].locate(2) == (6, 2)


def test_a_file_whose_name_is_in_a_variable_is_checked_if_it_is_python():
  book = notebook.read(
    _notebook(
      "%%writefile {module}\nx = 1",
      "%%writefile '$folder/$name'\ny = 2",
      "%%writefile {setup}\nname: a b",
      "%%writefile {folder}/a.txt\nz = 3",
    ),
    "n.ipynb",
  )
  assert [file.text.split() for file in book.files if file.text.strip()] == [
    ["x", "=", "1"],
    ["y", "=", "2"],
  ]
  assert book.errors == ()


@pytest.mark.parametrize(
  ("metadata", "count"),
  [
    ({}, 1),
    ({"kernelspec": {"name": "python3"}}, 1),
    ({"kernelspec": {"language": "python"}}, 1),
    ({"language_info": {"name": "ipython"}}, 1),
    ({"language_info": {"name": "R"}}, 0),
    ({"kernelspec": {"language": "julia"}}, 0),
    ({"kernelspec": 3}, 1),
    ([], 1),
  ],
)
def test_notebooks_in_other_languages_have_no_code(metadata, count):
  cells = [{"cell_type": "code", "source": "x <- 1"}]
  book = notebook.read(json.dumps({"cells": cells, "metadata": metadata}), "n.ipynb")
  assert len(book.cells) == count


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
    ('{"worksheets": [{"cells": 3}, 4]}', "no list of cells"),
    ('{\n "cells": [],\n <<<<<<< HEAD\n}', "line 3"),
    ("", "no valid notebook"),
  ],
)
def test_no_notebook(text, reason):
  with pytest.raises(errors.SourceError) as caught:
    notebook.read(text, "n.ipynb")
  assert caught.value.code == errors.SYNTAX
  assert reason in caught.value.reason
