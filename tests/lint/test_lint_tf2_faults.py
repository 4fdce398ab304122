"""Faults of TF2 code: found where they are certain, silent where they are not."""

import pytest

from migrator.lint import engine

BACKUP = "tf.keras.callbacks.BackupAndRestore('b', delete_checkpoint=False)"


def _codes(text):
  return [f.code for f in engine.check_text("import tensorflow as tf\n" + text, "a.py")]


def _fit(model, callbacks=f"[{BACKUP}]", before=""):
  return f"{model}\n{before}\nmodel.fit(x, y, callbacks={callbacks})\n"


UNBUILT = "model = tf.keras.Sequential([tf.keras.layers.Dense(1)])"


@pytest.mark.parametrize(
  "text",
  [
    _fit(UNBUILT),
    _fit("model = tf.keras.models.Sequential(layers=[tf.keras.layers.Flatten()])"),
    _fit("model = tf.keras.Sequential()\nmodel.add(tf.keras.layers.Dense(1))"),
    _fit("layers = [tf.keras.layers.Dense(1)]\nmodel = tf.keras.Sequential(layers)"),
    _fit(UNBUILT, f"[stop] + [{BACKUP}]"),
    _fit(f"backup = {BACKUP}\ncallbacks = [stop, backup]\n{UNBUILT}", "callbacks"),
    _fit(f"{UNBUILT}\n{UNBUILT}"),
    f"class T:\n  def f(self):\n    self.backup = {BACKUP}\n    {UNBUILT}\n"
    "    model.fit(x, callbacks=[self.backup])\n",
    f"model = tf.keras.Sequential([tf.keras.layers.Dense(1)])\n"
    f"model.fit(x, callbacks=[{BACKUP}])\nmodel(x)\n",
  ],
)
def test_a_backup_around_an_unbuilt_model(text):
  assert "EM502" in _codes(text)


@pytest.mark.parametrize(
  "text",
  [
    _fit(UNBUILT, "[tf.keras.callbacks.EarlyStopping()]"),
    _fit(UNBUILT, "callbacks()"),
    _fit(UNBUILT, before="model.build([None, 4])"),
    _fit(UNBUILT, before="model(x)"),
    _fit(UNBUILT, before="model.predict(x)"),
    _fit("model = tf.keras.Sequential([tf.keras.Input([4]), tf.keras.layers.Dense(1)])"),
    _fit("model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=[4])])"),
    _fit("model = tf.keras.Sequential([tf.keras.layers.Dense(1, **shape)])"),
    _fit("model = tf.keras.Sequential([base, tf.keras.layers.Dense(1)])"),
    _fit("model = tf.keras.Sequential(make_layers())"),
    _fit("model = tf.keras.Model(inputs, outputs)"),
    _fit("model = make_model()"),
    _fit("model = tf.keras.Sequential()\nfor l in layers:\n  model.add(l)"),
    f"def train(model):\n  model.fit(x, callbacks=[{BACKUP}])\n",
  ],
)
def test_models_that_are_built_or_unknown(text):
  assert "EM502" not in _codes(text)


@pytest.mark.parametrize(
  ("text", "flagged"),
  [
    ("c = tf.train.Checkpoint(m=m)\nc.restore(p)", True),
    ("c = tf.train.Checkpoint(m=m)\nc.read(p)", True),
    ("tf.train.Checkpoint(m=m).restore(p)", True),
    ("c = tf.train.Checkpoint(m=m)\nstatus = c.restore(p)", True),
    (
      "class T:\n  def f(self):\n    self.c = tf.train.Checkpoint(m=m)\n    self.c.restore(p)",
      True,
    ),
    ("c = tf.train.Checkpoint(m=m)\nc.restore(p).assert_consumed()", False),
    ("c = tf.train.Checkpoint(m=m)\nc.restore(p).expect_partial()", False),
    ("c = tf.train.Checkpoint(m=m)\nstatus = c.restore(p)\nstatus.assert_consumed()", False),
    ("def f(c):\n  c.restore(p)", False),
    ("c = tf.compat.v1.train.Saver()\nc.restore(s, p)", False),
    ("c = other.Checkpoint(m=m)\nc.restore(p)", False),
  ],
)
def test_restore_without_an_assertion(text, flagged):
  assert ("EM506" in _codes(text)) is flagged


@pytest.mark.parametrize(
  ("text", "right"),
  [
    ("ckpt = tf.train.Checkpoint(m=m)\ntf.train.load_checkpoint(p)", "ckpt.restore(p)"),
    ("_ = tf.train.load_checkpoint(p)", "tf.train.Checkpoint(model=model).restore(p)"),
    ("reader = tf.train.load_checkpoint(p)", "tf.train.Checkpoint(model=model).restore(p)"),
    ("tf.train.load_checkpoint('m/' + p)", "tf.train.Checkpoint(model=model).restore('m/' + p)"),
    (
      "def f():\n  c = tf.train.Checkpoint(m=m)\n  tf.train.load_checkpoint(p)",
      "c.restore(p)",
    ),
  ],
)
def test_a_dropped_reader(text, right):
  found = engine.check_text("import tensorflow as tf\n" + text, "a.py")
  message = next(f.message for f in found if f.code == "EM503")
  assert f"`{right}.assert_existing_objects_matched()`" in message


@pytest.mark.parametrize(
  ("call", "flagged"),
  [
    ("tf.train.latest_checkpoint(path)", True),
    ("tf.train.get_checkpoint_state(e.model_dir)", True),
    ("tf.train.checkpoints_iterator('other')", False),
    ("tf.train.list_variables(checkpoint_dir=path)", True),
    ("tf.train.load_variable(other, 'w')", False),
    ("e.latest_checkpoint()", False),
  ],
)
def test_other_readers_of_a_model_dir(call, flagged):
  text = f"path = make()\ne = tf.estimator.DNNClassifier([1], cols, path)\nx = {call}\n"
  assert ("EM601" in _codes(text)) is flagged


@pytest.mark.parametrize(
  ("keep", "flagged"), [("0", True), ("-1", True), ("None", False), ("5", False)]
)
def test_max_to_keep(keep, flagged):
  assert ("EM507" in _codes(f"tf.train.CheckpointManager(c, d, {keep})")) is flagged
