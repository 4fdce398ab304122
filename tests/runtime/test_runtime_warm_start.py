"""`warm_start_from`: begins with the variables with which the real Estimators began.

What those did is recorded by fixtures/canned/make_warm.py.
"""

import json
import sys

import numpy as np
import pytest
import tensorflow as tf
from interpreter import HERE

from migrator import runtime

sys.path.insert(0, str(HERE.parents[1] / "fixtures" / "canned"))
import warm_estimators as recorded

layers = tf.keras.layers
RECORDED = HERE.parents[1] / "fixtures" / "canned" / "warm"
OUTCOMES = json.loads((RECORDED / "outcomes.json").read_text())


def make(vocabulary=recorded.OLD):
  inputs = {
    "x": tf.keras.Input([1], name="x"),
    "a": tf.keras.Input([None], dtype="string", name="a"),
  }
  ids = runtime.columns.VocabularyIds(vocabulary, num_oov_buckets=1)(inputs["a"])
  table = runtime.columns.Embedding(len(vocabulary) + 1, 2, name="a_embedding")(ids)
  net = layers.Dense(3, name="hiddenlayer_0", bias_initializer="ones")(
    layers.Concatenate()([table, inputs["x"]])
  )
  net = layers.BatchNormalization(name="batchnorm_0", beta_initializer="ones")(net)
  model = tf.keras.Model(inputs, layers.Dense(1, name="logits", bias_initializer="ones")(net))
  model.compile(
    runtime.optimizers.Adagrad(0.05), tf.keras.losses.BinaryCrossentropy(from_logits=True)
  )
  return model


def checkpoint_of(flavour, vocabulary=recorded.OLD):
  model = make(vocabulary)
  return runtime.named_checkpoint(model, model.optimizer, scope="dnn", flavour=flavour)


def load(checkpoint, tmp_path, settings):
  return runtime.load_tf1_checkpoint(checkpoint, str(tmp_path / "empty"), warm_start_from=settings)


@pytest.mark.parametrize("name", recorded.PATTERNS)
def test_it_begins_with_the_variables_of_the_estimator(name, tmp_path):
  flavour = name[:2]
  taken, step = OUTCOMES[name]
  first = str(RECORDED / flavour)
  checkpoint = checkpoint_of(flavour)
  settings = runtime.WarmStartSettings(first, recorded.PATTERNS[name])
  report = load(checkpoint, tmp_path, settings)
  weights = [key for key in taken if key in checkpoint.weights]
  assert sorted(set(report.loaded) & set(checkpoint.weights)) == weights
  assert report.step == checkpoint.by_name["global_step"].numpy() == step
  reader = tf.train.load_checkpoint(first)
  for weight in weights:
    np.testing.assert_array_equal(checkpoint.by_name[weight].numpy(), reader.get_tensor(weight))
  slots = {key for key in taken if key.endswith(("/Adagrad", "/accumulator"))}
  loaded = set(report.loaded) - set(checkpoint.weights)
  with_slots = {w for w in checkpoint.trainable if any(n.startswith(w + "/") for n in loaded)}
  assert len(slots) == len(with_slots)
  assert with_slots == {w for w in checkpoint.trainable if any(f"{w}/" in key for key in slots)}


@pytest.mark.parametrize("flavour", ["v1", "v2"])
def test_rows_follow_their_words(flavour, tmp_path):
  info = runtime.VocabInfo(
    str(RECORDED / "new.txt"),
    len(recorded.NEW),
    1,
    str(RECORDED / "old.txt"),
    backup_initializer=lambda shape: tf.fill(shape, recorded.BACKUP),
  )
  checkpoint = checkpoint_of(flavour, recorded.NEW)
  settings = runtime.WarmStartSettings(
    str(RECORDED / flavour), var_name_to_vocab_info={recorded.TABLE: info}
  )
  load(checkpoint, tmp_path, settings)
  np.testing.assert_array_equal(
    checkpoint.by_name[recorded.TABLE].numpy(), np.float32(OUTCOMES[f"{flavour} words"])
  )


def test_a_name_of_its_own_is_taken_from_another_one(tmp_path):
  first = str(RECORDED / "v1")
  old, new = "dnn/hiddenlayer_0/bias", "dnn/hiddenlayer_0/batchnorm_0/beta"
  checkpoint = checkpoint_of("v1")
  load(checkpoint, tmp_path, runtime.WarmStartSettings(first, new, None, {new: old}))
  value = tf.train.load_checkpoint(first).get_tensor(old)
  np.testing.assert_array_equal(checkpoint.by_name[new].numpy(), value)
  with pytest.raises(ValueError, match="var_name_to_prev_var_name that were not used"):
    load(checkpoint, tmp_path, runtime.WarmStartSettings(first, "nix", None, {new: old}))


def test_what_does_not_fit_is_an_error_and_nothing_is_loaded(tmp_path):
  checkpoint = checkpoint_of("v1", recorded.NEW)
  before = {name: checkpoint.by_name[name].numpy() for name in checkpoint.weights}
  with pytest.raises(runtime.CheckpointError, match=r"\[4, 2\] in the checkpoint, \[5, 2\] in"):
    load(checkpoint, tmp_path, str(RECORDED / "v1"))
  with pytest.raises(ValueError, match="also names"):
    load(checkpoint, tmp_path, runtime.WarmStartSettings(str(RECORDED / "v1"), ["dnn/"]))
  with pytest.raises(runtime.CheckpointError, match="There is no checkpoint in"):
    load(checkpoint, tmp_path, str(tmp_path / "nothing"))
  for name, value in before.items():
    np.testing.assert_array_equal(checkpoint.by_name[name].numpy(), value)


def test_a_model_directory_with_a_checkpoint_goes_on_from_it(tmp_path):
  """Also what a migrated program has written is a start for others."""
  first = str(RECORDED / "v2")
  backup = runtime.BackupAndRestore(
    make(), tmp_path / "new", variable_scope="dnn", warm_start_from=first
  )
  assert backup.global_step == 0
  backup.checkpoint.by_name["dnn/logits/bias"].assign([7.0])
  backup.checkpoint.by_name["global_step"].assign(3)
  backup.checkpoint.write(str(tmp_path / "new" / "tf2" / "model.ckpt-3"))
  state = 'model_checkpoint_path: "model.ckpt-3"\n'
  (tmp_path / "new" / "tf2" / "checkpoint").write_text(state)
  again = runtime.BackupAndRestore(
    make(), tmp_path / "new", variable_scope="dnn", warm_start_from=first
  )
  assert again.global_step == 3
  assert again.checkpoint.by_name["dnn/logits/bias"].numpy() == [7.0]
  other = runtime.BackupAndRestore(
    make(), tmp_path / "other", variable_scope="dnn", warm_start_from=str(tmp_path / "new")
  )
  assert other.global_step == 0
  assert other.checkpoint.by_name["dnn/logits/bias"].numpy() == [7.0]
