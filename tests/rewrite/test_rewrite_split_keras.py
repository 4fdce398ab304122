"""Keras layers without names get those that they had in the Estimator's graph, or the model_fn stays whole."""

import ast
import pathlib

import pytest
from helpers import run
from test_rewrite_split import CALLS, HEAD

RUNTIME = pathlib.Path(__file__).parents[1] / "runtime"
MODEL_FN = """
def model_fn(features, labels, mode):
  {made}
  if mode == tf.estimator.ModeKeys.PREDICT:
    return tf.estimator.EstimatorSpec(mode, predictions={{"logits": logits}})
  loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
  train_op = tf.train.AdamOptimizer(0.01).minimize(loss, tf.train.get_global_step())
  train_op = tf.group(train_op, model.updates)
  return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)
"""


def functions(name):
  """Name -> source of the functions of a module of tests/runtime."""
  return functions_of((RUNTIME / name).read_text())


def functions_of(text):
  """The same of a program."""
  found = [n for n in ast.parse(text).body if isinstance(n, ast.FunctionDef)]
  return {node.name: ast.get_source_segment(text, node) for node in found}


def rewritten(made, helpers=""):
  made = "\n  ".join(made.strip().split("\n"))
  return run(f"{HEAD}\n{helpers}\n{MODEL_FN.format(made=made)}{CALLS}")


def reasons(result):
  assert [unit.target for unit in result.units] != ["loop"]
  return [f.message for f in result.findings if f.code in ("EM233", "EM244")]


@pytest.mark.parametrize("name", functions("unnamed_layers.py"))
def test_the_names_are_those_with_which_the_runtime_was_compared_with_the_estimator(name):
  made = f"logits = {name}(features['x'], mode == tf.estimator.ModeKeys.TRAIN)"
  result = rewritten(made, functions("unnamed_layers.py")[name])
  assert [unit.target for unit in result.units] == ["loop"], result.findings
  # Lines may be broken in other places.
  found, expected = functions_of(result.text)[name], functions("named_layers.py")[name]
  assert ast.dump(ast.parse(found)) == ast.dump(ast.parse(expected))


MODEL = "model = tf.keras.Sequential([tf.keras.layers.Dense(3), tf.keras.layers.Dense(3)])\n"
CALLED = "logits = model(features['x'], training=mode == tf.estimator.ModeKeys.TRAIN)"


def test_comments_and_commas_of_arguments_stay():
  made = "model = tf.keras.Sequential([\n  tf.keras.layers.Dense(\n    3,  # of classes\n  )\n])\n"
  result = rewritten(made + CALLED)
  assert (
    'Dense(\n        3, name="dense",  # of classes\n      )\n    ], name="sequential")'
    in result.text
  )


@pytest.mark.parametrize(
  "made, reason",
  {
    "logits = features['x']\nfor _ in range(2):\n  logits = tf.keras.layers.Dense(3)(logits)": "is not known",
    "logits = features['x']\nif DEEP:\n  logits = tf.keras.layers.Dense(3)(logits)": "is not known",
    "logits = [tf.keras.layers.Dense(3) for _ in DEEP][0](features['x'])": "is not known",
    "logits = helper(helper(features['x']))": "makes layers without names",
    "logits = apply(helper, features['x'])": "is not known",
    "dense = tf.keras.layers.Dense(3)\nlogits = tf.keras.layers.Dense(3)(dense(dense(features['x'])))": (
      "may be called more than once"
    ),
    "x = tf.identity(features['x'], name='dense')\nlogits = tf.keras.layers.Dense(3)(x)": "scope",
    "x = tf.identity(features['x'], name=NAME)\nlogits = tf.keras.layers.Dense(3)(x)": "scope",
    "logits = tf.keras.layers.Dense(3)(tf.layers.dense(features['x'], 3))": "counts with Keras layers",
    "logits = tf.keras.layers.Dense(3)(tf.keras.layers.Dense(3, name='dense')(features['x']))": "scope",
    "logits = tf.keras.layers.LSTM(3)(features['x'])": "Keras 3 counts names in another way",
    f"inner = tf.keras.Sequential([{MODEL[8:-1]}, tf.keras.layers.Dense(3)])\nlogits = inner(features['x'])": (
      "may be a layer of another model"
    ),
    f"{MODEL}logits = tf.keras.Sequential([model])(features['x'])": "may be a layer of another model",
    f"{MODEL}outer = tf.keras.Sequential()\nouter.add(tf.keras.Sequential())\n"
    + CALLED: "may be a layer of another model",
    "x = tf.keras.Input((4,))\n"
    + MODEL
    + "model = tf.keras.Model(x, model(x))\n"
    + CALLED: "may be a layer of another model",
    "model = tf.keras.Sequential([tf.keras.layers.Dense(3, input_shape=(4,))])\n"
    "model.add(tf.keras.layers.Dense(3))\n" + CALLED: "begins with its input",
    "model = tf.keras.Sequential([tf.keras.layers.Embedding(3, 3, input_shape=(4,))])\n"
    + CALLED: "begins with its input",
    "model = tf.keras.Sequential([tf.keras.layers.Dense(3, input_shape=(4,), name='a')])\n"
    + CALLED: "begins with its input",
  }.items(),
)
def test_what_is_not_made_once_in_a_known_order_keeps_the_model_fn_whole(made, reason):
  helpers = """
def apply(function, x):
  return function(x)

def helper(x):
  return tf.keras.layers.Dense(3)(x)
"""
  helpers = helpers if "helper" in made else ""
  found = reasons(rewritten(made, helpers))
  assert any(reason in message for message in found), found


def test_layers_that_another_function_makes_keep_the_model_fn_whole():
  other = "def other():\n  return tf.keras.layers.Dense(3)\n"
  found = reasons(rewritten(MODEL + CALLED, other))
  assert any("another function makes one" in message for message in found), found


def test_a_layer_that_is_kept_in_its_variable_is_called_once():
  made = "first = tf.keras.layers.Dense(3)\nsecond = tf.keras.layers.Dense(3)\nlogits = first(second(features['x']))"
  result = rewritten(made)
  assert [unit.target for unit in result.units] == ["loop"], result.findings
  assert 'first = tf.keras.layers.Dense(3, name="dense")' in result.text
  assert 'second = tf.keras.layers.Dense(3, name="dense_1")' in result.text


NORM = "tf.keras.layers.BatchNormalization(), "


@pytest.mark.parametrize(
  "layers, whole",
  [
    ("tf.keras.layers.Dense(3), " + NORM, False),
    ("tf.keras.layers.Flatten(), " + NORM, False),
    ("tf.keras.layers.Conv2D(3, 1), " + NORM, True),
    (NORM + "\n  tf.keras.layers.Flatten(), ", True),
  ],
)
def test_batch_normalization_of_images_keeps_the_model_fn_whole(layers, whole):
  made = f"model = tf.keras.Sequential([{layers}])\n"
  result = rewritten(made + CALLED)
  assert ([unit.target for unit in result.units] != ["loop"]) is whole, result.findings
  assert any("another moving variance" in f.message for f in result.findings) is whole
