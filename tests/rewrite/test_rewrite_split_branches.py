"""Statements that a model_fn has once for each mode are one statement of its network."""

import textwrap

from helpers import codes, run, transformed
from test_rewrite_split import CALLS, HEAD, THREE_BRANCHES, functions, split

BRANCHES = """
def network(x, training):
    x = tf.layers.dropout(tf.layers.dense(x, 10), training=training)
    return tf.layers.dense(x, 3)


def model_fn(features, labels, mode, params):
    x = features["x"]
    if mode == tf.estimator.ModeKeys.PREDICT:
        logits = network(x, training=False)
        return tf.estimator.EstimatorSpec(mode, predictions={"best": tf.argmax(logits, 1)})
    if mode == tf.estimator.ModeKeys.TRAIN:
        optimizer = tf.train.AdamOptimizer(0.01)
        # In training.
        logits = network(x, training=True)
        loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
        return tf.estimator.EstimatorSpec(
            mode, loss=loss, train_op=optimizer.minimize(loss, tf.train.get_global_step()))
    logits = network(x, training=False)
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
    return tf.estimator.EstimatorSpec(mode, loss=loss)
"""


def test_a_network_that_each_mode_calls_is_called_with_what_training_is():
  found = functions(transformed(HEAD + BRANCHES + CALLS))
  assert found["forward"] == textwrap.dedent(
    """\
    def forward(features, training):
        x = features["x"]
        # In training.
        return network(x, training=training)"""
  )
  assert found["loss_fn"] == textwrap.dedent(
    """\
    def loss_fn(labels, logits):
        return tf.losses.sparse_softmax_cross_entropy(labels, logits)"""
  )


def test_a_network_with_another_constant_in_a_mode_is_another_one():
  for old, new in (
    # Neither is it that of training in all other modes, nor does it differ by more than that.
    (
      "    logits = network(x, training=False)\n    loss",
      "    logits = network(x, training=True)\n    loss",
    ),
    ("    logits = network(x, training=False)\n    loss", "    logits = network(x, 0)\n    loss"),
    (
      "    logits = network(x, training=False)\n    loss",
      "    logits = network(-x, False)\n    loss",
    ),
  ):
    assert old in BRANCHES
    assert "EM234" in codes(run(HEAD + BRANCHES.replace(old, new) + CALLS))


def test_twins_in_another_order_are_not_the_same_network():
  twice = BRANCHES.replace(
    "        # In training.\n",
    "        x = tf.layers.dense(x, 4)\n        x = tf.nn.relu(x)\n",
  ).replace(
    "\n    logits = network(x, training=False)\n",
    "\n    x = tf.nn.relu(x)\n    x = tf.layers.dense(x, 4)\n    logits = network(x, training=False)\n",
  )
  assert "EM234" in codes(run(HEAD + twice + CALLS))


def test_a_variable_called_training_leaves_the_branches_apart():
  named = BRANCHES.replace(
    '    x = features["x"]\n', '    x = features["x"]\n    training = len(params)\n'
  )
  assert "EM234" in codes(run(HEAD + named + CALLS))


def test_a_variable_that_is_true_in_training_and_false_else_is_what_training_is():
  body = """
def model_fn(features, labels, mode, params):
    if mode == tf.estimator.ModeKeys.TRAIN:
        is_training = True
    else:
        is_training = False
    logits = tf.layers.dense(features["x"], 3)
    logits = tf.layers.dropout(logits, training=is_training)
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions={"logits": logits})
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
    train_op = tf.train.AdamOptimizer(0.01).minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)
"""
  assert functions(transformed(HEAD + body + CALLS))["forward"] == textwrap.dedent(
    """\
    def forward(features, training):
        is_training = training
        logits = runtime.layers.dense(features["x"], 3)
        return runtime.layers.dropout(logits, training=is_training)"""
  )


KERAS = """
def model_fn(features, labels, mode):
    model = tf.keras.Sequential([
        tf.keras.layers.Dense(7, name="first"), tf.keras.layers.Dense(3, name="last")], name="net")
    logits = model(features["x"], training=mode == tf.estimator.ModeKeys.TRAIN)
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions={"logits": logits})
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
    train_op = tf.train.AdamOptimizer(0.01).minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)
"""


def test_keras_layers_whose_variables_keras_3_names_otherwise_are_not_taken_apart():
  for body in (KERAS, KERAS.replace('name="last"', 'name="first_1"')):
    assert "forward" in functions(transformed(HEAD + body + CALLS))
  for old, new in (
    ('name="first"', 'name="first", input_shape=(4,)'),
    ('name="last"', 'name="First"'),
  ):
    result = run(HEAD + KERAS.replace(old, new) + CALLS)
    assert [unit.target for unit in result.units] != ["loop"]


def test_a_block_that_names_its_scope_ends_the_network_in_what_is_read_behind_it():
  scoped = """
    with tf.variable_scope("head") as scope:
        logits = tf.layers.dense(logits, 2, name=scope.name)
    best ="""
  found = split(THREE_BRANCHES.replace("    best =", scoped.lstrip("\n"), 1))
  assert found["forward"].rstrip().endswith("return logits")
  assert found["loss_fn"].startswith("def loss_fn(labels, logits):")


def test_two_spellings_of_the_same_of_tensorflow_are_the_same():
  other = BRANCHES.replace(
    "        loss = tf.losses.sparse", "        loss = tf.compat.v1.losses.sparse"
  )
  assert other.count("compat.v1") == 1
  assert "def loss_fn(labels, logits):" in transformed(HEAD + other + CALLS)


def test_a_name_that_tensorflow_2_has_too_is_not_the_one_of_its_own():
  other = BRANCHES.replace("x = tf.layers.dropout(", "x = tf.layers.dropout(1 * ")
  other = other.replace("logits = network(x, training=True)", "logits = tf.nn.moments(x, [1])[0]")
  other = other.replace(
    "logits = network(x, training=False)", "logits = tf.compat.v2.nn.moments(x, [1])[0]"
  )
  assert "EM234" in codes(run(HEAD + other + CALLS))
