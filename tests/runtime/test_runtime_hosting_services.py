"""What a ModelFn does besides training, against recordings of real Estimators and TPUEstimators."""

import json
import os

import hosted_services
import pytest
from interpreter import HERE

RECORDED = json.loads((HERE.parents[1] / "fixtures" / "services" / "recording.json").read_text())


def same(value, real, path=""):
  """Asserts that two structures are equal, numbers to six digits.

  Args:
    value: what the runtime did.
    real: what was recorded.
    path: where in the structure.
  """
  if isinstance(real, dict):
    assert sorted(value) == sorted(real), path
    for key in real:
      same(value[key], real[key], f"{path}/{key}")
  elif isinstance(real, list):
    assert len(value) == len(real), (path, value, real)
    for index, (one, other) in enumerate(zip(value, real)):
      same(one, other, f"{path}/{index}")
  elif isinstance(real, float):
    assert value == pytest.approx(real, rel=2e-6, abs=1e-7), path
  else:
    assert value == real, path


def run(session, tmp_path):
  """Runs a session with the runtime."""
  return json.loads(json.dumps(session(hosted_services.runtime_api(), os.fspath(tmp_path))))


def test_train_and_evaluate_evaluates_after_saves_exports_and_returns_as_the_real_one(tmp_path):
  results = run(hosted_services.evaluations, tmp_path)
  same(results, RECORDED["evaluations"])
  # What is expected of TensorFlow itself.
  assert [note[1] for note in results[0]["notes"] if note[0] == "export"] == [4, 8, 10]
  assert results[1]["metrics"] is None
  assert results[3] == [4, 8, 10, 14, 16]


def test_hooks_stop_a_training_early_where_the_real_ones_do_and_evaluate_without_checkpoints(
  tmp_path,
):
  results = run(hosted_services.stops, tmp_path)
  same(results, RECORDED["stops"])
  steps = {name: result[0] for name, result in results.items() if "memory" not in name}
  assert steps["no_increase"] == 4 and steps["step"] == 2
  assert steps["lower"] == steps["higher"] == 1
  assert steps["not_lower"] == steps["too_early"] == steps["no_decrease"] == 3


def test_added_metrics_come_along_and_take_the_place_of_those_of_their_name(tmp_path):
  same(run(hosted_services.added, tmp_path), RECORDED["added"])


def test_exports_have_the_signatures_assets_and_answers_of_the_real_ones(tmp_path):
  same(run(hosted_services.exporting, tmp_path), RECORDED["exporting"])


def test_a_program_for_a_tpu_runs_without_one_as_the_real_one_does(tmp_path):
  same(run(hosted_services.without_tpu, tmp_path), RECORDED["without_tpu"])


def test_specifications_refuse_what_the_real_ones_refuse_with_their_words(tmp_path):
  same(run(hosted_services.refusals, tmp_path), RECORDED["refusals"])
