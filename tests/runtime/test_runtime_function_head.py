"""Keras models that were the network of a model_fn: their inputs, names, and what functions make of them."""

import numpy as np
import pytest
import tensorflow as tf

from migrator import runtime

v1 = tf.compat.v1
PARAMS = {"weight": 2.0}


def input_fn():
  random = np.random.RandomState(5)
  features = {"x": random.randn(12, 4).astype(np.float32), "other": np.arange(12)}
  labels = random.randint(0, 3, 12).astype(np.int32)
  return tf.data.Dataset.from_tensor_slices((features, labels)).batch(5)


def create_model(element_spec):
  inputs = runtime.inputs_like(element_spec, "x")
  names, net = runtime.LayerNames(), inputs["x"]
  # TF1's initializers serve Keras's layers.
  for initializer in (v1.truncated_normal_initializer(stddev=0.3), v1.glorot_uniform_initializer()):
    net = tf.keras.layers.Dense(
      6,
      activation=tf.nn.leaky_relu,
      kernel_initializer=initializer,
      bias_initializer=v1.constant_initializer(0.1),
      kernel_regularizer=tf.keras.regularizers.l2(0.01),
      name=names("dense"),
    )(net)
  model = tf.keras.Model(inputs, tf.keras.layers.Dense(3, name=names("dense"))(net))
  model.compile(
    optimizer=runtime.optimizers.Adam(0.01),
    loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True),
  )
  return model


def loss_fn(labels, logits, losses, params):
  del params
  loss = v1.losses.sparse_softmax_cross_entropy(labels=labels, logits=logits)
  return loss + tf.add_n(losses or [0.0])


def metrics_fn(labels, logits, features, params):
  best = tf.argmax(logits, 1)
  largest = v1.metrics.mean(tf.reduce_max(features["other"]))
  return {
    "accuracy": v1.metrics.accuracy(labels, best),
    "largest": largest,
    "weighted": v1.metrics.mean(params["weight"] * tf.ones_like(labels, tf.float32)),
  }


def predictions_fn(logits):
  return {"best": tf.argmax(logits, 1), "probabilities": tf.nn.softmax(logits)}


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
  """A model, and its BackupAndRestore after 10 steps."""
  model = create_model(input_fn().element_spec)
  head = runtime.heads.FunctionHead(
    loss_fn, predictions_fn=predictions_fn, metrics_fn=metrics_fn, params=PARAMS
  )
  backup = runtime.BackupAndRestore(
    model, str(tmp_path_factory.mktemp("model")), head=head, flavour="v1", save_checkpoints_steps=5
  )
  dataset = input_fn().repeat().map(runtime.model_inputs(model))
  model.fit(dataset.take(10), callbacks=[backup], verbose=0)
  return model, backup


def logits_of(model):
  features, labels = zip(*[(f["x"].numpy(), y.numpy()) for f, y in input_fn()])
  return [model(x).numpy() for x in features], labels


def test_layers_have_the_names_that_tf1_counted(trained):
  names = set(trained[1].get_variable_names())
  for layer in ("dense", "dense_1", "dense_2"):
    assert {f"{layer}/kernel", f"{layer}/bias/Adam", f"{layer}/bias/Adam_1"} <= names
  assert sorted(n for n in names if not n.startswith("dense")) == ["global_step"]


def test_the_functions_evaluate_the_model(trained):
  model, backup = trained
  logits, labels = logits_of(model)
  penalty = sum(0.01 * np.sum(np.square(layer.kernel)) for layer in model.layers[1:3])
  losses = []
  for z, y in zip(logits, labels):
    shifted = z - z.max(1, keepdims=True)
    chosen = shifted[np.arange(len(y)), y] - np.log(np.exp(shifted).sum(1))
    losses.append(penalty - chosen.mean())
  result = backup.evaluate(input_fn())
  assert list(result) == ["accuracy", "largest", "loss", "weighted", "global_step"]
  # Each batch counts as one in the loss, each example in the accuracy.
  np.testing.assert_allclose(result["loss"], np.mean(losses), rtol=1e-5)
  hits = np.concatenate([z.argmax(1) == y for z, y in zip(logits, labels)])
  np.testing.assert_allclose(result["accuracy"], hits.mean(), rtol=1e-6)
  assert result["largest"] == np.mean([4, 9, 11])
  assert result["weighted"] == PARAMS["weight"]
  assert result["global_step"] == 10


def test_the_functions_predict(trained):
  model, backup = trained
  logits = np.concatenate(logits_of(model)[0])
  rows = list(backup.predict(input_fn()))
  assert [row["best"] for row in rows] == logits.argmax(1).tolist()
  only = next(backup.predict(input_fn(), predict_keys=["probabilities"]))
  assert list(only) == ["probabilities"]
  np.testing.assert_allclose(only["probabilities"].sum(), 1.0, rtol=1e-6)


def test_the_predictions_are_exported(trained, tmp_path):
  model, backup = trained

  def serving_input_receiver_fn():
    x = v1.placeholder(tf.float32, [None, 4])
    return runtime.export.ServingInputReceiver({"x": x}, {"x": x})

  path = backup.export_saved_model(str(tmp_path), serving_input_receiver_fn)
  signature = tf.saved_model.load(path.decode()).signatures["serving_default"]
  batch = next(iter(input_fn()))[0]["x"]
  np.testing.assert_array_equal(signature(x=batch)["best"], model(batch).numpy().argmax(1))


def test_the_head_has_a_copy_of_the_params():
  params = {"weights": [1.0]}
  head = runtime.heads.FunctionHead(loss_fn, params=params)
  params["weights"].append(2.0)
  assert head.params == {"weights": [1.0]}


def test_callbacks_of_an_evaluation_get_the_keras_model(trained):
  seen = []

  class Seen(tf.keras.callbacks.Callback):
    def on_test_batch_end(self, batch, logs=None):
      seen.append(self.model)
      self.model.stop_evaluating = batch == 1

  trained[1].evaluate(input_fn(), callbacks=[Seen()])
  assert seen == [trained[0]] * 2


def test_inputs_are_like_what_the_input_function_gives():
  spec = (
    {"x": tf.TensorSpec([None, 4, 2], tf.float32), "id": tf.TensorSpec([None], tf.int64)},
    tf.TensorSpec([None], tf.int32),
  )
  assert runtime.inputs_like(spec, "x")["x"].shape == (None, 4, 2)
  assert runtime.inputs_like(tf.TensorSpec([7, 3], tf.float32)).shape == (None, 3)
  with pytest.raises(ValueError, match="lacks the feature 'y'"):
    runtime.inputs_like(spec, "y")
  # Layers of TF1 were of the type of their input.
  with pytest.raises(ValueError, match="'id' must be float32, not int64"):
    runtime.inputs_like(spec, "id")
  with pytest.raises(ValueError, match="one row for each example"):
    runtime.inputs_like({"x": tf.TensorSpec([], tf.float32)}, "x")


def test_an_input_layer_of_numeric_columns_is_that_of_tf1():
  random = np.random.RandomState(8)
  features = {
    "b": random.randn(6).astype(np.float64),
    "a": random.randint(0, 9, 6),
    "c": random.randn(6, 2, 2).astype(np.float32),
  }
  column = tf.feature_column.numeric_column
  columns = [column("c", shape=[2, 2]), column("b"), column("a")]
  with tf.Graph().as_default(), v1.Session() as session:
    expected = session.run(v1.feature_column.input_layer(features, columns))
  dataset = tf.data.Dataset.from_tensor_slices(features).batch(6)
  inputs = runtime.inputs_like(dataset, columns=columns)
  model = tf.keras.Model(inputs, runtime.input_layer(inputs, columns))
  np.testing.assert_array_equal(model(next(iter(dataset))), expected)
  np.testing.assert_array_equal(model.predict(dataset, verbose=0), expected)


def test_columns_that_change_values_are_no_inputs():
  column = tf.feature_column.numeric_column("x", normalizer_fn=abs)
  with pytest.raises(ValueError, match="Only plain numeric columns"):
    runtime.inputs_like({"x": tf.TensorSpec([None], tf.float32)}, columns=column)


def test_names_are_numbered_from_the_second_on():
  names = runtime.LayerNames()
  assert [names(kind) for kind in ("dense", "conv1d", "dense", "dense")] == [
    "dense",
    "conv1d",
    "dense_1",
    "dense_2",
  ]


@pytest.mark.parametrize("shape", [(8,), (8, 1)], ids=str)
@pytest.mark.parametrize(
  ("keras", "old"),
  [
    (tf.keras.losses.MeanSquaredError(), v1.losses.mean_squared_error),
    (tf.keras.losses.BinaryCrossentropy(from_logits=True), v1.losses.sigmoid_cross_entropy),
  ],
  ids=["squares", "sigmoid"],
)
def test_the_stock_losses_of_one_value_are_those_of_tf1(keras, old, shape):
  random = np.random.RandomState(2)
  x, labels = random.randn(8, 3).astype(np.float32), random.randint(0, 2, shape)
  model = tf.keras.Sequential([tf.keras.Input([3]), tf.keras.layers.Dense(1)])
  model.compile(optimizer=tf.keras.optimizers.SGD(0.0), loss=keras)
  dataset = tf.data.Dataset.from_tensor_slices((x, labels)).batch(8)
  history = model.fit(dataset, verbose=0).history["loss"]
  logits = model.predict_on_batch(x)
  with tf.Graph().as_default(), v1.Session() as session:
    expected = session.run(old(np.reshape(labels, [-1, 1]), logits))
  np.testing.assert_allclose(history, [expected], rtol=1e-6)
