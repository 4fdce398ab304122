"""Keras layers whose names the rewrite has written have the variables that they had without, in the Estimator's graph."""

import named_layers
import numpy as np
import pytest
import tensorflow as tf
from interpreter import HERE, run_legacy

from migrator import runtime


@pytest.fixture(scope="module")
def estimators(tmp_path_factory):
  """The directory with the checkpoints of the real Estimator."""
  script = HERE / "legacy_unnamed_layers.py"
  return run_legacy(tmp_path_factory, "unnamed_layers", lambda root: [script, root])


def made(network):
  """A Network of one of the functions, without variables."""
  return runtime.Network(lambda features, training: network(features, training))


def batch(size=8):
  x = np.random.RandomState(3).randn(size, 6).astype(np.float32)
  return x, x[:, :1] - x[:, 1:2]


@pytest.mark.parametrize("function", named_layers.NETWORKS, ids=lambda f: f.__name__)
def test_each_network_of_a_process_has_the_variables_of_the_estimator(function, estimators):
  steps = [estimators / function.__name__ / f"model.ckpt-{step}" for step in (1, 3)]
  first, last = (tf.train.load_checkpoint(str(path)) for path in steps)
  expected = first.get_variable_to_shape_map()
  del expected["global_step"]
  x, y = batch()
  for network in (made(function), made(function)):
    # An evaluation comes first, and batches of another size are other traces.
    network(x[:3], training=False)
    found = {name: variable.shape.as_list() for name, variable in network.named_variables.items()}
    assert found == expected
    for name, variable in network.named_variables.items():
      variable.assign(first.get_tensor(name))
    for _ in range(2):
      with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(network(x, training=True) - y))
      variables = network.trainable_variables
      for variable, gradient in zip(variables, tape.gradient(loss, variables)):
        variable.assign_sub(0.01 * tf.convert_to_tensor(gradient))
    for name, variable in network.named_variables.items():
      np.testing.assert_allclose(
        variable, last.get_tensor(name), rtol=1e-5, atol=1e-6, err_msg=name
      )


def test_each_dropout_has_random_numbers_of_its_own_in_all_traces():
  def forward(features, training):
    dropped = [tf.keras.layers.Dropout(0.5, seed=seed)(features, training=True) for seed in (1, 2)]
    return tf.stack(dropped)

  network = runtime.Network(forward)
  ones = np.ones((1, 64), np.float32)
  first, again = network(ones, training=True).numpy(), network(ones, training=True).numpy()
  assert (first[0] != first[1]).any() and (first != again).any()
  other = network(np.ones((2, 64), np.float32), training=False).numpy()
  assert (other[0] != other[1]).any() and not network.named_variables
