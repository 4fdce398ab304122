"""What keeps a model_fn from being taken apart: it is hosted then, and a finding says why."""

import pytest
from helpers import run
from test_rewrite_split import CALLS, HEAD, THREE_BRANCHES, TRAIN

LOSS = "    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)\n"
BATCH_NORM = "    hidden = tf.layers.batch_normalization(hidden, training=True)\n    logits ="
UPDATES = "    with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):\n    "


def replaced(*pairs):
  text = THREE_BRANCHES
  for old, new in pairs:
    assert old in text
    text = text.replace(old, new)
  return text


CASES = {
  "the moving statistics of its batch normalization never move": replaced(
    ("    logits =", BATCH_NORM)
  ),
  "its network is another one in mode": replaced(
    (
      "    logits =",
      "    if mode == tf.estimator.ModeKeys.TRAIN:\n"
      "        hidden = tf.layers.dense(hidden, 7)\n    logits =",
    )
  ),
  "the loss of evaluations is another one": replaced(
    (
      LOSS,
      LOSS + "    if mode == tf.estimator.ModeKeys.EVAL:\n        loss = loss * 2.0\n",
    )
  ),
  "what is minimized is not the loss": replaced((TRAIN, TRAIN.replace("(loss,", "(2.0 * loss,"))),
  "does not count the global step": replaced((TRAIN, "    train_op = optimizer.minimize(loss)\n")),
  "its EstimatorSpec has hooks": replaced(
    ("train_op=train_op)", "train_op=train_op, training_hooks=[Mine(loss)])")
  ),
  "its EstimatorSpec has `scaffold`": replaced(
    ("train_op=train_op)", "train_op=train_op, scaffold=SCAFFOLD)")
  ),
  "it keeps moving averages of its variables": replaced(
    (TRAIN, TRAIN + "    tf.train.ExponentialMovingAverage(0.9).apply(tf.trainable_variables())\n")
  ),
  "it loads a checkpoint": replaced(
    (TRAIN, TRAIN + '    tf.train.init_from_checkpoint("c", {"a/": "a/"})\n')
  ),
  "it works with collections": replaced((LOSS, LOSS + "    loss = tf.losses.get_total_loss()\n")),
  "is part of its network, but stands behind its outputs": replaced(
    (LOSS, LOSS + '    loss = loss + tf.get_variable("bias", [])\n')
  ),
  "reads the global step": replaced(
    (
      "accuracy(labels, best)",
      "accuracy(labels, best, tf.cast(tf.train.get_global_step(), tf.float32))",
    )
  ),
  "waits for something else than the update operations": replaced(
    (TRAIN, "    with tf.control_dependencies([best]):\n    " + TRAIN)
  ),
  "is a group of several operations": replaced(
    (TRAIN, TRAIN + "    train_op = tf.group(train_op, best)\n")
  ),
  "are those of some variables only": replaced(
    (
      TRAIN,
      "    pairs = optimizer.compute_gradients(loss, tf.trainable_variables('head'))\n"
      "    train_op = optimizer.apply_gradients(pairs, tf.train.get_global_step())\n",
    )
  ),
  "is bound again behind a function that reads it": replaced(
    (LOSS, "    late = lambda: logits\n    logits = 2.0 * logits\n" + LOSS)
  ),
  "it changes `params`": replaced(("    logits =", '    params["n"] = 4\n    logits =')),
  "which this file does not show": replaced(
    ("    logits =", "    import nets\n    logits =")
  ).replace("tf.layers.dense(hidden, 2)", "nets.build(hidden)"),
  "is no optimizer of tf.train": replaced(("tf.train.AdagradOptimizer", "MyOptimizer")),
  "counts with Keras layers that have no name": replaced(
    ("tf.layers.dense(hidden, 2)", "tf.keras.layers.Dense(2)(hidden)")
  ),
}


@pytest.mark.parametrize("reason", CASES)
def test_a_model_fn_that_may_do_more_is_hosted_and_the_finding_says_why(reason):
  result = run(HEAD + CASES[reason] + CALLS)
  assert [unit.target for unit in result.units] != ["loop"]
  found = [f.message for f in result.findings if f.code in ("EM233", "EM234", "EM244")]
  assert any(reason in message for message in found), found


def test_batch_normalization_whose_updates_are_run_is_taken_apart():
  body = replaced(
    ("    logits =", BATCH_NORM.replace("True", "mode == tf.estimator.ModeKeys.TRAIN")),
    (TRAIN, UPDATES + TRAIN),
  )
  result = run(HEAD + body + CALLS)
  assert [unit.target for unit in result.units] == ["loop"]
  assert "UPDATE_OPS" not in result.text


def test_updates_of_keras_layers_are_in_no_collection():
  layer = '    hidden = tf.keras.layers.BatchNormalization(name="bn")(hidden, training=True)\n    logits ='
  body = replaced(("    logits =", layer), (TRAIN, UPDATES + TRAIN))
  result = run(HEAD + body + CALLS)
  assert [unit.target for unit in result.units] != ["loop"]
  assert any("never move" in f.message for f in result.findings)


def test_a_model_fn_of_two_estimators_is_hosted():
  more = '\nf = tf.estimator.Estimator(model_fn, "other", params={"n": 2, "rate": 0.1})\n'
  result = run(HEAD + THREE_BRANCHES + CALLS + more + "f.train(input_fn, max_steps=1)\n")
  assert {unit.target for unit in result.units} == {"hosted"}


def test_params_reach_the_input_functions_that_take_them():
  head = HEAD.replace("def input_fn():", "def input_fn(params):")
  result = run(head + THREE_BRANCHES + CALLS)
  assert "train(lambda: input_fn(params=network.params), max_steps=10)" in result.text
  assert "evaluate(input_fn(params=network.params), steps=2)" in result.text


def test_params_of_an_estimator_that_is_handed_on_keep_the_model_fn_whole():
  head = HEAD.replace("def input_fn():", "def input_fn(params):")
  calls = """

def make():
    return tf.estimator.Estimator(model_fn, "m", params={"n": 3, "rate": 0.1})


e = make()
e.train(input_fn, max_steps=10)
"""
  result = run(head + THREE_BRANCHES + calls)
  assert [unit.target for unit in result.units] == ["hosted"]
