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

pytestmark = pytest.mark.usefixtures("graphs_as_they_are")
EXPORTS = [(c, r) for c in export_sessions.CASES for r in export_sessions.receivers_of(c)]


RECORDED = HERE.parents[1] / "fixtures" / "exports"


@pytest.fixture(scope="module")
def real():
  """What the exports of the real Estimators have and answer, by their cases."""
  return {
    c: json.loads((RECORDED / c / "recording.json").read_text()) for c in export_sessions.CASES
  }


def make_inputs(case):
  """Returns the inputs of a case's columns, and what the network gets of them."""
  inputs = {n: tf.keras.Input(export_sessions.SPEC[n].shape, name=n) for n in export_sessions.NAMES}
  blocks = [inputs[n] for n in sorted(inputs)]
  if "day" in export_sessions.spec_of(case):
    sparse = case == "v2_sparse_words"
    inputs["day"] = tf.keras.Input([None], dtype="string", name="day", sparse=sparse)
    path = str(export_sessions.WORDS)
    ids = runtime.columns.VocabularyFileIds(path, num_oov_buckets=1)(inputs["day"])
    embedding = runtime.columns.Embedding(4, 2, name="day_embedding")
    blocks = [embedding(ids), runtime.columns.Indicator(4)(ids), *blocks]
  return inputs, tf.keras.layers.Concatenate()(blocks)


def make_loss(case):
  """Returns the loss of a migrated model."""
  flavour, kind, dimension = export_sessions.CASES[case]
  reduction = "sum" if flavour == "v1" else "sum_over_batch_size"
  if kind == "regression":
    return runtime.heads.RegressionHead(label_dimension=dimension, loss_reduction=reduction)
  if kind == "binary":
    return tf.keras.losses.BinaryCrossentropy(from_logits=True, reduction=reduction)
  if kind in ("classes", "baseline"):
    return tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True, reduction=reduction)
  return export_sessions.heads_of(case, runtime.heads)


def make_model(case):
  """Returns the migrated model of a case."""
  flavour, kind, dimension = export_sessions.CASES[case]
  if kind == "baseline":
    inputs = {"x": tf.keras.Input([3], name="x")}
    logits = runtime.columns.Bias(dimension, name="bias")(inputs)
    optimizer = runtime.optimizers.Ftrl(0.3)
  else:
    inputs, net = make_inputs(case)
    net = tf.keras.layers.Dense(4, activation="relu", name="hiddenlayer_0")(net)
    logits = tf.keras.layers.Dense(dimension, name="logits")(net)
    adagrad = tf.keras.optimizers.Adagrad
    optimizer = adagrad(0.05, epsilon=0.0) if flavour == "v1" else adagrad(0.001, epsilon=1e-7)
  model = tf.keras.Model(inputs, logits, name=scope_of(case))
  model.compile(optimizer=optimizer, loss=make_loss(case))
  return model


def scope_of(case):
  return "baseline" if case == "v1_baseline" else "dnn"


@pytest.fixture(scope="module")
def backups():
  """Returns a function that gives the backup of a case, which reads the Estimator's checkpoint."""
  made = {}

  def backup(case):
    if case not in made:
      flavour = export_sessions.CASES[case][0]
      made[case] = runtime.BackupAndRestore(
        make_model(case), str(RECORDED / case), variable_scope=scope_of(case), flavour=flavour
      )
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


def assert_same_export(path, expected):
  signatures = json.loads(json.dumps(export_sessions.described(path)))
  assert signatures == expected["signatures"]
  assert_same_answers(export_sessions.answers(path), expected["answers"])
  if expected["loaded"] is not None:
    assert_same_answers(export_sessions.loaded_answers(path), expected["loaded"])
  assert export_sessions.assets(path) == expected["assets"]


@pytest.mark.parametrize(("case", "receiver"), EXPORTS)
def test_export_has_the_signatures_and_answers_of_the_estimators(
  real, backups, tmp_path, case, receiver
):
  expected = real[case]["exports"][receiver]
  receiver_fn = export_sessions.receiver_fn(receiver, runtime.export, export_sessions.spec_of(case))
  path = backups(case).export_saved_model(str(tmp_path / "base"), receiver_fn)
  assert isinstance(path, bytes)
  path = path.decode()
  assert os.path.dirname(path) == str(tmp_path / "base")
  name = os.path.basename(path)
  assert os.listdir(tmp_path / "base") == [name]
  assert name.isdigit() and len(name) == len(expected["name"])
  assert_same_export(path, expected)


if tf.__version__.startswith("2.15."):

  def test_recording_is_what_the_estimator_exports(real, tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(RECORDED)
    import make_exports

    found, prefix = make_exports.record("v1_baseline", str(tmp_path))
    expected = real["v1_baseline"]
    assert found["variables"] == expected["variables"]
    np.testing.assert_allclose(found["baseline/bias"], expected["baseline/bias"], atol=1e-6)
    assert prefix.endswith("model.ckpt-5")
    for one, two in zip(found["exports"].values(), expected["exports"].values()):
      assert one["signatures"] == two["signatures"]
      assert_same_answers(one["answers"], two["answers"])

else:

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
    expected = real["v1_binary"]["exports"]["table"]["answers"]
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
  assert_same_answers(
    export_sessions.answers(path), real["v2_binary"]["exports"]["parsing"]["answers"]
  )


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


@pytest.mark.parametrize("case", ["v1_binary", "v2_binary", "v1_words", "v1_baseline"])
def test_variables_are_the_estimators(real, backups, case):
  backup = backups(case)
  assert backup.get_variable_names() == real[case]["variables"]
  (name,) = set(real[case]) & {"dnn/logits/kernel", "baseline/bias"}
  value = np.array(real[case][name], np.float32)
  np.testing.assert_array_equal(backup.get_variable_value(name), value)
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
