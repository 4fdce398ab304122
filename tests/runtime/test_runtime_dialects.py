"""Every value of every dialect: recordings of TensorFlow 1.15, and the same programs on 2.15."""

import hashlib
import json
import subprocess
from pathlib import Path

import numpy as np
import pytest
from interpreter import legacy_interpreter, run_legacy

from migrator.runtime import state
from migrator.runtime.tf1_reader import Tf1Checkpoint

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures/checkpoints"
RECORDED = sorted(path.name for path in (FIXTURES / "tf1.15/dialects").iterdir())
IN_BOTH = [name for name in RECORDED if not name.startswith("contrib_")]
SCRIPT = """
import json, os, sys
sys.path.insert(0, sys.argv[1])
import dialect_cases
for name in dialect_cases.CASES:
  if name not in dialect_cases.ONLY_TF1:
    directory = os.path.join(sys.argv[2], name)
    truth = dialect_cases.make(name, directory)
    with open(os.path.join(directory, "truth.json"), "w") as file:
      json.dump(truth, file)
"""


@pytest.fixture(scope="session")
def made_by_2_15(tmp_path_factory):
  """The directory in which TensorFlow 2.15 has made all cases."""
  return run_legacy(tmp_path_factory, "dialects", lambda root: ["-c", SCRIPT, FIXTURES, root])


def digest(value):
  if value.dtype == object:
    return hashlib.sha256(b"\0".join(value.reshape(-1).tolist())).hexdigest()
  return hashlib.sha256(np.ascontiguousarray(value).tobytes()).hexdigest()


def check(directory):
  """Compares all values with the digests of the session that was saved."""
  truth = json.loads((directory / "truth.json").read_text())
  checkpoint = Tf1Checkpoint(state.resolve(str(directory)))
  digests = dict(truth["digests"])
  for variable, slots in truth["slots"].items():
    for role, keys in slots.items():
      name = next(
        name
        for name, optimizer in checkpoint.contents.optimizers.items()
        if optimizer.kind == truth["kinds"][role.split("/")[0]]
        and checkpoint.contents.slot_keys(variable, role.split("/", 1)[1], name) == tuple(keys)
      )
      found = checkpoint.contents.slot_keys(variable, role.split("/", 1)[1], name)
      assert digest(checkpoint.read(list(found))) == digests.pop(f"{variable} {role}")
  for key, expected in digests.items():
    assert digest(checkpoint.read([key])) == expected, key
  assert set(digests) == set(checkpoint.shapes) - {
    key for slots in truth["slots"].values() for keys in slots.values() for key in keys
  }


@pytest.mark.parametrize("name", RECORDED)
def test_every_value_of_tf_1_15_is_read_bit_for_bit(name):
  check(FIXTURES / "tf1.15/dialects" / name)


@pytest.mark.parametrize("name", IN_BOTH)
def test_every_value_of_tf_2_15_is_read_bit_for_bit(made_by_2_15, name):
  check(made_by_2_15 / name)


# TensorFlow 1.15 made Adam's powers within the condition of the loss scale, 2.15 at the top.
@pytest.mark.parametrize("name", [name for name in IN_BOTH if name != "loss_scale"])
def test_both_versions_write_the_same_names(made_by_2_15, name):
  old = Tf1Checkpoint(state.resolve(str(FIXTURES / "tf1.15/dialects" / name)))
  new = Tf1Checkpoint(state.resolve(str(made_by_2_15 / name)))
  assert new.shapes == old.shapes
  assert new.contents.variables.keys() == old.contents.variables.keys()
  assert new.contents.optimizers == old.contents.optimizers


KERAS_SCRIPT = """
import os, sys
import tensorflow as tf
v1 = tf.compat.v1
for name, make in (("sgd", lambda k: k.SGD(0.1)), ("adam", lambda k: k.Adam(0.1))):
  with tf.Graph().as_default():
    step = v1.train.get_or_create_global_step()
    w = v1.get_variable("w", [4, 1])
    loss = tf.reduce_mean((tf.ones([2, 4]) @ w - 1.0) ** 2)
    updates = tf.group(*make(tf.keras.optimizers.legacy).get_updates(loss, [w]))
    with v1.Session() as session:
      session.run(v1.global_variables_initializer())
      for _ in range(3):
        session.run(updates)
      # The Estimator's own saver writes no second time, as the step does not move.
      v1.train.Saver().save(session, os.path.join(sys.argv[1], name, "model.ckpt"), step)
"""


def test_the_step_of_a_keras_optimizer_in_a_model_fn_is_its_own_count(tmp_path):
  """Case 15: the global step stays 0, the optimizer has counted."""
  subprocess.run(
    [legacy_interpreter(), "-c", KERAS_SCRIPT, str(tmp_path)], capture_output=True, check=True
  )
  for name in ("sgd", "adam"):
    checkpoint = Tf1Checkpoint(state.resolve(str(tmp_path / name)))
    contents = checkpoint.contents
    assert contents.step == 3
    assert "global_step is 0" in contents.step_note
    assert set(contents.variables) == {"w"}
    assert sorted(contents.accounted()) == sorted(checkpoint.shapes)


def test_every_case_has_its_recording(monkeypatch):
  monkeypatch.syspath_prepend(str(FIXTURES))
  import dialect_cases

  assert sorted(dialect_cases.CASES) == RECORDED
