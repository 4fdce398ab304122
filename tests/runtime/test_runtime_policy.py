"""When BackupAndRestore saves and what it keeps, against the real Estimator and Saver."""

import time

import pytest
import tensorflow as tf
from migrated import Migrated
from observed import steps_on_disk

from migrator.runtime import CheckpointManager
from migrator.runtime.policy import Timer

COMPARED = ("saved", "files", "listed")


def assert_same_steps(legacy, name, tmp_path):
  job = legacy.job(name, tmp_path / "model")
  results = Migrated(job).run()
  for call, result, expected in zip(job["calls"], results, legacy.results(name)):
    for key in COMPARED:
      assert result.get(key) == expected.get(key), (call, key)
    assert len(result.get("losses", ())) == len(expected.get("losses", ())), call
    if expected.get("error"):
      assert result["error"] == expected["error"], call


@pytest.mark.parametrize("every", [1, 3, 4])
def test_saves_at_the_cadence_of_the_estimator(legacy, tmp_path, every):
  assert_same_steps(legacy, f"every_{every}", tmp_path)


def test_default_policy_saves_first_and_last(legacy, tmp_path):  # Case 62.
  assert_same_steps(legacy, "default_policy", tmp_path)
  assert legacy.results("default_policy")[0]["saved"] == [0, 10]


def test_chain_of_resumed_runs_with_steps_max_steps_and_exhausted_input(legacy, tmp_path):
  # Cases 25 and 63; the last call lowers keep_checkpoint_max.
  assert_same_steps(legacy, "chain", tmp_path)


@pytest.mark.parametrize("keep", [0, None, 2])
def test_keep_checkpoint_max(legacy, tmp_path, keep):  # Case 20.
  assert_same_steps(legacy, f"keep_{keep}", tmp_path)


@pytest.mark.parametrize("every", [1, 4])
def test_interrupted_training_goes_on_at_the_last_checkpoint(legacy, tmp_path, every):
  assert_same_steps(legacy, f"interrupted_{every}", tmp_path)


def test_request_to_stop_saves_the_last_step(legacy, tmp_path):
  assert_same_steps(legacy, "stopped", tmp_path)


def test_nan_loss_raises_after_the_step_was_saved(legacy, tmp_path):
  assert_same_steps(legacy, "nan", tmp_path)
  assert legacy.results("nan")[0]["error"][0] == "NanLossDuringTrainingError"


def test_nan_loss_of_the_last_step_is_not_saved(legacy, tmp_path):
  assert_same_steps(legacy, "nan_at_the_end", tmp_path)


def test_without_checkpoints_each_session_starts_from_the_initial_weights(legacy, tmp_path):
  assert_same_steps(legacy, "off", tmp_path)
  job = legacy.job("off", tmp_path / "again")
  first, second, evaluation = Migrated(job).run()
  assert first["losses"][:2] == second["losses"]
  assert evaluation["values"]["global_step"] == 0


def test_a_cadence_of_zero_saves_nothing(legacy, tmp_path):
  assert_same_steps(legacy, "zero", tmp_path)


def test_bad_arguments_have_the_messages_of_the_estimator(legacy, tmp_path):
  job = legacy.job("arguments", tmp_path / "model")
  results = Migrated(job).run()
  for call, result, expected in zip(job["calls"], results, legacy.results("arguments")):
    assert expected["error"] is not None, call
    assert result["error"] == expected["error"], call


class Clock:
  """A clock that only moves when told to."""

  def __init__(self, monkeypatch):
    # Files are written now, so that is when the clock starts.
    self.now = time.time()
    monkeypatch.setattr(time, "time", lambda: self.now)


@pytest.mark.parametrize(
  ("steps", "secs", "durations"),
  [(None, 10, [4, 4, 4, 11, 1, 9, 0, 30, 10]), (3, None, [1] * 10), (None, 1, [0.25] * 12)],
)
def test_timer_is_due_when_the_estimators_was(monkeypatch, steps, secs, durations):
  clock = Clock(monkeypatch)
  timer = Timer(steps, secs)
  reference = tf.compat.v1.train.SecondOrStepTimer(every_secs=secs, every_steps=steps)
  due, expected = [], []
  for step, duration in enumerate(durations):
    for target, one, mark in (
      (due, timer.due, timer.mark),
      (expected, reference.should_trigger_for_step, reference.update_last_triggered_step),
    ):
      if one(step):
        mark(step)
        target.append(step)
    clock.now += duration
  assert due == expected


@pytest.mark.parametrize("keep", [1, 2, 3])
@pytest.mark.parametrize("hours", [1, 2.5])
def test_keep_checkpoint_every_n_hours_as_the_saver_did(tmp_path, monkeypatch, keep, hours):
  clock = Clock(monkeypatch)
  step = tf.Variable(0, dtype=tf.int64)
  manager = CheckpointManager(
    tf.train.Checkpoint(step=step),
    str(tmp_path / "new"),
    step_counter=step,
    save_checkpoints_steps=1,
    keep_checkpoint_max=keep,
    keep_checkpoint_every_n_hours=hours,
  )
  # The Saver needs a graph and the manager none: both count from the same time, one after the other.
  start, old, new = clock.now, [], []
  (tmp_path / "old").mkdir()
  with tf.Graph().as_default(), tf.compat.v1.Session() as session:
    variable = tf.compat.v1.get_variable("v", shape=[])
    saver = tf.compat.v1.train.Saver(
      [variable], max_to_keep=keep, keep_checkpoint_every_n_hours=hours
    )
    session.run(variable.initializer)
    for i in range(24):
      clock.now += 1300 + 700 * (i % 3)
      saver.save(session, str(tmp_path / "old" / "model.ckpt"), global_step=i)
      old.append(steps_on_disk(tmp_path / "old"))
  clock.now = start
  for i in range(24):
    clock.now += 1300 + 700 * (i % 3)
    manager.save(checkpoint_number=i)
    new.append(steps_on_disk(tmp_path / "new"))
  assert new == old
  assert len(old[-1]) > keep
