"""Models over live feature columns: inputs, saved files, gradients, errors."""

import column_cases as cases
import column_graphs as graphs
import numpy as np
import pytest
import tensorflow as tf

from migrator import runtime
from migrator.runtime import columns

fc = tf.feature_column
WORDS = cases.WORDS


@tf.keras.utils.register_keras_serializable(package="test_live")
def halve(x):
  return x / 2


def columns_of_everything(path):
  """Returns the columns of the deep and of the wide part."""
  word = fc.categorical_column_with_vocabulary_list("s", WORDS)
  file = fc.categorical_column_with_vocabulary_file("s", path, num_oov_buckets=1)
  numbers = fc.categorical_column_with_identity("n", 9, default_value=0)
  hashed = fc.categorical_column_with_hash_bucket("n", 4, dtype=tf.int64)
  bucket = fc.bucketized_column(fc.numeric_column("x", shape=(2,)), [0.0])
  weighted = fc.weighted_categorical_column(word, "w")
  halves = fc.numeric_column("y", shape=(2,), normalizer_fn=halve)
  with tf.Graph().as_default():
    others = [fc.categorical_column_with_vocabulary_list(n, WORDS) for n in "st"]
    shared = fc.shared_embeddings(others, 2)
  glorot = tf.keras.initializers.GlorotUniform(1)
  deep = [
    *shared,
    fc.embedding_column(weighted, 2, initializer=glorot),
    fc.indicator_column(hashed),
    fc.indicator_column(file),
    halves,
  ]
  wide = [bucket, numbers, weighted, fc.crossed_column(["n", bucket, "s"], 11), halves]
  return deep, wide


def model_of_everything(path, sparse):
  deep, wide = columns_of_everything(path)
  inputs = columns.inputs([*deep, *wide], sparse=sparse)
  net = columns.DenseFeatures(deep, name="input_layer")(inputs)
  logits = tf.keras.layers.Dense(1, name="logits")(net)
  dnn = tf.keras.Model(inputs, logits, name="dnn")
  logits = columns.LinearFeatures(wide, 1, name="linear_model")(inputs)
  linear = tf.keras.Model(inputs, logits, name="linear")
  both = tf.keras.layers.Add()([dnn(inputs), linear(inputs)])
  return tf.keras.Model(inputs, both)


class Recorder(tf.keras.optimizers.SGD):
  """Keeps the types of the gradients."""

  def apply_gradients(self, grads_and_vars, *args, **kwargs):
    grads_and_vars = list(grads_and_vars)
    self.sparse = {tuple(v.shape): isinstance(g, tf.IndexedSlices) for g, v in grads_and_vars}
    return super().apply_gradients(grads_and_vars, *args, **kwargs)


@pytest.mark.parametrize("form", ["dense", "sparse", "ragged"])
def test_a_model_is_saved_loaded_exported_and_trained_with_sparse_gradients(tmp_path, form):
  path = tmp_path / "words"
  path.write_bytes("b\na\nä\nc".encode())
  features = cases.features("dense" if form == "dense" else "sparse", "mixed")
  features["x"] = features["y"]
  if form == "ragged":
    features = {n: v if n in "xy" else cases.ragged(v) for n, v in features.items()}
  features["not of a column"] = features["y"]
  model = model_of_everything(str(path), form != "dense")
  assert set(model.input) == set("stnwxy")
  for weight in model.weights:
    weight.assign(graphs.deterministic(list(weight.shape)))
  data = tf.data.Dataset.from_tensors((features, tf.ones([cases.ROWS, 1])))
  inputs, _ = next(iter(data.map(runtime.only_inputs(model))))
  expected = model(inputs).numpy()
  model.save(tmp_path / "model.keras")
  path.unlink()
  loaded = tf.keras.models.load_model(tmp_path / "model.keras")
  np.testing.assert_array_equal(loaded(inputs).numpy(), expected)
  loaded.compile(Recorder(0.1), loss="mse")
  loaded.fit(data.map(runtime.only_inputs(loaded)), verbose=0)
  tables = {(3, 2), (11, 1), (9, 1), (3, 1), (4, 1)}
  assert {shape for shape, sparse in loaded.optimizer.sparse.items() if sparse} == tables
