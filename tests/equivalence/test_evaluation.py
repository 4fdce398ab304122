"""evaluate() and predict() use the newest checkpoint, never what happens to be in memory."""

import pathlib

import harness
import pytest

from migrator.verify import compare, directories

BEFORE = pathlib.Path(__file__).with_name("fixtures") / "evaluating.py"
INTERRUPTED = ["--interrupt_at", "6"]


@pytest.fixture(scope="module")
def programs(tmp_path_factory):
  """The program, rewritten, by target."""
  directory = tmp_path_factory.mktemp("evaluating")
  return {
    target: harness.rewrite(BEFORE, directory / target, "--target", target)
    for target in ("fit", "loop")
  }


def assert_same_results(legacy, outcome):
  for name in ("evaluations", "predictions"):
    expected, found = getattr(legacy.run, name), getattr(outcome.run, name)
    assert expected
    assert not compare.result_fault(expected, found, compare.STOCK)


def test_predict_after_the_exception_uses_the_newest_checkpoint(lab, target, python, programs):
  legacy_scratch, legacy = lab.legacy(BEFORE, INTERRUPTED)
  # Six steps were made, but the newest checkpoint is that of step 4.
  assert [step for step, _ in legacy.run.losses] == [1, 2, 3, 4, 5, 6]
  assert legacy.run.evaluations[0]["global_step"] == ["int64", 4]
  _, outcome = lab.from_first(programs[target], INTERRUPTED, python, legacy_scratch)
  assert [step for step, _ in outcome.run.losses] == [1, 2, 3, 4, 5, 6]
  assert_same_results(legacy, outcome)


@pytest.fixture(scope="module")
def legacy_finished(lab):
  """A legacy run, and the finished program started again."""
  scratch, first = lab.legacy(BEFORE, [])
  again = lab.start(BEFORE, [], lab.scratch(scratch), legacy=True, model_dir="model_dir")
  return scratch, first, again


def test_finished_program_started_again_evaluates_as_before(
  lab, target, python, programs, legacy_finished
):
  legacy_scratch, legacy, legacy_again = legacy_finished
  scratch, first = lab.from_first(programs[target], [], python, legacy_scratch)
  again = lab.start(programs[target], [], scratch, python, model_dir="model_dir")
  assert_same_results(legacy, first)
  for run in (legacy_again.run, again.run):
    assert (run.losses, run.saved_steps) == ([], [])
  assert again.run.evaluations == first.run.evaluations
  assert again.run.predictions == first.run.predictions
  assert_same_results(legacy_again, again)


def test_evaluates_the_checkpoint_of_a_finished_legacy_program(
  lab, target, python, programs, legacy_finished
):
  legacy_scratch, legacy, _ = legacy_finished
  scratch = lab.scratch(legacy_scratch)
  args = ["--no_training"]
  outcome = lab.start(programs[target], args, scratch, python, model_dir="model_dir")
  assert outcome.run.losses == []
  assert_same_results(legacy, outcome)
  assert outcome.changed == []


def test_evaluates_initial_weights_where_there_is_no_checkpoint(lab, target, python, programs):
  args = ["--no_training"]
  _, legacy = lab.legacy(BEFORE, args)
  outcome = lab.start(programs[target], args, lab.scratch(), python)
  # The initial weights are random: keys, types and the step are the same.
  for name in ("evaluations", "predictions"):
    expected, found = getattr(legacy.run, name), getattr(outcome.run, name)
    assert not compare.result_fault(expected, found, 0, values=False)
  assert legacy.run.evaluations[0]["global_step"] == ["int64", 0]
  assert outcome.run.evaluations[0]["global_step"] == ["int64", 0]
  assert "model_dir" in outcome.run.errors  # the warning names it
  assert directories.checkpoint_steps(pathlib.Path("model_dir")) == []
