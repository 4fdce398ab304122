"""The optimizer of a model_fn, where a condition chooses it or a scope is around it."""

import textwrap

from helpers import codes, run, transformed
from test_rewrite_split import CALLS, HEAD, THREE_BRANCHES, functions

ONE = '    optimizer = tf.train.AdagradOptimizer(params["rate"])\n'
CHOSEN = """\
    rate = params["rate"]
    # The best was found by trying.
    if params["optimizer"] == "adam":
        optimizer = tf.train.AdamOptimizer(rate, beta1=0.8)
    elif params["optimizer"] == "sgd":
        rate = rate * 10
        optimizer = tf.train.GradientDescentOptimizer(rate)
    else:
        raise ValueError(params["optimizer"])
"""
APPLIED = """\
    with tf.variable_scope("get_train_op"):
        gradients, variables = zip(*optimizer.compute_gradients(loss))
        gradients, _ = tf.clip_by_global_norm(gradients, 0.5)
        train_op = optimizer.apply_gradients(
            zip(gradients, variables), global_step=tf.train.get_global_step())
"""
MINIMIZED = "    train_op = optimizer.minimize(loss, global_step=tf.train.get_global_step())\n"


def with_optimizer(text):
  assert ONE in THREE_BRANCHES
  return HEAD + THREE_BRANCHES.replace(ONE, text) + CALLS


def reasons(text):
  return [f.message for f in run(text).findings if f.code == "EM234"]


def test_the_conditions_that_choose_an_optimizer_choose_its_counterpart():
  found = functions(transformed(with_optimizer(CHOSEN)))
  assert found["make_optimizer"] == textwrap.dedent(
    """\
    def make_optimizer(params):
        rate = params["rate"]
        # The best was found by trying.
        if params["optimizer"] == "adam":
            optimizer = runtime.optimizers.Adam(rate, beta1=0.8)
        elif params["optimizer"] == "sgd":
            rate = rate * 10
            optimizer = runtime.optimizers.GradientDescent(rate)
        else:
            raise ValueError(params["optimizer"])
        return optimizer"""
  )


def test_gradients_of_a_chosen_optimizer_may_be_changed():
  body = with_optimizer(CHOSEN).replace(MINIMIZED, APPLIED)
  assert "clip_gradients" in functions(transformed(body))


def test_what_may_make_another_optimizer_keeps_the_model_fn():
  for old, new in (
    # Another one where no condition holds, one of the program's own, and rates that follow the step.
    ('    rate = params["rate"]\n', '    optimizer = make()\n    rate = params["rate"]\n'),
    ("tf.train.GradientDescentOptimizer(rate)", "make(rate)"),
    (
      "rate = rate * 10",
      "rate = tf.train.exponential_decay(rate, tf.train.get_global_step(), 9, 0.5)",
    ),
    ("rate = rate * 10", "tf.add_check_numerics_ops()"),
  ):
    assert old in CHOSEN
    assert reasons(with_optimizer(CHOSEN.replace(old, new)))


def test_a_scope_around_the_optimizer_is_only_part_of_the_names_of_its_slots():
  body = HEAD + THREE_BRANCHES.replace(MINIMIZED, APPLIED) + CALLS
  assert body != HEAD + THREE_BRANCHES + CALLS
  assert not reasons(body)
  assert "EM234" not in codes(run(body))


def test_a_value_over_lines_that_end_in_a_backslash_keeps_its_lines():
  body = THREE_BRANCHES.replace(
    "labels, logits)\n    if", "labels, logits) + \\\n        0.5 * tf.reduce_sum(logits)\n    if"
  )
  assert body != THREE_BRANCHES
  loss = functions(transformed(HEAD + body + CALLS))["loss_fn"]
  assert loss.endswith("+ \\\n        0.5 * tf.reduce_sum(logits)\n    return loss")


def test_a_train_op_that_every_mode_makes_is_run_in_training_only():
  body = THREE_BRANCHES.replace(
    """\
    if mode == tf.estimator.ModeKeys.EVAL:
        accuracy = tf.metrics.accuracy(labels, best)
        return tf.estimator.EstimatorSpec(
            mode, loss=loss, eval_metric_ops={"accuracy": accuracy})
""",
    "    accuracy = tf.metrics.accuracy(labels, best)\n",
  ).replace("train_op=train_op)", 'train_op=train_op, eval_metric_ops={"accuracy": accuracy})')
  assert body.count("EstimatorSpec") == 2
  found = functions(transformed(HEAD + body + CALLS))
  assert found["forward"] == functions(transformed(HEAD + THREE_BRANCHES + CALLS))["forward"]
  assert found["metrics_fn"].endswith('return {"accuracy": accuracy}')


def test_the_variables_that_are_trained_are_an_argument_of_the_loss():
  body = THREE_BRANCHES.replace(
    "(labels, logits)\n    if",
    "(labels, logits)\n    loss += params['decay'] * tf.add_n(\n"
    "        [tf.nn.l2_loss(v) for v in tf.trainable_variables() if 'bias' not in v.name])\n    if",
  )
  text = transformed(HEAD + body + CALLS)
  loss = functions(text)["loss_fn"]
  assert loss.startswith("def loss_fn(labels, logits, variables, params):")
  assert "for v in variables if 'bias' not in v.name" in loss
  assert (
    "network.trainable_variables"
    in text[text.index("loss = loss_fn(") :].partition("\n    variables")[0]
  )


def test_variables_of_a_part_of_the_network_are_not_all_that_are_trained():
  early = THREE_BRANCHES.replace(
    "    logits = tf.layers.dense(hidden, 2)\n",
    "    decay = tf.add_n([tf.nn.l2_loss(v) for v in tf.trainable_variables()])\n"
    "    logits = tf.layers.dense(hidden, 2)\n",
  ).replace("(labels, logits)\n    if", "(labels, logits) + decay\n    if")
  assert "decay\n" in early
  assert "EM234" in codes(run(HEAD + early + CALLS))


def test_variables_that_are_trained_have_no_operations():
  body = THREE_BRANCHES.replace(
    "(labels, logits)\n    if",
    "(labels, logits) + tf.add_n(\n"
    "        [tf.nn.l2_loss(v) for v in tf.trainable_variables() if 'bias' not in v.op.name])\n    if",
  )
  assert any("`.op`" in reason for reason in reasons(HEAD + body + CALLS))


def test_a_loop_that_shows_the_variables_is_dropped_with_a_finding():
  for shows, code in (("print(v)", "EM246"), ("tf.summary.histogram(v.name, v)", "EM245")):
    loop = f"    for v in tf.trainable_variables():\n        {shows}\n"
    result = run(HEAD + THREE_BRANCHES.replace(ONE, loop + ONE) + CALLS)
    assert [unit.target for unit in result.units] == ["loop"]
    assert code in codes(result)


def test_a_network_without_variables_is_one_all_the_same():
  body = THREE_BRANCHES.replace('tf.layers.dense(features["x"], params["n"])', 'features["x"]')
  body = body.replace("tf.layers.dense(hidden, 2)", "hidden * 2.0")
  assert "forward" in functions(transformed(HEAD + body + CALLS))
