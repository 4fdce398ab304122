"""Exports have the signatures of the Estimator's, and answer as those did."""

import json
import os
import subprocess

import export_sessions
import numpy as np
import pytest
import tensorflow as tf
from interpreter import HERE, legacy_interpreter

from migrator import runtime

EXPORTS = [(c, r) for c in export_sessions.CASES for r in export_sessions.receivers_of(c)]


@pytest.fixture(scope="module")
def real(tmp_path_factory):
  """The directory and the results of the real Estimators."""
  root = tmp_path_factory.mktemp("exports")
  process = subprocess.run(
    [legacy_interpreter(), str(HERE / "export_sessions.py"), str(root)],
    stdout=subprocess.PIPE,
    stderr=subprocess.STDOUT,
    text=True,
    check=False,
  )
  assert process.returncode == 0, process.stdout[-5000:]
  return root, json.loads((root / "results.json").read_text())


def make_model(case):
  """Returns the migrated model of a case."""
  flavour, classes, dimension = export_sessions.CASES[case]
  inputs = {n: tf.keras.Input(export_sessions.SPEC[n].shape, name=n) for n in export_sessions.NAMES}
  net = tf.keras.layers.Concatenate()([inputs[n] for n in sorted(inputs)])
  net = tf.keras.layers.Dense(4, activation="relu", name="hiddenlayer_0")(net)
  logits = tf.keras.layers.Dense(dimension, name="logits")(net)
  model = tf.keras.Model(inputs, logits, name="dnn")
  reduction = "sum" if flavour == "v1" else "sum_over_batch_size"
  if classes is None:
    loss = runtime.heads.RegressionHead(label_dimension=dimension, loss_reduction=reduction)
  elif classes == 2:
    loss = tf.keras.losses.BinaryCrossentropy(from_logits=True, reduction=reduction)
  else:
    loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True, reduction=reduction)
  adagrad = tf.keras.optimizers.Adagrad
  optimizer = adagrad(0.05, epsilon=0.0) if flavour == "v1" else adagrad(0.001, epsilon=1e-7)
  model.compile(optimizer=optimizer, loss=loss)
  return model


@pytest.fixture(scope="module")
def backups(real):
  """Returns a function that gives the backup of a case, which holds the Estimator's checkpoint."""
  made = {}

  def backup(case):
    if case not in made:
      model_dir = str(real[0] / case)
      flavour = export_sessions.CASES[case][0]
      model = make_model(case)
      made[case] = runtime.BackupAndRestore(model, model_dir, variable_scope="dnn", flavour=flavour)
    return made[case]

  return backup


def assert_same_answers(found, expected):
  assert set(found) == set(expected)
  for name, outputs in expected.items():
    assert set(found[name]) == set(outputs)
    for key, value in outputs.items():
      one, two = np.array(found[name][key]), np.array(value)
      if one.dtype.kind == "f":
        np.testing.assert_allclose(one, two, rtol=0, atol=2e-6, err_msg=f"{name} {key}")
      else:
        np.testing.assert_array_equal(one, two, err_msg=f"{name} {key}")


@pytest.mark.parametrize(("case", "receiver"), EXPORTS)
def test_export_has_the_signatures_and_answers_of_the_estimators(
  real, backups, tmp_path, case, receiver
):
  expected = real[1][f"{case}/{receiver}"]
  receiver_fn = export_sessions.receiver_fn(receiver, runtime.export)
  path = backups(case).export_saved_model(str(tmp_path / "base"), receiver_fn)
  assert isinstance(path, bytes)
  path = path.decode()
  assert os.path.dirname(path) == str(tmp_path / "base")
  name = os.path.basename(path)
  assert os.listdir(tmp_path / "base") == [name]
  assert name.isdigit() and len(name) == len(expected["name"])
  signatures = json.loads(json.dumps(export_sessions.described(path)))
  assert signatures == expected["signatures"]
  assert_same_answers(export_sessions.answers(path), expected["answers"])
  if expected["loaded"] is not None:
    assert_same_answers(export_sessions.loaded_answers(path), expected["loaded"])


def test_export_is_read_by_the_tensorflow_of_the_estimator(real, backups, tmp_path):
  receiver_fn = export_sessions.receiver_fn("table", runtime.export)
  path = backups("v1_binary").export_saved_model(str(tmp_path / "base"), receiver_fn).decode()
  answers = tmp_path / "answers.json"
  subprocess.run(
    [legacy_interpreter(), str(HERE / "export_sessions.py"), str(answers), path],
    check=True,
    capture_output=True,
  )
  served, loaded = json.loads(answers.read_text())
  expected = real[1]["v1_binary/table"]["answers"]
  assert_same_answers(served, expected)
  assert_same_answers(loaded, expected)


def parsing():
  return export_sessions.receiver_fn("parsing", runtime.export)


def test_export_as_text_has_extra_assets_and_answers_alike(real, backups, tmp_path):
  (tmp_path / "labels.txt").write_text("a\nb\n")
  path = backups("v2_binary").export_saved_model(
    str(tmp_path / "base"),
    parsing(),
    assets_extra={"more/labels.txt": str(tmp_path / "labels.txt")},
    as_text=True,
  )
  path = path.decode()
  assert not os.path.exists(os.path.join(path, "saved_model.pb"))
  with open(os.path.join(path, "saved_model.pbtxt"), encoding="utf-8") as file:
    assert "serving_default" in file.read()
  with open(os.path.join(path, "assets.extra", "more", "labels.txt"), encoding="utf-8") as file:
    assert file.read() == "a\nb\n"
  assert_same_answers(export_sessions.answers(path), real[1]["v2_binary/parsing"]["answers"])


def test_export_leaves_the_model_as_it_is_and_two_in_one_second_have_two_names(backups, tmp_path):
  backup = backups("v1_binary")
  before = backup.model.get_weights()
  paths = [backup.export_saved_model(str(tmp_path), parsing()) for _ in range(2)]
  assert len(set(paths)) == 2
  for one, two in zip(before, backup.model.get_weights()):
    np.testing.assert_array_equal(one, two)


def test_export_of_an_untrained_directory_is_the_estimators_error(tmp_path):
  model = make_model("v1_binary")
  backup = runtime.BackupAndRestore(model, str(tmp_path / "model"), variable_scope="dnn")
  with pytest.raises(ValueError, match="Couldn't find trained model at"):
    backup.export_saved_model(str(tmp_path / "base"), parsing())
  with pytest.raises(ValueError, match="An input_receiver_fn must be defined"):
    backup.export_saved_model(str(tmp_path / "base"), None)
  with pytest.raises(ValueError, match=r"not a valid checkpoint: /nowhere/model\.ckpt-3"):
    backup.export_saved_model(
      str(tmp_path / "base"), parsing(), checkpoint_path="/nowhere/model.ckpt-3"
    )
  with pytest.raises(ValueError, match="Could not find trained model in model_dir"):
    backup.get_variable_names()
  assert not (tmp_path / "base").exists()


def test_variables_are_the_estimators(real, backups):
  for case in ("v1_binary", "v2_binary"):
    names, kernel = real[1][f"{case}/variables"]
    backup = backups(case)
    assert backup.get_variable_names() == names
    np.testing.assert_array_equal(backup.get_variable_value("dnn/logits/kernel"), kernel)
    with pytest.raises(tf.errors.NotFoundError, match="Key nothing not found in checkpoint"):
      backup.get_variable_value("nothing")


class Doubled(tf.keras.layers.Layer):
  """A layer of one's own, as there are some in real programs."""

  def call(self, inputs):
    return 2.0 * inputs


def test_export_takes_the_tables_and_files_of_layers_along(tmp_path):
  (tmp_path / "days.txt").write_text("sat\nsun\n")
  inputs = {"day": tf.keras.Input([1], dtype="string", name="day")}
  lookup = tf.keras.layers.StringLookup(vocabulary=str(tmp_path / "days.txt"), num_oov_indices=1)
  ids = tf.keras.layers.CategoryEncoding(3, output_mode="one_hot")(lookup(inputs["day"]))
  logits = tf.keras.layers.Dense(3, name="logits")(Doubled()(ids))
  model = tf.keras.Model(inputs, logits, name="dnn")
  loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True, reduction="sum")
  spec = {"day": tf.io.FixedLenFeature([1], tf.string)}
  receiver_fn = runtime.export.build_parsing_serving_input_receiver_fn(spec)
  path = runtime.export_saved_model(model, loss, str(tmp_path / "base"), receiver_fn)
  (tmp_path / "days.txt").unlink()
  example = tf.train.Example()
  example.features.feature["day"].bytes_list.value.append(b"sun")
  days = tf.constant([["sun"]])
  found = tf.saved_model.load(path.decode()).signatures["predict"](
    examples=tf.constant([example.SerializeToString()])
  )
  np.testing.assert_allclose(found["logits"], model({"day": days}), atol=2e-6)


def test_receivers_are_checked_with_the_estimators_messages():
  export = runtime.export
  tensor = tf.zeros([1])
  for error, make in (
    ("features must be defined", lambda r: r(None, tensor)),
    ("receiver_tensors must be defined", lambda r: r(tensor, None)),
    ("receiver_tensors_alternatives must be a dict", lambda r: r(tensor, tensor, [tensor])),
    ("receiver_tensor keys must be strings: 3", lambda r: r(tensor, {3: tensor})),
    ("receiver_tensor x must be a Tensor, Sparse", lambda r: r(tensor, {"x": 3})),
  ):
    for receiver in (export.ServingInputReceiver, export.TensorServingInputReceiver):
      with pytest.raises(ValueError, match=error):
        make(receiver)
  receiver = export.ServingInputReceiver(tensor, tensor, {"other": tensor})
  assert list(receiver.features) == ["feature"]
  assert list(receiver.receiver_tensors) == ["input"]
  assert list(receiver.receiver_tensors_alternatives["other"]) == ["input"]
  assert export.TensorServingInputReceiver(tensor, tensor).features is tensor
