"""Reading only the parts of a file that matter finds what reading all of it finds."""

import ast
import pathlib

import programs
import pytest

from migrator.lint import engine, rules
from migrator.source import parse

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
FILES = sorted(
  path
  for folder in ("fixtures", "tests", "migrator")
  for path in (REPOSITORY / folder).rglob("*.py")
)
EXAMPLES = [
  pytest.param(text, id=f"{rule.code}-{number}-{part}")
  for rule in rules.load().values()
  for number, example in enumerate(rule.examples, start=1)
  for part in ("bad", "good", "ok")
  if (text := getattr(example, part))
]


def both(text):
  """What is found in all of a text, and in its parts."""
  raw = text.encode("utf-8")
  return [engine.examine_bytes(raw, "a.py", gate=gate).findings for gate in (False, True)]


@pytest.mark.parametrize("text", EXAMPLES)
def test_examples_of_the_rules_are_found_in_parts_too(text):
  whole, parts = both(text)
  if not any(f.is_error for f in whole):
    assert parts == whole


def test_files_of_this_repository_give_the_same_in_parts():
  for path in FILES:
    whole, parts = both(path.read_text(encoding="utf-8"))
    assert parts == whole, path


@pytest.mark.parametrize(
  "text",
  [
    "import tensorflow as tf\r# a comment\rx = tf.estimator.RunConfig(keep_checkpoint_max=0)\r",
    "import tensorflow as tf\n# a comment\rx = tf.estimator.RunConfig()\n",
    "from tensorflow . compat . v1 import estimator as e\nx = e.RunConfig()\n",
    "from tensorflow.\\\n  compat.v1 import estimator as e\nx = e.RunConfig()\n",
  ],
  ids=["returns for ends of lines", "a return in a comment", "blanks", "a continued line"],
)
def test_unusual_layout_gives_the_same_in_parts(text):
  whole, parts = both(text)
  assert parts == whole
  assert "EM101" in [f.code for f in whole]


@pytest.mark.parametrize("block", range(10))
def test_random_programs_give_the_same_in_parts(block):
  compared = 0
  for seed in range(block * 40, block * 40 + 40):
    text = programs.program(seed)
    if parse.check(text, "a.py") is not None:
      continue
    compared += 1
    whole, parts = both(text)
    assert parts == whole, f"seed {seed}\n{text}"
  assert compared > 10


def test_random_programs_hold_findings_and_parts_to_leave_out():
  texts = [programs.program(seed) for seed in range(60)]
  texts = [text for text in texts if parse.check(text, "a.py") is None]
  found = [both(text)[0] for text in texts]
  assert sum(bool(f) for f in found) > len(texts) / 2
  assert len({f.code for findings in found for f in findings}) > 12
  assert any(isinstance(n, ast.AsyncFunctionDef) for text in texts for n in ast.parse(text).body)


def _in_a_folder(tmp_path, text):
  path = tmp_path / "a.py"
  path.write_text(text)
  return [
    [(f.code, f.span.line) for f in engine.examine_file(str(path), gate=gate).findings]
    for gate in (False, True)
  ]


def test_a_syntax_error_beside_what_matters_is_told_of_a_named_file_only(tmp_path):
  text = "import tensorflow as tf\n\ndef f():\n  print 'x'\n\ntf.train.Saver()\n"
  assert _in_a_folder(tmp_path, text) == [[("EM002", 4)], [("EM401", 6)]]


def test_a_syntax_error_in_what_matters_is_told_always(tmp_path):
  text = "import tensorflow as tf\n\ndef f():\n  print 'x'\n  tf.train.Saver()\n"
  assert _in_a_folder(tmp_path, text) == [[("EM002", 4)]] * 2


def test_a_file_that_imports_none_of_the_packages_is_not_parsed(tmp_path):
  assert _in_a_folder(tmp_path, "estimator = (\n") == [[("EM001", 1)], []]


@pytest.mark.parametrize(
  ("text", "line"),
  [
    ("tf = __import__('tensorflow')\ntf.train.Saver()\n", 2),
    ("import tensorflow as tf\nt = tf.train\n\ndef f():\n  t.Saver()\n", 5),
    ("import tensorflow as tf\n\nclass A:\n  def f(self):\n    return tf.train.Saver()\n", 5),
    ("import tensorflow as tf\n\nclass A:\n  def f(self):\n\n    # x\n    tf.train.Saver()\n", 7),
    ("import tensorflow as tf\n\ndef f():\n  s = '''\ndef g():\n'''\n  tf.train.Saver()\n", 7),
    ("import tensorflow as tf\nif True:\n  def f():\n    tf.train.Saver()\n", 4),
    ("import tensorflow as tf\nf(tf.train).Saver()\ng = getattr(tf.train, 'Saver')\n", 3),
  ],
)
def test_what_is_found_in_parts_stands_on_its_line(text, line):
  findings = both(text)[1]
  assert [f.span.line for f in findings if f.code == "EM401"] == [line]
