"""The committed checkpoints: of TF 1.15, and of migrated programs on each version of Keras."""

import json
import shutil

import numpy as np
import pytest
import tensorflow as tf
from migrated import Watch
from test_runtime_training import EXACT_TOLERANCE, STOCK_TOLERANCE, digests

from migrator import runtime

NAMES = ["dnn_classifier_adam", "dnn_classifier_adagrad"]
STOCK = {
  "dnn_classifier_adam": lambda: tf.keras.optimizers.Adam(0.01, epsilon=1e-8),
  "dnn_classifier_adagrad": lambda: tf.keras.optimizers.Adagrad(0.05, epsilon=0.0),
}
EXACT = {
  "dnn_classifier_adam": lambda: runtime.optimizers.Adam(0.01),
  "dnn_classifier_adagrad": lambda: runtime.optimizers.Adagrad(0.05),
}


@pytest.fixture
def checkpoints(repository):
  return repository / "fixtures" / "checkpoints"


def make_classifier(optimizer):
  inputs = {"x": tf.keras.Input([4], name="x")}
  net = tf.keras.layers.Dense(4, activation="relu", name="hiddenlayer_0")(inputs["x"])
  net = tf.keras.layers.Dense(3, activation="relu", name="hiddenlayer_1")(net)
  logits = tf.keras.layers.Dense(3, name="logits")(net)
  model = tf.keras.Model(inputs, logits, name="dnn")
  loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True, reduction="sum")
  model.compile(optimizer=optimizer, loss=loss)
  return model


def load_recording(checkpoints, name):
  """Returns what TF 1.15 computed, and its batch as a dataset."""
  recording = json.loads((checkpoints / "tf1.15" / name / "recording.json").read_text())
  features = np.array(recording["features"], np.float32)
  labels = np.array(recording["labels"], np.int32)
  return recording, tf.data.Dataset.from_tensors(({"x": features}, labels))


def train(model, backup, dataset, max_steps):
  watch = Watch(lambda: backup.global_step)
  dataset = dataset.repeat().take(backup.remaining_steps(max_steps=max_steps))
  model.fit(dataset, callbacks=[backup, watch], verbose=0)
  return [loss for _, loss in watch.losses]


@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize("name", NAMES)
def test_checkpoint_of_tf_1_15_in_two_data_files(checkpoints, tmp_path, name, exact):
  recording, dataset = load_recording(checkpoints, name)
  shutil.copytree(checkpoints / "tf1.15" / name, tmp_path / "model")
  assert len(list((tmp_path / "model").glob("*.data-*-of-00002"))) == 2
  before = digests(tmp_path / "model")
  model = make_classifier((EXACT if exact else STOCK)[name]())
  backup = runtime.BackupAndRestore(
    model,
    str(tmp_path / "model"),
    variable_scope="dnn",
    save_summary_steps=0,
    log_step_count_steps=None,
  )
  assert backup.global_step == 5
  rows = list(backup.predict(dataset))
  np.testing.assert_allclose([row["logits"] for row in rows], recording["logits"], atol=1e-6)
  values = backup.evaluate(dataset)
  assert values == pytest.approx(recording["evaluation"], rel=1e-6)
  losses = train(model, backup, dataset, max_steps=10)
  tolerance = EXACT_TOLERANCE if exact else STOCK_TOLERANCE
  np.testing.assert_allclose(losses, recording["losses"], rtol=tolerance)
  after = digests(tmp_path / "model")
  assert {path: after[path] for path in before} == before


@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("written_by", ["tf2.15", "tf2.21"])
def test_a_run_begun_on_one_version_goes_on_on_every_other(
  checkpoints, tmp_path, written_by, name, exact
):
  """The names on disk are the same; the losses are those of the version that wrote it, and TF 1.15's."""
  recording, dataset = load_recording(checkpoints, name)
  shutil.copytree(checkpoints / written_by / name, tmp_path / "model")
  expected = json.loads((checkpoints / written_by / name / "recording.json").read_text())["losses"]
  model = make_classifier((EXACT if exact else STOCK)[name]())
  backup = runtime.BackupAndRestore(model, str(tmp_path / "model"), variable_scope="dnn")
  assert backup.global_step == 7
  losses = train(model, backup, dataset, max_steps=10)
  np.testing.assert_allclose(losses, expected, rtol=STOCK_TOLERANCE)
  np.testing.assert_allclose(losses, recording["losses"][2:], rtol=STOCK_TOLERANCE)
