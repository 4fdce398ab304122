"""Noop and transformed, as in the tests of other codemods."""

import ast
import textwrap

from migrator.rewrite.engine import Options, rewrite

HEAD = """
import tensorflow as tf
import tensorflow.compat.v1 as tf1

columns = [tf.feature_column.numeric_column("x", shape=[4])]


def input_fn():
    return tf.data.Dataset.from_tensors(({"x": [[1.0] * 4]}, [0]))


"""
NEW = 'e = tf1.estimator.DNNClassifier([4, 3], columns, "model", n_classes=3)\n'
TRAIN = "e.train(input_fn, max_steps=10)\n"


def program(body="", *, head=HEAD, new=NEW, train=TRAIN):
  """A small program whose unit can be rewritten, plus `body`."""
  return head + new + train + textwrap.dedent(body)


def run(source, **options):
  """Rewrites, and holds the output to what every output must be."""
  result = rewrite(source, "p.py", Options(**options))
  if result.changed:
    ast.parse(result.text)
    again = rewrite(result.text, "p.py", Options(**options))
    assert again.text == result.text, "a second rewrite changes the output"
  return result


def codes(result):
  return sorted({f.code for f in result.findings})


def left_whole(source, code, **options):
  """The unit is left as it is, with this code."""
  result = run(source, **options)
  assert result.text == source
  assert code in codes(result), [str(f) for f in result.findings]
  assert result.left
  return next(f.message for f in result.findings if f.code == code)


def transformed(source, **options):
  """The rewritten text of a program in which nothing is left."""
  result = run(source, **options)
  assert result.changed, [str(f) for f in result.findings]
  assert not result.left, [str(f) for f in result.findings]
  assert "tf1.estimator" not in result.text
  return result.text
