"""`==` of tensors compares objects in a graph of TF1 and elements in TF2: a finding, or a model_fn that is kept."""

import ast

import pytest
from helpers import codes, program, run
from test_rewrite_split import CALLS, HEAD, THREE_BRANCHES

from migrator.analysis.module import Module
from migrator.rewrite import comparisons

FILTERED = """
import tensorflow.compat.v1 as tf

columns = [tf.feature_column.numeric_column("x", shape=[4])]


{functions}
def input_fn():
    data = tf.data.Dataset.from_tensors(({{"x": [[1.0] * 4]}}, [0]))
    return data.{call}.repeat()


e = tf.estimator.DNNClassifier([4, 3], columns, "model", n_classes=3)
e.train(input_fn, max_steps=10)
"""


@pytest.mark.parametrize(
  ("code", "found"),
  [
    ("tf.cast(x, tf.int64) == y", True),
    ("a = tf.shape(x)[0]\nb = a - 1\nb != 3", True),
    ("-tf.reduce_sum(x) == 0", True),
    ("1 < y == tf.size(x)", True),
    ("tf.nn.relu(x) == None", False),  # never equal
    ("tf.cast(x, tf.int64) >= y", False),
    ("tf.shape(x) is y", False),
    ("x == y", False),  # nobody knows
    ("tf.constant(1).shape[0] == 3", False),
    ("tf.get_variable('v', [2]).dtype == tf.float32", False),
    ("mode == tf.estimator.ModeKeys.TRAIN", False),
    ("len(tf.unstack(x)) == 2", False),
    ("a = tf.size(x)\na = 3\na == 3", False),
    ("tf.equal(x, y)", False),
  ],
)
def test_comparisons_of_what_is_certainly_a_tensor_are_found(code, found):
  module = Module("import tensorflow.compat.v1 as tf\n" + code)
  assert bool(comparisons.find(module, module.tree)) == found


@pytest.mark.parametrize(
  ("functions", "call"),
  [
    ("", "filter(lambda x, y: y[0] != 0)"),
    ("", 'map(lambda x, y: (x, y == x["x"]))'),
    ("def keep(x, y):\n    return y[0] == 0\n\n\n", "filter(keep)"),
    ("def one(x, y):\n    z = tf.cast(y, tf.int32)\n    return x, z == 1\n\n\n", "map(one)"),
  ],
)
def test_an_input_function_that_compares_tensors_gets_a_finding(functions, call):
  source = FILTERED.format(functions=functions, call=call)
  result = run(source)
  assert [unit.target for unit in result.units] == ["fit"]
  (found,) = [f for f in result.findings if f.code == "EM248"]
  line = source.splitlines()[found.span.line - 1]
  assert "==" in line or "!=" in line


def test_functions_that_compare_other_things_get_none():
  functions = "def one(x, y, kind='a'):\n    return (x, y) if kind == 'a' else (y, x)\n\n\n"
  result = run(FILTERED.format(functions=functions, call="map(lambda x, y: one(x, y))"))
  assert "EM248" not in codes(result)
  assert "EM248" not in codes(run(program()))


@pytest.mark.parametrize(
  "compared", ["best == labels", "labels != 0", "tf.argmax(logits, 1) == labels", "best[0] == 1"]
)
def test_a_model_fn_that_compares_tensors_is_kept(compared):
  loss = "    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)\n"
  assert loss in THREE_BRANCHES
  body = THREE_BRANCHES.replace(loss, f"{loss}    loss = loss * 2 if {compared} else loss\n")
  ast.parse(body)
  result = run(HEAD + body + CALLS)
  assert [unit.target for unit in result.units] == ["hosted"]
  (said,) = [f.message for f in result.findings if f.code == "EM234"]
  assert f"`{compared}` compares tensors" in said
  # It runs in a graph, where they are objects as before.
  assert "EM248" not in codes(result)


def test_a_model_fn_that_compares_params_is_taken_apart():
  body = THREE_BRANCHES.replace("    best =", '    assert params["n"] == 3\n    best =', 1)
  body = body.replace("labels, logits)", "labels, logits, 2.0 if labels != None else 1.0)", 1)
  result = run(HEAD + body + CALLS)
  assert not [f for f in result.findings if "compares" in f.message]
