"""Profiles: of the steps that the hook took, each in a directory of its own."""

import re

import pytest
import tensorflow as tf
from callback_hosts import HOSTS
from hook_sessions import Clock, with_hooks

from migrator import runtime

ROWS = {
  "every step": ({"save_steps": 1}, {"losses": [0.5] * 3}),
  "every 3 steps": ({"save_steps": 3}, {"losses": [0.5] * 7}),
  "every 3 steps, resumed at 4": ({"save_steps": 3}, {"losses": [0.5] * 8, "first": 4}),
  "every 4 seconds": ({"save_secs": 4}, {"losses": [0.5] * 7}),
  "every 2 steps, another stops": ({"save_steps": 2}, {"stop_at": 4}),
}


@pytest.fixture(autouse=True)
def _clean_process():
  """Closes the event files; what Keras would forget besides takes longer than the tests here."""
  yield
  tf.compat.v1.summary.FileWriterCache.clear()


def profiled(directory):
  """Returns the steps of which there is a profile."""
  paths = directory.glob("timeline-*/plugins/profile/*/*.xplane.pb")
  assert all(path.stat().st_size > 0 for path in directory.glob("timeline-*/plugins/profile/*/*"))
  return sorted(int(path.relative_to(directory).parts[0].partition("-")[2]) for path in paths)


@pytest.mark.parametrize(("host", "row"), [("fit", "every 3 steps"), *(("loop", r) for r in ROWS)])
def test_profiles_the_steps_of_the_hook(monkeypatch, tmp_path, host, row):
  arguments, training = ROWS[row]
  clock = Clock(monkeypatch)
  old, new = tmp_path / "old", tmp_path / "new"
  with tf.Graph().as_default():  # It opens an event file.
    hook = tf.compat.v1.train.ProfilerHook(output_dir=str(old), **arguments)
  expected = with_hooks(clock, [hook], **training)
  clock.reset()
  callback = runtime.Profiler(output_dir=str(new), **arguments)
  seen = HOSTS[host](clock, tmp_path / "model").train([callback], **training)
  steps = sorted(int(re.search(r"-(\d+)\.json", p.name).group(1)) for p in old.glob("*.json"))
  assert profiled(new) == steps != []
  lines = [line.replace(str(old), str(new)).replace(".json", "") for line in expected.log]
  assert seen == expected._replace(log=lines)


def test_a_second_profiler_says_what_it_does_not_profile(monkeypatch, tmp_path):
  loop = HOSTS["loop"](Clock(monkeypatch), tmp_path)
  callbacks = [runtime.Profiler(n, output_dir=str(tmp_path / str(n))) for n in (2, 3)]
  seen = loop.train(callbacks, losses=[0.5] * 9)
  assert seen.error is None
  # Two profilers of a session got on with one another; of these the first one wins.
  assert profiled(tmp_path / "2") == [2, 4, 6, 8]
  assert profiled(tmp_path / "3") == [3, 9]
  warnings = [line for line in seen.log if line.startswith("WARNING")]
  assert warnings == ["WARNING Step 6 is not profiled: another profiler is running."]


def test_a_step_that_fails_leaves_no_profiler_behind(monkeypatch, tmp_path):
  class Fails(tf.keras.callbacks.Callback):
    def on_train_batch_begin(self, batch, logs=None):
      if batch == 1:
        raise RuntimeError("Interruption")

  loop = HOSTS["loop"](Clock(monkeypatch), tmp_path)
  profiler = runtime.Profiler(1, output_dir=str(tmp_path))
  assert loop.train([profiler, Fails()], losses=[0.5] * 3).error == "RuntimeError"
  assert loop.train([profiler], losses=[0.5] * 3).error is None
  assert profiled(tmp_path) == [2, 3]


def test_a_step_for_which_there_is_no_input_is_not_profiled(monkeypatch, tmp_path):
  class Ends(tf.keras.callbacks.Callback):
    """Begins one more step, as Keras 2 does where it cannot know that the input ends."""

    def on_train_end(self, logs=None):
      profiler.on_train_batch_begin(2)

  profiler = runtime.Profiler(1, output_dir=str(tmp_path))
  loop = HOSTS["loop"](Clock(monkeypatch), tmp_path)
  seen = loop.train([Ends(), profiler], losses=[0.5] * 2)
  assert seen.log == [f"INFO Saving timeline for 2 into '{tmp_path}/timeline-2'."]
  assert profiled(tmp_path) == [2]
  tf.profiler.experimental.start(str(tmp_path))  # It would raise if one ran.
  tf.profiler.experimental.stop(save=False)
