"""Programs with their own model_fn: migrated against the real Estimator, from its first checkpoint."""

import canned_cases
import harness
import model_fn_cases
import pytest

from migrator.verify import compare, directories

LEGACY = [name for name, case in model_fn_cases.CASES.items() if not case.recorded]
MIGRATED = [(name, form) for name in LEGACY for form in model_fn_cases.CASES[name].forms]


@pytest.fixture(scope="module")
def legacy_programs(tmp_path_factory):
  """The legacy program of each case."""
  directory = tmp_path_factory.mktemp("legacy")
  return {name: model_fn_cases.CASES[name].legacy(directory) for name in LEGACY}


def bound(form):
  """How far losses may be apart, relatively: Keras' own optimizers round otherwise than TF1's."""
  return compare.EXACT if form == "hosted" else compare.STOCK


@pytest.mark.parametrize(("name", "form"), MIGRATED)
def test_does_what_the_estimator_did(lab, lab_of_same_kernels, legacy_programs, name, form, python):
  case = model_fn_cases.CASES[name]
  # A hosted program has the graph that it had.
  lab = lab_of_same_kernels if form == "hosted" else lab
  scratch, legacy = lab.legacy(legacy_programs[name], case.arguments)
  _, outcome = lab.from_first(case.after(form), case.arguments, python, scratch)
  assert len(legacy.run.losses) >= 20
  difference = compare.loss_difference(legacy.run.losses, outcome.run.losses)
  assert difference is not None and difference <= bound(form)
  assert outcome.run.saved_steps == legacy.run.saved_steps
  assert outcome.on_disk == legacy.on_disk
  assert outcome.listed == legacy.listed
  assert legacy.run.evaluations
  expected, found = legacy.run, outcome.run
  assert not compare.result_fault(expected.evaluations, found.evaluations, bound(form))
  predictions = [canned_cases.stacked(run.predictions) for run in (expected, found)]
  assert not compare.result_fault(*predictions, bound(form))
  assert outcome.changed == []
  if case.prints:
    assert outcome.run.output.splitlines()[-1:] == legacy.run.output.splitlines()[-1:]


KILLED = [
  ("mlp", "loop", "2.21"),
  ("cnn", "hosted", "2.21"),
  ("cnn", "loop", "2.15"),
  ("ema", "hosted", "2.15"),
]


def killed_and_restarted(lab, path, case, first, python=None, legacy=False):
  """Returns the outcomes: killed after step 13, started again, started when it has ended."""
  scratch = lab.scratch()
  directories.start_from(first, scratch.cwd / model_fn_cases.MODEL_DIR)
  keywords = {"python": python, "legacy": legacy, "model_dir": model_fn_cases.MODEL_DIR}
  killed = lab.start(path, case.arguments, scratch, kill_at=13, **keywords)
  assert killed.run.killed
  return [killed, *(lab.start(path, case.arguments, scratch, **keywords) for _ in range(2))]


@pytest.fixture(scope="module")
def legacy_restarts():
  return {}


@pytest.mark.parametrize(
  ("name", "form", "python"), KILLED, indirect=["python"], ids=lambda value: value
)
def test_resumes_after_a_kill_as_the_estimator_did(
  lab, legacy_programs, legacy_restarts, name, form, python
):
  case = model_fn_cases.CASES[name]
  scratch, _ = lab.legacy(legacy_programs[name], case.arguments)
  if name not in legacy_restarts:
    runs = killed_and_restarted(lab, legacy_programs[name], case, scratch.first, legacy=True)
    legacy_restarts[name] = runs
  migrated = killed_and_restarted(lab, case.after(form), case, scratch.first, python)
  for found, expected in zip(migrated, legacy_restarts[name]):
    assert found.run.resumed_at == expected.run.resumed_at
    assert found.run.saved_steps == expected.run.saved_steps
    assert found.on_disk == expected.on_disk
    if expected.run.losses:
      assert compare.loss_difference(expected.run.losses, found.run.losses) <= bound(form)
    assert not compare.result_fault(expected.run.evaluations, found.run.evaluations, bound(form))


FIRST_STAGE = ("--first_dir", "first", "--model_dir", model_fn_cases.MODEL_DIR, "--stage")


@pytest.fixture(scope="module")
def initialized(lab):
  """The legacy runs of model_fn_init: (scratch after the first stage, outcome of the second)."""
  path = harness.before("model_fn_init")
  scratch = lab.scratch()
  lab.start(path, [*FIRST_STAGE, "first"], scratch, legacy=True)
  return scratch, lab.start(path, [*FIRST_STAGE, "second"], lab.scratch(scratch), legacy=True)


def test_begins_with_the_weights_of_another_model(lab, python, initialized):
  scratch, legacy = initialized
  path = harness.after("model_fn_init", "hosted")
  outcome = lab.start(path, [*FIRST_STAGE, "second"], lab.scratch(scratch), python)
  assert len(legacy.run.losses) == 20
  assert compare.loss_difference(legacy.run.losses, outcome.run.losses) <= compare.EXACT
  assert outcome.run.saved_steps == legacy.run.saved_steps == [0, 10, 20]
  assert not compare.result_fault(legacy.run.evaluations, outcome.run.evaluations, compare.EXACT)
