"""The exact optimizers against TF1's own, dense and sparse, in a loop and in fit."""

import numpy as np
import pytest
import tensorflow as tf

from migrator.runtime import optimizers

v1 = tf.compat.v1.train
START = np.random.RandomState(0).rand(6, 3).astype(np.float32)
IDS = [0, 2, 2, 5]  # One of them twice.
STEPS = 30
CASES = {
  "GradientDescent": (
    lambda: v1.GradientDescentOptimizer(0.05),
    lambda: optimizers.GradientDescent(0.05),
  ),
  "Momentum": (lambda: v1.MomentumOptimizer(0.05, 0.9), lambda: optimizers.Momentum(0.05, 0.9)),
  "Nesterov": (
    lambda: v1.MomentumOptimizer(0.05, 0.9, use_nesterov=True),
    lambda: optimizers.Momentum(0.05, 0.9, use_nesterov=True),
  ),
  "Adagrad": (
    lambda: v1.AdagradOptimizer(0.05, initial_accumulator_value=0.2),
    lambda: optimizers.Adagrad(0.05, initial_accumulator_value=0.2),
  ),
  "Adam": (lambda: v1.AdamOptimizer(0.05), lambda: optimizers.Adam(0.05)),
  "Adam with other betas": (
    lambda: v1.AdamOptimizer(0.05, beta1=0.0, beta2=0.9, epsilon=1e-3),
    lambda: optimizers.Adam(0.05, beta1=0.0, beta2=0.9, epsilon=1e-3),
  ),
  "RMSProp": (lambda: v1.RMSPropOptimizer(0.05), lambda: optimizers.RMSProp(0.05)),
  "RMSProp with momentum": (
    lambda: v1.RMSPropOptimizer(0.05, momentum=0.5),
    lambda: optimizers.RMSProp(0.05, momentum=0.5),
  ),
  "RMSProp centered": (
    lambda: v1.RMSPropOptimizer(0.05, centered=True, momentum=0.3),
    lambda: optimizers.RMSProp(0.05, centered=True, momentum=0.3),
  ),
}


def loss_of(rows, dense):
  return tf.reduce_sum(tf.sin(3 * rows)) + tf.reduce_sum(tf.square(dense))


def expected_values(make):
  """Returns the two variables after training with TF1's optimizer: looked up, and dense."""
  with tf.Graph().as_default(), tf.compat.v1.Session() as session:
    table = tf.compat.v1.get_variable("table", initializer=START)
    dense = tf.compat.v1.get_variable("dense", initializer=START)
    update = make().minimize(loss_of(tf.gather(table, IDS), dense))
    session.run(tf.compat.v1.global_variables_initializer())
    for _ in range(STEPS):
      session.run(update)
    return session.run([table, dense])


class Network(tf.keras.Model):
  """Looks rows up in one table, and uses the whole of another."""

  def __init__(self):
    super().__init__()
    self.table = tf.keras.layers.Embedding(6, 3)
    self.dense = tf.keras.layers.Embedding(6, 3)
    for layer in (self.table, self.dense):
      layer.build((None, 1))
      layer.set_weights([START])

  def call(self, ids):
    return loss_of(self.table(tf.reshape(ids, [-1])), self.dense(tf.range(6)))


def values_of(network):
  return [network.table.get_weights()[0], network.dense.get_weights()[0]]


@pytest.mark.parametrize("name", CASES)
def test_loop_is_equal_to_tf1(name):
  make_expected, make = CASES[name]
  network, optimizer = Network(), make()
  variables = [network.table.trainable_weights[0], network.dense.trainable_weights[0]]

  @tf.function
  def step():
    with tf.GradientTape() as tape:
      loss = network(tf.constant(IDS))
    gradients = tape.gradient(loss, variables)
    assert isinstance(gradients[0], tf.IndexedSlices)
    gradients[1] = tf.convert_to_tensor(gradients[1])
    optimizer.apply_gradients(zip(gradients, variables))

  for _ in range(STEPS):
    step()
  # Bit by bit, but for the order in which the rows of one index are added up.
  for value, expected in zip(values_of(network), expected_values(make_expected)):
    np.testing.assert_allclose(value, expected, rtol=0, atol=2e-7)


@pytest.mark.parametrize("name", ["Adam", "Adagrad", "Momentum"])
def test_fit_is_equal_to_tf1(name):
  make_expected, make = CASES[name]
  network = Network()
  network.compile(make(), loss=lambda labels, loss: tf.reduce_sum(loss))
  ids = tf.constant([IDS])
  network.fit(tf.data.Dataset.from_tensors((ids, [[0.0]])).repeat(STEPS), verbose=0)
  for value, expected in zip(values_of(network), expected_values(make_expected)):
    np.testing.assert_allclose(value, expected, rtol=0, atol=1e-6)


def test_momentum_with_a_changing_rate_is_equal_to_tf1():
  """No transform makes the stock optimizer do this: it keeps the rate within the velocity."""
  network = Network()
  schedule = tf.keras.optimizers.schedules.ExponentialDecay(0.05, 10, 0.5)
  optimizer = optimizers.Momentum(schedule, 0.9)
  variables = [network.table.trainable_weights[0], network.dense.trainable_weights[0]]
  for _ in range(STEPS):
    with tf.GradientTape() as tape:
      loss = network(tf.constant(IDS))
    optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
  with tf.Graph().as_default(), tf.compat.v1.Session() as session:
    table = tf.compat.v1.get_variable("table", initializer=START)
    dense = tf.compat.v1.get_variable("dense", initializer=START)
    step = v1.get_or_create_global_step()
    rate = v1.exponential_decay(0.05, step, 10, 0.5)
    loss = loss_of(tf.gather(table, IDS), tf.gather(dense, tf.range(6)))
    update = v1.MomentumOptimizer(rate, 0.9).minimize(loss, global_step=step)
    session.run(tf.compat.v1.global_variables_initializer())
    for _ in range(STEPS):
      session.run(update)
    expected = session.run([table, dense])
  for value, wanted in zip(values_of(network), expected):
    np.testing.assert_allclose(value, wanted, rtol=0, atol=1e-6)


@pytest.mark.parametrize("name", CASES)
def test_config_makes_the_same_optimizer(name):
  optimizer = CASES[name][1]()
  again = type(optimizer).from_config(optimizer.get_config())
  assert again.get_config() == optimizer.get_config()
