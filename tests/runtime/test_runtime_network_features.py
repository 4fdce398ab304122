"""What a function within a Network may do with the features that it gets."""

import numpy as np
import tensorflow as tf

from migrator import runtime


def test_a_function_may_change_the_dict_of_its_features_which_the_caller_keeps():
  def forward(features):
    features["x"] = features["x"] / 4.0
    features["more"] = features["x"] + 1.0
    return features["x"] * features["more"]

  network = runtime.Network(forward)
  step = tf.function(lambda features: network(features, training=True))
  features = {"x": tf.constant([1.0, 2.0, 8.0])}
  for call in (network, step, step):
    np.testing.assert_array_equal(call(features), [0.3125, 0.75, 6.0])
  assert list(features) == ["x"]
  np.testing.assert_array_equal(features["x"], [1.0, 2.0, 8.0])
