"""Programs with their own model_fn, run by `runtime.ModelFn`, against the real Estimator of TensorFlow 2.15."""

import json
import shutil

import hosted_programs
import hosted_sessions
import numpy as np
import pytest
import tensorflow as tf
from interpreter import HERE, run_legacy

SAME_TENSORFLOW = tf.__version__.startswith("2.15.")
TOLERANCE = 0 if SAME_TENSORFLOW else 1e-6
NAMES = [name for name in hosted_programs.PROGRAMS if SAME_TENSORFLOW or name != "keras_layers"]


@pytest.fixture(scope="module")
def real(tmp_path_factory):
  """(directory, results) of the real Estimator, all from one process."""
  script = HERE / "hosted_sessions.py"
  root = run_legacy(tmp_path_factory, "hosted", lambda root: [script, root, root / "results.json"])
  return root, json.loads((root / "results.json").read_text())


@pytest.fixture(scope="module")
def api():
  return hosted_sessions.runtime_api()


@pytest.fixture(scope="module")
def continued(real, api, tmp_path_factory):
  """The results of the programs that go on from the Estimator's checkpoint, by name."""
  root = tmp_path_factory.mktemp("continued")
  found = {}
  for name in NAMES:
    shutil.copytree(real[0] / f"{name}_at_10", root / name)
    found[name] = hosted_sessions.go_on(api, name, str(root / name))
  return found


def assert_close(ours, theirs, tolerance=TOLERANCE):
  """Compares the described values of two results."""
  assert ours.keys() == theirs.keys()
  for key, value in ours.items():
    assert (value["type"], value["shape"]) == (theirs[key]["type"], theirs[key]["shape"]), key
    np.testing.assert_allclose(
      value["value"], theirs[key]["value"], rtol=tolerance, atol=tolerance, err_msg=key
    )


@pytest.mark.parametrize("name", NAMES)
def test_a_program_goes_on_from_the_estimators_checkpoint_as_the_estimator_did(
  name, real, continued
):
  ours, theirs = continued[name], real[1][name]["then"]
  assert len(ours["losses"]) == 10
  np.testing.assert_allclose(ours["losses"], theirs["losses"], rtol=TOLERANCE)
  assert ours["names"] == theirs["names"]
  assert ours["step"] == theirs["step"] == 20
  assert_close(ours["evaluated"], theirs["evaluated"])
  for row, expected in zip(ours["rows"], theirs["rows"]):
    assert_close(row, expected)
  assert ours["events"] == theirs["events"]
  # The Estimator's own directory had those of steps 0 to 10, too.
  steps = [10, 14, 18, 20][-3:]
  assert ours["files"] == ours["listed"] == theirs["files"] == theirs["listed"] == steps


@pytest.mark.parametrize("name", ["resumed", "hooks", "own_saver", "scaffold"])
def test_saves_keeps_hooks_and_listeners_are_the_estimators(name, real, api, tmp_path):
  ours = hosted_sessions.PARTS[name](api, str(tmp_path / name))
  theirs = real[1][name]
  if not SAME_TENSORFLOW and name == "resumed":
    np.testing.assert_allclose(ours.pop("losses"), theirs.pop("losses"), rtol=TOLERANCE)
    assert_close(ours.pop("older"), theirs.pop("older"))
  assert ours == theirs
  assert not list((tmp_path / name).glob("model.ckpt*"))


def test_a_warm_start_and_tables_begin_with_the_values_of_the_estimator(real, api, tmp_path):
  for name in ("warm", "tables"):
    ours = hosted_sessions.PARTS[name](api, str(tmp_path / name))
    _assert_all_close(ours, real[1][name])


def _assert_all_close(ours, theirs):
  """Compares results of any structure."""
  if isinstance(ours, dict):
    assert ours.keys() == theirs.keys()
    for key, value in ours.items():
      _assert_all_close(value, theirs[key])
  elif isinstance(ours, list):
    assert len(ours) == len(theirs)
    for value, other in zip(ours, theirs):
      _assert_all_close(value, other)
  elif isinstance(ours, float):
    np.testing.assert_allclose(ours, theirs, rtol=TOLERANCE)
  else:
    assert ours == theirs


def test_what_the_estimator_refuses_is_refused_with_its_messages(real, api, tmp_path):
  directory, real_directory = str(tmp_path / "errors"), str(real[0] / "errors")
  ours = hosted_sessions.errors(api, directory)
  theirs = real[1]["errors"]
  assert [name for name, error in ours.items() if error is None] == []
  different = {
    name: (error, theirs[name])
    for name, error in ours.items()
    if error[0] != theirs[name][0]
    or _beginning(error[1], directory) != _beginning(theirs[name][1], real_directory)
  }
  assert different == {}


def _beginning(message, directory):
  """Returns the words of a message that do not name objects of the process; its directory as `model`."""
  message = message.replace(directory, "model")
  return message.split(" at 0x")[0].split("Tensor(")[0].split("tf.Tensor")[0][:60].rstrip()
