"""kill -9 after a step of the fault_tolerance program: it resumes where the Estimator does."""

import harness
import pytest

from migrator.verify import compare, directories

NAME = "fault_tolerance"
BEFORE = harness.before(NAME)
KILLED_AT = (2, 5, 8)


def start_again_and_again(lab, path, args, scratch, python=None, legacy=False):
  """Kills a program three times, lets it end, and starts the finished program once more."""
  keywords = {"python": python, "legacy": legacy, "model_dir": "model_dir"}
  outcomes = [lab.start(path, args, scratch, kill_at=step, **keywords) for step in KILLED_AT]
  return outcomes + [lab.start(path, args, scratch, **keywords) for _ in range(2)]


@pytest.fixture(scope="module")
def legacy_chains():
  return {}


@pytest.mark.parametrize(("cadence", "optimizers"), [(1, "stock"), (3, "exact")])
def test_resumes_like_the_estimator_and_a_finished_program_does_nothing(
  lab, target, python, cadence, optimizers, programs, legacy_chains
):
  args = ["--model_dir", "{model_dir}", *harness.QUIET, "--no_interrupt"]
  args += ["--save_checkpoints_steps", str(cadence)]
  legacy_scratch, _ = lab.legacy(BEFORE, args)
  if cadence not in legacy_chains:
    scratch = lab.scratch()
    directories.start_from(legacy_scratch.first, scratch.cwd / "model_dir")
    legacy_chains[cadence] = start_again_and_again(lab, BEFORE, args, scratch, legacy=True)
  scratch = lab.scratch()
  directories.start_from(legacy_scratch.first, scratch.cwd / "model_dir")
  chain = start_again_and_again(lab, programs[optimizers][target], args, scratch, python)

  legacy = legacy_chains[cadence]
  assert [outcome.run.killed for outcome in legacy] == [True, True, True, False, False]
  resumed = {1: [[0], [2], [5], [8], []], 3: [[0], [0], [3], [6], []]}
  assert [outcome.run.resumed_at for outcome in legacy] == resumed[cadence]
  for found, expected in zip(chain, legacy):
    assert found.run.killed == expected.run.killed
    assert found.run.resumed_at == expected.run.resumed_at
    assert found.run.saved_steps == expected.run.saved_steps
    assert found.on_disk == expected.on_disk
    assert found.changed == []
    if optimizers == "exact":
      assert compare.loss_difference(expected.run.losses, found.run.losses) <= compare.EXACT
  finished = chain[-1].run
  assert (finished.losses, finished.saved_steps) == ([], [])
