"""The iris programs: policies by time, evaluations and predictions, against the real Estimator."""

import harness
import pytest

from migrator.verify import compare, directories

MODEL_DIRS = {
  "iris_policy": "models/iris",
  "iris_default_policy": "models/iris",
  "iris_temporary_dir": "tmp/dir1",
}
STEPS = ["--steps", "30"]


def assert_same_results(legacy, outcome, tolerance=compare.STOCK):
  """Compares all of evaluate() and predict(): keys, types and values."""
  assert legacy.run.evaluations
  assert len(legacy.run.predictions) == 3
  for name in ("evaluations", "predictions"):
    expected, found = getattr(legacy.run, name), getattr(outcome.run, name)
    assert not compare.result_fault(expected, found, tolerance)


@pytest.mark.parametrize("name", MODEL_DIRS)
def test_steps_losses_and_results(lab, name, target, python):
  model_dir = MODEL_DIRS[name]
  legacy_scratch, legacy = lab.legacy(harness.before(name), STEPS)
  _, outcome = lab.from_first(harness.after(name, target), STEPS, python, legacy_scratch, model_dir)
  assert legacy.run.saved_steps == [0, 30]  # 600 or 1200 seconds are not reached
  assert outcome.run.saved_steps == [0, 30]
  assert outcome.on_disk == legacy.on_disk == [0, 30]
  assert outcome.listed == legacy.listed
  assert compare.loss_difference(legacy.run.losses, outcome.run.losses) <= compare.STOCK
  assert_same_results(legacy, outcome)
  assert outcome.changed == []


def test_losses_over_30_steps(lab, target, python, seeds):
  legacy_path = harness.before("iris_policy")
  path = harness.after("iris_policy", target)

  def difference(seed):
    legacy_scratch, legacy = lab.legacy(legacy_path, STEPS, seed)
    _, outcome = lab.from_first(path, STEPS, python, legacy_scratch, "models/iris")
    assert len(outcome.run.losses) == 30
    return compare.loss_difference(legacy.run.losses, outcome.run.losses)

  harness.agrees_with_a_seed(seeds, difference)


@pytest.fixture(scope="module")
def legacy_again(lab):
  """A legacy run in the directory of a finished one."""
  scratch, _ = lab.legacy(harness.before("iris_policy"), STEPS)
  again = lab.scratch(scratch)
  return lab.start(
    harness.before("iris_policy"), STEPS, again, legacy=True, model_dir="models/iris"
  )


def test_started_in_the_legacy_directory_it_trains_as_many_steps_more(
  lab, target, python, legacy_again
):
  legacy_scratch, _ = lab.legacy(harness.before("iris_policy"), STEPS)
  scratch = lab.scratch(legacy_scratch)
  outcome = lab.start(
    harness.after("iris_policy", target), STEPS, scratch, python, model_dir="models/iris"
  )
  assert outcome.run.resumed_at == legacy_again.run.resumed_at == [30]
  assert outcome.run.saved_steps == legacy_again.run.saved_steps == [30, 60]
  assert compare.loss_difference(legacy_again.run.losses, outcome.run.losses) <= compare.STOCK
  assert_same_results(legacy_again, outcome)
  assert outcome.changed == []


@pytest.fixture(scope="module")
def v1_programs(tmp_path_factory):
  """iris_policy as TF1 understood it: the legacy program that says so, and the rewritten ones."""
  directory = tmp_path_factory.mktemp("v1")
  source = harness.before("iris_policy")
  legacy = directory / "legacy.py"
  text = source.read_text().replace("tf.estimator.DNN", "tf.compat.v1.estimator.DNN")
  assert text != source.read_text()
  legacy.write_text(text)
  options = ("--source-version", "1", "--target")
  return legacy, {
    target: harness.rewrite(source, directory / target, *options, target)
    for target in ("fit", "loop")
  }


def test_v1_flavour(lab, target, python, v1_programs):
  legacy_path, rewritten = v1_programs
  legacy_scratch, legacy = lab.legacy(legacy_path, STEPS)
  assert legacy.run.losses[0][1] > 50  # the sum over a batch of 100
  _, outcome = lab.from_first(rewritten[target], STEPS, python, legacy_scratch, "models/iris")
  assert outcome.run.saved_steps == legacy.run.saved_steps
  assert compare.loss_difference(legacy.run.losses, outcome.run.losses) <= compare.STOCK
  assert_same_results(legacy, outcome)


def test_checkpoint_of_the_other_flavour_stops_the_start(lab, target, python, v1_programs):
  legacy_scratch, _ = lab.legacy(harness.before("iris_policy"), STEPS)
  scratch = lab.scratch(legacy_scratch)
  before = directories.file_hashes(scratch.cwd / "models/iris")
  run = lab.start(v1_programs[1][target], STEPS, scratch, python, fails=True)
  assert "CheckpointError" in run.errors
  assert run.losses == run.saved_steps == []
  assert directories.file_hashes(scratch.cwd / "models/iris") == before


def test_changed_hidden_units_are_one_error_that_names_all(lab, target, python):
  legacy_scratch, _ = lab.legacy(harness.before("iris_default_policy"), STEPS)
  scratch = lab.scratch(legacy_scratch)
  before = directories.file_hashes(scratch.cwd / "models/iris")
  run = lab.start(harness.after("changed_hidden_units", target), STEPS, scratch, python, fails=True)
  assert run.losses == run.saved_steps == []
  (message,) = run.errors.split("errors.CheckpointError: ")[1:]
  assert "model.ckpt-30" in message
  shapes = {
    "dnn/hiddenlayer_0/kernel": ("[4, 10]", "[4, 20]"),
    "dnn/hiddenlayer_0/bias": ("[10]", "[20]"),
    "dnn/hiddenlayer_1/kernel": ("[10, 10]", "[20, 20]"),
    "dnn/hiddenlayer_1/bias": ("[10]", "[20]"),
    "dnn/logits/kernel": ("[10, 3]", "[20, 3]"),
  }
  for name, (old, new) in shapes.items():
    (line,) = [line for line in message.splitlines() if name in line and "Adagrad" not in line]
    assert old in line
    assert new in line
  assert directories.file_hashes(scratch.cwd / "models/iris") == before
  assert not (scratch.cwd / "models/iris" / directories.NEW_STATE).exists()
