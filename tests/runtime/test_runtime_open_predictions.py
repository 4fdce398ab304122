"""Predictions that nobody takes to their end: what trains on must not be taken back by them."""

import numpy as np
import pytest
import tensorflow as tf

from migrator import runtime

RANDOM = np.random.RandomState(1)
X = RANDOM.rand(60, 4).astype(np.float32)
Y = (3 * X[:, 0]).astype(np.int32)


def batches():
  return tf.data.Dataset.from_tensor_slices(({"x": X}, Y)).batch(10)


def compiled():
  inputs = {"x": tf.keras.Input([4], name="x")}
  model = tf.keras.Model(inputs, tf.keras.layers.Dense(3, name="logits")(inputs["x"]), name="dnn")
  loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True, reduction="sum")
  model.compile(optimizer=tf.keras.optimizers.SGD(0.1), loss=loss)
  return model


class Predict(tf.keras.callbacks.Callback):
  """Takes one prediction after the second step, and keeps what makes them."""

  def __init__(self, predict, close=False):
    super().__init__()
    self._predict = predict
    self._close = close
    self._open = None

  def on_train_batch_end(self, batch, logs=None):
    if batch == 1:
      self._open = self._predict(batches())
      next(self._open)
      if self._close:
        self._open.close()


def trained(directory, make_callbacks):
  tf.keras.utils.set_random_seed(1)
  model = compiled()
  backup = runtime.BackupAndRestore(
    model, str(directory), variable_scope="dnn", save_checkpoints_steps=4
  )
  model.fit(batches().take(5), callbacks=[backup, *make_callbacks(backup)], verbose=0)
  assert backup.global_step == 5
  return model.get_weights()


def test_training_does_not_go_on_with_the_weights_of_an_open_prediction(tmp_path):
  with pytest.raises(RuntimeError, match=r"close\(\) it"):
    trained(tmp_path, lambda backup: [Predict(backup.predict)])
  assert [p.name for p in (tmp_path / "tf2").glob("*.index")] == ["model.ckpt-0.index"]


def test_training_goes_on_after_a_closed_prediction_as_without_it(tmp_path):
  expected = trained(tmp_path / "without", lambda backup: [])
  found = trained(tmp_path / "with", lambda backup: [Predict(backup.predict, close=True)])
  for left, right in zip(expected, found):
    np.testing.assert_array_equal(left, right)


def test_prediction_that_is_forgotten_in_the_next_session_takes_nothing_back(tmp_path):
  model = compiled()
  checkpoint = runtime.named_checkpoint(model, model.optimizer, scope="dnn")
  step = checkpoint.by_name["global_step"]
  manager = runtime.CheckpointManager(
    checkpoint, str(tmp_path / "tf2"), step_counter=step, save_checkpoints_steps=1
  )

  def predict():
    with manager.newest():
      yield from runtime.predict(model, batches())

  manager.save()
  predictions = predict()
  next(predictions)
  manager.restore_or_initialize()
  step.assign_add(1)
  manager.save()
  predictions.close()
  assert int(step.numpy()) == 1
