"""Heads against the real ones of TensorFlow 2.15: losses, metrics, predictions and signatures.

What those gave is recorded by fixtures/heads/make_heads.py.
"""

import importlib
import json

import head_cases
import numpy as np
import pytest
import tensorflow as tf
from interpreter import HERE
from observed import described

from migrator import runtime
from migrator.runtime import heads

CASES = head_cases.catalogue()
FIXTURES = HERE.parents[1] / "fixtures" / "heads"
REAL = json.loads((FIXTURES / "results.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module", autouse=True)
def _graphs_as_they_are():
  """Optimizing the many graphs takes longer than running them."""
  before = tf.config.optimizer.get_experimental_options().get("disable_meta_optimizer", False)
  tf.config.optimizer.set_experimental_options({"disable_meta_optimizer": True})
  yield
  tf.config.optimizer.set_experimental_options({"disable_meta_optimizer": before})


def make_model(case):
  """Returns a model whose logits are a feature, compiled with the head of the case."""
  logits = tf.keras.Input([case["logits"]], name="logits")
  model = tf.keras.Model({"logits": logits}, tf.keras.layers.Activation("linear")(logits))
  model.compile(loss=make_head(case))
  return model


def make_head(case):
  """Returns the head of a case, with the reduction that was its default."""
  return head_cases.make_head(
    heads, case, loss_reduction="sum" if case["flavour"] == "v1" else "sum_over_batch_size"
  )


def evaluated(model, dataset, **arguments):
  return runtime.evaluate(model, model.loss, dataset, global_step=0, **arguments)


def assert_same_values(values, wanted):
  assert list(values) == [key for key, _, _ in wanted]
  for key, kind, numbers in wanted:
    assert type(values[key]).__name__ == kind, key
    found = np.ravel(values[key]).tolist()
    assert found == [pytest.approx(number, rel=1e-6, abs=1e-7) for number in numbers], key


@pytest.mark.parametrize("name", CASES)
def test_evaluation_has_the_real_heads_metrics(name):
  case = CASES[name]
  values = evaluated(make_model(case), head_cases.dataset(tf, case), flavour=case["flavour"])
  assert_same_values(values, REAL["cases"][name]["values"])


@pytest.mark.parametrize("name", CASES)
def test_predictions_are_the_real_heads(name):
  case = CASES[name]
  rows = list(runtime.predict(make_model(case), head_cases.dataset(tf, case)))
  wanted = REAL["cases"][name]["rows"]
  assert len(rows) == len(wanted) == head_cases.ROWS
  for row, expected in zip(rows, wanted):
    assert list(row) == [tuple(key) if isinstance(key, list) else key for key, _ in expected]
    for value, (key, other) in zip(map(described, row.values()), expected):
      assert (value["type"], value["shape"]) == (other["type"], other["shape"]), key
      if value["type"] == "float32":
        np.testing.assert_allclose(value["value"], other["value"], rtol=1e-6, atol=1e-7)
      else:
        assert value["value"] == other["value"], key


@pytest.mark.parametrize("name", CASES)
def test_losses_of_all_reductions_are_the_real_heads(name):
  case = CASES[name]
  batches = list(head_cases.dataset(tf, case))
  for reduction, wanted in REAL["cases"][name]["losses"].items():
    head = head_cases.make_head(heads, case, loss_reduction=reduction)
    assert len(wanted) == len(batches) == head_cases.BATCHES
    for (features, labels), value in zip(batches, wanted):
      _, *prepared = head.prepare(features, labels)
      loss = head(prepared[0], features["logits"], *prepared[1:])
      assert float(loss) == pytest.approx(value, rel=1e-6), reduction


@pytest.mark.parametrize("name", CASES)
def test_signatures_are_the_real_heads(name):
  case = CASES[name]
  head = make_head(case)
  logits = tf.constant(head_cases.features(case)["logits"])
  outputs = heads.export_outputs(head, logits)
  wanted = REAL["cases"][name]["exports"]
  assert {key: method for key, (method, _) in outputs.items()} == {k: m for k, m, _ in wanted}
  for key, _, types in wanted:
    assert {k: v.dtype.name for k, v in outputs[key][1].items()} == types, key
  assert set(head.signature_names()) == set(outputs)
  for key, function in head.signatures().items():
    for value, other in zip(function(logits).values(), outputs[key][1].values()):
      np.testing.assert_array_equal(value.numpy(), other.numpy())


def test_added_metrics_are_those_of_add_metrics(tmp_path):
  case = CASES["v1_binary"]
  values = evaluated(
    make_model(case),
    head_cases.dataset(tf, case),
    flavour="v1",
    metrics=head_cases.added_metrics(tf),
    model_dir=str(tmp_path),
  )
  assert_same_values(values, REAL["added"])


class Losses(tf.keras.callbacks.Callback):
  """Keeps what a hook sees."""

  def __init__(self):
    super().__init__()
    self.losses = []

  def on_train_batch_end(self, batch, logs=None):
    self.losses.append(float(logs["loss"]))


@pytest.mark.parametrize(
  ("name", "reduction"),
  [
    ("v1_classes_weighted", "sum"),
    ("v1_regression_each_weighted", "mean"),
    ("v1_binary_weighted", "sum_over_nonzero_weights"),
    ("v2_binary_weighted", "sum_over_batch_size"),
    ("v2_regression_weighted", "sum_over_batch_size"),
    ("v2_labels", "sum"),
    ("v2_several", "sum_over_batch_size"),
  ],
)
def test_hooks_see_the_real_heads_loss_of_each_step_and_the_model_is_saved_with_the_head(
  tmp_path, name, reduction
):
  case = CASES[name]
  inputs = {"logits": tf.keras.Input([case["logits"]], name="logits")}
  logits = tf.keras.layers.Dense(case["logits"], kernel_initializer="identity")(inputs["logits"])
  model = tf.keras.Model(inputs, logits)
  head = head_cases.make_head(heads, case, loss_reduction=reduction)
  model.compile(optimizer=tf.keras.optimizers.SGD(0.0), loss=head)
  dataset = head_cases.dataset(tf, case).map(runtime.only_inputs(model))
  hook = Losses()
  backup = runtime.BackupAndRestore(
    model, str(tmp_path / "model"), variable_scope="dnn", flavour=case["flavour"]
  )
  model.fit(dataset, callbacks=[backup, hook], verbose=0)
  wanted = REAL["cases"][name]["losses"][reduction]
  assert hook.losses == [pytest.approx(loss, rel=1e-6) for loss in wanted]
  model.save(str(tmp_path / "model.keras"))
  loaded = tf.keras.models.load_model(str(tmp_path / "model.keras"))
  assert loaded.loss.get_config() == head.get_config()
  features, labels, *weights = next(iter(dataset))
  loss = loaded.loss(labels, loaded(features), *weights)
  assert float(loss) == pytest.approx(wanted[0], rel=1e-6)


if tf.__version__.startswith("2.15."):

  @pytest.mark.parametrize("name", ["v1_classes_weighted", "v2_several"])
  def test_the_recording_is_what_the_real_heads_give(monkeypatch, name):
    monkeypatch.syspath_prepend(str(FIXTURES))
    make_heads = importlib.import_module("make_heads")
    found = json.loads(json.dumps(make_heads.results_of(CASES[name])))
    recorded = REAL["cases"][name]
    tf.nest.assert_same_structure(found, recorded)
    assert tf.nest.flatten(found) == [
      pytest.approx(value, rel=1e-6, abs=1e-7) if isinstance(value, float) else value
      for value in tf.nest.flatten(recorded)
    ]
