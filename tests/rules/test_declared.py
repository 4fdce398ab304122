"""`[[match]]`: which uses and calls it flags, and what its replacement makes of them."""

import json
import textwrap

import pytest

from migrator.lint import engine, rule_examples, rules

MAKE = '[[match]]\nsymbols = ["acme.training.make"]\n'
ARGUMENT = MAKE + 'keyword = "steps"\nposition = 1\n'


def _found(text, path="job.py"):
  found = engine.check_text(textwrap.dedent(text), path)
  return [f for f in found if f.code == "ACME001"]


def _lines(text, path="job.py"):
  return [f.span.line for f in _found(text, path)]


def _fixed(text):
  text = textwrap.dedent(text)
  return rule_examples.fixed(text, _found(text))


@pytest.mark.parametrize(
  "text",
  [
    "import acme.training\nacme.training.make(1)\n",
    "import acme.training as t\nt.make(1)\n",
    "from acme import training as t\nt.make(1)\n",
    "import acme.training as t\nalias = t\nalias.make(1)\n",
    "import acme.training as t\ndef f():\n  return t.make\n",
    "import importlib\nt = importlib.import_module('acme.training')\nt.make(1)\n",
    "import acme.training as t\ngetattr(t, 'make')(1)\n",
    "from acme.training import *\nmake(1)\n",
    "from acme import *\ntraining.make(1)\n",
    "import acme.training as t\n@t.make\ndef f(): pass\n",
    "import acme.training as t\nclass C(t.make): pass\n",
    "import acme.training as t\nx: t.make = None\n",
    "import acme.training as t\nt.make.other.thing()\n",
    "try:\n  from acme import training\nexcept ImportError:\n  training = None\ntraining.make(1)\n",
  ],
)
def test_a_symbol_of_any_package_is_found_behind_any_spelling(own_rules, text):
  own_rules(MAKE)
  (finding,) = _found(text)
  assert finding.message == "`acme.training.make` is ours."


@pytest.mark.parametrize(
  "text",
  [
    "import other.training as t\nt.make(1)\n",
    "from acme import training\ndef f(training):\n  training.make(1)\n",
    "def make(): pass\nmake(1)\n",
    "import acme.training as t\nt.make_other(1)\n",
    "from acme.training import *\ndef make(): pass\nmake(1)\n",
    "x = 'acme.training.make'\n",
    "make(1)\n",
  ],
)
def test_other_things_of_the_same_name_are_not(own_rules, text):
  own_rules(MAKE)
  assert not _found(text)


def test_imports_are_uses_and_no_calls(own_rules):
  text = "from acme.training import make as m, other\nm(1)\n"
  own_rules(MAKE)
  assert _lines(text) == [1, 2]
  own_rules(MAKE + 'at = "call"\n')
  assert _lines(text) == [2]


def test_a_module_flags_what_is_reached_through_it(own_rules):
  own_rules('[[match]]\nsymbols = ["acme.training"]\n')
  text = (
    "from acme.training import *\nimport acme.training.x as x\nimport acme\nacme.training.y()\n"
  )
  assert _lines(text) == [1, 2, 4]
  assert _found(text)[-1].span.end_column == len("acme.training")


def test_a_star_flags_all_below_and_names_it(own_rules):
  own_rules('[[match]]\nsymbols = ["acme.training.*"]\nat = "call"\n')
  found = _found("import acme.training as t\nt.a.b(1)\nt.c(2)\nt.d\nt(3)\n")
  messages = ["`acme.training.a.b` is ours.", "`acme.training.c` is ours."]
  assert [f.message for f in found] == messages


@pytest.mark.parametrize("spelled", ["tf", "tensorflow", "tf.compat.v1", "tensorflow.compat.v1"])
def test_a_symbol_of_tensorflow_may_be_spelled_as_in_code(own_rules, spelled):
  own_rules(f'[[match]]\nsymbols = ["{spelled}.estimator.RunConfig"]\nat = "call"\n')
  text = "import tensorflow.compat.v1 as tf1\nconfig = tf1.estimator.RunConfig()\n"
  assert [f.message for f in _found(text)] == ["`tf.estimator.RunConfig` is ours."]
  assert "EM101" in [f.code for f in engine.check_text(text, "job.py")]


def test_relative_imports_mean_the_package_of_the_file(own_rules, tmp_path):
  own_rules(MAKE)
  path = tmp_path / "src" / "acme" / "jobs" / "train.py"
  text = "from ..training import make\nmake(1)\nfrom .. import training\ntraining.make(2)\n"
  assert _lines(text, str(path)) == [1, 2, 4]
  assert not _lines(text, str(tmp_path / "src" / "other" / "jobs" / "train.py"))
  assert not _lines(text, str(tmp_path / "src" / "acme" / "jobs" / "deep" / "train.py"))


@pytest.mark.parametrize(
  ("condition", "flagged", "passed"),
  [
    ("", ["steps=n", "0, n", "**{'steps': 1}", "**dict(steps=n)"], ["", "1", "**o", "*a"]),
    ("value = 0", ["steps=0", "1, 0.0"], ["steps=False", "steps='0'", "steps=n", "steps=None"]),
    ("value = [0, 'none', true]", ["steps='none'", "steps=True", "steps=0"], ["steps=1"]),
    (
      "below = 100",
      ["steps=99", "steps=-1", "steps=3 * 4"],
      ["steps=100", "steps=True", "steps=n"],
    ),
    ("above = 0\nbelow = 10", ["steps=5", "steps=0.5"], ["steps=0", "steps=10", "steps='5'"]),
    ("pattern = '^gs://'", ["steps='gs://x'"], ["steps='x gs://'", "steps=1", "steps=f'{x}'"]),
    ("none = true", ["steps=None", "1, None"], ["steps=0", "", "steps=n"]),
    ("missing = true", ["", "1", "other=2", "**{'a': 1}"], ["steps=1", "1, 2", "**o", "*a"]),
  ],
)
def test_conditions_on_an_argument(own_rules, condition, flagged, passed):
  own_rules(ARGUMENT + condition + "\n")
  for arguments in flagged:
    assert _lines(f"from acme import training as t\nt.make({arguments})\n") == [2], arguments
  for arguments in passed:
    assert not _lines(f"from acme import training as t\nt.make({arguments})\n"), arguments


def test_a_constant_of_the_module_is_its_value(own_rules):
  own_rules(ARGUMENT + "value = 10\n", message="{keyword} is {value} for {name}.")
  (finding,) = _found("import acme.training as t\nN = 5 * 2\nt.make(steps=N)\n")
  assert finding.message == "steps is N for t.make."


def test_the_first_match_that_fits_is_reported(own_rules):
  own_rules(ARGUMENT + 'at = "value"\n' + MAKE + 'at = "call"\n')
  assert [
    f.span.column for f in _found("import acme.training as t\nt.make(steps=1)\nt.make()\n")
  ] == [
    13,
    0,
  ]


@pytest.mark.parametrize(
  ("at", "replacement", "before", "after"),
  [
    ("name", "acme.new", "t.make(1)", "acme.new(1)"),
    ("name", "{symbol}2", "x = t.make", "x = acme.training.make2"),
    ("name", "{module}.new", "t.make(1)", "t.new(1)"),
    ("name", "{module}.new", "make = t.make", "make = t.new"),
    ("call", "new({arguments})", "t.make(1, a=[2],)", "new(1, a=[2])"),
    ("call", "new({arguments}, b=1)", "t.make()", "new(b=1)"),
    ("call", "new({arguments}, b=1)", "t.make(x for x in y)", "new((x for x in y), b=1)"),
    ("call", "new({arguments})", "t.make(x for x in y)", "new((x for x in y))"),
    ("call", "new({arguments}, b=1)", "(t.make)(\n  (1),\n  'é',\n)", "new((1),\n  'é', b=1)"),
    ("call", "new({arguments})", "t.make(  # why\n  1)", "new(# why\n  1)"),
    ("call", "new({arguments})", "t.make(1  # why\n)", None),
    ("call", "{name}({{'a': {argument:a}}})", "t.make(a=f(1))", "t.make({'a': f(1)})"),
    ("call", "{argument:a}", "t.make(b=1)", None),
    ("call", "{argument:a}", "t.make(**{'a': 1})", None),
  ],
)
def test_the_replacement_of_a_name_or_call(own_rules, at, replacement, before, after):
  own_rules(MAKE + f'at = "{at}"\nreplacement = "{replacement}"\n')
  head = "import acme.training as t\n"
  assert _found(head + before)
  assert _fixed(head + before) == (None if after is None else head + after)


def test_a_name_that_is_imported_by_itself_has_no_module(own_rules):
  own_rules(MAKE + 'replacement = "{module}.new"\n')
  text = "from acme.training import make\nmake(1)\n"
  assert [f.replacement for f in _found(text)] == [None, None]


@pytest.mark.parametrize(
  ("at", "replacement", "before", "after"),
  [
    ("value", "{value} + 1", "t.make(steps=n)", "t.make(steps=n + 1)"),
    ("value", "1", "t.make(0, n)", "t.make(0, 1)"),
    ("argument", "every={value}", "t.make(steps=n)", "t.make(every=n)"),
    ("argument", "", "t.make(steps=n)", "t.make()"),
    ("argument", "", "t.make(steps=(n), a=1)", "t.make(a=1)"),
    ("argument", "", "t.make(a=1, steps=n)", "t.make(a=1)"),
    ("argument", "", "t.make(\n  a=1,\n  steps=n,\n)", "t.make(\n  a=1,\n)"),
    ("argument", "", "t.make(\n  steps=[\n    n],\n  a=1,\n)", "t.make(\n  a=1,\n)"),
    ("argument", "", "t.make(\n  a=1,  # why\n  steps=n)", None),
    ("argument", "", "t.make(0, n)", None),
    ("argument", "", "t.make(**{'steps': n})", None),
    ("value", "1", "t.make(**{'steps': n})", None),
    ("call", "new({value})", "t.make(steps=n)", "new(n)"),
  ],
)
def test_the_replacement_of_an_argument(own_rules, at, replacement, before, after):
  own_rules(ARGUMENT + f'at = "{at}"\nreplacement = "{replacement}"\n')
  head = "import acme.training as t\n"
  assert _found(head + before)
  assert _fixed(head + before) == (None if after is None else head + after)


@pytest.mark.parametrize(
  ("replacement", "failures"),
  [
    ("acme.new", []),
    ("make", ["the replacement leaves it reported (line 2)"]),
    ("(", ["what the replacement makes of 'bad' cannot be read"]),
  ],
)
def test_an_example_whose_replacement_is_no_fix_fails(own_rules, replacement, failures):
  path = own_rules(MAKE + f'replacement = "{replacement}"\n')
  bad = 'bad = "from acme.training import make\\nmake(1)"'
  path.write_text(path.read_text().replace("ok = 'x = 1'", bad))
  rules.use([str(path)])
  found = rule_examples.failures(rules.load()["ACME001"])
  assert len(found) == len(failures)
  assert all(part in text for part, text in zip(failures, found))


def test_a_file_of_a_tree_is_examined_for_the_words_of_own_rules(own_rules, tmp_path):
  path = tmp_path / "job.py"
  path.write_text("import acme.training as t\nt.make()\n")
  assert not engine.check_file(str(path), gate=True)
  own_rules(MAKE)
  assert [f.code for f in engine.check_file(str(path), gate=True)] == ["ACME001"]


def test_own_rules_are_silenced_like_ours(own_rules):
  own_rules(MAKE)
  assert not _found("import acme.training as t\nt.make()  # noqa: ACME001\nt.make()  # noqa\n")


def test_places_and_replacements_in_a_notebook_are_those_of_the_cell(own_rules):
  own_rules(MAKE + 'at = "call"\nreplacement = "new({arguments})"\n')
  cells = [["import acme.training as t\n"], ["%time\n", "x = 1\n", "t.make(\n", "    x)"]]
  notebook = {
    "cells": [
      {"cell_type": "code", "metadata": {}, "outputs": [], "source": lines} for lines in cells
    ],
    "metadata": {},
    "nbformat": 4,
    "nbformat_minor": 2,
  }
  found = engine.check_bytes(json.dumps(notebook).encode(), "n.ipynb")
  assert [(f.code, f.cell, f.span.line, f.span.end_line) for f in found] == [("ACME001", 2, 3, 4)]
  assert found[0].replacement == "new(x)"
