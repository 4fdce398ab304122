"""Programs with canned estimators: migrated against the real Estimator, from its first checkpoint."""

import canned_cases
import harness
import pytest

from migrator.verify import compare, directories


@pytest.fixture(scope="module")
def legacy_programs(tmp_path_factory):
  """The legacy program of each case."""
  directory = tmp_path_factory.mktemp("legacy")
  return {name: case.legacy(directory) for name, case in canned_cases.CASES.items()}


@pytest.mark.parametrize("name", canned_cases.CASES)
def test_does_what_the_estimator_did(lab, legacy_programs, name, target, python):
  case = canned_cases.CASES[name]
  scratch, legacy = lab.legacy(legacy_programs[name], case.arguments)
  path = harness.after(case.program, target)
  _, outcome = lab.from_first(path, case.arguments, python, scratch, case.model_dir)
  assert len(legacy.run.losses) >= 20
  assert compare.loss_difference(legacy.run.losses, outcome.run.losses) <= compare.STOCK
  assert outcome.run.saved_steps == legacy.run.saved_steps
  assert outcome.on_disk == legacy.on_disk
  assert outcome.listed == legacy.listed
  expected, found = legacy.run, outcome.run
  assert not compare.result_fault(expected.evaluations, found.evaluations, compare.STOCK)
  predictions = [canned_cases.stacked(run.predictions) for run in (expected, found)]
  assert not compare.result_fault(*predictions, compare.STOCK)
  assert outcome.changed == []
  if case.prints:
    assert outcome.run.output.splitlines()[-1:] == legacy.run.output.splitlines()[-1:]


WARM = ("--first_dir", "first", "--model_dir", canned_cases.MODEL_DIR, "--stage")


@pytest.fixture(scope="module")
def warm_started(lab):
  """The legacy runs of the warm start: (scratch after the first stage, outcome of the second)."""
  path = harness.before("canned_warm_start")
  scratch = lab.scratch()
  lab.start(path, [*WARM, "first"], scratch, legacy=True)
  return scratch, lab.start(path, [*WARM, "second"], lab.scratch(scratch), legacy=True)


def test_starts_with_the_weights_that_an_estimator_has_left(lab, target, python, warm_started):
  scratch, legacy = warm_started
  path = harness.after("canned_warm_start", target)
  outcome = lab.start(path, [*WARM, "second"], lab.scratch(scratch), python)
  assert len(legacy.run.losses) == 20
  assert compare.loss_difference(legacy.run.losses, outcome.run.losses) <= compare.STOCK
  assert outcome.run.saved_steps == legacy.run.saved_steps == [0, 10, 20]
  assert not compare.result_fault(legacy.run.evaluations, outcome.run.evaluations, compare.STOCK)


KILLED = [
  ("census_wide_deep", "fit", "2.21"),
  ("census_wide_deep", "loop", "2.15"),
  ("babyweight", "fit", "2.15"),
  ("babyweight", "loop", "2.21"),
]


def killed_and_restarted(lab, path, case, first, python=None, legacy=False):
  """Returns the outcomes: killed after step 13, started again, started when it has ended."""
  scratch = lab.scratch()
  directories.start_from(first, scratch.cwd / case.model_dir)
  keywords = {"python": python, "legacy": legacy, "model_dir": case.model_dir}
  killed = lab.start(path, case.arguments, scratch, kill_at=13, **keywords)
  assert killed.run.killed
  return [killed, *(lab.start(path, case.arguments, scratch, **keywords) for _ in range(2))]


@pytest.fixture(scope="module")
def legacy_restarts():
  return {}


@pytest.mark.parametrize(
  ("name", "target", "python"), KILLED, indirect=["target", "python"], ids=lambda value: value
)
def test_resumes_after_a_kill_and_evaluates_as_the_estimator_did(
  lab, legacy_programs, legacy_restarts, name, target, python
):
  case = canned_cases.CASES[name]
  scratch, _ = lab.legacy(legacy_programs[name], case.arguments)
  if name not in legacy_restarts:
    runs = killed_and_restarted(lab, legacy_programs[name], case, scratch.first, legacy=True)
    legacy_restarts[name] = runs
  path = harness.after(case.program, target)
  migrated = killed_and_restarted(lab, path, case, scratch.first, python)
  for found, expected in zip(migrated, legacy_restarts[name]):
    assert found.run.resumed_at == expected.run.resumed_at
    assert found.run.saved_steps == expected.run.saved_steps
    assert found.on_disk == expected.on_disk
    if expected.run.losses:
      difference = compare.loss_difference(expected.run.losses, found.run.losses)
      assert difference <= compare.STOCK
    assert not compare.result_fault(expected.run.evaluations, found.run.evaluations, compare.STOCK)
