"""A model_fn is taken apart into network, loss, metrics and predictions: the user's own statements."""

import ast
import textwrap

from helpers import codes, run, transformed

HEAD = """
import tensorflow.compat.v1 as tf


def input_fn():
    return tf.data.Dataset.from_tensors(({"x": [[1.0] * 4]}, [0])).repeat()


"""
CALLS = """

e = tf.estimator.Estimator(model_fn, "m", params={"n": 3, "rate": 0.1})
e.train(input_fn, max_steps=10)
e.evaluate(input_fn, steps=2)
print(next(e.predict(input_fn)))
"""
THREE_BRANCHES = """
def model_fn(features, labels, mode, params):
    hidden = tf.layers.dense(features["x"], params["n"])  # the only layer
    logits = tf.layers.dense(hidden, 2)
    best = tf.argmax(logits, 1)

    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions={"best": best})

    # What is minimized.
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
    if mode == tf.estimator.ModeKeys.EVAL:
        accuracy = tf.metrics.accuracy(labels, best)
        return tf.estimator.EstimatorSpec(
            mode, loss=loss, eval_metric_ops={"accuracy": accuracy})
    optimizer = tf.train.AdagradOptimizer(params["rate"])
    train_op = optimizer.minimize(loss, global_step=tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)
"""


def functions(text):
  """The module-level functions of a program, as source."""
  return {
    node.name: ast.get_source_segment(text, node)
    for node in ast.parse(text).body
    if isinstance(node, ast.FunctionDef)
  }


def split(model_fn, calls=CALLS):
  return functions(transformed(HEAD + textwrap.dedent(model_fn) + calls))


def test_the_pieces_are_the_users_statements_under_their_names():
  found = split(THREE_BRANCHES)
  assert found["forward"] == textwrap.dedent(
    """\
    def forward(features, params):
        hidden = runtime.layers.dense(features["x"], params["n"])  # the only layer
        return runtime.layers.dense(hidden, 2)"""
  )
  assert found["predictions_fn"] == textwrap.dedent(
    """\
    def predictions_fn(logits):
        best = tf.argmax(logits, 1)
        return {"best": best}"""
  )
  assert found["loss_fn"] == textwrap.dedent(
    """\
    def loss_fn(labels, logits):
        # What is minimized.
        return tf.losses.sparse_softmax_cross_entropy(labels, logits)"""
  )
  assert found["metrics_fn"] == textwrap.dedent(
    """\
    def metrics_fn(labels, logits):
        best = tf.argmax(logits, 1)
        accuracy = tf.metrics.accuracy(labels, best)
        return {"accuracy": accuracy}"""
  )
  assert found["make_optimizer"] == textwrap.dedent(
    """\
    def make_optimizer(params):
        return runtime.optimizers.Adagrad(params["rate"])"""
  )
  assert "model_fn" not in found


def test_the_loop_trains_the_network_with_the_pieces():
  text = transformed(HEAD + THREE_BRANCHES + CALLS)
  for line in (
    'network = runtime.Network(forward, params={"n": 3, "rate": 0.1})',
    "optimizer = make_optimizer(network.params)",
    'checkpoint = runtime.named_checkpoint(network, optimizer, flavour="v1")',
    "loss = loss_fn(labels, network(features, training=True))",
    "network.build(dataset)",
    "metrics=[metrics_fn],",
    "return runtime.predict(network, dataset, loss_fn=predictions_fn)",
    # RunConfig had a seed of its own.
    "tf2.random.set_seed(1)",
  ):
    assert line in text, line


def test_conditions_on_the_mode_become_training():
  found = split(
    THREE_BRANCHES.replace(
      "    logits =",
      """\
    is_training = mode == tf.estimator.ModeKeys.TRAIN
    hidden = tf.layers.dropout(hidden, 0.5, training=is_training)
    hidden = tf.layers.dropout(hidden, 0.1 if mode != tf.estimator.ModeKeys.TRAIN else 0.2)
    logits =""",
    )
  )
  assert "is_training" not in found["forward"]
  assert "runtime.layers.dropout(hidden, 0.5, training=training)" in found["forward"]
  assert "0.1 if not training else 0.2" in found["forward"]


def test_noise_that_is_added_in_training_only_stays_in_the_network():
  found = split(
    THREE_BRANCHES.replace(
      "    logits =",
      "    if mode == tf.estimator.ModeKeys.TRAIN:\n"
      "        hidden = tf.nn.dropout(hidden, 0.5)\n    logits =",
    )
  )
  assert "if training:\n        hidden = tf.nn.dropout(hidden, 0.5)" in found["forward"]


def test_a_mode_that_a_helper_asks_for_training_is_handed_on():
  helper = """
def net(x, mode):
    return tf.layers.dropout(x, 0.5, training=mode == tf.estimator.ModeKeys.TRAIN)

"""
  found = split(
    helper + THREE_BRANCHES.replace("    logits =", "    hidden = net(hidden, mode)\n    logits =")
  )
  mode = "mode = runtime.ModeKeys.TRAIN if training else runtime.ModeKeys.EVAL"
  assert mode in found["forward"]


def test_arguments_that_are_collected_in_a_dict_are_found():
  found = split(
    """
    def model_fn(features, labels, mode, params):
        logits = tf.layers.dense(features["x"], params["n"])
        spec = {}
        if mode != tf.estimator.ModeKeys.PREDICT:
            spec["loss"] = tf.losses.sparse_softmax_cross_entropy(labels, logits)
        if mode == tf.estimator.ModeKeys.TRAIN:
            optimizer = tf.train.GradientDescentOptimizer(params["rate"])
            spec["train_op"] = optimizer.minimize(spec["loss"], tf.train.get_global_step())
        return tf.estimator.EstimatorSpec(mode, predictions={"logits": logits}, **spec)
    """
  )
  assert found["loss_fn"].endswith("return tf.losses.sparse_softmax_cross_entropy(labels, logits)")
  assert found["predictions_fn"].endswith('return {"logits": logits}')


TRAIN = "    train_op = optimizer.minimize(loss, global_step=tf.train.get_global_step())\n"
APPLY = "    train_op = optimizer.apply_gradients({}, global_step=tf.train.get_global_step())\n"


def clipped(statements, pairs):
  body = THREE_BRANCHES.replace(TRAIN, statements + APPLY.format(pairs))
  return split(body)["clip_gradients"]


def test_gradients_are_clipped_by_the_users_statements():
  found = clipped(
    "    gradients, variables = zip(*optimizer.compute_gradients(loss))\n"
    "    gradients, _ = tf.clip_by_global_norm(gradients, 5.0)\n",
    "zip(gradients, variables)",
  )
  assert found == textwrap.dedent(
    """\
    def clip_gradients(gradients_and_variables):
        gradients, variables = zip(*gradients_and_variables)
        gradients, _ = tf.clip_by_global_norm(gradients, 5.0)
        return zip(gradients, variables)"""
  )


def test_gradients_of_tf_gradients_are_those_of_all_variables():
  found = clipped(
    "    variables = tf.trainable_variables()\n"
    '    clipped, _ = tf.clip_by_global_norm(tf.gradients(loss, variables), params["n"])\n',
    "zip(clipped, variables)",
  )
  assert "variables = [variable for _, variable in gradients_and_variables]" in found
  assert "[gradient for gradient, _ in gradients_and_variables]" in found
  assert found.startswith("def clip_gradients(gradients_and_variables, params):")


def test_gradients_that_are_applied_as_they_are_need_no_function():
  body = THREE_BRANCHES.replace(
    TRAIN, "    pairs = optimizer.compute_gradients(loss)\n" + APPLY.format("pairs")
  )
  assert "clip_gradients" not in split(body)


def test_regularization_losses_become_a_parameter_of_the_loss():
  body = THREE_BRANCHES.replace(
    "    if mode == tf.estimator.ModeKeys.EVAL:",
    "    loss = loss + tf.losses.get_regularization_loss()\n"
    "    if mode == tf.estimator.ModeKeys.EVAL:",
  )
  text = transformed(HEAD + body + CALLS)
  assert "def loss_fn(labels, logits, losses):" in text
  assert "return loss + tf2.add_n(losses or [0.0])" in text
  assert "loss = loss_fn(labels, network(features, training=True), network.losses)" in text


def test_losses_of_a_keras_model_are_an_output_of_the_network():
  found = split(
    """
    def model_fn(features, labels, mode, params):
        layer = tf.keras.layers.Dense(params["n"], name="only", kernel_regularizer="l2")
        logits = layer(features["x"])
        if mode == tf.estimator.ModeKeys.PREDICT:
            return tf.estimator.EstimatorSpec(mode, predictions={"logits": logits})
        loss = tf.losses.sparse_softmax_cross_entropy(labels, logits) + tf.add_n(layer.losses)
        train_op = None
        if mode == tf.estimator.ModeKeys.TRAIN:
            train_op = tf.train.AdamOptimizer().minimize(loss, tf.train.get_global_step())
        return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)
    """
  )
  assert found["forward"].endswith("return logits, layer.losses")
  assert found["loss_fn"].startswith("def loss_fn(labels, logits, layer_losses):")
  assert "tf.add_n(layer_losses)" in found["loss_fn"]


def test_a_rate_that_falls_with_the_global_step_becomes_a_schedule():
  body = THREE_BRANCHES.replace(
    '    optimizer = tf.train.AdagradOptimizer(params["rate"])',
    """\
    rate = tf.train.exponential_decay(params["rate"], tf.train.get_global_step(), 10, 0.9)
    optimizer = tf.train.AdagradOptimizer(rate)""",
  )
  text = split(body)["make_optimizer"]
  assert "tf2.keras.optimizers.schedules.ExponentialDecay(" in text
  assert "rate =" not in text


def test_features_that_weigh_the_loss_are_handed_to_it():
  body = THREE_BRANCHES.replace("(labels, logits)", '(labels, logits, features["w"])', 1)
  text = transformed(HEAD + body + CALLS)
  assert "def loss_fn(features, labels, logits):" in text
  assert "loss_fn(features, labels, network(features, training=True))" in text


def test_summaries_and_logging_hooks_that_are_lost_are_reported():
  body = THREE_BRANCHES.replace(
    TRAIN,
    TRAIN + '    tf.summary.scalar("best", best[0])\n'
    '    hook = tf.train.LoggingTensorHook({"loss": loss}, every_n_iter=5)\n',
  ).replace("train_op=train_op", "train_op=train_op, training_hooks=[hook]")
  result = run(HEAD + body + CALLS)
  assert [unit.target for unit in result.units] == ["loop"]
  assert {"EM245", "EM246"} <= set(codes(result))


def test_exports_without_export_outputs_give_the_predictions():
  serving = """
def serving():
    x = tf.placeholder(tf.float32, [None, 4])
    return tf.estimator.export.ServingInputReceiver({"x": x}, {"x": x})

e.export_savedmodel("out", serving)
"""
  text = transformed(HEAD + THREE_BRANCHES + CALLS + serving)
  exported = text[text.index("runtime.export_saved_model(") :]
  assert exported.split(",")[:2] == [
    "runtime.export_saved_model(\n            network",
    "\n            predictions_fn",
  ]


def test_a_network_with_several_outputs_hands_them_to_all_pieces():
  body = """
def model_fn(features, labels, mode, params):
    hidden = tf.layers.dense(features["x"], params["n"])
    first = tf.layers.dense(hidden, 2)
    second = tf.layers.dense(hidden, 1)
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions={"a": first, "b": second})
    loss = tf.losses.sparse_softmax_cross_entropy(labels, first)
    loss += tf.reduce_mean(second)
    if mode == tf.estimator.ModeKeys.EVAL:
        return tf.estimator.EstimatorSpec(mode, loss=loss)
    train_op = tf.train.AdamOptimizer().minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)
"""
  text = transformed(HEAD + body + CALLS)
  found = functions(text)
  assert found["forward"].endswith("return first, second")
  assert found["predictions_fn"].startswith("def predictions_fn(first, second):")
  assert found["loss_fn"].endswith("loss += tf.reduce_mean(second)\n    return loss")
  assert "outputs = network(features, training=True)" in text
  assert "loss = loss_fn(labels, *outputs)" in text


def test_an_estimator_that_a_function_returns_becomes_an_object_of_the_loop():
  calls = """

def make(rate):
    return tf.estimator.Estimator(model_fn, "m", params={"n": 3, "rate": rate})


def main():
    e = make(0.1)
    e.train(input_fn, max_steps=10)
    print(e.evaluate(input_fn, steps=2))


main()
"""
  text = transformed(HEAD + THREE_BRANCHES + calls)
  assert 'network = runtime.Network(forward, params={"n": 3, "rate": rate})' in text
  assert "return types.SimpleNamespace(" in text


def test_a_model_fn_that_is_gone_is_a_changed_name():
  assert "model_fn" in run(HEAD + THREE_BRANCHES + CALLS).changed_names
