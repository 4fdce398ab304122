"""Which checkpoint is restored, and what is refused: whole or not at all, in one clear error."""

import json
import re
import shutil

import jobs
import numpy as np
import pytest
import tensorflow as tf
from migrated import Migrated, make_backup, make_model, make_network, make_optimizer

from migrator import runtime


def snapshot(model):
  """Returns copies of the weights."""
  return [np.array(w) for w in model.get_weights()]


def refused(job, model=None, **changes):
  """Returns the message with which BackupAndRestore refuses, having checked that nothing changed."""
  model = model or make_model(job)
  before = snapshot(model)
  arguments = {"variable_scope": "dnn", "flavour": job["flavour"], **changes}
  with pytest.raises(runtime.CheckpointError) as error:
    runtime.BackupAndRestore(model, job["model_dir"], **arguments)
  for a, b in zip(before, model.get_weights()):
    np.testing.assert_array_equal(a, b)
  assert not np.any(model.optimizer.iterations.numpy())
  return str(error.value)


def test_changed_hidden_units_are_one_error_naming_all_variables(legacy, tmp_path):
  """Case 19."""
  directory = legacy.copy("v1_adam", tmp_path / "model", step=30)
  message = refused(legacy.job("v1_adam", directory) | {"hidden_units": [7, 5]})
  for name, old, new in (
    ("dnn/hiddenlayer_0/kernel", "[4, 6]", "[4, 7]"),
    ("dnn/hiddenlayer_0/bias", "[6]", "[7]"),
    ("dnn/hiddenlayer_1/kernel", "[6, 5]", "[7, 5]"),
    ("dnn/hiddenlayer_0/bias/Adam_1", "[6]", "[7]"),
  ):
    assert f"{name}: {old} in the checkpoint, {new} in the model" in message
  assert "dnn/logits" not in message
  assert str(directory / "model.ckpt-30") in message
  for way_out in ("another model_dir", "restore the sizes", "by hand"):
    assert way_out in message


@pytest.mark.parametrize("change", [{"hidden_units": [6]}, {"hidden_units": [6, 5, 4]}])
def test_fewer_or_more_layers_are_refused(legacy, tmp_path, change):
  directory = legacy.copy("v1_adagrad", tmp_path / "model", step=30)
  message = refused(legacy.job("v1_adagrad", directory) | change)
  assert "hiddenlayer_" in message
  assert re.search("not in the (model|checkpoint)", message)


def test_changed_units_are_refused_in_a_migrated_directory_too(tmp_path):
  job = jobs.job(tmp_path / "model")
  Migrated(job).train(max_steps=2)
  message = refused(job | {"hidden_units": [20, 20]})
  assert "dnn/logits/kernel: [5, 3] in the checkpoint, [20, 3] in the model" in message
  assert "tf2/model.ckpt-2" in message


@pytest.mark.parametrize("migrated_first", [False, True])
@pytest.mark.parametrize(
  ("old", "new"), [("adam", "adagrad"), ("adagrad", "adam"), ("adam", "sgd")]
)
def test_another_optimizer_is_refused(legacy, tmp_path, old, new, migrated_first):
  directory = legacy.copy(f"v1_{old}", tmp_path / "model", step=30)
  job = legacy.job(f"v1_{old}", directory)
  if migrated_first:
    Migrated(job).train(max_steps=32)
  message = refused(job | {"optimizer": new})
  names = {"adam": "Adam", "adagrad": "Adagrad", "sgd": "GradientDescent"}
  assert f"written with {names[old]}, the program uses {names[new]}" in message
  assert "dnn/logits/kernel" in message


def test_stock_momentum_takes_tf1_slots_times_minus_the_rate(legacy, tmp_path):
  """Keras keeps the learning rate within the velocity, TF1 outside."""
  directory = legacy.copy("v1_momentum", tmp_path / "model", step=30)
  backup = make_backup(legacy.job("v1_momentum", directory))[1]
  reader = tf.train.load_checkpoint(str(directory))
  for name in backup.checkpoint.trainable:
    expected = reader.get_tensor(f"{name}/t_0/Momentum") * np.float32(-0.01)
    np.testing.assert_array_equal(backup.checkpoint.by_name[f"{name}/momentum"].numpy(), expected)


def test_stock_momentum_with_a_schedule_is_refused_with_tf1_slots(legacy, tmp_path):
  directory = legacy.copy("v1_momentum", tmp_path / "model", step=30)
  model = make_backup(legacy.job("v1_momentum", tmp_path / "other"))[0]
  schedule = tf.keras.optimizers.schedules.ExponentialDecay(0.01, 10, 0.5)
  optimizer = tf.keras.optimizers.SGD(schedule, momentum=0.9)
  checkpoint = runtime.named_checkpoint(model, optimizer, scope="dnn")
  with pytest.raises(runtime.CheckpointError, match="with a rate that changes no value is exact"):
    runtime.load_tf1_checkpoint(checkpoint, str(directory))


@pytest.mark.parametrize(("name", "flavour"), [("v1_adam", "v2"), ("v2_adam", "v1")])
def test_a_checkpoint_of_the_other_flavour_is_refused(legacy, tmp_path, name, flavour):
  directory = legacy.copy(name, tmp_path / "model", step=30)
  message = refused(legacy.job(name, directory) | {"flavour": flavour})
  assert f"written by a {name[:2]} Estimator" in message
  assert f"--source-version {name[1]}" in message


def test_the_flavour_shows_in_the_compiled_loss(legacy, tmp_path):
  directory = legacy.copy("v2_adam", tmp_path / "model", step=30)
  job = legacy.job("v2_adam", directory)
  assert make_backup(job, flavour=None)[1].checkpoint.flavour == "v2"
  job["flavour"] = "v1"  # The sum over the batch.
  assert "v2 Estimator" in refused(job, flavour=None)


def test_a_wrong_scope_is_refused_with_the_near_name(legacy, tmp_path):
  directory = legacy.copy("v1_adam", tmp_path / "model", step=30)
  message = refused(legacy.job("v1_adam", directory), variable_scope="linear")
  assert "Is linear/" in message
  assert "called dnn/" in message


def test_the_learning_rate_of_a_v2_checkpoint_wins_with_a_warning(legacy, tmp_path, caplog):
  directory = legacy.copy("v2_adam", tmp_path / "model", step=30)
  job = legacy.job("v2_adam", directory)
  model = make_model(job)
  model.optimizer.learning_rate = 0.5
  backup = runtime.BackupAndRestore(model, str(directory), variable_scope="dnn", flavour="v2")
  assert float(model.optimizer.learning_rate.numpy()) == np.float32(0.01)
  assert "The learning rate 0.01 of" in caplog.text
  model.fit(jobs.make_dataset(tf, job, 1), callbacks=[backup], verbose=0)
  caplog.clear()
  model = make_model(job)
  model.optimizer.learning_rate = 0.5
  runtime.BackupAndRestore(model, str(directory), variable_scope="dnn", flavour="v2")
  assert float(model.optimizer.learning_rate.numpy()) == np.float32(0.01)
  assert "replaces the program's 0.5" in caplog.text


def test_other_hyperparameters_of_a_v2_checkpoint_are_compared(legacy, tmp_path):
  directory = legacy.copy("v2_adam", tmp_path / "model", step=30)
  job = legacy.job("v2_adam", directory)
  model = make_network(job)
  model.compile(tf.keras.optimizers.Adam(0.01, beta_1=0.5), "mse")
  message = refused(job, model)
  assert "training/Adam/beta_1 is 0.9, the program has 0.5" in message


def test_other_betas_than_those_of_a_v1_checkpoint_are_refused(legacy, tmp_path):
  directory = legacy.copy("v1_adam", tmp_path / "model", step=30)
  job = legacy.job("v1_adam", directory)
  model = make_network(job)
  model.compile(tf.keras.optimizers.Adam(0.01, beta_2=0.99), "mse")
  assert "other decay rates" in refused(job, model)


def test_a_moved_directory_is_found_by_its_names(legacy, tmp_path, caplog):
  """Case 27: the state file of a plain Saver holds absolute paths."""
  directory = legacy.copy("v1_adam", tmp_path / "model", step=30)
  (directory / "checkpoint").write_text('model_checkpoint_path: "/no/such/place/model.ckpt-30"\n')
  assert Migrated(legacy.job("v1_adam", directory)).backup.global_step == 30
  assert "was moved or copied" in caplog.text


def test_a_moved_directory_without_the_checkpoint_is_refused(legacy, tmp_path):
  directory = legacy.copy("v1_adam", tmp_path / "model", step=30)
  (directory / "checkpoint").write_text('model_checkpoint_path: "/no/such/place/model.ckpt-31"\n')
  message = refused(legacy.job("v1_adam", directory))
  assert "/no/such/place/model.ckpt-31" in message
  assert 'model_checkpoint_path: "model.ckpt-30"' in message


def test_checkpoints_without_a_state_file_are_no_fresh_start(legacy, tmp_path):
  directory = legacy.copy("v1_adam", tmp_path / "model", step=30)
  (directory / "checkpoint").unlink()
  assert "not a fresh start" in refused(legacy.job("v1_adam", directory))
  with pytest.raises(runtime.CheckpointError, match="not a fresh start"):
    load(legacy, directory)


def test_a_state_file_called_checkpoint_txt_is_taken(legacy, tmp_path):
  directory = legacy.copy("v1_adam", tmp_path / "model", step=30)
  (directory / "checkpoint").rename(directory / "checkpoint.txt")
  assert Migrated(legacy.job("v1_adam", directory)).backup.global_step == 30


def load(legacy, path, name="v1_adam"):
  """Loads a checkpoint into a new model; returns the report and the checkpoint."""
  job = legacy.job(name, "")
  checkpoint = runtime.named_checkpoint(
    make_network(job), make_optimizer(job), scope="dnn", flavour=job["flavour"]
  )
  return runtime.load_tf1_checkpoint(checkpoint, str(path)), checkpoint


@pytest.mark.parametrize(
  "file",
  ["", "checkpoint", "model.ckpt-30", "model.ckpt-30.index", "model.ckpt-30.data-00000-of-00001"],
)
def test_every_way_to_name_a_checkpoint(legacy, file):
  """Case 46."""
  report, checkpoint = load(legacy, legacy.directory("v1_adam") / file)
  assert report.step == 30
  assert report.prefix == str(legacy.directory("v1_adam") / "model.ckpt-30")
  assert set(report.loaded) == set(checkpoint.by_name)
  assert not report.missing + report.unused + report.mismatched
  assert int(checkpoint.by_name["iterations"].numpy()) == 30


def test_a_wrong_prefix_is_refused_with_those_that_exist(legacy):
  with pytest.raises(runtime.CheckpointError) as error:
    load(legacy, legacy.directory("v1_adam") / "model.ckpt-31")
  assert "model.ckpt-31.index does not exist" in str(error.value)
  assert "model.ckpt-30, model.ckpt-0" in str(error.value)


def test_an_empty_directory_loads_nothing_with_a_warning(legacy, tmp_path, caplog):
  report, _ = load(legacy, tmp_path)
  assert (report.prefix, report.step, report.loaded) == (None, 0, ())
  assert "There is no checkpoint in" in caplog.text


def test_a_directory_that_does_not_exist_is_a_fresh_start(legacy, tmp_path):
  assert load(legacy, tmp_path / "run-12")[0].prefix is None
  assert load(legacy, tmp_path / "models" / "run")[0].prefix is None
  with pytest.raises(runtime.CheckpointError, match=r"model.ckpt-12.index does not exist"):
    load(legacy, tmp_path / "model.ckpt-12")


def test_a_directory_whose_name_is_a_pattern_is_no_fresh_start(legacy, tmp_path):
  """TensorFlow looks for what matches, finds nothing, and an Estimator began anew."""
  directory = legacy.copy("v1_adam", tmp_path / "run[1]", step=30)
  job = legacy.job("v1_adam", directory)
  assert "has no *, ? and [" in refused(job)
  (directory / "checkpoint").unlink()
  assert "not a fresh start" in refused(job)


@pytest.mark.parametrize(
  ("suffix", "size"), [("data-00000-of-00001", 100), ("index", 40), ("index", 900)]
)
def test_a_truncated_file_is_named_with_both_sizes_and_the_older_checkpoint(
  legacy, tmp_path, suffix, size
):
  """Case 46: never the end of the data, never a fresh start."""
  directory = legacy.copy("v1_adam", tmp_path / "model")
  path = directory / f"model.ckpt-30.{suffix}"
  full = path.stat().st_size
  with path.open("r+b") as file:
    file.truncate(size)
  message = refused(legacy.job("v1_adam", directory))
  assert "\n" not in message
  assert str(path) in message
  assert str(size) in message
  if suffix != "index":
    assert str(full) in message
  assert f"older intact checkpoint is {directory / 'model.ckpt-0'}" in message


def test_a_truncated_new_checkpoint_is_refused_likewise(tmp_path):
  job = jobs.job(tmp_path / "model", config={"save_checkpoints_steps": 1})
  Migrated(job).train(max_steps=3)
  path = tmp_path / "model" / "tf2" / "model.ckpt-3.data-00000-of-00001"
  with path.open("r+b") as file:
    file.truncate(10)
  message = refused(job)
  assert str(path) in message
  assert "model.ckpt-2:" in message


def test_a_truncated_new_checkpoint_beside_the_old_one_is_refused_likewise(legacy, tmp_path):
  directory = legacy.copy("v1_adam", tmp_path / "model", step=30)
  job = legacy.job("v1_adam", directory)
  Migrated(job).train(max_steps=32)
  path = directory / "tf2" / "model.ckpt-32.data-00000-of-00001"
  with path.open("r+b") as file:
    file.truncate(10)
  message = refused(job)
  assert str(path) in message
  assert "damaged" in message


def test_a_damaged_old_checkpoint_beside_a_newer_one_does_not_matter(legacy, tmp_path):
  directory = legacy.copy("v1_adam", tmp_path / "model", step=30)
  job = legacy.job("v1_adam", directory)
  Migrated(job).train(max_steps=32)
  for path in directory.glob("model.ckpt-30.data-*"):
    with path.open("r+b") as file:
      file.truncate(10)
  assert Migrated(job).backup.global_step == 32


def test_an_empty_state_file_is_refused(legacy, tmp_path):
  directory = legacy.copy("v1_adam", tmp_path / "model", step=30)
  job = legacy.job("v1_adam", directory)
  Migrated(job).train(max_steps=32)
  state = directory / "tf2" / "checkpoint"
  state.write_text("")
  message = refused(job)
  assert str(state) in message
  assert "model.ckpt-32" in message


def test_a_file_or_the_new_directory_as_model_dir_is_refused(tmp_path):
  job = jobs.job(tmp_path / "model", config={"save_checkpoints_steps": 1})
  Migrated(job).train(max_steps=2)
  inner = str(tmp_path / "model" / "tf2")
  assert f"its model_dir is {tmp_path / 'model'}" in refused({**job, "model_dir": inner})
  (tmp_path / "file").write_text("")
  assert "is a file" in refused({**job, "model_dir": str(tmp_path / "file")})


def test_damaged_values_are_refused(legacy, tmp_path):
  directory = legacy.copy("v1_adam", tmp_path / "model", step=30)
  path = directory / "model.ckpt-30.data-00000-of-00001"
  content = bytearray(path.read_bytes())
  content[len(content) // 2] ^= 255
  path.write_bytes(bytes(content))
  assert "cannot be read" in refused(legacy.job("v1_adam", directory))


def test_a_later_checkpoint_in_the_old_place_is_an_error_naming_both(legacy, tmp_path):
  directory = legacy.copy("v1_adam", tmp_path / "model", step=0)
  job = legacy.job("v1_adam", directory)
  Migrated(job).train(max_steps=10)
  for path in legacy.directory("v1_adam").glob("model.ckpt-30.*"):
    shutil.copy(path, directory)
  (directory / "checkpoint").write_text('model_checkpoint_path: "model.ckpt-30"\n')
  message = refused(job)
  assert f"{directory / 'model.ckpt-30'} (step 30)" in message
  assert f"{directory / 'tf2' / 'model.ckpt-10'} (step 10)" in message


def test_an_object_checkpoint_of_keras_is_refused(tmp_path):
  """Case 47: the other Keras reads it wrongly, without an error."""
  job = jobs.job(tmp_path / "model")
  model = make_model(job)
  model.optimizer.build(model.trainable_variables)
  checkpoint = tf.train.Checkpoint(model=model, optimizer=model.optimizer)
  manager = tf.train.CheckpointManager(checkpoint, str(tmp_path / "model" / "tf2"), 5)
  manager.save(checkpoint_number=3)
  message = refused(job)
  assert "not written by migrator.runtime" in message
  assert "version of Keras" in message


def test_an_object_checkpoint_in_the_old_place_is_refused(tmp_path):
  job = jobs.job(tmp_path / "model")
  checkpoint = tf.train.Checkpoint(model=make_model(job))
  tf.train.CheckpointManager(checkpoint, str(tmp_path / "model"), 5).save(checkpoint_number=3)
  assert "is an object checkpoint" in refused(job)


def test_named_checkpoint_refuses_a_tf1_checkpoint(legacy):
  """Case 29: tf.train.Checkpoint.restore would load nothing and say nothing."""
  _, checkpoint = load(legacy, legacy.directory("v1_adam"))
  with pytest.raises(runtime.CheckpointError, match="load_tf1_checkpoint"):
    checkpoint.restore(str(legacy.directory("v1_adam") / "model.ckpt-30"))


def test_names_on_disk_are_the_same_under_every_keras(tmp_path):
  """Case 44: of the layer and the attribute, also for the second model of a process."""
  for i in range(2):
    job = jobs.job(tmp_path / str(i), hidden_units=[6], dropout=0.2)
    Migrated(job).train(max_steps=1)
    reader = tf.train.load_checkpoint(str(tmp_path / str(i) / "tf2"))
    weights = [
      f"dnn.S{layer}.S{w}" for layer in ("hiddenlayer_0", "logits") for w in ("bias", "kernel")
    ]
    names = [f"{w}{slot}" for w in weights for slot in ("", ".SAdam", ".SAdam_1")]
    names += ["global_step", "iterations", "migrator_format", "save_counter"]
    keys = {f"{name}/.ATTRIBUTES/VARIABLE_VALUE" for name in names}
    assert set(reader.get_variable_to_shape_map()) == {*keys, "_CHECKPOINTABLE_OBJECT_GRAPH"}
    stamp = json.loads(reader.get_tensor("migrator_format/.ATTRIBUTES/VARIABLE_VALUE"))
    assert stamp == {"format": 1, "flavour": "v1", "optimizer": "Adam"}


def test_what_cannot_be_followed_is_refused_at_once(tmp_path, monkeypatch):
  job = jobs.job(tmp_path / "model")
  unbuilt = tf.keras.Sequential([tf.keras.layers.Dense(3, name="logits")], name="dnn")
  unbuilt.compile("sgd", "mse")
  with pytest.raises(ValueError, match="has no weights yet"):
    runtime.BackupAndRestore(unbuilt, str(tmp_path))
  with pytest.raises(ValueError, match="must be compiled"):
    runtime.BackupAndRestore(make_network(job), str(tmp_path))
  model = make_network(job)
  model.compile(tf.keras.optimizers.Nadam(), "mse")
  with pytest.raises(TypeError, match="Nadam cannot be carried over"):
    runtime.BackupAndRestore(model, str(tmp_path))
  model = make_network(job)
  model.compile(tf.keras.optimizers.Adam(), "mse", steps_per_execution=2)
  backup = runtime.BackupAndRestore(model, str(tmp_path))
  with pytest.raises(ValueError, match="steps_per_execution=1"):
    model.fit(jobs.make_dataset(tf, job, 2), callbacks=[backup], verbose=0)
  cluster = {"chief": ["a:1"], "worker": ["b:1"]}
  monkeypatch.setenv("TF_CONFIG", json.dumps({"cluster": cluster}))
  with pytest.raises(NotImplementedError, match="cluster of 2 tasks"):
    make_backup(job)
  monkeypatch.setenv("TF_CONFIG", json.dumps({"cluster": {"chief": ["a:1"]}}))
  make_backup(job)
