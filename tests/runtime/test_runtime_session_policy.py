"""The code that is proposed for a session program: its checkpoints are those of the session."""

import shutil

import numpy as np
import pytest
import tensorflow as tf
from session_programs import (
  Interruption,
  load,
  program,
  run_migrated,
  run_session,
  run_without_eager,
)

MONITORED = """\
  while not session.should_stop():
    session.run(train_op)
"""
STOP = "tf.train.StopAtStepHook(last_step=LAST)"


def monitored(arguments, before="", loop=MONITORED):
  head = (
    f"with tf.train.MonitoredTrainingSession(checkpoint_dir=DIRECTORY, {arguments}) as session:"
  )
  return program(f"{before}\n{head}\n{loop}")


def saver(arguments, save, last="", every=3):
  """A loop that resumes, and saves at every third step."""
  text = f"""\
saver = tf.train.Saver({arguments})
start = tf.train.latest_checkpoint(DIRECTORY)
if start:
  saver.restore(session, start)
for i in range(LAST):
  session.run(train_op)
  if i % {every} == 2:
    {save}
{last}
"""
  return program(text, session=True)


STEP_PATH = 'saver.save(session, os.path.join(DIRECTORY, "model.ckpt"), global_step=global_step)'
HOOK = (
  "hook = tf.train.CheckpointSaverHook(\n"
  "    DIRECTORY, save_steps=3, saver=tf.train.Saver(max_to_keep=2))"
)
SCAFFOLD = "scaffold = tf.train.Scaffold(saver=tf.train.Saver(max_to_keep=2))"
# What it is -> the program, and LAST in each of its runs.
POLICIES = {
  "every 4 steps": (monitored(f"save_checkpoint_steps=4, hooks=[{STOP}]"), (10, 10, 15)),
  "the default": (monitored(f"hooks=[{STOP}]"), (7, 12)),
  "a number of steps more": (
    monitored("save_checkpoint_steps=4, hooks=[tf.train.StopAtStepHook(num_steps=LAST)]"),
    (6, 6),
  ),
  "the Saver of the Scaffold keeps two": (
    monitored(f"save_checkpoint_steps=2, scaffold=scaffold, hooks=[{STOP}]", SCAFFOLD),
    (9, 12),
  ),
  "a hook saves and the session does not": (
    monitored(f"save_checkpoint_secs=None, hooks=[hook, {STOP}]", HOOK),
    (10, 14),
  ),
  "two runs in a round": (
    monitored(
      f"save_checkpoint_steps=4, hooks=[{STOP}]",
      loop=MONITORED + "    session.should_stop() or session.run(bias)\n",
    ),
    (10, 13),
  ),
  "a Saver that keeps two": (saver("max_to_keep=2", STEP_PATH), (10, 9)),
  "a Saver that keeps all": (saver("max_to_keep=0", STEP_PATH), (10, 9)),
  "a Saver that saves the last step again": (
    saver("max_to_keep=3", STEP_PATH, STEP_PATH),
    (9, 9),
  ),
  "a Saver with numbers of its own": (
    saver(
      "max_to_keep=3",
      'saver.save(session, os.path.join(DIRECTORY, "model.ckpt"), global_step=i)',
    ),
    (15,),
  ),
}


@pytest.mark.parametrize("what", POLICIES)
def test_the_proposed_code_saves_keeps_and_resumes_as_the_session_did(what, tmp_path):
  source, runs = POLICIES[what]
  (tmp_path / "old").mkdir()
  (tmp_path / "new").mkdir()
  for last in runs:
    old = run_session(source, tmp_path / "old", LAST=last)
    new = run_migrated(source, tmp_path / "new", LAST=last)
    assert new.saved == old.saved
    assert new.files == old.files
    assert new.listed == old.listed
  assert len(old.saved) > 1, "nothing is compared"


def test_after_an_exception_the_last_step_is_not_saved(tmp_path):
  loop = MONITORED + "    if session.run(global_step) == 6: raise Interruption\n"
  source = monitored(f"save_checkpoint_steps=4, hooks=[{STOP}]", loop=loop)
  (tmp_path / "old").mkdir()
  names = {"LAST": 10, "Interruption": Interruption}
  old = run_session(source, tmp_path / "old", **names)
  new = run_migrated(source, tmp_path / "new", interrupt_at=6, LAST=10)
  assert old.error == new.error == "Interruption"
  assert new.saved == old.saved == ["model.ckpt-0", "model.ckpt-4"]
  assert run_migrated(source, tmp_path / "new", LAST=10).saved == ["model.ckpt-4"] + [
    f"model.ckpt-{n}" for n in (8, 10)
  ]


@pytest.mark.parametrize("what", ["every 4 steps", "a Saver that keeps two"])
def test_the_proposed_code_goes_on_from_the_checkpoint_of_the_session(what, tmp_path):
  source, _ = POLICIES[what]
  (tmp_path / "old").mkdir()
  run_session(source, tmp_path / "old", LAST=9)
  shutil.copytree(tmp_path / "old", tmp_path / "new")
  old = run_session(source, tmp_path / "old", LAST=15)
  new = run_migrated(source, tmp_path / "new", LAST=15)
  assert new.saved == old.saved
  # The Saver has not saved the last step: both end at the same one.
  newest = tf.train.latest_checkpoint(str(tmp_path / "new" / "tf2"))
  reader = tf.train.load_checkpoint(newest)
  (key,) = [k for k in reader.get_variable_to_shape_map() if k.startswith("dense.Skernel/.ATTR")]
  np.testing.assert_allclose(reader.get_tensor(key), old.weights, rtol=1e-5)
  # The directory of the session is as it was.
  before = {p.name for p in (tmp_path / "new").iterdir()} - {"tf2"}
  assert not any(name.endswith("-15.index") for name in before)


def test_a_step_that_is_counted_twice_goes_on_counting_twice(tmp_path):
  source = monitored(f"save_checkpoint_steps=4, hooks=[{STOP}]").replace(
    "global_step=global_step)  # graph\n",
    "global_step=global_step)  # graph\n"
    "train_op = tf.group(train_op, tf.assign_add(global_step, 1))  # graph\n",
  )
  (tmp_path / "old").mkdir()
  old = run_session(source, tmp_path / "old", LAST=11)
  new = run_migrated(source, tmp_path / "new", per_batch=2, LAST=11)
  assert new.saved == old.saved
  assert old.saved[-1] == "model.ckpt-12"


def test_without_a_list_nothing_is_deleted(tmp_path):
  path = STEP_PATH.replace("global_step)", "global_step, write_state=False)")
  source = saver("max_to_keep=1", path)
  (tmp_path / "old").mkdir()
  old = run_session(source, tmp_path / "old", LAST=9)
  new = run_migrated(source, tmp_path / "new", LAST=9)
  assert new.files == old.files == ["model.ckpt-3", "model.ckpt-6", "model.ckpt-9"]
  assert new.listed == old.listed == []


def test_a_checkpoint_without_number_is_the_only_one(tmp_path):
  source = saver("", 'saver.save(session, os.path.join(DIRECTORY, "model.ckpt"))')
  (tmp_path / "old").mkdir()
  old = run_session(source, tmp_path / "old", LAST=9)
  new = run_migrated(source, tmp_path / "new", LAST=9)
  assert old.files == ["model.ckpt"]
  assert new.files == ["model.ckpt-9"]
  assert new.saved == ["model.ckpt-3", "model.ckpt-6", "model.ckpt-9"]
  # It resumes, as the session program did.
  old = run_session(source, tmp_path / "old", LAST=3)
  new = run_migrated(source, tmp_path / "new", LAST=3)
  assert new.files == ["model.ckpt-12"]
  np.testing.assert_allclose(new.weights, old.weights, rtol=1e-5)


def test_a_supervisor_recovers_what_an_earlier_one_saved(tmp_path):
  source = program(
    """
    supervisor = tf.train.Supervisor(
        logdir=DIRECTORY, save_model_secs=0, saver=tf.train.Saver(max_to_keep=2))  # graph
    with supervisor.managed_session() as session:
      for i in range(LAST):
        session.run(train_op)
        if i % 3 == 2:
          supervisor.saver.save(session, supervisor.save_path, global_step=global_step)
    """
  )
  (tmp_path / "old").mkdir()
  runs = (10, 9)
  outcomes = run_without_eager(source, tmp_path / "old", runs)
  for last, outcome in zip(runs, outcomes):
    new = run_migrated(source, tmp_path / "new", LAST=last)
    assert [new.saved, new.files, new.listed] == outcome
  assert outcomes[-1][1] == ["model.ckpt-15", "model.ckpt-18"]


RESTORING = {
  "a SingularMonitoredSession": (
    "with tf.train.SingularMonitoredSession(checkpoint_dir=DIRECTORY) as session:\n"
    "  found = session.run(kernel)\n"
  ),
  "a session of a ChiefSessionCreator": (
    'creator = tf.train.ChiefSessionCreator(checkpoint_filename_with_path=DIRECTORY + "/model.ckpt-4")\n'
    "with tf.train.MonitoredSession(session_creator=creator) as session:\n"
    "  found = session.run(kernel)\n"
  ),
  "a Saver": (
    "saver = tf.train.Saver()\n"
    "with tf.Session() as session:\n"
    "  saver.restore(session, tf.train.latest_checkpoint(DIRECTORY))\n"
    "  found = session.run(kernel)\n"
  ),
  "a session that saves nothing": (
    "with tf.train.MonitoredTrainingSession(\n"
    "    checkpoint_dir=DIRECTORY, save_checkpoint_secs=None) as session:\n"
    "  found = session.run(kernel)\n"
  ),
}


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
  """The directory of a session that has saved the steps 0, 4, 8 and 9."""
  directory = tmp_path_factory.mktemp("trained")
  run_session(POLICIES["every 4 steps"][0], directory, LAST=9)
  return directory


@pytest.mark.parametrize("what", RESTORING)
def test_a_program_that_only_restores_reads_the_same_weights(what, trained):
  found = []
  source = program(RESTORING[what])
  files = sorted(p.name for p in trained.iterdir() if "events" not in p.name)
  run_session(source + "report(found)\n", trained, report=found.append)
  np.testing.assert_array_equal(load(source, trained), found[0])
  assert files == sorted(p.name for p in trained.iterdir() if "events" not in p.name)
  assert not np.array_equal(found[0], np.ones([2, 1]))
