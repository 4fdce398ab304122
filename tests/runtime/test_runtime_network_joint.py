"""A Network that computes the loss, too: it returns the loss, and by name what metrics and predictions read."""

import numpy as np
import pytest
import tensorflow as tf

from migrator import runtime
from migrator.runtime.network import export
from migrator.runtime.network.arguments import call

v1 = tf.compat.v1
ROWS = np.arange(12, dtype=np.float32).reshape(6, 2)
FEATURES = {"x": ROWS}
LABELS = np.array([0, 1, 0, 1, 1, 0], np.int64)
PAIRS = tf.data.Dataset.from_tensor_slices((FEATURES, LABELS)).batch(3)


def compute(features, labels, training):
  logits = runtime.layers.dense(features["x"], 2, name="logits")
  if labels is None:
    return {"logits": logits}
  each = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
  return tf.reduce_mean(each) * (2.0 if training else 1.0), {"each": each, "logits": logits}


def all_at_once(features):
  logits = runtime.layers.dense(features["x"], 2)
  return tf.reduce_sum(logits), {"logits": logits}


def predictions_fn(logits):
  return {"best": tf.argmax(logits, 1)}


def metrics_fn(labels, each, logits):
  accuracy = v1.metrics.accuracy(labels, tf.argmax(logits, 1))
  return {"accuracy": accuracy, "mean": v1.metrics.mean(each)}


@pytest.fixture(scope="module")
def network():
  made = runtime.Network(compute, PAIRS.element_spec)
  kernel, bias = made.variables
  kernel.assign([[0.3, -0.2], [-0.1, 0.4]])
  bias.assign([0.5, -0.5])
  return made


def expected():
  logits = ROWS @ np.array([[0.3, -0.2], [-0.1, 0.4]], np.float32) + [0.5, -0.5]
  shifted = logits - logits.max(1, keepdims=True)
  log_probs = shifted - np.log(np.exp(shifted).sum(1, keepdims=True))
  return logits.argmax(1), -log_probs[np.arange(6), LABELS]


def test_an_evaluation_has_the_loss_of_the_network_and_metrics_of_its_outputs(network):
  best, each = expected()
  result = runtime.evaluate(network, None, PAIRS, global_step=3, metrics=[metrics_fn])
  np.testing.assert_allclose(result["loss"], each.mean(), rtol=1e-6)
  np.testing.assert_allclose(result["mean"], each.mean(), rtol=1e-6)
  np.testing.assert_allclose(result["accuracy"], (best == LABELS).mean())


def test_a_training_has_its_gradients(network):
  features, labels = next(runtime.batches(PAIRS))
  with tf.GradientTape() as tape:
    loss, outputs = network(features, labels, training=True)
  np.testing.assert_allclose(loss, 2.0 * expected()[1][:3].mean(), rtol=1e-6)
  gradient = tape.gradient(loss, network.trainable_variables)[1]
  probabilities = tf.nn.softmax(outputs["logits"]) - tf.one_hot(labels, 2)
  np.testing.assert_allclose(gradient, 2.0 * tf.reduce_mean(probabilities, 0), atol=1e-6)


def test_predictions_have_no_labels(network):
  alone = tf.data.Dataset.from_tensor_slices(FEATURES).batch(4)
  for dataset in (alone, PAIRS):
    found = list(runtime.predict(network, dataset, loss_fn=predictions_fn))
    assert [row["best"] for row in found] == list(expected()[0])


def test_a_network_that_needs_no_labels_gives_predictions_without_its_loss():
  made = runtime.Network(all_at_once)
  dataset = tf.data.Dataset.from_tensor_slices(FEATURES).batch(4)
  found = list(runtime.predict(made, dataset, loss_fn=predictions_fn))
  logits = ROWS @ made.variables[0].numpy()
  assert [row["best"] for row in found] == list(logits.argmax(1))


def test_names_that_the_outputs_lack_are_parts_of_the_pair():
  assert call(lambda loss, outputs: (loss, outputs), (1.0, {"a": 2.0})) == (1.0, {"a": 2.0})
  assert call(lambda a: a, (1.0, {"a": 2.0})) == 2.0
  assert call(lambda everything: everything, (1.0, {"a": 2.0})) == (1.0, {"a": 2.0})


def test_batches_without_labels_have_none():
  alone = tf.data.Dataset.from_tensor_slices(FEATURES).batch(3)
  assert [labels for _, labels in runtime.batches(alone)] == [None, None]
  triples = tf.data.Dataset.from_tensor_slices((ROWS, ROWS, ROWS)).batch(6)
  ((features, labels),) = runtime.batches(triples)
  assert (len(features), labels) == (3, None)
  assert [labels.shape for _, labels in runtime.batches(PAIRS)] == [(3,), (3,)]


def test_a_network_that_predicts_first_can_be_trained_then():
  made = runtime.Network(compute)
  alone = tf.data.Dataset.from_tensor_slices(FEATURES).batch(4)
  before = [row["best"] for row in runtime.predict(made, alone, loss_fn=predictions_fn)]
  features, labels = next(runtime.batches(PAIRS))
  loss, outputs = made(features, labels, training=True)
  assert list(tf.argmax(outputs["logits"], 1).numpy()) == before[:3]
  np.testing.assert_allclose(loss, 2.0 * tf.reduce_mean(outputs["each"]), rtol=1e-6)


def test_an_export_has_the_predictions(network):
  for made in (network, runtime.Network(all_at_once)):
    (found,) = export.outputs(made, predictions_fn, FEATURES).values()
    method, tensors = found
    assert method.endswith("predict")
    logits = ROWS @ made.variables[0].numpy() + made.variables[1].numpy()
    assert list(tensors["best"].numpy()) == list(logits.argmax(1))
