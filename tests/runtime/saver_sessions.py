"""Trainings with listeners and CheckpointSaverHooks, evaluations and predictions with hooks.

  python saver_sessions.py DIRECTORY RESULTS.json

runs them with the Estimator of TensorFlow 2.15. A story is a dict:

  config: keywords of RunConfig.
  hooks: a name, or a name and a call at which it raises, or a dict of arguments of a CheckpointSaverHook.
  listeners: lists of a name and from which step on it wants to stop (None: never).
  trainings: keywords of `train`, one dict for each; `batches` is how long the input is.

Its results are, for each training, what the hooks and listeners noted (see `note`), the checkpoints in
the order in which they were written and those that stayed, and the error.
"""

import glob
import json
import os
import sys

import jobs
import tensorflow as tf

v1 = tf.compat.v1

EVERY_2 = {"save_checkpoints_steps": 2}
STORIES = {
  "order": {
    "config": {"save_checkpoints_steps": 3},
    "hooks": ["A"],
    "listeners": [["x", None], ["y", None], ["x", None]],
    "trainings": [{"steps": 4}, {"steps": 2}],
  },
  "stops_at_4": {"config": EVERY_2, "listeners": [["x", 4], ["y", None]]},
  "stops_from_the_first_save_on": {"config": EVERY_2, "listeners": [["x", 0]]},
  "nothing_to_do": {
    "config": EVERY_2,
    "listeners": [["x", None]],
    "trainings": [{"max_steps": 2}, {"max_steps": 2}],
  },
  "nothing_is_saved": {
    "config": {"save_checkpoints_steps": None},
    "listeners": [["x", None]],
  },
  "fails": {"config": EVERY_2, "hooks": [["A", 3]], "listeners": [["x", None]]},
  "listener_fails": {"config": EVERY_2, "hooks": ["A"], "listeners": [["raises", None]]},
  "input_ends": {
    "config": EVERY_2,
    "listeners": [["x", None]],
    "trainings": [{"batches": 3}, {"steps": 9, "batches": 3}],
  },
  "no_listener": {"config": EVERY_2, "listeners": [["A hook", None]]},
  "hook_instead": {
    "config": {**EVERY_2, "keep_checkpoint_max": 2},
    "hooks": [{"save_steps": 5}],
    "trainings": [{"steps": 12}, {"steps": 4}],
  },
  "hook_among_others": {
    "config": EVERY_2,
    "hooks": ["A", {"save_steps": 3, "listeners": [["own", None]]}, "B"],
    "listeners": [["x", None]],
    "trainings": [{"steps": 5}, {"steps": 3}],
  },
  "hook_after_one_that_fails": {
    "hooks": [["A", 4], {"save_steps": 4}],
    "trainings": [{"steps": 9}],
  },
  "hook_before_one_that_fails": {
    "hooks": [{"save_steps": 4}, ["A", 4]],
    "trainings": [{"steps": 9}],
  },
  "hook_whose_listener_stops": {
    "hooks": [{"save_steps": 2, "listeners": [["own", 3]]}, "B"],
    "listeners": [["x", None]],
  },
  "hook_every_0_steps": {"hooks": [{"save_steps": 0}], "trainings": [{"steps": 2}]},
  "hook_where_nothing_is_saved": {
    "config": {"save_checkpoints_steps": None, "keep_checkpoint_max": 2},
    "hooks": [{"save_steps": 3}],
    "listeners": [["x", None]],
    "trainings": [{"steps": 4}, {"steps": 2}],
  },
  "hook_with_another_name": {"hooks": [{"save_steps": 3, "checkpoint_basename": "mine"}]},
  "two_hooks": {
    "hooks": [{"save_steps": 3}, {"save_steps": 4}],
    "listeners": [["x", None]],
    "trainings": [{"steps": 6}],
  },
  "hook_without_cadence": {"hooks": [{}]},
  "hook_with_two_cadences": {"hooks": [{"save_secs": 1, "save_steps": 1}]},
}
# keywords of evaluate, the batches of the input, and at which call a hook stops or raises.
EVALUATIONS = {
  "all": {"batches": 3},
  "some": {"batches": 5, "steps": 2},
  "more_than_there_are": {"batches": 2, "steps": 4},
  "none": {"batches": 0},
  "stopped": {"batches": 5, "stop_at": 2},
  "failed": {"batches": 5, "raise_at": 2},
  "ended_by_a_hook": {"batches": 5, "end_at": 2},
}
# The same for predict; `take` is how many predictions are read.
PREDICTIONS = {
  "all": {"batches": 2},
  "stopped": {"batches": 4, "stop_at": 2},
  "left": {"batches": 4, "take": 11},
  "by_batches": {"batches": 2, "yield_single_examples": False},
  "failed": {"batches": 4, "raise_at": 2},
  "ended_by_a_hook": {"batches": 4, "end_at": 2},
}


def story_of(name):
  """Returns a story with its defaults."""
  return {
    "config": {},
    "hooks": [],
    "listeners": [],
    "trainings": [{"steps": 6}],
    **STORIES[name],
  }


def job_of(root, name, config=None):
  """Returns the job (see jobs.py) of a story."""
  quiet = {"save_summary_steps": 0, "log_step_count_steps": None}
  return jobs.job(os.path.join(root, name), hidden_units=[], config={**quiet, **(config or {})})


class Notes:
  """What hooks and listeners note; shared by both worlds."""

  def __init__(self):
    self.lines = []
    self._listeners = {}

  def note(self, *words):
    """Notes a line."""
    self.lines.append(" ".join(str(word) for word in words))

  def listener(self, base, name, stop_at):
    """Returns the listener of a name, one for each."""
    if name not in self._listeners:
      self._listeners[name] = self._new(base, name, stop_at)
    return self._listeners[name]

  def _new(self, base, name, stop_at):
    note = self.note

    class Noting(base):
      """Notes its calls."""

      def begin(self):
        note(name, "begin")

      def before_save(self, session, global_step_value):
        note(name, "before", global_step_value)
        if name == "raises" and global_step_value:
          raise RuntimeError("a listener failed")

      def after_save(self, session, global_step_value):
        note(name, "after", global_step_value)
        return stop_at is not None and global_step_value >= stop_at

      def end(self, session, global_step_value):
        note(name, "end", global_step_value)

    return Noting()


def checkpoints(directory):
  """Returns the names of the checkpoints in a directory."""
  return sorted(os.path.basename(p)[:-6] for p in glob.glob(os.path.join(directory, "*.index")))


def error_of(error):
  """Returns an error as JSON."""
  return [type(error).__name__, str(error)]


class _Hook(v1.train.SessionRunHook):
  """Notes its calls; raises or stops at one of them."""

  def __init__(self, notes, name="", raise_at=None, stop_at=None, end_at=None, fetches=None):
    self._note = lambda *words: notes.note(name, *words)
    self._at = raise_at, stop_at, end_at
    self._fetches = fetches
    self._calls = 0

  def begin(self):
    if self._fetches:
      # The name global_step:0 is that of a handle.
      self._fetches = {**self._fetches, "step": v1.train.get_global_step()}

  def after_create_session(self, session, coord):
    self._note("begin")

  def before_run(self, run_context):
    if self._fetches is not None:
      self._note("before")
      return v1.train.SessionRunArgs(self._fetches)
    return None

  def after_run(self, run_context, run_values):
    self._calls += 1
    raise_at, stop_at, end_at = self._at
    results = run_values.results or {}
    self._note("after", *(f"{k}={float(v):.4g}" for k, v in sorted(results.items())))
    if self._calls == raise_at:
      raise RuntimeError("a hook failed")
    if self._calls == end_at:
      raise StopIteration
    if self._calls == stop_at:
      run_context.request_stop()

  def end(self, session):
    self._note("end")


_saved = []


def _record_saves():
  """Notes each save, wherever it comes from."""
  original = v1.train.Saver.save

  def save(self, session, path, global_step=None, **kwargs):
    _saved.append(f"{os.path.basename(path)}-{global_step}")
    return original(self, session, path, global_step=global_step, **kwargs)

  v1.train.Saver.save = save


def _train(name, root):
  import legacy  # here, as the other world has no Estimator

  story = story_of(name)
  job = job_of(root, name, story["config"])
  estimator = legacy.make_estimator(job)
  notes, results, hooks = Notes(), [], None
  base = v1.train.CheckpointSaverListener

  def make(spec):
    if isinstance(spec, dict):
      given = [notes.listener(base, *pair) for pair in spec.get("listeners", [])]
      arguments = {**spec, "listeners": given}
      return v1.train.CheckpointSaverHook(job["model_dir"], **arguments)
    return _Hook(notes, *(spec if isinstance(spec, list) else [spec]))

  for training in story["trainings"]:
    del _saved[:], notes.lines[:]
    arguments, error = dict(training), None
    batches = arguments.pop("batches", None)
    try:
      hooks = hooks or [make(spec) for spec in story["hooks"]]
      listeners = [
        "A hook" if pair[0] == "A hook" else notes.listener(base, *pair)
        for pair in story["listeners"]
      ]
      estimator.train(
        lambda count=batches: jobs.make_dataset(tf, job, count),
        hooks=hooks,
        saving_listeners=listeners,
        **arguments,
      )
    except Exception as e:  # What is raised is the result.
      error = error_of(e)
    files = checkpoints(job["model_dir"])
    results.append(
      {"notes": list(notes.lines), "saved": list(_saved), "files": files, "error": error}
    )
  return results


def _evaluate(estimator, job, batches, steps=None, **stops):
  notes, error = Notes(), None
  fetches = {"loss": "dnn/head/weighted_loss/Sum:0"}
  # The second hook hears of everything that the first one lets pass.
  hooks = [_Hook(notes, "A", fetches=fetches, **stops), _Hook(notes, "B", fetches=fetches)]
  values = {}
  try:
    values = estimator.evaluate(lambda: jobs.make_dataset(tf, job, batches), steps, hooks)
  except Exception as e:
    error = error_of(e)
  return {"notes": notes.lines, "error": error, "values": {k: float(v) for k, v in values.items()}}


def _predict(estimator, job, batches, take=None, yield_single_examples=True, **stops):
  notes, error, count = Notes(), None, 0
  hooks = [_Hook(notes, "A", fetches={}, **stops), _Hook(notes, "B", fetches={})]
  rows = estimator.predict(
    lambda: jobs.make_dataset(tf, job, batches, labels=False),
    hooks=hooks,
    yield_single_examples=yield_single_examples,
  )
  try:
    for row in rows:
      count += 1
      notes.note("row", row["class_ids"].shape)
      if count == take:
        break
    rows.close()
  except Exception as e:
    error = error_of(e)
  return {"notes": notes.lines, "error": error}


def main():
  """Runs everything; see the module's docstring."""
  import legacy

  root = sys.argv[1]
  _record_saves()
  results = {"trainings": {name: _train(name, root) for name in STORIES}}
  job = job_of(root, "trained")
  estimator = legacy.make_estimator(job)
  estimator.train(lambda: jobs.make_dataset(tf, job), steps=7)
  results["evaluations"] = {n: _evaluate(estimator, job, **a) for n, a in EVALUATIONS.items()}
  results["predictions"] = {n: _predict(estimator, job, **a) for n, a in PREDICTIONS.items()}
  with open(sys.argv[2], "w", encoding="utf-8") as file:
    json.dump(results, file)


if __name__ == "__main__":
  main()
