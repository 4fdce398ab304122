"""Checkpoints and managers: silent restores, shared directories, skipped saves, workers, batches."""

import pytest

from migrator.lint import engine

CALLBACKS = "tf.keras.callbacks"
MANAGER = "tf.train.CheckpointManager"


def _found(text, code):
  return [
    f for f in engine.check_text("import tensorflow as tf\n" + text, "a.py") if f.code == code
  ]


CHECKPOINT = "c = tf.train.Checkpoint(m=m)\n"


@pytest.mark.parametrize(
  ("text", "right", "replacement"),
  [
    ("c.restore(p)", "c.restore(p).assert", "c.restore(p).assert_existing_objects_matched()"),
    ("s = c.restore(p)", "c.restore(p).assert", None),
    (
      "c.restore(tf.train.latest_checkpoint('d'))",
      "if tf.train.latest_checkpoint('d'): c.restore(",
      None,
    ),
    ("g = tf.train.CheckpointManager(c, 'd', 3)\nc.restore(g.latest_checkpoint)", "if g.", None),
    (
      "p = tf.train.latest_checkpoint('d')\nif p:\n  c.restore(p)",
      "write `c.restore(p).assert",
      "c.restore(p).assert_existing_objects_matched()",
    ),
    (
      "def f():\n  p = tf.train.latest_checkpoint('d')\n  if not p:\n    return\n  c.restore(p)",
      "write `c.restore(p).assert",
      "c.restore(p).assert_existing_objects_matched()",
    ),
    (
      "p = tf.train.latest_checkpoint('d')\nself.assertIsNotNone(p)\nc.restore(p)",
      "write `c.restore(p).assert",
      "c.restore(p).assert_existing_objects_matched()",
    ),
    (
      "g = tf.train.CheckpointManager(c, 'd', 3)\ng.restore_or_initialize()",
      "if g.latest_checkpoint: c.restore(g.latest_checkpoint).assert",
      None,
    ),
    (
      "g = tf.train.CheckpointManager(c, 'd', 3, init_fn=warm)\ng.restore_or_initialize()",
      "matched()`, else call its `init_fn`.",
      None,
    ),
  ],
)
def test_a_silent_restore_says_what_to_write(text, right, replacement):
  (found,) = _found(CHECKPOINT + text + "\n", "EM506")
  assert right in found.message
  assert found.replacement == replacement


def test_a_manager_of_an_unknown_checkpoint_may_assert():
  text = "g = tf.train.CheckpointManager(named(), 'd', 3)\ng.restore_or_initialize()\n"
  assert not _found(text, "EM506")


@pytest.mark.parametrize(
  ("text", "what"),
  [
    ("tf.train.load_variable(p, 'w')", "the value of a variable"),
    ("r = tf.compat.v1.train.NewCheckpointReader(p)", "a reader"),
    ("w = tf.train.load_variable(p, 'w')\nprint(w)", None),
    ("try:\n  tf.train.load_checkpoint(p)\nexcept ValueError:\n  p = None", None),
    ("with self.assertRaises(ValueError):\n  tf.train.load_checkpoint(p)", None),
  ],
)
def test_other_readers_whose_result_is_dropped(text, what):
  found = _found(text + "\n", "EM503")
  assert [what in f.message for f in found] == [True] * (what is not None)


@pytest.mark.parametrize(
  ("writer", "what"),
  [
    ("tf.compat.v1.train.MonitoredTrainingSession(checkpoint_dir='d')", "MonitoredTrainingSession"),
    ("tf.compat.v1.train.MonitoredTrainingSession('', True, 'd')", "MonitoredTrainingSession"),
    ("tf.estimator.CheckpointSaverHook('d', save_steps=9)", "CheckpointSaverHook"),
    ("tf.compat.v1.train.Supervisor(logdir='d')", "Supervisor"),
    ("tf.compat.v1.train.Saver().save(s, os.path.join('d', 'model.ckpt'))", "Saver"),
    ("tf.estimator.RunConfig(model_dir='./d/')", "RunConfig"),
    ("tf.compat.v1.train.Saver().save(s, 'd')", None),
    ("tf.compat.v1.train.Saver().restore(s, 'd/model.ckpt')", None),
    ("other.Saver().save(s, 'd/model.ckpt')", None),
  ],
)
def test_a_manager_in_a_directory_of_tf1(writer, what):
  text = f"import os\nx = {writer}\ng = {MANAGER}(c, 'd', max_to_keep=2)\n"
  found = _found(text, "EM508")
  assert [f"the {what} of line 3" in f.message for f in found] == [True] * (what is not None)


@pytest.mark.parametrize(("keep", "replacement"), [("0", "None"), ("-1", "None"), ("KEEP", None)])
def test_a_manager_that_keeps_all_says_what_to_write(keep, replacement):
  (found,) = _found(f"KEEP = 0\ng = {MANAGER}(c, 'd', {keep})\n", "EM507")
  assert found.replacement == replacement


TWO = """
a = tf.train.CheckpointManager(first, {0}, max_to_keep=2{2})
b = tf.train.CheckpointManager(second, {1}, max_to_keep=2)
a.save()
b.save()
"""


@pytest.mark.parametrize(
  ("text", "consequence"),
  [
    (TWO.format("'d'", "'d'", ""), "both write `ckpt-N`"),
    (TWO.format("'d'", "'d/'", ", checkpoint_name='a'"), "names the other's files"),
    (TWO.format("d", "d", ""), "both write `ckpt-N`"),
    (TWO.format("'d'", "'e'", ""), None),
    (TWO.format("d + '/a'", "d + '/b'", ""), None),
    (TWO.format("'d'", "'d'", "").replace("b.save()", "print(b.checkpoints)"), None),
    (TWO.format("'d'", "'d'", "").replace("second", "first"), None),
    (TWO.format("'d'", "'d'", "").replace("b", "a"), None),
    (
      "g = tf.train.CheckpointManager(c, 'd', 2)\ng.save()\ntf.train.Checkpoint(m=m).save('d/x')",
      "off the",
    ),
    (
      "g = tf.train.CheckpointManager(c, 'd', 2)\ng.save()\ntf.train.Checkpoint(m=m).write('d/x')",
      None,
    ),
    (
      "g = tf.train.CheckpointManager(c, 'd', 2)\ng.save()\n"
      f"w = {CALLBACKS}.ModelCheckpoint('d/w', save_weights_only=True)",
      "off the",
    ),
    (
      "g = tf.train.CheckpointManager(c, 'd', 2)\ng.save()\n"
      f"w = {CALLBACKS}.ModelCheckpoint('d/w.weights.h5', save_weights_only=True)",
      None,
    ),
  ],
)
def test_two_savers_in_one_directory(text, consequence):
  found = _found(text + "\n", "EM513")
  assert [consequence in f.message for f in found] == [True] * (consequence is not None)


@pytest.mark.parametrize(
  ("first", "second", "flagged"),
  [("False", "False", True), ("True", "True", False), ("False", "True", False)],
)
def test_two_models_with_one_backup(first, second, flagged):
  text = ""
  for model, delete in (("a", first), ("b", second)):
    backup = f"{CALLBACKS}.BackupAndRestore('d', delete_checkpoint={delete})"
    text += f"{model}.fit(x, y, callbacks=[{backup}])\n"
  assert bool(_found(text, "EM513")) is flagged


INTERVAL = "g = tf.train.CheckpointManager(c, 'd', 2, step_counter=s, checkpoint_interval={})\n"


@pytest.mark.parametrize(
  ("interval", "saves", "flagged"),
  [
    ("100", "g.save()", True),
    ("N", "g.save(checkpoint_number=s)", True),
    ("100", "g.save(check_interval=True)", True),
    ("100", "g.save()\ng.save(check_interval=False)", False),
    ("100", "g.save(check_interval=last)", False),
    ("100", "g.save(**options)", False),
    ("1", "g.save()", False),
    ("None", "g.save()", False),
    ("100", "g.save()\nfinish(g)", False),
    ("100", "print(g.checkpoints)", False),
  ],
)
def test_a_manager_that_skips_the_last_save(interval, saves, flagged):
  assert bool(_found(INTERVAL.format(interval) + saves + "\n", "EM519")) is flagged


STRATEGY = "s = tf.distribute.MultiWorkerMirroredStrategy()\n"


@pytest.mark.parametrize(
  ("text", "flagged"),
  [
    (f"if is_chief:\n  cs.append({CALLBACKS}.ModelCheckpoint('a.keras'))", True),
    (f"c = {CALLBACKS}.ModelCheckpoint('a.keras')\nif task_id == 0:\n  cs.append(c)", True),
    (f"g = {MANAGER}(c, 'd', 2)\ns.run(step)\ng.save()", True),
    (f"g = {MANAGER}(c, 'd', 2)\ns.run(step)", False),
    (f"cs = [{CALLBACKS}.ModelCheckpoint('a.keras')]", False),
    (
      f"if is_chief:\n  c = {CALLBACKS}.ModelCheckpoint('a.keras')\nelse:\n"
      f"  c = {CALLBACKS}.ModelCheckpoint('/tmp/a.keras')",
      False,
    ),
    (f"if task_id == 0:\n  d = 'd'\ng = {MANAGER}(c, d, 2)\ns.run(step)\ng.save()", False),
    (f"if rank == 0:\n  cs.append({CALLBACKS}.ModelCheckpoint('a.keras'))", False),
    (f"{MANAGER}(c, 'd', 2)", False),
  ],
)
def test_checkpoints_of_several_workers(text, flagged):
  assert bool(_found(f"{STRATEGY}{text}\n", "EM522")) is flagged
  assert not _found(f"s = tf.distribute.MirroredStrategy()\n{text}\n", "EM522")


@pytest.mark.parametrize(
  ("strategy", "flagged"),
  [
    ("tf.distribute.MultiWorkerMirroredStrategy()", True),
    ("tf.distribute.experimental.MultiWorkerMirroredStrategy()", True),
    ("tf.distribute.ParameterServerStrategy(r)", True),
    ("tf.distribute.MirroredStrategy()", False),
  ],
)
def test_fit_on_several_workers(strategy, flagged):
  text = f"s = {strategy}\nwith s.scope():\n  m = make()\nm.fit(x)\n"
  assert bool(_found(text, "EM526")) is flagged
  assert not _found(text.replace("m.fit(x)", "s.run(step)"), "EM526")
  outside = f"s = {strategy}\nwith s.scope():\n  n = make()\nm = make()\nm.fit(x)\n"
  assert not _found(outside, "EM526")


CALLBACK = """
class Saver(tf.keras.callbacks.Callback):
  def {0}(self, {1}, logs=None):
    if {2}:
      {3}
"""


@pytest.mark.parametrize(
  ("parts", "flagged"),
  [
    (("on_train_batch_end", "batch", "batch % 100 == 0", "self.model.save('a.keras')"), True),
    (("on_batch_end", "i", "(i + 1) % N == 0", "self.manager.save()"), True),
    (("on_train_batch_end", "batch", "not batch % 9", "self.checkpoint.save('c')"), True),
    (("on_train_batch_end", "batch", "batch % 100 == 0", "print(batch)"), False),
    (("on_train_batch_end", "batch", "self.n % 100 == 0", "self.model.save('a.keras')"), False),
    (
      (
        "on_train_batch_end",
        "batch",
        "(self.start + batch) % 9 == 0",
        "self.model.save('a.keras')",
      ),
      False,
    ),
    (("on_epoch_end", "epoch", "epoch % 5 == 0", "self.model.save('a.keras')"), False),
    (("on_train_batch_end", "batch", "batch % 100 == 0", "figure.save('a.png')"), False),
  ],
)
def test_batches_of_an_epoch_are_no_global_steps(parts, flagged):
  assert bool(_found(CALLBACK.format(*parts), "EM523")) is flagged
