"""Hooks of TensorFlow 1.15: its recorded lines against the program rewritten for that source.

There a step that was fetched is the one after the run's increment, on TensorFlow 2.15 the one before.
"""

import json
import shutil

import harness
import pytest
from hooks import lines, reported, stories

from migrator.verify import directories

PROGRAM = "hooks_observers"
RECORDED = harness.PROGRAMS.parent / "hooks" / "tf1.15" / PROGRAM
RECORDING = json.loads((RECORDED / "recording.json").read_text())
# Every scenario has both targets and both versions.
CASES = [
  ("plain", "fit", "2.15"),
  ("plain", "loop", "2.15"),
  ("plain", "fit", "2.21"),
  ("plain", "loop", "2.21"),
  ("resumed", "fit", "2.21"),
  ("resumed", "loop", "2.15"),
  ("input_ends", "fit", "2.15"),
  ("input_ends", "loop", "2.21"),
  ("error", "fit", "2.21"),
  ("error", "loop", "2.15"),
]


@pytest.fixture(scope="module")
def migrated(tmp_path_factory):
  """The program rewritten as one of TensorFlow 1, by target."""
  directory = tmp_path_factory.mktemp("programs")
  return {
    target: harness.rewrite(
      harness.before(PROGRAM), directory / target, "--target", target, "--source-version", "1"
    )
    for target in ("fit", "loop")
  }


@pytest.fixture(scope="module")
def first(tmp_path_factory):
  """A directory of nothing but the checkpoint with which the recorded program began."""
  directory = tmp_path_factory.mktemp("first")
  for path in RECORDED.glob("model.ckpt-0.*"):
    shutil.copy(path, directory)
  return directory


def run(lab, first, path, scenario, python):
  """Returns (lines, kept steps) of the processes of a scenario, as the recording has them."""
  scratch = lab.scratch()
  directories.start_from(first, scratch.cwd / "model_dir")
  printed = []
  for arguments in RECORDING[scenario]["processes"]:
    arguments = [*stories.MODEL_DIR, *arguments]
    outcome = lab.start(path, arguments, scratch, python, model_dir="model_dir")
    printed += outcome.run.output.splitlines()
  return printed, outcome.on_disk


@pytest.mark.parametrize(
  ("scenario", "target", "python"), CASES, indirect=["target", "python"], ids=lambda value: value
)
def test_hooks_do_what_they_did_on_tensorflow_1_15(lab, first, migrated, scenario, target, python):
  recorded = RECORDING[scenario]
  printed, kept = run(lab, first, migrated[target], scenario, python)
  expected = recorded["lines"]
  if scenario == "input_ends":
    counting = ("counting", "every_other")
    expected = reported.without_counts(reported.without_last_before_run(expected), counting)
    printed = reported.without_counts(printed, counting)
  assert lines.difference(expected, printed) is None
  assert kept == recorded["kept"]


def test_recorded_steps_are_those_after_the_increment():
  found = lines.of("rate", RECORDING["plain"]["lines"])
  assert found == ["rate after_run 7"]
  fetched = [line.split()[2] for line in lines.of("list", RECORDING["plain"]["lines"])]
  assert fetched == [str(step) for step in range(1, 13)]
