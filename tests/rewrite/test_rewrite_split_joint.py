"""A model_fn whose network computes the loss, too: it returns the loss, and by name what else is read."""

import ast
import textwrap

import pytest
from helpers import run, transformed
from test_rewrite_split import CALLS, HEAD, THREE_BRANCHES, functions

from migrator.analysis.model_fns.joint import JointSplitter
from migrator.analysis.model_fns.modes import MODES, Function, Unreadable
from migrator.analysis.model_fns.pieces import LOSSES
from migrator.analysis.module import Module

LOSS = "    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)\n"
END = """
    if mode == tf.estimator.ModeKeys.EVAL:
        metrics = {"mean": tf.metrics.mean(each), "accuracy": tf.metrics.accuracy(ids, tf.argmax(logits, 1))}
        return tf.estimator.EstimatorSpec(mode, loss=loss, eval_metric_ops=metrics)
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions={"best": tf.argmax(logits, 1)})
    train_op = tf.train.AdamOptimizer(0.1).minimize(loss, global_step=tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)
"""
ALL_AT_ONCE = (
  """
def create_model(x, ids, is_training):
    logits = tf.layers.dense(tf.layers.dropout(x, 0.5, training=is_training, seed=1), 2)
    each = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=ids, logits=logits)
    return tf.reduce_mean(each), each, logits


def model_fn(features, labels, mode, params):
    ids = features["ids"]  # as in training
    loss, each, logits = create_model(features["x"], ids, mode == tf.estimator.ModeKeys.TRAIN)
"""
  + END
)
SAMPLED = (
  """
def model_fn(features, labels, mode):
    hidden = tf.layers.dense(features["x"], 4)
    weights = tf.get_variable("weights", [9, 4])
    biases = tf.get_variable("biases", [9])
    logits = tf.matmul(hidden, weights, transpose_b=True) + biases
    if mode != tf.estimator.ModeKeys.PREDICT:
        ids = tf.cast(labels, tf.int64)
        each = tf.nn.nce_loss(weights, biases, tf.reshape(ids, [-1, 1]), hidden, 3, 9)
        loss = tf.reduce_mean(each)
"""
  + END
)


def replaced(text, *pairs):
  for old, new in pairs:
    assert old in text
    text = text.replace(old, new)
  return text


def test_a_helper_that_gives_loss_and_outputs_is_the_network():
  found = functions(transformed(HEAD + ALL_AT_ONCE + CALLS))
  assert found["compute"] == textwrap.dedent(
    """\
    def compute(features, training):
        ids = features["ids"]  # as in training
        loss, each, logits = create_model(features["x"], ids, training)
        return loss, {"each": each, "logits": logits}"""
  )
  assert found["predictions_fn"] == textwrap.dedent(
    """\
    def predictions_fn(logits):
        return {"best": tf.argmax(logits, 1)}"""
  )
  assert found["metrics_fn"].startswith("def metrics_fn(features, labels, each, logits):\n")
  assert 'ids = features["ids"]' in found["metrics_fn"]
  assert not {"loss_fn", "forward", "model_fn"} & set(found)


def test_the_loop_takes_the_loss_of_the_network():
  text = transformed(HEAD + ALL_AT_ONCE + CALLS)
  for line in (
    "network = runtime.Network(compute",
    "loss, _ = network(features, training=True)",
    # The input function may give no labels, which nothing reads.
    "for features, labels in runtime.batches(dataset.take(",
    "return runtime.predict(network, dataset, loss_fn=predictions_fn)",
  ):
    assert line in text, line
  assert "runtime.evaluate(\n        network,\n        None,\n" in text


def test_predictions_return_before_the_labels_are_read():
  text = transformed(HEAD + SAMPLED + CALLS)
  assert functions(text)["compute"] == textwrap.dedent(
    """\
    def compute(features, labels):
        hidden = runtime.layers.dense(features["x"], 4)
        weights = tf.get_variable("weights", [9, 4])
        biases = tf.get_variable("biases", [9])
        logits = tf.matmul(hidden, weights, transpose_b=True) + biases
        if labels is None:
            return {"logits": logits}
        ids = tf.cast(labels, tf.int64)
        each = tf.nn.nce_loss(weights, biases, tf.reshape(ids, [-1, 1]), hidden, 3, 9)
        loss = tf.reduce_mean(each)
        return loss, {"each": each, "logits": logits}"""
  )
  assert "loss, _ = network(features, labels, training=True)" in text
  assert "runtime.batches" not in text


def test_labels_may_enter_layers_where_nothing_is_predicted():
  body = replaced(THREE_BRANCHES, (LOSS, LOSS + '    loss += tf.get_variable("bias", [])\n'))
  assert [unit.target for unit in run(HEAD + body + CALLS).units] == ["hosted"]
  calls = CALLS[: CALLS.index("print(")]
  found = functions(transformed(HEAD + body + calls))
  assert 'loss += tf.get_variable("bias", [])\n    return loss, {' in found["compute"]


def test_regularization_losses_of_the_network_are_in_its_graph():
  more = "    loss += tf.losses.get_regularization_loss()\n"
  body = ALL_AT_ONCE.replace(END, "\n" + more + END)
  found = functions(transformed(HEAD + body + CALLS))
  assert more in found["compute"]


def test_a_loss_that_is_another_one_in_training_stays_in_one_function():
  more = "    if mode == tf.estimator.ModeKeys.TRAIN:\n        loss = loss * 2.0\n"
  found = functions(transformed(HEAD + replaced(THREE_BRANCHES, (LOSS, LOSS + more)) + CALLS))
  assert "    if training:\n        loss = loss * 2.0\n" in found["compute"]


def test_a_loss_of_features_alone_is_no_part_of_the_network():
  body = replaced(
    THREE_BRANCHES,
    ("entropy(labels,", 'entropy(features["ids"],'),
    ("accuracy(labels,", 'accuracy(features["ids"],'),
  )
  text = transformed(HEAD + body + CALLS)
  assert functions(text)["loss_fn"].startswith("def loss_fn(features, labels, logits):\n")
  assert "loss = loss_fn(features, labels, network(features, training=True))" in text
  assert "in runtime.batches(dataset" in text


CASES = {
  "its predictions need statements that read the labels": replaced(
    ALL_AT_ONCE, ('ids = features["ids"]', "ids = labels")
  ),
  "may make variables, and is no part of what predictions need": replaced(
    SAMPLED, ("tf.reduce_mean(each)", 'tf.reduce_mean(each) + tf.get_variable("b", [])')
  ),
  "`logits` is bound again in its network behind what its predictions reads": replaced(
    ALL_AT_ONCE,
    (END, "\n    best = 2 * logits\n    logits = tf.layers.dense(logits, 2)\n" + END),
    ('"best": tf.argmax(logits, 1)', '"best": best'),
    ('"accuracy": tf.metrics.accuracy(ids, tf.argmax(logits, 1))', ""),
  ),
  "takes its regularization losses behind its network": replaced(
    ALL_AT_ONCE,
    ("tf.metrics.mean(each)", "tf.metrics.mean(tf.losses.get_regularization_loss() + each)"),
  ),
  "is computed in the middle of its network": replaced(
    SAMPLED,
    (
      "        loss = tf.reduce_mean(each)\n",
      "        loss = tf.reduce_mean(each)\n    hidden = tf.layers.dense(hidden, 2)\n",
    ),
  ),
}


@pytest.mark.parametrize("reason", CASES)
def test_what_cannot_be_one_network_is_hosted(reason):
  result = run(HEAD + CASES[reason] + CALLS)
  assert [unit.target for unit in result.units] == ["hosted"]
  module = Module(HEAD + CASES[reason] + CALLS)
  node = next(n for n in module.tree.body if getattr(n, "name", "") == "model_fn")
  losses = [n for n in ast.walk(node) if "get_regularization_loss" in ast.unparse(n)[:33]]
  with pytest.raises(Unreadable, match=reason):
    JointSplitter(Function(module, node), MODES, dict.fromkeys(losses, LOSSES)).split()


def test_a_keras_model_has_no_loss_in_it():
  result = run(HEAD + ALL_AT_ONCE + CALLS, target="fit")
  assert [unit.target for unit in result.units] != ["fit"]


@pytest.mark.parametrize("name", ["nce_loss", "sampled_softmax_loss"])
def test_the_candidates_that_a_loss_samples_are_other_ones(name):
  result = run(HEAD + SAMPLED.replace("nce_loss", name) + CALLS)
  assert [unit.target for unit in result.units] == ["loop"]
  assert [f.message for f in result.findings if f.code == "EM247" and name in f.message]
