"""The output reads no name that nothing binds."""

import pytest
from helpers import codes, program

from migrator.analysis.module import Module
from migrator.rewrite import engine, outcomes, unbound


@pytest.mark.parametrize(
  ("before", "after", "name"),
  [
    ("def f(a):\n  print(a)\n", "def f(b):\n  print(a)\n", "a"),
    ("import x\nx.y\n", "x.y\n", "x"),
    ("def f(a):\n  print(a)\n", "def f(b):\n  print(b)\n", None),
    ("print(a)\n", "print(a)\nprint(len)\n", None),  # as before, and built in
    ("pass\n", "[n for n in range(3)]\nlambda m: m\n", None),
    ("pass\n", "try:\n  pass\nexcept ValueError as e:\n  print(e)\n", None),
    ("pass\n", "class A:\n  x = 1\n  def f(self):\n    return x\n", "x"),
    ("pass\n", "if (n := 3):\n  print(n, __file__)\n", None),
  ],
)
def test_name_that_only_the_output_reads_unbound_is_found(before, after, name):
  assert unbound.first(Module(before), Module(after)) == name


def test_output_that_reads_such_a_name_is_not_written(monkeypatch):
  source = program("class Hook:\n    def after_run(self, run_values):\n        print(run_values)\n")
  apply = outcomes.applied
  monkeypatch.setattr(
    outcomes, "applied", lambda *args: apply(*args).replace("(self, run_values)", "(self)")
  )
  result = engine.rewrite(source, "p.py", engine.Options())
  assert result.text == source
  assert "EM220" in codes(result)


MODEL_FN = """
import tensorflow.compat.v1 as tf


def input_fn():
    return tf.data.Dataset.from_tensors(({"x": [[1.0] * 4]}, [0])).repeat()


def model_fn(features, labels, mode):
    logits = tf.layers.dense(features["x"], 3)
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
    train_op = tf.train.AdamOptimizer(0.1).minimize(loss, global_step=tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


e = tf.estimator.Estimator(model_fn, "m")
e.train(input_fn, max_steps=10)
"""


def spoiled(monkeypatch, *markers):
  """Lets the new text read a name that nothing binds where it has one of the markers."""
  apply = outcomes.applied

  def applied(*args):
    text = apply(*args)
    return text + "lost\n" if any(marker in text for marker in markers) else text

  monkeypatch.setattr(outcomes, "applied", applied)


def forms(target):
  result = engine.rewrite(MODEL_FN, "p.py", engine.Options(target=target))
  return result, [unit.target for unit in result.units]


@pytest.mark.parametrize("target", ["loop", "fit", "auto"])
def test_a_model_fn_whose_pieces_cannot_stand_is_kept_and_the_file_rewritten(monkeypatch, target):
  spoiled(monkeypatch, "keras.Model", "runtime.Network(")
  result, found = forms(target)
  assert found == ["hosted"]
  assert "runtime.ModelFn(model_fn" in result.text and "lost" not in result.text
  (said,) = [f.message for f in result.findings if f.code == "EM234"]
  assert "would read `lost`" in said and "EM220" not in codes(result)
  assert result.left == 0


def test_a_keras_model_that_cannot_stand_becomes_a_loop(monkeypatch):
  spoiled(monkeypatch, "keras.Model")
  result, found = forms("fit")
  assert found == ["loop"]
  assert "runtime.Network(" in result.text
  assert any(f.code == "EM234" and "would read `lost`" in f.message for f in result.findings)


def test_a_file_whose_kept_form_cannot_stand_either_is_left_as_it_is(monkeypatch):
  spoiled(monkeypatch, "runtime.")
  result, found = forms("auto")
  assert found == [""]
  assert result.text == MODEL_FN and "EM220" in codes(result) and result.left
