"""Features fit the inputs of the model as a column made them fit."""

import numpy as np
import pytest
import tensorflow as tf

from migrator import runtime
from migrator.runtime import columns


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


def categorical_model(name, make, dtype="string", **kind):
  x = tf.keras.Input([None], dtype=dtype, name=name, **kind)
  return tf.keras.Model({name: x}, make(x))


def fitted(model, value, name="s"):
  data = tf.data.Dataset.from_tensors({name: value})
  return next(iter(data.map(runtime.only_inputs(model))))[name]


def words_of(x):
  return columns.Indicator(3)(columns.VocabularyIds(["a", "b", "c"])(x))


def test_a_feature_becomes_what_its_input_is():
  sparse = tf.sparse.from_dense([["a", "", "c"], ["", "", "b"]])
  dense = categorical_model("s", words_of)
  np.testing.assert_array_equal(fitted(dense, sparse), [[b"a", b"", b"c"], [b"", b"", b"b"]])
  np.testing.assert_array_equal(fitted(dense, ["a", "b"]), [[b"a"], [b"b"]])
  made = fitted(categorical_model("s", words_of, sparse=True), [["a", ""], ["", "b"]])
  np.testing.assert_array_equal(made.indices, [[0, 0], [1, 1]])
  ragged = categorical_model("s", words_of, ragged=True)
  for value in (tf.sparse.from_dense([["a", "c"], ["b", ""]]), [["a", "c"], ["b", ""]]):
    assert fitted(ragged, value).to_list() == [[b"a", b"c"], [b"b"]]
  made = fitted(dense, tf.ragged.constant([["a", "c"], ["b"]]))
  np.testing.assert_array_equal(made, [[b"a", b"c"], [b"b", b""]])
  made = fitted(
    categorical_model("s", words_of, sparse=True), tf.ragged.constant([["a", ""], ["b"]])
  )
  np.testing.assert_array_equal(made.values, [b"a", b"", b"b"])


def test_values_that_would_lose_their_steps_are_an_error():
  for value in ([["", "a"]], tf.sparse.from_dense([["", "a"]])):
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"without a value.*sparse=True"):
      fitted(categorical_model("s", words_of, ragged=True), value)


def test_values_that_a_dense_input_takes_for_missing_are_an_error():
  value = tf.SparseTensor([[0, 0], [1, 0]], ["a", ""], [2, 1])
  with pytest.raises(tf.errors.InvalidArgumentError, match=r"feature .*s.* is sparse.*sparse=True"):
    fitted(categorical_model("s", words_of), value)


def test_the_raw_key_of_a_cross_is_not_made_dense():
  model = categorical_model("s", lambda x: columns.Indicator(9)(columns.CrossIds(9)([x, x])))
  with pytest.raises(ValueError, match=r"'s' is sparse.*cross.*sparse=True"):
    fitted(model, tf.sparse.from_dense([["a"]]))


def test_a_feature_of_a_type_that_no_column_took_is_an_error():
  model = categorical_model("n", lambda x: columns.Indicator(3)(columns.IdentityIds(3)(x)), "int64")
  with pytest.raises(ValueError, match="'n' is float32, but its Input is int64"):
    fitted(model, [[1.0]], "n")
