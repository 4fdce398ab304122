"""Losses and weights of the fault_tolerance program, migrated against the real Estimator."""

import harness

from migrator.verify import compare, directories

NAME = "fault_tolerance"
BEFORE = harness.before(NAME)
ARGUMENTS = ("--model_dir", "{model_dir}", *harness.QUIET, "--max_steps", "30", "--no_interrupt")
ARGUMENTS += ("--save_checkpoints_steps", "4")


def test_losses_over_20_of_30_steps_with_stock_optimizers(lab, target, python, seeds, programs):
  def difference(seed):
    legacy_scratch, legacy = lab.legacy(BEFORE, ARGUMENTS, seed)
    _, outcome = lab.from_first(programs["stock"][target], ARGUMENTS, python, legacy_scratch)
    assert len(legacy.run.losses) == len(outcome.run.losses) == 30
    assert legacy.run.saved_steps == [0, 4, 8, 12, 16, 20, 24, 28, 30]
    assert outcome.run.saved_steps == legacy.run.saved_steps
    assert outcome.on_disk == legacy.on_disk
    return compare.loss_difference(legacy.run.losses[:20], outcome.run.losses[:20])

  harness.agrees_with_a_seed(seeds, difference)


def test_losses_and_weights_over_30_steps_with_exact_optimizers(
  lab, target, python, seeds, programs
):
  legacy_scratch, legacy = lab.legacy(BEFORE, ARGUMENTS, seeds[0])
  scratch, outcome = lab.from_first(programs["exact"][target], ARGUMENTS, python, legacy_scratch)
  assert len(outcome.run.losses) == 30
  assert compare.loss_difference(legacy.run.losses, outcome.run.losses) <= compare.EXACT
  apart = lab.weights_apart(
    legacy_scratch.cwd / "model_dir" / "model.ckpt-30",
    scratch.cwd / "model_dir" / directories.NEW_STATE / "model.ckpt-30",
  )
  assert max(apart.values()) <= compare.EXACT, apart
