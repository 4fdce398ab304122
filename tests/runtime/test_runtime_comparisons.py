"""What `==` of tensors is: that of objects wherever an Estimator's code ran, that of elements in TF2."""

import tensorflow as tf

from migrator import runtime

v1 = tf.compat.v1


def compared(results):
  def function(x):
    results.append((x == x, x == 1.0, x != x))
    return x

  return function


def test_in_a_graph_and_what_is_within_it_tensors_are_objects():
  results = []
  function = compared(results)
  with tf.Graph().as_default():
    x = v1.placeholder(tf.float32, [])
    function(x)
    v1.cond(x > 1.0, lambda: function(x), lambda: x)
    tf.while_loop(lambda i: i < 3.0, lambda i: [function(i) + 1.0], [x])
    tf.function(function, autograph=False)(x)
    tf.data.Dataset.from_tensors(1.0).map(function)
  assert len(results) >= 5
  assert set(results) == {(True, False, False)}


def test_in_functions_of_tf2_networks_and_datasets_they_are_elements():
  results = []
  function = compared(results)
  tf.function(function, autograph=False)(tf.constant(1.0))
  tf.data.Dataset.from_tensors(1.0).map(function)
  runtime.Network(lambda features: function(features))(tf.constant(1.0))
  assert len(results) >= 3
  assert all(tf.is_tensor(part) for parts in results for part in parts)
