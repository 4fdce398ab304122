"""Models of column layers: sequences, shared tables, saved files, gradients."""

import column_cases as cases
import column_graphs as graphs
import numpy as np
import pytest
import tensorflow as tf

from migrator import runtime
from migrator.runtime import columns

pytestmark = pytest.mark.usefixtures("graphs_as_they_are")
fc = tf.feature_column
WORDS = cases.WORDS


def test_sequence_columns_are_the_same_and_have_the_same_lengths():
  features = {k: v for k, v in cases.features("sparse", "mixed").items() if k in "sw"}
  word = fc.sequence_categorical_column_with_vocabulary_list("s", WORDS)
  real = graphs.sequence_outcomes(
    features,
    {
      "indicator": fc.indicator_column(word),
      "embedding": fc.embedding_column(word, 4),
      "numeric": fc.sequence_numeric_column("w", default_value=9.0),
    },
  )
  ids = columns.VocabularyIds(WORDS)(features["s"])
  embedding = columns.SequenceEmbedding(3, 4)
  embedding(ids)
  embedding.embeddings.assign(graphs.deterministic([3, 4]))
  results = {
    "indicator": columns.SequenceIndicator(3)(ids),
    "embedding": embedding(ids),
    "numeric": columns.SequenceNumeric((1,), 9.0)(features["w"]),
  }
  for key, result in results.items():
    expected, length = real[key][0]
    np.testing.assert_array_equal(result[0], expected)
    np.testing.assert_array_equal(result[1], length)


def test_a_sequence_takes_no_weights_as_the_columns_did():
  weighted = fc.weighted_categorical_column(
    fc.sequence_categorical_column_with_vocabulary_list("s", WORDS), "w"
  )
  for column in (fc.embedding_column(weighted, 4), fc.indicator_column(weighted)):
    with pytest.raises(ValueError, match="must be of type SequenceCategoricalColumn"):
      column.get_sequence_dense_tensor(None, None)
  pair = [tf.constant([[0, 1]], tf.int64), tf.constant([[1.0, 2.0]])]
  for layer in (columns.SequenceEmbedding(3, 4), columns.SequenceIndicator(3)):
    with pytest.raises(ValueError, match="takes no weights"):
      layer(pair)


def looked_up(arguments):
  """Returns a table of four columns with the values that the real variable has."""
  layer = columns.Embedding(3, 4, **arguments)
  layer.build()
  layer.embeddings.assign(graphs.deterministic([3, 4]))
  return layer


@pytest.mark.parametrize("arguments", [{}, {"combiner": "sqrtn", "max_norm": 0.7}], ids=str)
def test_a_shared_table_gives_what_shared_columns_gave(arguments):
  features = {k: v for k, v in cases.features("sparse", "mixed").items() if k in "st"}
  words = [fc.categorical_column_with_vocabulary_list(k, WORDS) for k in "st"]
  with tf.Graph().as_default():
    new = fc.shared_embeddings(words, 4, **arguments)
    old = tf.compat.v1.feature_column.shared_embedding_columns(words, 4, **arguments)
  new = graphs.sequence_outcomes(features, dict(zip("st", new)))
  old = graphs.Columns(features, {"both": old}).run(features)["both"]
  name = "input_layer/s_t_shared_embedding/embedding_weights"
  assert list(old[1]) == [name]
  shared = looked_up({**arguments, "variable_name": f"input_from_feature_columns/{name}"})
  found = [shared(columns.VocabularyIds(WORDS)(features[k])) for k in "st"]
  for k, part in zip("st", found):
    np.testing.assert_array_equal(part, new[k][0])
  np.testing.assert_array_equal(np.concatenate(found, axis=1), old[0])


@pytest.mark.parametrize("combiner", ["mean", "sum", "sqrtn"])
def test_an_unsafe_lookup_is_as_unsafe_as_it_was(combiner):
  """Examples without a value are 0, those at the end are not there; a word out of the vocabulary fails."""
  arguments = {"combiner": combiner, "use_safe_embedding_lookup": False}
  words = fc.categorical_column_with_vocabulary_list("s", WORDS)
  batch = {"s": np.array([["a", "c"], ["", ""], ["", "b"], ["", ""]])}
  real = graphs.Columns(batch, {"all": [fc.embedding_column(words, 4, **arguments)]})
  layer, ids = looked_up(arguments), columns.VocabularyIds(WORDS)
  expected = real.run(batch)["all"][0]
  assert len(expected) == 3
  np.testing.assert_array_equal(layer(ids(batch["s"])), expected)
  unknown = {"s": np.array([["a", "z"]])}
  with pytest.raises(tf.errors.InvalidArgumentError):
    real.run(unknown)
  with pytest.raises(tf.errors.InvalidArgumentError):
    layer(ids(unknown["s"]))


def test_dense_columns_in_a_linear_model_and_a_numeric_one_of_two_axes_are_the_same():
  features = {k: v for k, v in cases.features("dense", "mixed").items() if k == "s"}
  features["m"] = np.random.RandomState(3).normal(size=(cases.ROWS, 2, 2)).astype(np.float32)
  words = fc.categorical_column_with_vocabulary_list("s", WORDS)
  numeric = fc.numeric_column("m", shape=(2, 2))
  embedding, indicator = fc.embedding_column(words, 4), fc.indicator_column(words)
  real = graphs.Columns(
    features, {"dense": [numeric]}, {"linear": [embedding, indicator, numeric, words]}
  ).run(features)
  ids = columns.VocabularyIds(WORDS)(features["s"])
  table = looked_up({"variable_name": "linear_model/s_embedding/embedding_weights"})
  linear = columns.LinearModel(2, {"s": 3})
  inputs = {"s_embedding": table(ids), "s_indicator": columns.Indicator(3)(ids), "s": ids}
  for m in (features["m"], tf.keras.layers.Flatten()(features["m"])):
    inputs["m"] = m
    linear(inputs)
    for weight in linear.weights:
      weight.assign(graphs.deterministic(list(weight.shape)))
    output, variables = real["linear"]
    np.testing.assert_array_equal(linear(inputs), output)
  names = {**table.variable_names(), **linear.variable_names()}
  assert {n: tuple(w.shape) for n, w in names.items()} == {
    name: value.shape for name, value in variables.items()
  }
  np.testing.assert_array_equal(tf.keras.layers.Flatten()(features["m"]), real["dense"][0])


def test_the_table_begins_as_that_of_the_column():
  column = fc.embedding_column(fc.categorical_column_with_identity("i", 5), 9)
  initializer = columns.Embedding(5, 9).embeddings_initializer
  assert type(initializer).__name__ == "TruncatedNormal"
  assert (initializer.mean, initializer.stddev) == (
    column.initializer.mean,
    pytest.approx(column.initializer.stddev, rel=1e-12),
  )


def test_a_table_begins_with_the_values_of_a_checkpoint(tmp_path):
  value = np.arange(6, dtype=np.float32).reshape(3, 2)
  path = str(tmp_path / "model.ckpt")
  tf.raw_ops.SaveV2(
    prefix=path, tensor_names=["a/b"], shape_and_slices=[""], tensors=[tf.constant(value)]
  )
  layer = columns.Embedding(3, 2, ckpt_to_load_from=path, tensor_name_in_ckpt="a/b")
  layer(tf.constant([[0]], tf.int64))
  np.testing.assert_array_equal(layer.embeddings, value)
  assert layer.get_config()["ckpt_to_load_from"] is None
  other = columns.Embedding(4, 2, ckpt_to_load_from=path, tensor_name_in_ckpt="a/b")
  with pytest.raises(ValueError, match=r"\(4, 2\).*\(3, 2\)"):
    other.build()


@tf.keras.utils.register_keras_serializable(package="test_columns")
def halve(x):
  return x / 2


def model_of_everything(path, **kind):
  """Returns a model with all layers over dense, sparse or ragged inputs, and that model's inputs."""
  inputs = {
    "s": tf.keras.Input([None], dtype="string", name="s", **kind),
    "n": tf.keras.Input([None], dtype="int64", name="n", **kind),
    "w": tf.keras.Input([None], name="w", **kind),
    "x": tf.keras.Input([2], name="x"),
  }
  words = columns.VocabularyIds(WORDS)(inputs["s"])
  files = columns.VocabularyFileIds(path, num_oov_buckets=1)(inputs["s"])
  number = columns.IdentityIds(9, default_value=0)(inputs["n"])
  hashed = columns.HashIds(4)(inputs["n"])
  bucket = columns.BucketIds([0.0])(inputs["x"])
  cross = columns.CrossIds(11)([inputs["n"], bucket, inputs["s"]])
  pair = columns.WeightedIds()([words, inputs["w"]])
  shared = columns.Embedding(6, 2, variable_name="/a_b_shared_embedding", name="shared")
  steps, length = columns.SequenceEmbedding(3, 2, name="steps")(words)
  hot, _ = columns.SequenceIndicator(3)(words)
  parts = [
    columns.Normalizer(halve)(inputs["x"]),
    columns.Indicator(3)(pair),
    columns.Indicator(4)(hashed),
    columns.Embedding(3, 2, name="w_embedding")(pair),
    shared(files),
    shared(columns.IdentityIds(6, 0)(inputs["n"])),
    *(tf.keras.layers.GlobalMaxPooling1D()(part) for part in (steps, hot)),
    tf.keras.layers.Reshape([1])(tf.keras.layers.Rescaling(1.0)(length)),
  ]
  if kind:
    numeric, _ = columns.SequenceNumeric()(inputs["w"])
    parts.append(tf.keras.layers.GlobalMaxPooling1D()(numeric))
  logits = tf.keras.layers.Dense(1, name="logits")(tf.keras.layers.Concatenate()(parts))
  sizes = {"cross": 11, "number": 9, "pair": 3}
  wide = columns.LinearModel(1, sizes, name="linear_model")(
    {"cross": cross, "number": number, "pair": pair, "x": inputs["x"]}
  )
  both = [logits, wide, columns.Bias(1, name="bias")(inputs)]
  if kind.get("sparse"):
    # Models in models; of each layer of those there is one more trace whenever they are called.
    deep = tf.keras.Model(inputs, logits, name="dnn")
    wide = tf.keras.Model(inputs, wide, name="linear")
    both = [deep(inputs), wide(inputs), both[2]]
  return tf.keras.Model(inputs, tf.keras.layers.Add()(both))


class Recorder(tf.keras.optimizers.SGD):
  """Keeps the types of the gradients."""

  def apply_gradients(self, grads_and_vars, *args, **kwargs):
    grads_and_vars = list(grads_and_vars)
    self.sparse = {tuple(v.shape): isinstance(g, tf.IndexedSlices) for g, v in grads_and_vars}
    return super().apply_gradients(grads_and_vars, *args, **kwargs)


@pytest.mark.parametrize("kind", ["dense", "sparse", "ragged"])
def test_a_model_of_all_layers_is_saved_loaded_and_trained_with_sparse_gradients(tmp_path, kind):
  path = tmp_path / "words"
  path.write_bytes("b\na\nä\nc\nzz".encode())
  features = cases.features("dense" if kind == "dense" else "sparse", "mixed")
  features["x"] = features["y"]
  if kind == "ragged":
    features = {n: v if n in "xy" else cases.ragged(v) for n, v in features.items()}
  model = model_of_everything(str(path), **({} if kind == "dense" else {kind: True}))
  for weight in model.weights:
    weight.assign(graphs.deterministic(list(weight.shape)))
  inputs = {
    n: tf.constant(v) if isinstance(v, np.ndarray) else v
    for n, v in features.items()
    if n in "snwx"
  }
  expected = model(inputs).numpy()
  model.save(tmp_path / "model.keras")
  path.unlink()
  loaded = tf.keras.models.load_model(tmp_path / "model.keras")
  np.testing.assert_array_equal(loaded(inputs).numpy(), expected)
  # Tracing takes longest: one kind will do, and once, which it is if there are no slots to be made.
  loaded.compile(Recorder(0.1), loss="mse", run_eagerly=kind != "sparse")
  loaded.optimizer.build(loaded.trainable_variables)
  data = tf.data.Dataset.from_tensors((features, tf.ones([cases.ROWS, 1])))
  loaded.fit(data.map(runtime.only_inputs(loaded)), verbose=0)
  tables = {(3, 2), (6, 2), (11, 1), (9, 1), (3, 1)}
  assert {shape for shape, sparse in loaded.optimizer.sparse.items() if sparse} == tables


def test_weights_that_are_not_as_many_as_the_values_are_an_error():
  ids = columns.VocabularyIds(WORDS)(tf.constant([["a", "b"]]))
  with pytest.raises(tf.errors.InvalidArgumentError, match="weights"):
    columns.WeightedIds()([ids, tf.constant([[1.0, 0.0]])])
