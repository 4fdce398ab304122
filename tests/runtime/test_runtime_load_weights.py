"""`load_weights`: what a hook did with a Saver of the trainable variables."""

import numpy as np
import pytest
import tensorflow as tf

from migrator import runtime
from migrator.runtime.errors import CheckpointError

WEIGHTS = {"dnn/logits/kernel": (2, 3), "dnn/logits/bias": (3,)}


def write_checkpoint(directory, shapes=None):
  """Writes a checkpoint with TF1's own Saver; returns its prefix and the values."""
  random = np.random.RandomState(5)
  with tf.Graph().as_default(), tf.compat.v1.Session() as session:
    values = {n: random.rand(*s).astype(np.float32) for n, s in (shapes or WEIGHTS).items()}
    for name, value in values.items():
      tf.compat.v1.get_variable(name, initializer=value)
    step = tf.compat.v1.train.create_global_step()
    session.run(tf.compat.v1.global_variables_initializer())
    session.run(step.assign(9))
    prefix = tf.compat.v1.train.Saver().save(session, str(directory / "model.ckpt"), 9)
  return prefix, values


def make_model():
  model = tf.keras.Sequential(
    [tf.keras.layers.Input((2,)), tf.keras.layers.Dense(3, name="logits")], name="dnn"
  )
  model.compile(tf.keras.optimizers.Adam(0.01), "mse")
  return model


@pytest.fixture
def backup(tmp_path):
  return runtime.BackupAndRestore(make_model(), str(tmp_path / "model"), variable_scope="dnn")


def test_weights_are_the_old_ones_and_the_step_stays(backup, tmp_path):
  prefix, values = write_checkpoint(tmp_path)
  model = backup.checkpoint
  runtime.load_weights(backup._of, prefix)
  for name, value in values.items():
    np.testing.assert_array_equal(model.by_name[name].numpy(), value)
  assert backup.global_step == 0
  assert model.by_name["iterations"].numpy() == 0


def test_a_callback_that_loads_weights_goes_on_counting_the_same_steps(backup, tmp_path):
  """As the hook did, it loads after the first checkpoint of the session."""
  prefix, values = write_checkpoint(tmp_path)
  steps = []

  class Restore(tf.keras.callbacks.Callback):
    def on_train_begin(self, logs=None):
      runtime.load_weights(self.model, prefix)

    def on_train_batch_end(self, batch, logs=None):
      steps.append(runtime.global_step(self.model))

  data = tf.data.Dataset.from_tensors((np.ones((1, 2), np.float32), np.ones((1, 3), np.float32)))
  initial = backup._of.get_weights()
  backup._of.fit(data.repeat(3), callbacks=[backup, Restore()], verbose=0)
  assert steps == [1, 2, 3]
  reader = tf.train.load_checkpoint(str(tmp_path / "model" / "tf2" / "model.ckpt-0"))
  saved = reader.get_tensor("dnn.Slogits.Skernel/.ATTRIBUTES/VARIABLE_VALUE")
  np.testing.assert_array_equal(saved, initial[0])
  assert not np.array_equal(saved, values["dnn/logits/kernel"])


def test_what_does_not_fit_is_named_and_nothing_is_loaded(backup, tmp_path):
  prefix, _ = write_checkpoint(tmp_path, {"dnn/logits/kernel": (2, 4)})
  before = backup._of.get_weights()
  with pytest.raises(CheckpointError) as raised:
    runtime.load_weights(backup._of, prefix)
  assert "dnn/logits/kernel: [2, 4] in the checkpoint, [2, 3] in the model" in str(raised.value)
  assert "dnn/logits/bias: not in the checkpoint" in str(raised.value)
  for old, new in zip(before, backup._of.get_weights()):
    np.testing.assert_array_equal(old, new)


def test_loading_into_a_model_does_not_change_whose_steps_are_read(backup, tmp_path):
  prefix, _ = write_checkpoint(tmp_path)
  model = backup._of
  with pytest.raises(CheckpointError):
    runtime.load_tf1_checkpoint(model, prefix)
  backup.checkpoint.by_name["global_step"].assign(4)
  assert runtime.global_step(model) == 4
