"""Programs with canned estimators that began under TensorFlow 1.15, against its recordings."""

import json
import shutil

import canned_cases
import harness
import pytest

from migrator.verify import compare, directories

RECORDED = harness.PROGRAMS.parent / "recordings" / "tf1.15"
RECORDINGS = sorted(path.name for path in RECORDED.iterdir())
COMBINATIONS = [("fit", "2.15"), ("loop", "2.21"), ("loop", "2.15"), ("fit", "2.21")]
# Each target and each version at least twice.
CASES = [(name, *COMBINATIONS[i % 4]) for i, name in enumerate(RECORDINGS)]


@pytest.mark.parametrize(
  ("name", "target", "python"), CASES, indirect=["target", "python"], ids=lambda value: value
)
def test_goes_on_as_tensorflow_1_15_did(lab, tmp_path, name, target, python):
  recording = json.loads((RECORDED / name / "recording.json").read_text())
  for path in (RECORDED / name).glob("model.ckpt-0.*"):
    shutil.copy(path, tmp_path)
  scratch = lab.scratch()
  directories.start_from(tmp_path, scratch.cwd / "model_dir")
  path = harness.after(recording["program"], target)
  outcome = lab.start(path, recording["arguments"], scratch, python, model_dir="model_dir")
  losses = [tuple(loss) for loss in recording["losses"]]
  assert compare.loss_difference(losses, outcome.run.losses) <= compare.STOCK
  assert outcome.run.saved_steps == recording["saved"]
  assert outcome.on_disk == recording["kept"]
  assert not compare.result_fault(recording["evaluations"], outcome.run.evaluations, compare.STOCK)
  predictions = outcome.run.predictions[: len(recording["predictions"])]
  rows = [canned_cases.stacked(rows) for rows in (recording["predictions"], predictions)]
  assert not compare.result_fault(*rows, compare.STOCK)
  assert outcome.changed == []
