"""What is told about a text without parsing it, and what is parsed of it."""

import ast
import gc
import weakref

import pytest

from migrator.analysis import elide, skim, spelled
from migrator.analysis.lexicon import COLD, HOT, WARM, Lexicon
from migrator.analysis.module import Module
from migrator.analysis.words import Words

LEXICON = Lexicon(["tf.train.Saver", "tf.estimator.*", "ours.train.Job"])


@pytest.mark.parametrize(
  ("name", "judged"),
  [
    ("tensorflow.compat.v1.train.Saver", HOT),
    ("tensorflow_estimator.estimator.RunConfig", HOT),
    ("tensorflow.train.Saver.restore", HOT),
    ("ours.train.Job", HOT),
    ("tensorflow", WARM),
    ("tensorflow.compat", WARM),
    ("tensorflow.compat.v1.train", WARM),
    ("ours", WARM),
    ("tensorflow.nn", COLD),
    ("sklearn.estimator", COLD),
  ],
)
def test_a_name_matters_leads_to_one_that_does_or_neither(name, judged):
  assert LEXICON.judge(name) == judged


@pytest.mark.parametrize(
  ("text", "places"),
  [
    ("import tensorflow as tf\ntf.nn.relu(x)\n", []),
    ("import tensorflow as tf\ntf.train.Saver()\n", ["tf.train.Saver()"]),
    ("import tensorflow as tf\ntf\\\n .train . Saver()\n", ["tf\\"]),
    ("import tensorflow as tf\ntr = tf.train\ntr.Saver()\n", ["tr.Saver()"]),
    ("import tensorflow as tf\n# tf.train.Saver\n", []),
    ("from ours import train as t\nt.Job()\n", ["t.Job()"]),
    ("import other as tf\ntf.train.Saver()\n", []),
    ("import tensorflow as tf\ntf = tf.compat.v1\ntf.train.Saver()\n", ["tf.train.Saver()"]),
  ],
)
def test_places_of_what_matters(text, places):
  found = skim.Skim(text, LEXICON)
  assert [text[p:].split("\n")[0] for p in found.positions] == places
  assert not found.odd


@pytest.mark.parametrize(
  "line",
  ["getattr(tf, name)", "use(tf.train)", "from tensorflow import *", "import_module('tensorflow')"],
)
def test_a_module_that_is_handed_on_makes_a_text_odd(line):
  assert skim.Skim(f"import tensorflow as tf\n{line}\n", LEXICON).odd


def test_what_is_left_out_becomes_a_stub_of_as_many_lines():
  text = (
    "class A(B):\n  x = 1\n  def f(self):\n    pass\n\n  def g(self):\n    HERE\n\ndef h():\n  1\n"
  )
  short = elide.shorten(text, [text.index("HERE")])
  assert short.text.count("\n") == text.count("\n")
  assert short.text.split("\n")[2:] == [
    "  def f(): pass",
    "",
    "",
    "  def g(self):",
    "    HERE",
    "",
    "def h(): pass",
    "",
    "",
  ]
  assert short.is_faithful(ast.parse(short.text))


def test_a_method_that_assigns_what_another_reads_stays():
  text = "class A:\n  def f(self):\n    self.x = 1\n\n  def g(self):\n    HERE(self.x)\n"
  assert elide.shorten(text, [text.index("HERE")]) is None


def test_code_in_a_string_is_no_function():
  text = "s = '''\ndef f():\n  x\n'''\nHERE\n"
  short = elide.shorten(text, [text.index("HERE")])
  assert not short.is_faithful(ast.parse(short.text))


@pytest.mark.parametrize(
  "line",
  [
    "if hasattr(tf, 'estimator'): pass",
    "x = 'a dataset from (tf)records'",
    "# a collection of tf",
    "import_meta_graph('./x')",
  ],
)
def test_a_module_that_is_only_named_makes_no_text_odd(line):
  assert not skim.Skim(f"import tensorflow as tf\n{line}\n", LEXICON).odd


def test_a_text_that_names_none_of_the_packages_imports_none_by_a_call():
  text = "from .x import *\nimport_module('.y', 'z')\n"
  assert not skim.Skim(text, LEXICON).odd
  assert skim.Skim(text.replace("'z'", "'tensorflow'"), LEXICON).odd


def test_names_of_imports_and_their_aliases_are_told_from_the_text():
  text = "a = tf.keras\nb = c = a\nd = tf.call()\ne = 1\nf(g=tf.train)\nif h == tf.i:\n"
  assert spelled.aliases(text, {"tf"}) == {"tf", "a", "b", "c"}
  assert spelled.aliases(text + "from x import *\n", {"tf"}) is None


@pytest.mark.parametrize(
  "line",
  [
    "x = getattr(tf, name)",
    "if y >= 2: x = tf.keras",
    "if has(tf): x = tf.keras",
    "self.x = tf.keras",
    "(x, y) = tf.keras, 1",
    "x: Any = tf.keras",
    "f((x := tf.keras))",
    "x = (\n  tf.keras\n)",
    "else: x = tf.keras",
  ],
)
def test_an_alias_is_told_however_it_is_assigned(line):
  assert "x" in spelled.aliases(f"{line}\n", {"tf"})


def test_words_in_a_text():
  words = Words(["ModelCheckpoint", "Checkpoint(", "BackupAndRestore"])
  assert words.in_text("x = ModelCheckpoint(path)") == {"ModelCheckpoint", "Checkpoint("}
  assert words.in_text("checkpoint") == set()


def test_a_module_that_lets_go_frees_its_tree_at_once():
  module = Module("import tensorflow as tf\ndef f(x):\n  return [tf.train.Saver(y) for y in x]\n")
  assert len(list(module.uses())) == 2
  tree = weakref.ref(module.tree)
  gc.disable()
  try:
    module.release()
    del module
    assert tree() is None
  finally:
    gc.enable()


def test_asking_for_a_node_does_not_record_the_whole_module():
  module = Module("import tensorflow as tf\ntf.train.Saver()\ndef f():\n  g()\n", lines=[2])
  assert [use.symbol.path for use in module.uses()] == ["tf.train.Saver"]
  call = module.tree.body[2].body[0].value
  assert module.scope_of[call].node is module.tree.body[2]
  assert module.parents[module.parents[call]] is module.tree.body[2]
  assert module.tree.body[0] not in module._places._some.parents
