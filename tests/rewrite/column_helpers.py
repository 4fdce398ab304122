"""Programs with feature columns, and the layers that become of them."""

import ast
import textwrap

from helpers import run, transformed

_TOP = """
import tensorflow as tf
import tensorflow.compat.v1 as tf1

fc = tf.feature_column


def input_fn():
    return tf.data.Dataset.from_tensors(({"x": [[1.0]]}, [0]))


"""
_NEW = {
  "dnn": "e = tf1.estimator.DNNClassifier([4], {columns}, 'm', n_classes=3)\n",
  "linear": "e = tf1.estimator.LinearClassifier({columns}, 'm')\n",
}


def program(columns, head="", part="dnn"):
  """A program with an estimator over these columns; `head` stands before it."""
  new = _NEW[part].format(columns=columns)
  return _TOP + textwrap.dedent(head) + new + "e.train(input_fn, max_steps=10)\n"


def layers(columns, head="", part="dnn"):
  """The statements that define `inputs` and `net` or the logits, each on one line."""
  text = transformed(program(columns, head, part))
  function = next(
    node
    for node in ast.walk(ast.parse(text))
    if isinstance(node, ast.FunctionDef) and node.name == "create_e"
  )
  lines = [ast.unparse(s).replace("'", '"') for s in function.body]
  last = next(i for i, line in enumerate(lines) if "Dense(" in line or "LinearModel" in line)
  return lines[: last + (part == "linear")]


def block(columns, head=""):
  """What `net` becomes for one column, and nothing else."""
  *_, last = layers(f"[{columns}]", head)
  assert last.startswith("net = ")
  return last[len("net = ") :]


def result_of(columns, head="", part="dnn"):
  return run(program(columns, head, part))
