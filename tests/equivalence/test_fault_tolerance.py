"""The fault_tolerance program: saved and kept steps, continuing, migrated against the real Estimator."""

import os

import harness
import pytest

from migrator.verify import compare, directories

NAME = "fault_tolerance"
BEFORE = harness.before(NAME)
DIRECTORY = ["--model_dir", "{model_dir}"]


def arguments(*more):
  return (*DIRECTORY, *harness.QUIET, *more)


@pytest.mark.parametrize(("cadence", "optimizers"), [(1, "stock"), (3, "exact"), (4, "exact")])
def test_interrupted_run_saves_and_keeps_the_same_steps(
  lab, target, python, cadence, optimizers, programs
):
  args = arguments("--save_checkpoints_steps", str(cadence))
  legacy_scratch, legacy = lab.legacy(BEFORE, args)
  if cadence == 1:
    assert legacy.run.saved_steps == [*range(7), *range(6, 11)]
    assert legacy.on_disk == [6, 7, 8, 9, 10]
  _, outcome = lab.from_first(programs[optimizers][target], args, python, legacy_scratch)
  assert outcome.run.saved_steps == legacy.run.saved_steps
  assert outcome.on_disk == legacy.on_disk
  assert outcome.listed == legacy.listed
  assert outcome.run.resumed_at == legacy.run.resumed_at
  assert "RuntimeError: Interruption" in outcome.run.output
  assert outcome.changed == []
  if optimizers == "exact":
    assert compare.loss_difference(legacy.run.losses, outcome.run.losses) <= compare.EXACT


@pytest.fixture(scope="module")
def stopped_at_6(lab):
  """A legacy run that stopped at step 6, and the same one continued to step 10."""
  args = arguments("--save_checkpoints_steps", "4", "--no_interrupt", "--max_steps")
  scratch, _ = lab.legacy(BEFORE, [*args, "6"])
  continued = lab.scratch(scratch)
  outcome = lab.start(BEFORE, [*args, "10"], continued, legacy=True, model_dir="model_dir")
  assert outcome.run.resumed_at == [6]
  return scratch, outcome, args


@pytest.mark.parametrize("optimizers", ["stock", "exact"])
def test_migrated_program_goes_on_in_the_legacy_directory(
  lab, target, python, stopped_at_6, optimizers, programs
):
  legacy_scratch, legacy, args = stopped_at_6
  scratch = lab.scratch(legacy_scratch)
  path = programs[optimizers][target]
  outcome = lab.start(path, [*args, "10"], scratch, python, model_dir="model_dir")
  assert outcome.run.resumed_at == [6]
  assert outcome.run.saved_steps == legacy.run.saved_steps == [6, 10]
  assert outcome.on_disk == [6, 10]
  assert outcome.changed == []  # SHA-256 of every old file
  # What it saved first is what it had loaded: weights, Adam's slots and the step, bit for bit.
  loaded = lab.weights_apart(
    legacy_scratch.cwd / "model_dir" / "model.ckpt-6",
    scratch.cwd / "model_dir" / directories.NEW_STATE / "model.ckpt-6",
  )
  assert len([name for name in loaded if "/Adam" in name]) == 12
  assert set(loaded.values()) == {0.0}
  # The second loss is that of an update with the loaded slots.
  compared = (4, compare.EXACT) if optimizers == "exact" else (2, compare.STOCK)
  assert_next_losses(legacy.run, outcome.run, *compared)


def assert_next_losses(expected, found, steps, tolerance):
  losses = expected.losses[:steps], found.losses[:steps]
  assert len(losses[0]) == steps
  assert compare.loss_difference(*losses) <= tolerance


@pytest.mark.parametrize("order", [(0, 1), (1, 0)], ids=["2.15 to 2.21", "2.21 to 2.15"])
@pytest.mark.parametrize("optimizers", ["stock", "exact"])
def test_checkpoint_continues_under_the_other_version(
  lab, target, target_pythons, stopped_at_6, order, optimizers, programs
):
  legacy_scratch, legacy, args = stopped_at_6
  first, second = (target_pythons[number] for number in order)
  path = programs[optimizers][target]
  scratch, begun = lab.from_first(path, [*args, "6"], first, legacy_scratch)
  assert begun.run.saved_steps == [0, 4, 6]
  copy = lab.scratch(scratch)
  outcome = lab.start(path, [*args, "10"], scratch, second, model_dir="model_dir")
  assert outcome.run.resumed_at == [6]
  assert outcome.run.saved_steps == [6, 10]
  assert outcome.on_disk == [0, 4, 6, 10]
  if optimizers == "exact":
    assert_next_losses(legacy.run, outcome.run, 4, compare.EXACT)
  else:
    stayed = lab.start(path, [*args, "10"], copy, first, model_dir="model_dir")
    assert_next_losses(stayed.run, outcome.run, 2, compare.STOCK)


def test_shuffled_program_trains_to_the_end_with_the_same_steps(lab, target, python):
  # Without the switches for the comparison: as a user would start it, in a temporary directory.
  _, legacy = lab.legacy(BEFORE, [], seed=None)
  scratch = lab.scratch()
  outcome = lab.start(harness.after(NAME, target), [], scratch, python)
  assert outcome.run.saved_steps == legacy.run.saved_steps
  assert outcome.on_disk == legacy.on_disk
  assert os.path.relpath(outcome.run.model_dir, scratch.cwd) == os.path.join("tmp", "dir1")
