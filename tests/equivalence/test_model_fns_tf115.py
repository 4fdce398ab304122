"""Programs with their own model_fn that began under TensorFlow 1.15, against its recordings."""

import json
import shutil

import canned_cases
import harness
import model_fn_cases
import pytest

from migrator.verify import compare, directories

RECORDED = harness.PROGRAMS.parent / "recordings" / "model_fns-tf1.15"
RECORDINGS = sorted(path.name for path in RECORDED.iterdir())
FORMS = [(name, form) for name in RECORDINGS for form in model_fn_cases.CASES[name].forms]


@pytest.mark.parametrize(("name", "form"), FORMS)
def test_goes_on_as_tensorflow_1_15_did(lab, tmp_path, name, form, python):
  recording = json.loads((RECORDED / name / "recording.json").read_text())
  for path in (RECORDED / name).glob("model.ckpt-0.*"):
    shutil.copy(path, tmp_path)
  scratch = lab.scratch()
  directories.start_from(tmp_path, scratch.cwd / "model_dir")
  path = model_fn_cases.CASES[name].after(form)
  outcome = lab.start(path, recording["arguments"], scratch, python, model_dir="model_dir")
  losses = [tuple(loss) for loss in recording["losses"]]
  # Other kernels than those of TensorFlow 1.15 round otherwise, whatever the form.
  assert compare.loss_difference(losses, outcome.run.losses) <= compare.STOCK
  assert outcome.run.saved_steps == recording["saved"]
  assert outcome.on_disk == recording["kept"]
  assert not compare.result_fault(recording["evaluations"], outcome.run.evaluations, compare.STOCK)
  predictions = outcome.run.predictions[: len(recording["predictions"])]
  rows = [canned_cases.stacked(rows) for rows in (recording["predictions"], predictions)]
  assert not compare.result_fault(*rows, compare.STOCK)
  assert outcome.changed == []
