"""The programs of the fixtures as notebooks: they become what the programs become."""

import ast
import json
import pathlib
import random
import re

import pytest

from migrator.rewrite.engine import Options
from migrator.rewrite.files import rewrite_bytes

PROGRAMS = sorted(pathlib.Path(__file__).parents[2].glob("fixtures/programs/*/before.py"))
MAGICS = ("!ls\n!date", "%matplotlib inline", "", "%%bash\nls", "# a comment")


def cells_of(text, rng):
  """A program cut into cells between statements, and magics between some of them."""
  lines, body = text.rstrip("\n").split("\n"), ast.parse(text).body
  cells, begin = ["%load_ext tensorboard"], 0
  for statement, following in zip(body, [*body[1:], None]):
    decorators = getattr(following, "decorator_list", [])
    end = statement.end_lineno if following else len(lines)
    shares = following and min([following.lineno, *(d.lineno for d in decorators)]) <= end
    if not shares and (following is None or rng.random() < 0.6):
      cells.append("\n".join(lines[begin:end]))
      begin = end
      if rng.random() < 0.4:
        cells.append(rng.choice(MAGICS))
  return cells


def notebook(cells):
  listed = [
    {"cell_type": "code", "metadata": {}, "outputs": [], "source": cell.splitlines(True)}
    for cell in cells
  ]
  return json.dumps({"cells": listed, "metadata": {}, "nbformat": 4}, indent=1).encode()


def code(text):
  """The lines of a text without blank ones; between cells there need be none."""
  return [line for line in text.split("\n") if line.strip()]


def said(result):
  """The findings without the lines that they name."""
  return {(f.code, re.sub(r"line \d+( of cell \d+)?", "line", f.message)) for f in result.findings}


@pytest.mark.parametrize("number", range(len(PROGRAMS)), ids=[p.parent.name for p in PROGRAMS])
def test_a_program_in_cells_becomes_what_the_program_becomes(number):
  path, target = PROGRAMS[number], ("fit", "loop")[number % 2]
  text = path.read_text(encoding="utf-8")
  options = Options(target=target, hooks="all")
  expected = rewrite_bytes(text.encode(), "p.py", options)
  cells = cells_of(text, random.Random(number))
  result = rewrite_bytes(notebook(cells), "p.ipynb", options)
  assert said(result) == said(expected)
  assert [(u.name, u.target) for u in result.units] == [(u.name, u.target) for u in expected.units]
  assert [(h.name, h.callback) for h in result.hooks] == [
    (h.name, h.callback) for h in expected.hooks
  ]
  assert (result.raw is None) == (expected.raw is None)
  if expected.raw is None:
    return
  new = ["".join(cell["source"]) for cell in json.loads(result.raw)["cells"]]
  assert len(new) == len(cells)
  kept = [cell for cell in new if cell not in MAGICS]
  assert kept[0] == "%load_ext tensorboard"
  assert code("\n".join(kept[1:])) == code(expected.raw.decode())
  assert rewrite_bytes(result.raw, "p.ipynb", options).raw is None
