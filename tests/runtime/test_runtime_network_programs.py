"""Programs whose model_fn was split into functions go on exactly where the Estimator stopped."""

import importlib
import json
import pathlib
import shutil
import sys

import numpy as np
import pytest
import tensorflow as tf
from interpreter import HERE, run_legacy

from migrator import runtime

PROGRAMS = ("mlp", "cnn", "siamese", "sequential")
FIXTURES = pathlib.Path(__file__).parents[2] / "fixtures" / "model_fns"
SEED = 123
# Of the kernels of another version; with the version of the Estimator all are equal.
TOLERANCE = 1e-6


@pytest.fixture(scope="module")
def estimators(tmp_path_factory):
  """(directory, results) of the real Estimator."""
  script = HERE / "legacy_model_fns.py"
  root = run_legacy(tmp_path_factory, "model_fns", lambda root: [script, root])
  return root, json.loads((root / "results.json").read_text())


class Losses(tf.keras.callbacks.Callback):
  """Notes the loss of each step."""

  def __init__(self):
    super().__init__()
    self.losses = []

  def on_train_batch_end(self, batch, logs=None):
    self.losses.append(float(logs["loss"]))


class Program:
  """A split program after step 30, begun at the Estimator's checkpoint of step 10."""

  def __init__(self, name, root, model_dir, monkeypatch):
    monkeypatch.syspath_prepend(str(FIXTURES))
    self.module = importlib.import_module(f"split_{name}")
    self.model_dir = model_dir
    model_dir.mkdir()
    for path in (root / name).glob("model.ckpt-10.*"):
      shutil.copy(path, model_dir)
    (model_dir / "checkpoint").write_text('model_checkpoint_path: "model.ckpt-10"\n')
    tf.random.set_seed(SEED)
    made = self.module.construct(str(model_dir))
    self.train, self.evaluate, self.predict, self.export, self.checkpoint = made
    # An evaluation comes first, as in a program that evaluates what it finds.
    self.first = self.evaluate(self.module.input_fn().take(1))
    losses = Losses()
    self.train(self.module.input_fn, max_steps=30, callbacks=[losses])
    self.losses = losses.losses


@pytest.fixture(scope="module")
def programs(estimators, tmp_path_factory):
  with pytest.MonkeyPatch.context() as monkeypatch:
    root = tmp_path_factory.mktemp("split")
    yield {name: Program(name, estimators[0], root / name, monkeypatch) for name in PROGRAMS}
  for name in PROGRAMS:
    sys.modules.pop(f"split_{name}", None)


@pytest.mark.parametrize("name", PROGRAMS)
def test_it_goes_on_with_the_losses_of_the_estimator(name, programs, estimators):
  expected = estimators[1][name]["losses"]
  assert len(expected) == 20
  np.testing.assert_allclose(programs[name].losses, expected, rtol=TOLERANCE)
  assert programs[name].first["global_step"] == 10


@pytest.mark.parametrize("name", PROGRAMS)
def test_it_saves_the_variables_and_steps_of_the_estimator(name, programs, estimators):
  ours = programs[name].model_dir / "tf2"
  steps = {path.name for path in ours.glob("*.index")}
  assert steps == {f"model.ckpt-{step}.index" for step in (10, 20, 30)}
  final = tf.train.load_checkpoint(str(estimators[0] / name / "model.ckpt-30"))
  by_name = programs[name].checkpoint.by_name
  not_in_ours = {"beta1_power", "beta2_power"}  # Follow from the count.
  expected = set(estimators[1][name]["variables"]) - not_in_ours
  assert set(by_name) - {"iterations"} == expected
  for key in expected:
    # A difference in the last digit grows within 20 steps.
    np.testing.assert_allclose(
      by_name[key].numpy(), final.get_tensor(key), rtol=1e-5, atol=2e-6, err_msg=key
    )


@pytest.mark.parametrize("name", PROGRAMS)
def test_it_evaluates_and_predicts_as_the_estimator(name, programs, estimators):
  program, expected = programs[name], estimators[1][name]
  results = program.evaluate(program.module.input_fn().unbatch().batch(7).take(3))
  assert list(results) == [*sorted(set(expected["results"]) - {"global_step"}), "global_step"]
  for key, value in expected["results"].items():
    np.testing.assert_allclose(results[key], value, rtol=2e-6, err_msg=key)
  predictions = list(program.predict(program.module.input_fn().take(1)))
  for key, value in expected["predictions"].items():
    found = [prediction[key] for prediction in predictions]
    np.testing.assert_allclose(found, value, rtol=1e-5, atol=1e-6, err_msg=key)


def test_it_exports_the_outputs_that_the_model_fn_named(programs, tmp_path):
  program = programs["cnn"]
  images = next(iter(program.module.input_fn()))[0]["image"]

  def serving_input_receiver_fn():
    image = tf.compat.v1.placeholder(tf.float32, [None, 10, 10, 3], name="image")
    return runtime.export.ServingInputReceiver({"image": image}, {"image": image})

  path = program.export(str(tmp_path), serving_input_receiver_fn)
  signatures = tf.saved_model.load(path.decode()).signatures
  assert set(signatures) == {"classify", "serving_default"}
  predicted = list(program.predict(program.module.input_fn().take(1)))
  exported = signatures["classify"](image=images)["probabilities"].numpy()
  np.testing.assert_allclose(exported, [p["probabilities"] for p in predicted], rtol=1e-6)


@pytest.mark.parametrize("name", ["mlp", "sequential"])
def test_another_process_goes_on_where_it_stopped(name, programs):
  program = programs[name]
  held = {key: variable.numpy() for key, variable in program.checkpoint.by_name.items()}
  made = program.module.construct(str(program.model_dir))
  evaluate, checkpoint = made[1], made[-1]
  evaluate(program.module.input_fn().take(1))
  assert checkpoint.by_name["global_step"].numpy() == 0  # The evaluation has given it back.
  checkpoint.restore(str(program.model_dir / "tf2" / "model.ckpt-30"))
  for key, value in held.items():
    np.testing.assert_array_equal(checkpoint.by_name[key].numpy(), value, err_msg=key)
