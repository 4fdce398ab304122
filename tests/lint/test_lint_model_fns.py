"""The global step of a model_fn: counted twice, by hand, or not at all."""

import textwrap

import pytest

from migrator.lint import engine

HEAD = "import tensorflow as tf\ntf1 = tf.compat.v1\n"


def _found(text, *codes):
  """(line, code, message) of the findings with these codes; the text begins at line 3."""
  found = engine.check_text(HEAD + textwrap.dedent(text).lstrip("\n"), "a.py")
  return [(f.span.line, f.code, f.message) for f in found if f.code in codes]


def _codes(text):
  return [code for _, code, _ in _found(text, "EM412", "EM413", "EM416")]


def test_case_06_the_global_step_is_incremented_twice():
  text = """
  def create_optimizer(loss, lr):
      gs = tf1.train.get_or_create_global_step()
      opt = tf1.train.GradientDescentOptimizer(lr)
      grads_vars = opt.compute_gradients(loss)
      train_op = opt.apply_gradients(grads_vars, global_step=gs)
      return tf.group(train_op, [gs.assign(gs + 1)])      # second increment
  """
  [(line, code, message)] = _found(text, "EM412", "EM416")
  assert (line, code) == (8, "EM412")
  assert "by `opt.apply_gradients` in line 7 as well: model.ckpt-N stands for N/2" in message


@pytest.mark.parametrize(
  "increment",
  [
    "tf1.assign_add(step, 1)",
    "tf1.assign(step, step + 1)",
    "step.assign(1 + step)",
    "step.assign_add(1)",
    "tf1.assign_add(tf1.train.get_global_step(), 1)",
  ],
)
@pytest.mark.parametrize(
  "train_op",
  [
    "opt.minimize(loss, step)",
    "opt.minimize(loss, global_step=tf1.train.get_or_create_global_step())",
    "opt.apply_gradients(gradients, step)",
    "tf.contrib.layers.optimize_loss(loss, step, 0.1, 'SGD')",
    "tf.contrib.layers.optimize_loss(loss, None, 0.1, 'SGD')",
    "tf.contrib.slim.learning.create_train_op(loss, opt)",
  ],
)
def test_every_way_to_increment_and_to_train(increment, train_op):
  text = f"""
  def train(loss):
    step = tf1.train.get_or_create_global_step()
    opt = hvd.DistributedOptimizer(tf1.train.AdamOptimizer(0.1))
    train_op = {train_op}
    with tf1.control_dependencies([train_op]):
      return {increment}
  """
  assert _codes(text) == ["EM412"]


@pytest.mark.parametrize(
  "body",
  [
    # Only by hand, only by the optimizer, or not by 1.
    "a = opt.apply_gradients(g)\n  b = step.assign_add(1)",
    "a = opt.apply_gradients(g, global_step=step)",
    "a = opt.minimize(loss, global_step=None)\n  b = step.assign_add(1)",
    "a = opt.apply_gradients(g, global_step=step)\n  b = step.assign_add(accumulated)",
    "a = opt.apply_gradients(g, global_step=step)\n  b = step.assign(0)",
    # Another variable.
    "a = opt.apply_gradients(g, global_step=step)\n  b = epoch.assign_add(1)",
    # Another branch, another loop.
    "if v2:\n    step.assign_add(1)\n  else:\n    opt.minimize(loss, global_step=step)",
    "for _ in x:\n    step.assign_add(1)\n  for _ in y:\n    opt.minimize(loss, global_step=step)",
    "a = tf.contrib.layers.optimize_loss(loss, step, 0.1, 'SGD', increment_global_step=False)\n"
    "  b = step.assign_add(1)",
  ],
)
def test_a_step_that_is_counted_once(body):
  text = f"""
import tensorflow.compat.v1 as tf
def train(loss, epoch):
  step = tf.train.get_or_create_global_step()
  opt = tf.train.AdamOptimizer(0.1)
  {body}
"""
  found = {f.code for f in engine.check_text(text, "a.py")}
  assert not found & {"EM412", "EM416"}


def test_a_variable_that_is_called_global_step_is_not_the_graph_s():
  text = """
  class Model:
    def build(self):
      self.train_op = tf.contrib.slim.learning.create_train_op(self.loss, optimizer)
      self.global_step = tf1.Variable(0, name="global_step", trainable=False)
      self.increment = tf1.assign(self.global_step, self.global_step + 1)
  """
  assert not _codes(text)


BERT = """
def create_optimizer(loss, init_lr, use_tpu):
  global_step = tf1.train.get_or_create_global_step()
  optimizer = {optimizer}
  if use_tpu:
    optimizer = tf.contrib.tpu.CrossShardOptimizer(optimizer)
  train_op = optimizer.apply_gradients(zip(grads, tvars), global_step=global_step)
  new_global_step = global_step + 1
  return tf.group(train_op, [global_step.assign(new_global_step)])

class Own(tf1.train.Optimizer):
  def apply_gradients(self, grads_and_vars, global_step=None, name=None):
    return tf.group(*assignments, name=name)

class Derived(Own):
  pass

class Clipped(tf1.train.AdamOptimizer):
  def compute_gradients(self, *args, **kwargs):
    return clip(super().compute_gradients(*args, **kwargs))
"""


@pytest.mark.parametrize(
  ("optimizer", "code", "name"),
  [
    ("Own(init_lr)", "EM416", "Own"),
    ("Derived(init_lr)", "EM416", "Derived"),
    ("make_optimizer(init_lr)", "EM416", "optimizer"),
    ("tf1.train.AdamOptimizer(init_lr)", "EM412", ""),
    ("Clipped(init_lr)", "EM412", ""),
    ("tf1.train.AdamOptimizer(init_lr) if a else tf1.train.FtrlOptimizer(init_lr)", "EM412", ""),
  ],
)
def test_bert_s_optimizer_leaves_the_step_alone_and_others_do_not(optimizer, code, name):
  [(line, found, message)] = _found(BERT.format(optimizer=optimizer), "EM412", "EM416")
  assert (line, found) == (10, code)
  if name:
    assert f"only while `{name}` leaves it alone" in message


def test_a_step_for_optimizers_that_need_it_is_no_second_one():
  text = """
  def train(name, optimizer):
    step = tf1.train.get_or_create_global_step()
    train_op = optimizer.apply_gradients(gradients, global_step=step)
    if name == "BertAdam" or optimizer_name is None:
      train_op = tf.group(train_op, step.assign_add(1))
  """
  assert not _codes(text)


@pytest.mark.parametrize(
  ("body", "reported"),
  [
    ("with tf1.control_dependencies([reg]):\n    op = opt.minimize(loss, global_step=step)", True),
    ("op = opt.minimize(loss, step)\n  both = tf.group(reg, op)", True),
    ("op = opt.minimize(loss, step)\n  both = tf.group(*[reg, op])", True),
    ("op = opt.minimize(loss, step)", False),  # in turn, for all one can see
    ("op = opt.minimize(loss)\n  both = tf.group(reg, op)", False),
    ("op = opt.minimize(loss, epoch_step)\n  both = tf.group(reg, op)", False),
    ("op = own.minimize(loss, step)\n  both = tf.group(reg, op)", False),
  ],
)
def test_two_optimizers_that_run_together_and_count_one_step(body, reported):
  text = f"""
import tensorflow as tf
tf1 = tf.compat.v1
def train(loss, own, epoch_step):
  step = tf1.train.get_or_create_global_step()
  opt = tf1.train.AdamOptimizer(0.1)
  reg = tf1.train.GradientDescentOptimizer(0.01).minimize(reg_loss, global_step=step)
  {body}
  steps = tf.group(a, b)
"""
  found = [f.message for f in engine.check_text(text, "a.py") if f.code == "EM412"]
  assert ["in line 7 as well" in m for m in found] == ([True] if reported else [])


def test_case_15_a_keras_optimizer_in_a_model_fn():
  text = """
  def model_fn(features, labels, mode):
      w = tf.compat.v1.get_variable("w", [4, 1])
      loss = tf.reduce_mean((features["x"] @ w - labels) ** 2)
      opt = tf.keras.optimizers.legacy.SGD(0.1)           # iterations not tied to global_step
      return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=tf.group(*opt.get_updates(loss, [w])))
  tf.estimator.Estimator(model_fn, "/m").train(input_fn, steps=3)
  """
  [(line, _, message)] = _found(text, "EM413")
  assert line == 7
  assert message.startswith("`tf.keras.optimizers.legacy.SGD` does not move the global step")


@pytest.mark.parametrize(
  ("body", "reported"),
  [
    ("op = opt.apply_gradients(zip(g, v))", True),
    ("op = opt.get_updates(loss, v)[0]", True),
    (
      "opt.iterations = tf1.train.get_or_create_global_step()\n  op = opt.get_updates(loss, v)",
      False,
    ),
    (
      "op = tf.group(opt.apply_gradients(g), tf1.assign_add(tf1.train.get_global_step(), 1))",
      False,
    ),
    ("op = tf.group(opt.apply_gradients(g), ckpt.step.assign_add(1))", False),
    ("op = opt.minimize(loss, v)", False),  # raises, which nobody overlooks
    ("opt = make_optimizer()\n  op = opt.apply_gradients(g)", False),
    ("opt = tf1.train.AdamOptimizer()\n  op = opt.apply_gradients(g)", False),
  ],
)
def test_what_moves_the_global_step(body, reported):
  text = f"""
import tensorflow as tf
tf1 = tf.compat.v1
def model_fn(features, labels, mode):
  {"opt = tf.keras.optimizers.Adam()" if "opt = " not in body else "pass"}
  {body}
  return tf.estimator.EstimatorSpec(mode, None, loss, op)
"""
  found = [f.code for f in engine.check_text(text, "a.py")]
  assert ("EM413" in found) == reported


@pytest.mark.parametrize(
  ("optimizer", "link", "reported"),
  [
    ("tf.keras.optimizers.Adagrad(0.1)", "", True),
    ("tf.keras.optimizers.get('adagrad')", "", True),
    ("tf.keras.optimizers.Adagrad(0.1)", "opt.iterations = tf1.train.get_global_step()", False),
    ("tf1.train.AdagradOptimizer(0.1)", "", False),
  ],
)
def test_heads_leave_it_to_the_optimizer_as_well(optimizer, link, reported):
  text = f"""
  def model_fn(features, labels, mode):
    opt = {optimizer}
    {link or "pass"}
    head = tf.estimator.BinaryClassHead()
    return head.create_estimator_spec(features, mode, logits, labels, optimizer=opt)
  """
  assert _codes(text) == (["EM413"] if reported else [])


def test_a_train_step_outside_of_a_model_fn_is_keras_own_affair():
  text = """
  def model_fn(features, labels, mode):
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)
  def train_step():
    opt = tf.keras.optimizers.Adam()
    opt.apply_gradients(zip(gradients, variables))
  """
  assert not _codes(text)
