"""Without a model, every variable, slot and step arrives under its own name, bit for bit."""

import os
import re

import numpy as np
import pytest
import tensorflow as tf
import written

from migrator.runtime import load_tf1_checkpoint, named_checkpoint

v1 = tf.compat.v1
TABLE = "ids/embedding_weights"
VALUE = "/.ATTRIBUTES/VARIABLE_VALUE"


def key(name):
  """The key that tf.train.Checkpoint gives to an attribute of that name."""
  return name.replace(".", "..").replace("/", ".S") + VALUE


def outcome(prefix):
  """Returns name -> value of a checkpoint by name."""
  reader = tf.train.load_checkpoint(str(prefix))
  keys = [k for k in reader.get_variable_to_shape_map() if k.endswith(VALUE)]
  names = {
    re.sub(r"\.([S.])", lambda m: "/" if m[1] == "S" else ".", k[: -len(VALUE)]): k for k in keys
  }
  return {name: reader.get_tensor(k) for name, k in names.items()}


@pytest.mark.parametrize("link", ["auto", "copy"])
@pytest.mark.parametrize(
  ("parts", "owners"),
  [
    (1, [f"dnn/{TABLE}"]),
    (3, [f"{TABLE}/t_{i}" for i in range(3)]),
    (12, [*(f"{TABLE}/t_{i}" for i in range(10)), f"{TABLE}/_10", f"{TABLE}/_11"]),
  ],
)
def test_parts_become_one_variable_with_its_slots(parts, owners, link, convert, tmp_path):
  prefix = written.save(tmp_path / "old", written.table(rows=24, parts=parts))
  report = convert.json(prefix, "--out", tmp_path / "new", "--link", link)[0]
  assert convert.code == 0, convert.output
  found = outcome(tmp_path / "new")
  for slot in ("Adam", "Adam_1"):
    wanted = written.value(prefix, [f"{owner}/{slot}" for owner in owners])
    assert written.bits(found[f"{TABLE}/{slot}"]) == written.bits(wanted)
  assert written.bits(found[TABLE]) == written.bits(written.value(prefix, [TABLE]))
  assert report["way"] == ("linked" if link == "auto" else "copied")
  assert (report["variables"], report["slots"]) == (1, 2)


def test_slots_of_a_renamed_optimizer_get_the_usual_names(convert, tmp_path):
  adam = v1.train.AdamOptimizer(0.1, name="Mine")
  prefix = written.save(tmp_path / "old", written.table(scope="train", optimizer=adam))
  convert(prefix, "--out", tmp_path / "new")
  source = tf.train.load_checkpoint(prefix)
  found = outcome(tmp_path / "new")
  for ours, theirs in (("Adam", "Mine"), ("Adam_1", "Mine_1")):
    wanted = source.get_tensor(f"train/{TABLE}/{theirs}")
    assert written.bits(found[f"{TABLE}/{ours}"]) == written.bits(wanted)


@pytest.mark.parametrize("link", ["auto", "copy"])
def test_every_type_and_odd_name_arrives_bit_for_bit(link, convert, tmp_path):
  prefix = written.odd(tmp_path / "old")
  convert(prefix, "--out", tmp_path / "new", "--link", link, "--verify", "full")
  assert convert.code == 0, convert.output
  source = tf.train.load_checkpoint(prefix)
  found = outcome(tmp_path / "new")
  names = set(source.get_variable_to_shape_map())
  assert names == set(found) - {"migrator_format", "save_counter", "iterations"}
  for name in names:
    assert written.bits(found[name]) == written.bits(source.get_tensor(name)), name


def test_tensorflow_restores_the_output_by_name(convert, tmp_path):
  prefix = written.save(tmp_path / "old", written.table(parts=3))
  convert(prefix, "--out", tmp_path / "new")
  name = TABLE
  variables = {name: tf.Variable(tf.zeros([20, 3])), f"{name}/Adam": tf.Variable(tf.zeros([20, 3]))}
  checkpoint = tf.train.Checkpoint(**variables)
  status = checkpoint.restore(str(tmp_path / "new"))
  status.assert_existing_objects_matched().expect_partial()
  wanted = written.value(prefix, [f"{name}/t_{i}/Adam" for i in range(3)])
  assert written.bits(variables[f"{name}/Adam"].numpy()) == written.bits(wanted)
  assert written.bits(variables[name].numpy()) == written.bits(written.value(prefix, [name]))


def classifier(optimizer):
  """The model of the recorded DNNClassifiers."""
  inputs = tf.keras.Input((4,))
  net = inputs
  shapes = tf.train.load_checkpoint(
    str(written.FIXTURES / "tf1.15" / "dnn_classifier_adam")
  ).get_variable_to_shape_map()
  for i in range(2):
    units = shapes[f"dnn/hiddenlayer_{i}/bias"][0]
    net = tf.keras.layers.Dense(units, activation="relu", name=f"hiddenlayer_{i}")(net)
  model = tf.keras.Model(inputs, tf.keras.layers.Dense(3, name="logits")(net))
  return named_checkpoint(model, optimizer, scope="dnn", flavour="v1")


@pytest.mark.parametrize("name", ["dnn_classifier_adam", "dnn_classifier_adagrad"])
def test_a_migrated_program_restores_the_output_as_it_loads_the_source(name, convert, tmp_path):
  def optimizer():
    keras = tf.keras.optimizers
    return (
      keras.Adam(0.01, epsilon=1e-8) if name.endswith("adam") else keras.Adagrad(0.05, epsilon=0.0)
    )

  source = written.FIXTURES / "tf1.15" / name
  assert len(list(source.glob("*.data-*"))) == 2
  convert(source, "--out", f"{tmp_path}/tf2/")
  assert convert.code == 0, convert.output
  loaded, restored = classifier(optimizer()), classifier(optimizer())
  load_tf1_checkpoint(loaded, str(source))
  restored.restore(tf.train.latest_checkpoint(str(tmp_path / "tf2")))
  assert {"global_step", "iterations"} < set(loaded.by_name)
  for variable, other in zip(loaded.by_name.values(), restored.by_name.values()):
    assert written.bits(variable.numpy()) == written.bits(other.numpy())
  assert int(restored.by_name["global_step"]) == 5


def test_the_data_file_is_the_same_file_and_the_source_is_untouched(convert, tmp_path):
  prefix = written.save(tmp_path / "old", written.table())
  before = written.snapshot(tmp_path / "old")
  report = convert.json(prefix, "--out", tmp_path / "new")[0]
  data = report["files"][0]
  assert os.path.samefile(data, prefix + ".data-00000-of-00001")
  assert report["shared"] == os.path.getsize(data)
  assert report["verified"]["linked"] > 0
  assert written.snapshot(tmp_path / "old") == before


def test_the_output_outlives_the_source(convert, tmp_path):
  prefix = written.save(tmp_path / "old", written.table())
  wanted = written.value(prefix, [TABLE])
  convert(prefix, "--out", tmp_path / "new")
  for path in (tmp_path / "old").iterdir():
    path.unlink()
  assert written.bits(outcome(tmp_path / "new")[TABLE]) == written.bits(wanted)


def test_an_adam_that_was_not_there_from_the_first_step_has_its_own_count(convert, tmp_path):
  prefix = written.save(tmp_path / "old", written.table(), step=100)
  printed = convert(prefix, "--out", tmp_path / "new")
  found = outcome(tmp_path / "new")
  assert (found["global_step"], found["iterations"]) == (100, 1)
  assert "Adam has made 1 updates" in printed


def test_the_count_of_an_adam_with_other_betas_is_left_to_a_model(convert, tmp_path):
  adam = v1.train.AdamOptimizer(0.1, beta1=0.5)
  prefix = written.save(tmp_path / "old", written.table(optimizer=adam))
  printed = convert(prefix, "--out", tmp_path / "new")
  assert "iterations" not in outcome(tmp_path / "new")
  assert "--model" in printed


def test_an_object_checkpoint_is_named_as_such(convert, tmp_path):
  path = tf.train.Checkpoint(x=tf.Variable([1.0, 2.0])).save(str(tmp_path / "ckpt"))
  printed = convert(path, "--out", tmp_path / "new")
  assert convert.code == 2
  assert "object-based" in printed
  assert not list(tmp_path.glob("new*"))
  convert(path, "--out", tmp_path / "x.safetensors", "--skip-strings")
  assert convert.code == 0, convert.output


def test_a_name_that_the_output_needs_itself_is_refused(convert, tmp_path):
  def build():
    v1.get_variable("migrator_format", initializer=1.0)

  prefix = written.save(tmp_path / "old", build)
  assert "migrator_format" in convert(prefix, "--out", tmp_path / "new")
  assert convert.code == 2
  assert not list(tmp_path.glob("new*"))


def test_save_counter_of_the_source_is_kept(convert, tmp_path):
  def build():
    v1.get_variable("save_counter", initializer=np.int64(12))

  prefix = written.save(tmp_path / "old", build)
  convert(prefix, "--out", tmp_path / "new")
  assert convert.code == 0, convert.output
  assert outcome(tmp_path / "new")["save_counter"] == 12
