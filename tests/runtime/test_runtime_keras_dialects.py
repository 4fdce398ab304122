"""Keras optimizers in the graph of a model_fn or of a v2 canned Estimator, written by TensorFlow 2.15."""

import collections
import json
from pathlib import Path

import pytest
import tensorflow as tf
from interpreter import run_legacy

from migrator.runtime import bundle, dialects, state
from migrator.runtime.tf1_reader import Tf1Checkpoint

KINDS = {
  "older_sgd": "GradientDescent",
  "older_momentum": "Momentum",
  "older_adam": "Adam",
  "older_amsgrad": "Adam",
  "older_renamed": "Adam",
  "older_schedule": "Adam",
  "older_adamax": "unknown",
  "older_nadam": "unknown",
  "older_rmsprop": "RMSProp",
  "older_rmsprop_centered": "CenteredRMSProp",
  "older_adagrad": "Adagrad",
  "older_adadelta": "Adadelta",
  "older_ftrl": "Ftrl",
  "newer_momentum": "Momentum",
  "newer_adam": "Adam",
  "newer_amsgrad": "Adam",
  "newer_average": "Adam",
  "newer_renamed": "Adam",
  "newer_adamax": "unknown",
  "newer_adamw": "unknown",
  "newer_lion": "unknown",
  "newer_rmsprop": "RMSProp",
  "newer_rmsprop_centered": "CenteredRMSProp",
  "newer_adagrad": "Adagrad",
  "newer_adadelta": "Adadelta",
  "newer_ftrl": "Ftrl",
  "scope_adam": "Adam",
  "scope_momentum": "Momentum",
  "canned_dnn": "Adam",
  "canned_linear": "Ftrl",
}
CASES = [*KINDS, "newer_sgd", "canned_combined"]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
  """The directory of the checkpoints, one sub-directory each."""
  script = Path(__file__).with_name("keras_dialects.py")
  return run_legacy(tmp_path_factory, "keras_dialects", lambda root: [script, root])


def described(made, name):
  prefix = state.resolve(str(made / name))
  index = bundle.read_index(prefix)
  return (
    dialects.describe(prefix, index),
    index,
    json.loads((made / name / "truth.json").read_text()),
  )


@pytest.mark.parametrize("name", CASES)
def test_slots_averages_and_scalars_are_those_of_the_graph(made, name):
  contents, index, truth = described(made, name)
  assert collections.Counter(contents.accounted()) == collections.Counter(list(index.entries))
  found = {
    v.name: {s: k for s, (k,) in v.slots.items()} for v in contents.variables.values() if v.slots
  }
  assert found == {name: slots for name, slots in truth["slots"].items() if slots}
  assert {v.name: v.ema for v in contents.variables.values() if v.ema} == truth["averages"]
  assert set(truth["scalars"]) == set(contents.counters) - {"global_step"}
  taken = {*truth["scalars"], *truth["averages"].values(), "global_step"}
  taken.update(key for slots in truth["slots"].values() for key in slots.values())
  assert set(contents.variables) == set(index.entries) - taken


@pytest.mark.parametrize("name", KINDS)
def test_the_kind_is_the_optimizers_or_is_said_to_be_unknown(made, name):
  contents, _, _ = described(made, name)
  (optimizer,) = contents.optimizers.values()
  assert optimizer.kind == KINDS[name]
  told = [note for note in contents.notes if "names do not tell which optimizer" in note]
  assert bool(told) == (optimizer.kind == "unknown")


@pytest.mark.parametrize("name", CASES)
def test_the_step_is_what_counted(made, name):
  """Case 15: a global step of 0 beside an optimizer that has counted."""
  contents, _, truth = described(made, name)
  assert contents.step == (truth["step"] or truth["updates"])
  assert ("the Keras optimizer counted" in contents.step_note) == (truth["step"] == 0)


def test_two_optimizers_have_their_variables(made):
  contents, _, _ = described(made, "canned_combined")
  assert {o.name: o.kind for o in contents.optimizers.values()} == {
    "training/Adagrad": "Adagrad",
    "training/Ftrl": "Ftrl",
  }
  for optimizer in contents.optimizers.values():
    scope = "dnn/" if optimizer.kind == "Adagrad" else "linear/"
    assert all(variable.startswith(scope) for variable in optimizer.variables)


def test_values_of_slots_are_read_by_tf1s_names(made):
  checkpoint = Tf1Checkpoint(state.resolve(str(made / "newer_adam")))
  reader = tf.train.load_checkpoint(checkpoint.prefix)
  (key,) = checkpoint.contents.slot_keys("m/w", "Adam_1")
  assert key == "Adam/v/m/w"
  assert (checkpoint.read([key]) == reader.get_tensor("Adam/v/m/w")).all()


def test_a_keras_model_in_an_estimator_is_recognised(made):
  prefix = state.resolve(str(made / "model_to_estimator"))
  contents = dialects.describe(prefix, bundle.read_index(prefix))
  assert contents.dialect_id == "object"
  assert contents.step == 3
  assert contents.step_key == "estimator_global_step/.ATTRIBUTES/VARIABLE_VALUE"
  checkpoint = Tf1Checkpoint(prefix)
  assert (checkpoint.flavour, checkpoint.optimizer, checkpoint.step) == ("v2", "Adam", 3)
  assert "dense/kernel" in checkpoint.contents.variables
  reader = tf.train.load_checkpoint(prefix)
  key = "layer_with_weights-0/kernel/.OPTIMIZER_SLOT/optimizer/v/.ATTRIBUTES/VARIABLE_VALUE"
  (slot,) = checkpoint.contents.slot_keys("dense/kernel", "Adam_1")
  assert (checkpoint.read([slot]) == reader.get_tensor(key)).all()
