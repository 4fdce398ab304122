"""Models over live feature columns: inputs, saved files, gradients, errors."""

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


@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
def test_a_model_is_saved_loaded_and_trained_with_sparse_gradients(tmp_path, sparse):
  path = tmp_path / "words"
  path.write_bytes("b\na\nä\nc".encode())
  features = cases.features("sparse" if sparse else "dense", "mixed")
  features["x"] = features["y"]
  features["not of a column"] = features["y"]
  forms = [features]
  if sparse:
    ragged = {n: cases.ragged(features[n]) for n in features if n in "stnwi"}
    forms.append({**features, **ragged})
  model = model_of_everything(str(path), sparse)
  assert set(model.input) == set("stnwxy")
  for weight in model.weights:
    weight.assign(graphs.deterministic(list(weight.shape)))
  data = [tf.data.Dataset.from_tensors((form, tf.ones([cases.ROWS, 1]))) for form in forms]
  inputs = [next(iter(form.map(runtime.only_inputs(model))))[0] for form in data]
  expected = [model(form).numpy() for form in inputs]
  model.save(tmp_path / "model.keras")
  path.unlink()
  loaded = tf.keras.models.load_model(tmp_path / "model.keras")
  for form, value in zip(inputs, expected):
    np.testing.assert_array_equal(loaded(form).numpy(), value)
  # Tracing takes longest: one kind will do, and once, which it is if there are no slots to be made.
  loaded.compile(Recorder(0.1), loss="mse", run_eagerly=not sparse)
  loaded.optimizer.build(loaded.trainable_variables)
  loaded.fit(data[-1].map(runtime.only_inputs(loaded)), verbose=0)
  tables = {(3, 2), (11, 1), (9, 1), (3, 1), (4, 1)}
  assert {shape for shape, sparse in loaded.optimizer.sparse.items() if sparse} == tables


def shown(inputs):
  """Returns the shape, the type and the kind of Inputs."""
  found = {}
  for key, tensor in inputs.items():
    sparse = getattr(tensor, "sparse", False) or not hasattr(tensor, "sparse")
    spec = getattr(tensor, "type_spec", None)
    sparse = isinstance(spec, tf.SparseTensorSpec) if spec is not None else sparse
    found[key] = (list(tensor.shape)[1:], tf.as_dtype(tensor.dtype).name, sparse)
  return found


def test_inputs_are_those_of_the_columns():
  x = fc.numeric_column("x", shape=(2, 3))
  bucket = fc.bucketized_column(fc.numeric_column("age"), [1.0])
  words = fc.categorical_column_with_vocabulary_list("s", WORDS)
  numbers = fc.categorical_column_with_vocabulary_list("n", [1, 2], dtype=tf.int32)
  made = [x, fc.crossed_column(["raw", bucket, "s"], 9)]
  made.append(fc.indicator_column(fc.weighted_categorical_column(words, "w")))
  made.append(fc.embedding_column(numbers, 2))
  expected = {
    "x": ([2, 3], "float32", False),
    "age": ([1], "float32", False),
    "raw": ([None], "string", False),
    "s": ([None], "string", False),
    "w": ([None], "float32", False),
    "n": ([None], "int64", False),
  }
  assert shown(columns.inputs(made)) == expected
  for key in ("raw", "s", "w", "n"):
    expected[key] = (*expected[key][:2], True)
  assert shown(columns.inputs(made, sparse=True)) == expected
  assert shown(columns.inputs({"x": x})) == {"x": expected["x"]}
  assert shown(columns.inputs(made[1], dtypes={"raw": "int64"}))["raw"] == ([None], "int64", False)
  sequence = fc.sequence_numeric_column("w")
  assert shown(columns.inputs([sequence])) == {"w": ([None], "float32", True)}


def test_a_feature_that_two_columns_take_for_different_things_is_an_error():
  words = fc.categorical_column_with_vocabulary_list("s", WORDS)
  with pytest.raises(ValueError, match=r"'s' both for string \[None\] and for float32 \[1\]"):
    columns.inputs([words, fc.numeric_column("s")])
  with pytest.raises(ValueError, match=r"which is not a tf\.feature_column"):
    columns.inputs([words, "s"])


def test_columns_that_an_estimator_refused_are_refused():
  words = fc.categorical_column_with_vocabulary_list("s", WORDS)
  hot = fc.indicator_column(words)
  with pytest.raises(ValueError, match="two columns of the name 's_indicator'"):
    columns.DenseFeatures([hot, hot])
  with pytest.raises(ValueError, match=r"'s' is categorical.*indicator_column"):
    columns.DenseFeatures([words])
  with pytest.raises(ValueError, match="has no columns"):
    columns.LinearFeatures([])
  with pytest.raises(ValueError, match="reads the feature 's'"):
    columns.DenseFeatures([hot])({"t": tf.constant([["a"]])})


def test_without_feature_columns_the_way_out_is_told(monkeypatch):
  words = fc.categorical_column_with_vocabulary_list("s", WORDS)
  hidden = type("TensorFlow", (), {"__version__": "2.99"})
  monkeypatch.setattr("migrator.runtime.columns.live_inputs.tf", hidden)
  with pytest.raises(ImportError, match=r"TensorFlow 2\.99 has no.*migrator eject"):
    columns.inputs([words])
  with pytest.raises(ImportError, match=r"TensorFlow 2\.99 has no.*migrator eject"):
    columns.LinearFeatures([words])


def test_of_a_lambda_the_weights_can_be_saved(tmp_path):
  made = [fc.numeric_column("x", normalizer_fn=lambda x: x + 1)]
  inputs = columns.inputs(made)
  model = tf.keras.Model(inputs, columns.LinearFeatures(made, 1, name="linear_model")(inputs))
  with pytest.raises((ValueError, NotImplementedError), match=r"normalizer_fn of the column x"):
    model.save(tmp_path / "model.keras")
  x = {"x": tf.constant([[2.0]])}
  model.weights[0].assign([[3.0]])
  model.save_weights(tmp_path / "model.weights.h5")
  model.weights[0].assign([[0.0]])
  model.load_weights(tmp_path / "model.weights.h5")
  np.testing.assert_array_equal(model(x), [[9.0]])
  # An export has no use for the function either.
  tf.saved_model.save(model, str(tmp_path / "exported"))


def add_two(x):
  return x + 2


def test_an_exported_model_has_the_tables_of_its_columns(tmp_path):
  path = tmp_path / "words"
  path.write_bytes(b"b\na\n")
  words = fc.categorical_column_with_vocabulary_list("s", WORDS)
  file = fc.categorical_column_with_vocabulary_file("t", str(path), num_oov_buckets=1)
  made = [fc.indicator_column(words), fc.indicator_column(file)]
  inputs = columns.inputs(made)
  net = columns.DenseFeatures(made)(inputs)
  model = tf.keras.Model(inputs, tf.keras.layers.Dense(1, name="logits")(net), name="dnn")
  serving = runtime.export.build_raw_serving_input_receiver_fn(
    {name: tf.TensorSpec([None, 2], tf.string) for name in "st"}
  )
  loss = tf.keras.losses.MeanSquaredError()
  exported = runtime.export_saved_model(model, loss, str(tmp_path / "exports"), serving)
  path.unlink()
  features = {"s": tf.constant([["a", "q"]]), "t": tf.constant([["a", "q"]])}
  predict = tf.saved_model.load(exported).signatures["predict"]
  np.testing.assert_array_equal(predict(**features)["predictions"], model(features))


def test_a_function_that_keras_does_not_know_is_named(tmp_path):
  made = [fc.numeric_column("x", normalizer_fn=add_two)]
  inputs = columns.inputs(made)
  model = tf.keras.Model(inputs, columns.LinearFeatures(made, 1)(inputs))
  model.save(tmp_path / "model.keras")
  load = tf.keras.models.load_model
  with pytest.raises((TypeError, ValueError), match=r"the function add_two"):
    load(tmp_path / "model.keras")
  loaded = load(tmp_path / "model.keras", custom_objects={"add_two": add_two})
  x = {"x": tf.constant([[2.0]])}
  np.testing.assert_array_equal(loaded(x), model(x))


def test_the_raw_key_of_a_live_cross_is_not_made_dense():
  made = [fc.indicator_column(fc.crossed_column(["s", "t"], 9))]
  inputs = columns.inputs(made)
  model = tf.keras.Model(inputs, columns.DenseFeatures(made)(inputs))
  features = {"s": tf.sparse.from_dense([["a"]]), "t": [["b"]]}
  with pytest.raises(ValueError, match=r"'s' is sparse.*cross.*sparse=True"):
    tf.data.Dataset.from_tensors(features).map(runtime.only_inputs(model))


def test_a_saved_initializer_is_the_same(tmp_path):
  word = fc.categorical_column_with_vocabulary_list("s", WORDS)
  plain = fc.embedding_column(word, 2)
  other = fc.categorical_column_with_vocabulary_list("t", [b"a", b"\xff"], num_oov_buckets=2)
  constant = fc.embedding_column(other, 2, initializer=tf.keras.initializers.Constant(7.0))
  layer = columns.DenseFeatures([plain, constant], name="input_layer")
  again = columns.DenseFeatures.from_config(layer.get_config())
  assert again.columns[0].initializer.get_config() == plain.initializer.get_config()
  assert again.columns[1].categorical_column == other
  assert again.columns[1]._replace(initializer=None) == constant._replace(initializer=None)
  x = {"s": tf.constant([["a"]]), "t": tf.constant([["z"]])}
  np.testing.assert_array_equal(again(x)[:, 2:], [[7, 7]])
