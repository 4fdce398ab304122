"""Listeners, and CheckpointSavers among the callbacks, against the real Estimator's (case 12)."""

import json
import os

import jobs
import migrated
import pytest
import saver_sessions
import tensorflow as tf
from interpreter import HERE, run_legacy

from migrator import runtime

# In a loop it is the same manager that saves: only what the loop does itself is told again.
IN_A_LOOP = (
  "order",
  "stops_at_4",
  "nothing_is_saved",
  "fails",
  "input_ends",
  "hook_among_others",
  "hook_where_nothing_is_saved",
)


@pytest.fixture(scope="module")
def real(tmp_path_factory):
  """What the Estimator did in all stories, and the directory in which it did."""

  def command(root):
    return [HERE / "saver_sessions.py", root, root / "results.json"]

  root = run_legacy(tmp_path_factory, "savers", command)
  return {**json.loads((root / "results.json").read_text()), "root": root}


class Noting(tf.keras.callbacks.Callback):
  """What a hook of saver_sessions.py becomes."""

  def __init__(self, notes, name="", raise_at=None, stop_at=None, end_at=None, key=None):
    super().__init__()
    self._note = lambda *words: notes.note(name, *words)
    self._at = raise_at, stop_at, end_at
    self._key = key
    self._calls = 0

  def _begin(self, logs=None):
    self._note("begin")

  def _before(self, batch, logs=None):
    if self._key is not None:
      self._note("before")

  def _after(self, flag, values):
    self._calls += 1
    raise_at, stop_at, end_at = self._at
    self._note("after", *(f"{k}={float(v):.4g}" for k, v in sorted(values.items())))
    if self._calls == raise_at:
      raise RuntimeError("a hook failed")
    if self._calls == end_at:
      raise StopIteration
    if self._calls == stop_at:
      setattr(self.model, flag, True)

  def _end(self, logs=None):
    self._note("end")

  on_train_begin = on_test_begin = on_predict_begin = _begin
  on_test_batch_begin = on_predict_batch_begin = _before
  on_train_end = on_test_end = on_predict_end = _end

  def on_train_batch_end(self, batch, logs=None):
    self._after("stop_training", {})

  def on_test_batch_end(self, batch, logs=None):
    step = runtime.global_step(self.model)
    self._after("stop_evaluating", {"loss": logs["loss"], "step": step})

  def on_predict_batch_end(self, batch, logs=None):
    assert logs["outputs"]["class_ids"].shape == (8, 1)
    self._after("stop_predicting", {})


class Story:
  """A story of saver_sessions.py, told with the runtime."""

  def __init__(self, name, root, target):
    self.story = saver_sessions.story_of(name)
    self.job = saver_sessions.job_of(str(root), name, self.story["config"])
    self.notes = saver_sessions.Notes()
    self._callbacks = None
    self._train = self._fit if target == "fit" else self._loop
    if target == "fit":
      self.model, self.backup = migrated.make_backup(self.job)
    else:
      self._make_loop()

  def _make_loop(self):
    self.model = migrated.make_network(self.job)
    self._optimizer = migrated.make_optimizer(self.job)
    self._loss_fn = migrated.make_loss(self.job)
    checkpoint = runtime.named_checkpoint(self.model, self._optimizer, scope="dnn", flavour="v1")
    self._step = checkpoint.by_name["global_step"]
    quiet = ("save_summary_steps", "log_step_count_steps")
    self._manager = runtime.CheckpointManager(
      checkpoint,
      os.path.join(self.job["model_dir"], "tf2"),
      step_counter=self._step,
      **{k: v for k, v in self.job["config"].items() if k not in quiet},
    )

  def _listener(self, name, stop_at):
    if name == "A hook":
      return name
    return self.notes.listener(runtime.CheckpointSaverListener, name, stop_at)

  def _callback(self, spec):
    if isinstance(spec, dict):
      given = [self._listener(*pair) for pair in spec.get("listeners", [])]
      return runtime.CheckpointSaver(self.job["model_dir"], **{**spec, "listeners": given})
    return Noting(self.notes, *(spec if isinstance(spec, list) else [spec]))

  def trainings(self):
    """Trains; returns what the results of saver_sessions.py have."""
    return [self._result(dict(arguments)) for arguments in self.story["trainings"]]

  def _result(self, arguments):
    del self.notes.lines[:]
    error, saved = None, []
    write = runtime.NamedCheckpoint._write

    def recorded(checkpoint, path, *args, **kwargs):
      saved.append(os.path.basename(path))
      return write(checkpoint, path, *args, **kwargs)

    batches = arguments.pop("batches", None)
    runtime.NamedCheckpoint._write = recorded
    try:
      self._callbacks = self._callbacks or [self._callback(s) for s in self.story["hooks"]]
      listeners = [self._listener(*pair) for pair in self.story["listeners"]]
      self._train(jobs.make_dataset(tf, self.job, batches), listeners, **arguments)
    except Exception as e:  # What is raised is the result.
      error = saver_sessions.error_of(e)
    finally:
      runtime.NamedCheckpoint._write = write
    files = saver_sessions.checkpoints(os.path.join(self.job["model_dir"], "tf2"))
    return {"notes": list(self.notes.lines), "saved": saved, "files": files, "error": error}

  def _fit(self, dataset, listeners, **limits):
    if steps := self.backup.remaining_steps(**limits):
      self.model.fit(
        dataset.take(steps),
        steps_per_epoch=-1 if steps < 0 else None,
        callbacks=[self.backup.with_listeners(listeners), *self._callbacks],
        verbose=0,
      )

  def _loop(self, dataset, listeners, steps=-1, max_steps=None):
    """What the rewrite makes of it."""
    self._manager.restore_or_initialize()
    if max_steps is not None:
      steps = max_steps - self._step.numpy()
      if steps <= 0:
        return
    callbacks = tf.keras.callbacks.CallbackList(self._callbacks, model=self.model)
    self.model.stop_training = False
    self._manager.begin_session(self.model, listeners)
    self._manager.save()
    callbacks.on_train_begin()
    for features, labels in dataset.take(steps):
      callbacks.on_train_batch_begin(self._step.numpy())
      with tf.GradientTape() as tape:
        loss = self._loss_fn(labels, self.model(features, training=True))
      variables = self.model.trainable_variables
      self._optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
      self._step.assign_add(1)
      self._manager.save()
      callbacks.on_train_batch_end(self._step.numpy() - 1, {"loss": loss.numpy()})
      if self.model.stop_training:
        break
    self._manager.end_session()
    callbacks.on_train_end()


def without_begin(notes):
  """A saver's listeners begin with its first save, not before all hooks are made ready."""
  return [line for line in notes if not line.endswith("begin")]


@pytest.mark.parametrize(
  ("name", "target"),
  [*((n, "fit") for n in saver_sessions.STORIES), *((n, "loop") for n in IN_A_LOOP)],
)
def test_saves_listeners_and_hooks_come_in_the_order_of_the_estimator(real, tmp_path, name, target):
  expected = real["trainings"][name]
  found = Story(name, tmp_path, target).trainings()
  for result, wanted in zip(found, expected):
    for key in ("saved", "files", "error"):
      assert result[key] == wanted[key], (key, found, expected)
    assert without_begin(result["notes"]) == without_begin(wanted["notes"])
    assert sorted(result["notes"]) == sorted(wanted["notes"])
    if not any(isinstance(spec, dict) for spec in saver_sessions.story_of(name)["hooks"]):
      assert result["notes"] == wanted["notes"]
  assert len(found) == len(expected)


def test_listeners_hear_one_fit_only(tmp_path):
  story = Story("order", tmp_path, "fit")
  story.trainings()
  del story.notes.lines[:]
  story.model.fit(jobs.make_dataset(tf, story.job).take(3), callbacks=[story.backup], verbose=0)
  assert story.notes.lines == []


def test_configuration_saves_again_when_the_next_training_has_no_saver(tmp_path):
  story = Story("hook_instead", tmp_path, "fit")
  (first, _) = story.trainings()
  assert first["saved"] == ["model.ckpt-0", "model.ckpt-5", "model.ckpt-10", "model.ckpt-12"]
  story._callbacks = [Noting(story.notes)]
  assert story._result({"steps": 3})["saved"] == ["model.ckpt-16", "model.ckpt-18", "model.ckpt-19"]


def test_saver_takes_the_saves_of_the_backup_that_stands_before_it(tmp_path):
  job = saver_sessions.job_of(str(tmp_path), "model", {"save_checkpoints_steps": 1})
  model, backup = migrated.make_backup(job)
  runtime.BackupAndRestore(model, job["model_dir"], variable_scope="dnn", flavour="v1")
  saver = runtime.CheckpointSaver(job["model_dir"], save_steps=3)
  model.fit(jobs.make_dataset(tf, job).take(4), callbacks=[backup, saver], verbose=0)
  files = saver_sessions.checkpoints(tmp_path / "model" / "tf2")
  assert files == ["model.ckpt-0", "model.ckpt-3", "model.ckpt-4"]


def test_saver_for_another_directory_is_an_error_before_a_step_is_made(tmp_path):
  model, backup = migrated.make_backup(saver_sessions.job_of(str(tmp_path), "model"))
  saver = runtime.CheckpointSaver(str(tmp_path / "other"), save_steps=2)
  with pytest.raises(ValueError, match=r"was made for .*other, but dnn is saved in .*model"):
    model.fit(jobs.make_dataset(tf, jobs.job("")).take(2), callbacks=[backup, saver], verbose=0)
  assert backup.global_step == 0


def test_saver_without_a_manager_says_what_it_needs(tmp_path):
  model = migrated.make_model(saver_sessions.job_of(str(tmp_path), "model"))
  saver = runtime.CheckpointSaver(str(tmp_path), save_steps=2)
  with pytest.raises(ValueError, match=r"needs a runtime\.BackupAndRestore"):
    model.fit(jobs.make_dataset(tf, jobs.job("")).take(2), callbacks=[saver], verbose=0)


def test_listener_may_evaluate_the_checkpoint_of_which_it_hears(tmp_path):
  job = saver_sessions.job_of(str(tmp_path), "model", {"save_checkpoints_steps": 2})
  model, backup = migrated.make_backup(job)
  data = jobs.make_dataset(tf, job)
  heard = []

  class Evaluates(runtime.CheckpointSaverListener):
    """Evaluates before and after."""

    def before_save(self, model, global_step):
      heard.append((global_step, int(backup.evaluate(data, steps=1)["global_step"])))

    def after_save(self, model, global_step):
      heard.append((global_step, int(backup.evaluate(data, steps=1)["global_step"])))

  callbacks = [backup.with_listeners([Evaluates()])]
  model.fit(data.take(2), callbacks=callbacks, verbose=0)
  assert heard == [(0, 0), (0, 0), (2, 0), (2, 2)]
  plain, other = migrated.make_backup({**job, "model_dir": str(tmp_path / "plain")})
  plain.fit(data.take(2), callbacks=[other], verbose=0)
  for one, two in zip(model.get_weights(), plain.get_weights()):
    assert (one == two).all()


def test_evaluation_in_a_loop_gives_the_training_its_state_back(tmp_path):
  story = Story("stops_at_4", tmp_path, "loop")
  seen = []

  class Evaluates(runtime.CheckpointSaverListener):
    """Evaluates the newest checkpoint before each save."""

    def before_save(self, model, global_step):
      with story._manager.newest() as path:
        seen.append((path and os.path.basename(path), int(story._step.numpy())))

  story._callbacks = []
  data = jobs.make_dataset(tf, story.job)
  story._loop(data, [Evaluates()], steps=5)
  assert seen == [
    (None, 0),
    ("model.ckpt-0", 0),
    ("model.ckpt-2", 2),
    ("model.ckpt-4", 4),
  ]
  plain = Story("stops_at_4", tmp_path / "plain", "loop")
  plain._callbacks = []
  plain._loop(data, [], steps=5)
  for one, two in zip(story.model.get_weights(), plain.model.get_weights()):
    assert (one == two).all()


@pytest.mark.parametrize("name", saver_sessions.EVALUATIONS)
def test_hooks_of_an_evaluation_hear_what_the_estimators_heard(real, tmp_path, name):
  job = saver_sessions.job_of(str(real["root"]), "trained")
  expected = real["evaluations"][name]
  arguments = dict(saver_sessions.EVALUATIONS[name])
  dataset = jobs.make_dataset(tf, job, arguments.pop("batches"))
  steps = arguments.pop("steps", None)
  _, backup = migrated.make_backup(job)
  notes, error, values = saver_sessions.Notes(), None, {}
  callbacks = [Noting(notes, "A", key="loss", **arguments), Noting(notes, "B", key="loss")]
  try:
    values = backup.evaluate(dataset, steps, callbacks=callbacks)
  except Exception as e:
    error = saver_sessions.error_of(e)
  assert (notes.lines, error) == (expected["notes"], expected["error"])
  assert values == pytest.approx(expected["values"], rel=1e-5)


@pytest.mark.parametrize("name", saver_sessions.PREDICTIONS)
def test_hooks_of_a_prediction_hear_what_the_estimators_heard(real, name):
  job = saver_sessions.job_of(str(real["root"]), "trained")
  expected = real["predictions"][name]
  arguments = dict(saver_sessions.PREDICTIONS[name])
  dataset = jobs.make_dataset(tf, job, arguments.pop("batches"), labels=False)
  take = arguments.pop("take", None)
  by_one = arguments.pop("yield_single_examples", True)
  _, backup = migrated.make_backup(job)
  notes, error, count = saver_sessions.Notes(), None, 0
  callbacks = [Noting(notes, "A", key="", **arguments), Noting(notes, "B", key="")]
  rows = backup.predict(dataset, yield_single_examples=by_one, callbacks=callbacks)
  try:
    for row in rows:
      count += 1
      notes.note("row", row["class_ids"].shape)
      if count == take:
        break
    rows.close()
  except Exception as e:
    error = saver_sessions.error_of(e)
  assert (notes.lines, error) == (expected["notes"], expected["error"])


def test_one_evaluation_that_was_stopped_does_not_stop_the_next(tmp_path):
  job = saver_sessions.job_of(str(tmp_path), "model")
  _, backup = migrated.make_backup(job)
  notes = saver_sessions.Notes()
  data = jobs.make_dataset(tf, job, 4)
  backup.evaluate(data, callbacks=[Noting(notes, "A", stop_at=1)])
  backup.evaluate(data, callbacks=[Noting(notes, "B")])
  assert sum(line.startswith("A after") for line in notes.lines) == 1
  assert sum(line.startswith("B after") for line in notes.lines) == 4
