"""Features fit the inputs of the model as a numeric column made them fit."""

import numpy as np
import pytest
import tensorflow as tf

from migrator import runtime


def model_of(**shapes):
  inputs = {name: tf.keras.Input(shape, name=name) for name, shape in shapes.items()}
  flat = [tf.keras.layers.Flatten()(inputs[name]) for name in sorted(inputs)]
  net = tf.keras.layers.Concatenate()(flat) if len(flat) > 1 else flat[0]
  return tf.keras.Model(inputs, net)


@pytest.mark.parametrize(
  ("shape", "data"),
  [([28, 28], (5, 784)), ([784], (5, 28, 28)), ([1], (5,)), ([1], (5, 1)), ([2, 2], (5, 2, 2))],
)
def test_features_are_given_the_shape_of_their_column(shape, data):
  values = np.arange(np.prod(data), dtype=np.float64).reshape(data)
  dataset = tf.data.Dataset.from_tensor_slices(({"x": values}, np.zeros(5, np.int64))).batch(2)
  model = model_of(x=shape)
  batches = [model(f).numpy() for f, _ in dataset.map(runtime.only_inputs(model))]
  np.testing.assert_array_equal(np.concatenate(batches), values.reshape(5, -1))


def test_features_of_another_size_are_an_error():
  dataset = tf.data.Dataset.from_tensors(({"x": np.zeros((4, 3))}, [0] * 4))
  with pytest.raises((ValueError, tf.errors.InvalidArgumentError)):
    list(dataset.map(runtime.only_inputs(model_of(x=[2]))))


def test_features_that_the_model_lacks_are_dropped_before_keras_takes_them_for_others():
  features = {"a": [[1.0]], "b": [[2.0]], "aa": [[9.0]]}
  model = model_of(a=[1], b=[1])
  (batch,) = tf.data.Dataset.from_tensors(features).map(runtime.only_inputs(model))
  np.testing.assert_array_equal(model(batch), [[1.0, 2.0]])
