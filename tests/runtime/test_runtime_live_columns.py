"""Layers over live feature columns give what an Estimator's did, to the last bit."""

import column_cases as cases
import column_graphs as graphs
import numpy as np
import pytest
import tensorflow as tf

from migrator.runtime import columns

fc = tf.feature_column
WORDS = cases.WORDS


def fill(layer):
  """Gives the weights of a layer the values that the real variables have."""
  for weight in layer.weights:
    weight.assign(graphs.deterministic(list(weight.shape)))


def test_an_input_layer_has_its_blocks_in_the_order_of_the_names():
  word = fc.categorical_column_with_vocabulary_list("s", WORDS)
  pixels = fc.numeric_column("pixels", shape=(2, 2), normalizer_fn=lambda x: x * 2)
  made = [fc.indicator_column(word), pixels, fc.bucketized_column(fc.numeric_column("age"), [5.0])]
  layer = columns.DenseFeatures(made)
  features = {"age": [[7.0]], "pixels": [[[1.0, 2.0], [3.0, 4.0]]], "s": [["b"]]}
  features = {name: tf.constant(value) for name, value in features.items()}
  np.testing.assert_array_equal(layer(features), [[0, 1, 2, 4, 6, 8, 0, 1, 0]])
  assert [column.name for column in layer.columns] == ["age_bucketized", "pixels", "s_indicator"]


def test_columns_of_one_name_keep_their_own_vocabularies():
  # One has buckets for other words, and both have the name of the feature.
  plain = fc.categorical_column_with_vocabulary_list("s", WORDS)
  hashed = fc.categorical_column_with_vocabulary_list("s", WORDS, num_oov_buckets=1)
  layer = columns.DenseFeatures([fc.indicator_column(hashed), fc.embedding_column(plain, 1)])
  result = layer({"s": tf.constant([["z"]])})
  np.testing.assert_array_equal(result, [[0, 0, 0, 0, 1]])


def test_live_sequence_columns_are_the_same_and_have_the_same_lengths():
  batch = cases.features("sparse", "mixed")
  # Weights have the places of the words.
  features = {"s": batch["s"], "w": batch["w"]}
  features["w"] = tf.SparseTensor(
    batch["s"].indices,
    tf.cast(tf.range(len(batch["s"].values)), tf.float32),
    batch["s"].dense_shape,
  )
  word = fc.sequence_categorical_column_with_vocabulary_list("s", WORDS)
  made = {
    "embedding": fc.embedding_column(word, 4),
    "indicator": fc.indicator_column(word),
    "numeric": fc.sequence_numeric_column("w", default_value=9.0),
  }
  real = graphs.sequence_outcomes(features, made)
  layer = columns.SequenceFeatures(list(made.values()))
  layer(features)
  fill(layer)
  result, length = layer(features)
  expected = np.concatenate([real[key][0][0] for key in ("embedding", "indicator", "numeric")], 2)
  np.testing.assert_array_equal(result, expected)
  np.testing.assert_array_equal(length, real["numeric"][0][1])
  other = {**features, "w": tf.sparse.slice(features["w"], [0, 0], [cases.ROWS, 1])}
  with pytest.raises(tf.errors.InvalidArgumentError, match="not the same lengths"):
    layer(other)


def shared_columns(kind, **arguments):
  """Returns columns of one table over the features s and t."""
  make = {
    "v2": fc.shared_embeddings,
    "v1": tf.compat.v1.feature_column.shared_embedding_columns,
  }[kind]
  words = [fc.categorical_column_with_vocabulary_list(name, WORDS) for name in "st"]
  with tf.Graph().as_default():
    return make(words, 4, **arguments)


@pytest.mark.parametrize(
  ("kind", "flavour", "name"),
  [
    ("v2", "v2", "/s_t_shared_embedding"),
    ("v2", "v1", "input_from_feature_columns/s_t_shared_embedding"),
    (
      "v1",
      "v1",
      "input_from_feature_columns/input_layer/s_t_shared_embedding/embedding_weights",
    ),
  ],
)
def test_a_shared_embedding_is_one_table(kind, flavour, name):
  features = {k: v for k, v in cases.features("dense", "mixed").items() if k in "st"}
  arguments = {"combiner": "sqrtn", "max_norm": 0.7}
  layer = columns.DenseFeatures(shared_columns(kind, **arguments), flavour=flavour)
  layer(features)
  fill(layer)
  assert list(layer.variable_names()) == [name]
  # A v2 Estimator leaves it as it is.
  assert len(layer.trainable_weights) == (flavour == "v1")
  with tf.Graph().as_default():
    words = [fc.categorical_column_with_vocabulary_list(n, WORDS) for n in "st"]
    feeds = {n: tf.constant(v) for n, v in features.items()}
    separate = [fc.embedding_column(word, 4, **arguments) for word in words]
    output = tf.compat.v1.feature_column.input_layer(feeds, separate)
    with tf.compat.v1.Session() as session:
      session.run(tf.compat.v1.tables_initializer())
      for variable in tf.compat.v1.global_variables():
        variable.load(graphs.deterministic([3, 4]), session)
      expected = session.run(output)
  np.testing.assert_array_equal(layer(features), expected)


def test_a_live_table_begins_as_its_column_says(tmp_path):
  value = np.arange(6, dtype=np.float32).reshape(3, 2)
  path = str(tmp_path / "model.ckpt")
  tf.raw_ops.SaveV2(
    prefix=path, tensor_names=["a/b"], shape_and_slices=[""], tensors=[tf.constant(value)]
  )
  word = fc.categorical_column_with_vocabulary_list("s", WORDS)
  origin = {"ckpt_to_load_from": path, "tensor_name_in_ckpt": "a/b"}
  layer = columns.DenseFeatures([fc.embedding_column(word, 2, trainable=False, **origin)])
  features = {"s": tf.constant([["c"]])}
  np.testing.assert_array_equal(layer(features), [[4, 5]])
  assert not layer.trainable_weights
  fives = tf.keras.initializers.Constant(5.0)
  layer = columns.DenseFeatures([fc.embedding_column(word, 2, initializer=fives)])
  np.testing.assert_array_equal(layer(features), [[5, 5]])
  layer = columns.DenseFeatures([fc.embedding_column(word, 3, **origin)])
  with pytest.raises(ValueError, match=r"\(3, 3\).*\(3, 2\)"):
    layer(features)
