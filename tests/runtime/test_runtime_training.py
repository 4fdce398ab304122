"""The loss and the weights of a migrated run, from the Estimator's own checkpoints."""

import hashlib
import os
import shutil

import jobs
import pytest
import tensorflow as tf
from migrated import Migrated, relative_difference, run_loop, weight_difference

STOCK_TOLERANCE = 1e-5
EXACT_TOLERANCE = 1e-6
WEIGHT_TOLERANCE = 1e-5
# Where the stock optimizer follows TF1; Momentum with TF1's slots needs the exact one.
STOCK = ["v1_adam", "v1_adagrad", "v1_sgd", "v1_rmsprop", "v2_adam", "v2_default", "v2_momentum"]
EXACT = ["v1_adam", "v1_adagrad", "v1_sgd", "v1_momentum", "v1_rmsprop", "v2_adam", "v2_default"]


def digests(directory):
  """Returns the digest of each file below a directory."""
  return {
    os.path.relpath(path, directory): hashlib.sha256(path.read_bytes()).hexdigest()
    for path in sorted(directory.rglob("*"))
    if path.is_file()
  }


def assert_same_trajectory(legacy, name, tmp_path, exact):
  directory = legacy.copy(name, tmp_path / "model", step=0)
  migrated = Migrated(legacy.job(name, directory), exact)
  result = migrated.train(max_steps=30)
  assert result["error"] is None
  difference = relative_difference(result["losses"], legacy.results(name)[0]["losses"])
  assert difference <= (EXACT_TOLERANCE if exact else STOCK_TOLERANCE)
  reader = tf.train.load_checkpoint(str(legacy.directory(name) / "model.ckpt-30"))
  assert weight_difference(migrated.backup.checkpoint, reader) <= WEIGHT_TOLERANCE


@pytest.mark.parametrize("name", STOCK)
def test_fit_with_the_stock_optimizer_follows_the_estimator(legacy, tmp_path, name):
  assert_same_trajectory(legacy, name, tmp_path, exact=False)


@pytest.mark.parametrize("name", ["v1_adam", "v1_adagrad", "v2_default"])
def test_fit_with_the_exact_optimizer_follows_the_estimator(legacy, tmp_path, name):
  assert_same_trajectory(legacy, name, tmp_path, exact=True)


@pytest.mark.parametrize("name", EXACT)
def test_loop_with_the_exact_optimizer_follows_the_estimator(legacy, name):
  prefix = str(legacy.directory(name) / "model.ckpt-0")
  losses, checkpoint = run_loop(legacy.job(name, ""), prefix, exact=True)
  assert relative_difference(losses, legacy.results(name)[0]["losses"]) <= EXACT_TOLERANCE
  reader = tf.train.load_checkpoint(str(legacy.directory(name) / "model.ckpt-30"))
  assert weight_difference(checkpoint, reader) <= WEIGHT_TOLERANCE


@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize("name", ["half_v1_adam", "half_v1_adagrad", "half_v2_adam"])
def test_goes_on_where_the_estimator_stopped(legacy, tmp_path, name, exact):
  directory = legacy.copy(f"{name}_at_6", tmp_path / "model")
  before = digests(directory)
  migrated = Migrated(legacy.job(name, directory), exact)
  assert migrated.backup.global_step == 6
  result = migrated.train(max_steps=10)
  assert result["saved"] == [6, 10]
  expected = legacy.results(name)[-1]["losses"]
  assert [step for step, _ in expected] == [7, 8, 9, 10]
  tolerance = EXACT_TOLERANCE if exact else STOCK_TOLERANCE
  assert relative_difference(result["losses"], expected) <= tolerance
  # The input began again at its first batch, as the Estimator's did (case 18).
  after = digests(directory)
  assert {path: after[path] for path in before} == before  # Case 59.
  new = {path.split(os.sep)[0] for path in set(after) - set(before)}
  assert all(name == "tf2" or name.startswith("events.") for name in new)


def test_slots_that_are_left_out_are_noticed(legacy, tmp_path):
  """The comparison above must be able to fail: without the slots the losses differ."""
  directory = legacy.copy("half_v1_adam_at_6", tmp_path / "model")
  migrated = Migrated(legacy.job("half_v1_adam", directory))
  for name, variable in migrated.backup.checkpoint.by_name.items():
    if name.endswith(("/Adam", "/Adam_1")):
      variable.assign(tf.zeros_like(variable))
  result = migrated.train(max_steps=10)
  expected = legacy.results("half_v1_adam")[-1]["losses"]
  assert relative_difference(result["losses"], expected) > 10 * STOCK_TOLERANCE


@pytest.mark.parametrize(
  ("optimizer", "slot", "exact_first"),
  [("adam", "Adam_1", False), ("adam", "Adam_1", True), ("adagrad", "Adagrad", True)],
)
def test_stock_and_exact_optimizer_read_each_others_checkpoints(
  tmp_path, optimizer, slot, exact_first
):
  job = jobs.job(tmp_path / "model", optimizer=optimizer)
  first = Migrated(job, exact=exact_first)
  first.train(max_steps=5)
  shutil.copytree(tmp_path / "model", tmp_path / "copy")
  second = Migrated({**job, "model_dir": str(tmp_path / "copy")}, exact=not exact_first)
  one, two = first.backup.checkpoint.by_name, second.backup.checkpoint.by_name
  assert one.keys() == two.keys()
  assert any(name.endswith("/" + slot) for name in two)
  for name in one:
    assert (one[name].numpy() == two[name].numpy()).all(), name
  losses = [program.train(max_steps=10)["losses"] for program in (first, second)]
  assert relative_difference(*losses) <= STOCK_TOLERANCE


def test_training_twice_restarts_the_input_and_keeps_the_state(legacy, tmp_path):
  """Case 18: `train` twice sees the first batches twice; case 60: the position is not restored."""
  job = legacy.job("half_v1_adam", legacy.copy("half_v1_adam", tmp_path / "model", step=0))
  migrated = Migrated(job)
  losses = migrated.train(max_steps=6)["losses"] + migrated.train(max_steps=10)["losses"]
  results = legacy.results("half_v1_adam")
  assert (
    relative_difference(losses, results[0]["losses"] + results[-1]["losses"]) <= STOCK_TOLERANCE
  )
