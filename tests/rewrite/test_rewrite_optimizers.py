"""DNNClassifier: the Keras optimizer for its `optimizer=`, and which are refused."""

import re

import pytest
from helpers import HEAD, TRAIN, codes, left_whole, run, transformed

BASE = "[4, 3], columns, 'm', n_classes=3"


def program(arguments, head=HEAD):
  return head + f"e = tf1.estimator.DNNClassifier({arguments})\n" + TRAIN


def compact(text):
  """The text without its layout."""
  return re.sub(r",\)", ")", "".join(text.split()))


@pytest.mark.parametrize(
  ("argument", "stock", "exact"),
  [
    ("", "tf.keras.optimizers.Adagrad(0.05, epsilon=0.0)", "runtime.optimizers.Adagrad(0.05)"),
    (
      "optimizer='Adam'",
      "tf.keras.optimizers.Adam(0.05, epsilon=1e-8)",
      "runtime.optimizers.Adam(0.05)",
    ),
    (
      "optimizer=tf1.train.AdamOptimizer(rate, beta1=0.8)",
      "tf.keras.optimizers.Adam(rate, beta_1=0.8, epsilon=1e-8)",
      "runtime.optimizers.Adam(rate, beta1=0.8)",
    ),
    (
      "optimizer=tf1.train.AdamOptimizer(epsilon=1e-4)",
      "tf.keras.optimizers.Adam(0.001, epsilon=1e-4)",
      "runtime.optimizers.Adam(epsilon=1e-4)",
    ),
    (
      "optimizer=tf1.train.GradientDescentOptimizer(0.1)",
      "tf.keras.optimizers.SGD(0.1)",
      "runtime.optimizers.GradientDescent(0.1)",
    ),
    (
      "optimizer=tf1.train.MomentumOptimizer(0.1, 0.9, use_nesterov=True)",
      "runtime.optimizers.Momentum(0.1, momentum=0.9, use_nesterov=True)",
      "runtime.optimizers.Momentum(0.1, momentum=0.9, use_nesterov=True)",
    ),
    (
      "optimizer='Ftrl'",
      "tf.keras.optimizers.Ftrl(0.05)",
      "runtime.optimizers.Ftrl(0.05)",
    ),
    (
      "optimizer=tf1.train.FtrlOptimizer(rate, l1_regularization_strength=0.01, beta=None)",
      "tf.keras.optimizers.Ftrl(rate, l1_regularization_strength=0.01)",
      "runtime.optimizers.Ftrl(rate, l1_regularization_strength=0.01)",
    ),
    (
      "optimizer=tf1.train.FtrlOptimizer(0.1, -0.7, 0.5, 0.0, 0.2, False, 'Ftrl', None, None, 0.3)",
      "tf.keras.optimizers.Ftrl(0.1, learning_rate_power=-0.7, initial_accumulator_value=0.5, "
      "l1_regularization_strength=0.0, l2_regularization_strength=0.2, "
      "l2_shrinkage_regularization_strength=0.3)",
      "runtime.optimizers.Ftrl(0.1, learning_rate_power=-0.7, initial_accumulator_value=0.5, "
      "l1_regularization_strength=0.0, l2_regularization_strength=0.2, "
      "l2_shrinkage_regularization_strength=0.3)",
    ),
    (
      "optimizer=tf1.train.AdadeltaOptimizer()",
      "tf.keras.optimizers.Adadelta(0.001, epsilon=1e-8)",
      "runtime.optimizers.Adadelta()",
    ),
    (
      "optimizer=tf1.train.AdadeltaOptimizer(1.0, rho=0.9)",
      "tf.keras.optimizers.Adadelta(1.0, rho=0.9, epsilon=1e-8)",
      "runtime.optimizers.Adadelta(1.0, rho=0.9)",
    ),
    (
      "optimizer=tf1.train.RMSPropOptimizer(0.1, 0.8, centered=True)",
      "runtime.optimizers.RMSProp(0.1, decay=0.8, centered=True)",
      "runtime.optimizers.RMSProp(0.1, decay=0.8, centered=True)",
    ),
    (
      "optimizer='RMSProp'",
      "runtime.optimizers.RMSProp(0.05)",
      "runtime.optimizers.RMSProp(0.05)",
    ),
    (
      "optimizer=tf1.train.ProximalAdagradOptimizer(0.1, l1_regularization_strength=0.01)",
      "runtime.optimizers.ProximalAdagrad(0.1, l1_regularization_strength=0.01)",
      "runtime.optimizers.ProximalAdagrad(0.1, l1_regularization_strength=0.01)",
    ),
  ],
)
def test_v1_optimizer(argument, stock, exact):
  source = program(f"{BASE}, {argument}" if argument else BASE)
  assert compact(f"optimizer={stock}") in compact(transformed(source))
  assert compact(f"optimizer={exact}") in compact(transformed(source, exact=True))


def test_stock_adam_is_reported_and_exact_adam_is_not():
  source = program(BASE + ", optimizer='Adam'")
  assert "EM221" in codes(run(source))
  assert "EM221" not in codes(run(source, exact=True))
  assert "EM221" not in codes(run(program(BASE)))


@pytest.mark.parametrize(
  ("argument", "stock"),
  [
    ("", "tf.keras.optimizers.Adagrad(0.001, epsilon=1e-7)"),
    (
      "optimizer=tf.keras.optimizers.Adam(lr=0.1)",
      "tf.keras.optimizers.Adam(0.1, epsilon=1e-7)",
    ),
    (
      "optimizer=tf.keras.optimizers.legacy.Adam(0.1)",
      "tf.keras.optimizers.Adam(0.1, epsilon=1e-7)",
    ),
    ("optimizer='SGD'", "tf.keras.optimizers.SGD(0.01)"),
  ],
)
def test_v2_optimizer(argument, stock):
  source = program(f"{BASE}, {argument}" if argument else BASE)
  assert f"optimizer={stock}" in run(source.replace("tf1.estimator", "tf.estimator")).text


@pytest.mark.parametrize(
  "argument",
  [
    "tf1.train.AdagradDAOptimizer(0.1, tf1.train.get_global_step())",
    "tf1.train.FtrlOptimizer(0.1, accum_name='accumulators')",
    "tf1.train.FtrlOptimizer(0.1, linear_name=n)",
    "tf1.train.AdamOptimizer(0.1, name='MyAdam')",
    "tf1.train.AdamOptimizer(tf1.train.exponential_decay(0.1, g, 10, 0.9))",
    "make_optimizer()",
    "'Adadelta'",
    "lambda rate: tf1.train.AdamOptimizer(rate)",
    "None",
    "tf.keras.optimizers.Adam(0.1)",
  ],
)
def test_optimizer_that_is_not_carried_over_is_refused(argument):
  left_whole(program(f"{BASE}, optimizer={argument}"), "EM211")


def test_optimizer_in_a_variable():
  head = HEAD + "rate = 0.1\nopt = tf1.train.AdamOptimizer(rate)\n"
  text = transformed(program(BASE + ", optimizer=opt", head))
  assert "tf.keras.optimizers.Adam(rate, epsilon=1e-8)" in text
