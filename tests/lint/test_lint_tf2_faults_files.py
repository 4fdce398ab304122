"""ModelCheckpoint, suffixes, and checkpoints of TF1 in TF2 loaders."""

import pytest

from migrator.lint import engine

CALLBACKS = "tf.keras.callbacks"
MODEL = "model = tf.keras.Sequential([tf.keras.Input([4]), tf.keras.layers.Dense(1)])\n"


def _found(text, code):
  return [
    f for f in engine.check_text("import tensorflow as tf\n" + text, "a.py") if f.code == code
  ]


@pytest.mark.parametrize(
  ("path", "weights", "whole"),
  # What ModelCheckpoint did on TF 2.21: True where it raised ValueError.
  [
    ("'cp'", True, True),
    ("'cp-{epoch}'", True, True),
    ("'cp.ckpt'", True, True),
    ("'cp.tf'", True, True),
    ("'cp.h5'", True, False),
    ("'cp.hdf5'", True, True),
    ("'cp.keras'", True, False),
    ("'cp.weights.h5'", False, False),
    ("'cp.weights.hdf5'", True, True),
  ],
)
def test_the_suffixes_that_model_checkpoint_refuses(path, weights, whole):
  only = f"c = {CALLBACKS}.ModelCheckpoint({path}, save_weights_only=True)\n"
  assert bool(_found(only, "EM515")) is weights
  assert bool(_found(f"c = {CALLBACKS}.ModelCheckpoint({path})\n", "EM515")) is whole


@pytest.mark.parametrize(
  ("name", "weights", "whole", "loaded"),
  # What save_weights, save and load_weights did on TF 2.21.
  [
    ("cp", True, True, True),
    ("cp.ckpt", True, True, True),
    ("cp.h5", True, False, False),
    ("cp.hdf5", True, False, False),
    ("cp.keras", True, False, False),
    ("cp.weights.h5", False, False, False),
  ],
)
def test_the_suffixes_that_the_methods_of_a_model_refuse(name, weights, whole, loaded):
  for method, flagged in (("save_weights", weights), ("save", whole), ("load_weights", loaded)):
    text = MODEL + f"model.{method}('models/{name}')\n"
    assert bool(_found(text, "EM515")) is flagged


@pytest.mark.parametrize(
  ("path", "flagged"),
  [
    ("os.path.join(d, 'cp-{epoch:04d}.ckpt')", True),
    ("os.path.join(d, 'cp')", True),
    ("f'{d}/cp-{{epoch}}.ckpt'", True),
    ("f'{d}/cp-{n:02d}'", True),
    ("d + '/cp.ckpt'", True),
    ("'{}/cp.ckpt'.format(d)", True),
    ("'%s/cp-%d' % (d, n)", True),
    ("pathlib.Path(d) / 'cp'", True),
    ("PATH", True),
    ("os.path.join(d, 'cp.weights.h5')", False),
    ("d", False),
    ("f'{d}/{name}'", False),
    ("f'{d}.h5'", False),
    ("'{}/{}'.format(d, name)", False),
    ("'%s' % name", False),
    ("os.path.join(d, name)", False),
    ("d + name", False),
    ("get_path()", False),
  ],
)
def test_paths_are_read_as_far_as_they_are_written(path, flagged):
  text = "import os, pathlib\nPATH = 'cp.ckpt'\ndef f(d, n, name):\n"
  text += f"  return {CALLBACKS}.ModelCheckpoint({path}, save_weights_only=True)\n"
  assert bool(_found(text, "EM515")) is flagged


def test_a_path_is_shown_as_format_leaves_it():
  path = "'{}-{{epoch:02d}}.tf'.format(name)"
  (found,) = _found(f"c = {CALLBACKS}.ModelCheckpoint({path})\n", "EM515")
  assert "`...-{epoch:02d}.tf`" in found.message


@pytest.mark.parametrize(
  ("model", "flagged"),
  [
    ("model = tf.keras.Model(i, o)", True),
    ("def make():\n  return tf.keras.Sequential()\nmodel = make()", True),
    ("class Net(tf.keras.Model): pass\nmodel = Net()", True),
    ("model = tf.keras.applications.ResNet50()", True),
    ("model = make()\nmodel.compile(optimizer='sgd', loss=tf.keras.losses.mse)", True),
    ("model = make()", False),
    ("model = torch.nn.Linear(1, 2)", False),
    ("model = sklearn.linear_model.Ridge()", False),
  ],
)
def test_only_methods_of_keras_models_are_meant(model, flagged):
  assert bool(_found(f"{model}\nmodel.save('models/a')\n", "EM515")) is flagged


def test_who_wants_a_saved_model_is_told_what_does_it_in_keras_3():
  (written,) = _found(f"{MODEL}model.save('models/a')\n", "EM515")
  assert written.message.endswith("or `.hdf5`; `model.export` writes a SavedModel.")
  (read,) = _found("model = tf.keras.models.load_model('models/a')\n", "EM515")
  assert read.message.endswith("; `keras.layers.TFSMLayer` loads a SavedModel.")


@pytest.mark.parametrize(
  ("call", "replacement"),
  [
    ("model.save_weights('a/cp.ckpt')", '"a/cp.weights.h5"'),
    ("model.save('a/cp')", '"a/cp.keras"'),
    ("model.load_weights('a/cp.ckpt')", None),
    ("model.save('a/')", None),
    ("model.save('')", None),
    (r"model.save('a\\b')", r'"a\\b.keras"'),
  ],
)
def test_a_literal_path_gets_its_right_suffix(call, replacement):
  (found,) = _found(f"{MODEL}{call}\n", "EM515")
  assert found.replacement == replacement


def test_weights_are_not_loaded_from_the_latest_checkpoint():
  (found,) = _found(f"{MODEL}model.load_weights(tf.train.latest_checkpoint('a'))\n", "EM515")
  assert "a TensorFlow checkpoint" in found.message


@pytest.mark.parametrize(
  ("arguments", "consequence"),
  [
    ("save_best_only=True, save_freq=16", "Keras 2 never saves, Keras 3 saves every 16 batches"),
    ("'val_loss', 0, True, False, 'auto', 16", "Keras 2 never saves"),
    ("monitor='loss', save_best_only=True, save_freq=16", "NoneType"),
    ("monitor=metric, save_best_only=True, save_freq=16", None),
    ("save_best_only=True, save_freq='epoch'", None),
    ("save_best_only=True", None),
    ("save_freq=16", None),
    ("save_best_only=best, save_freq=16", None),
  ],
)
def test_the_best_model_by_batches(arguments, consequence):
  found = _found(f"c = {CALLBACKS}.ModelCheckpoint('a.keras', {arguments})\n", "EM514")
  assert [consequence in f.message for f in found] == [True] * (consequence is not None)


@pytest.mark.parametrize(
  ("text", "argument"),
  [
    (f"{CALLBACKS}.ModelCheckpoint('a.keras', load_weights_on_restart=True)", "load_weights_on_"),
    (f"{CALLBACKS}.ModelCheckpoint('a.keras', options=o)", "options"),
    (f"{CALLBACKS}.ModelCheckpoint('a.keras', **{{'options': o}})", "options"),
    (f"{CALLBACKS}.BackupAndRestore('b', save_before_preemption=True)", "save_before_preemption"),
    (f"{MODEL}model.save_weights('a.weights.h5', save_format='h5')", "save_format"),
    ("tf.train.Checkpoint(m=m).save('a', options=o)", None),
    ("agent.save_weights('a.weights.h5', save_format='h5')", None),
  ],
)
def test_arguments_that_keras_3_does_not_take(text, argument):
  found = _found(f"{text}\n", "EM516")
  assert [argument in f.message for f in found] == [True] * (argument is not None)


def test_period_of_one_epoch_says_what_to_write():
  (found,) = _found(f"c = {CALLBACKS}.ModelCheckpoint('a.keras', period=1)\n", "EM509")
  assert found.replacement == 'save_freq="epoch"'
  assert found.span.column == len(f"c = {CALLBACKS}.ModelCheckpoint('a.keras', ")
  (found,) = _found(f"c = {CALLBACKS}.ModelCheckpoint('a.keras', period=5)\n", "EM509")
  assert found.replacement is None


@pytest.mark.parametrize(
  ("writer", "flagged"),
  [
    (f"{CALLBACKS}.ModelCheckpoint('d/a.weights.h5', save_weights_only=True)", True),
    (f"{CALLBACKS}.ModelCheckpoint(os.path.join('d', 'a-{{epoch}}.keras'))", True),
    (f"{MODEL}model.save_weights('d/a.h5')", True),
    (f"{CALLBACKS}.ModelCheckpoint('d/a', save_weights_only=True)", False),
    (f"{CALLBACKS}.ModelCheckpoint('e/a.weights.h5', save_weights_only=True)", False),
    (f"{CALLBACKS}.ModelCheckpoint('d/a.keras')\ntf.train.Checkpoint(m=m).save('d/c')", False),
    (f"{CALLBACKS}.ModelCheckpoint(path)", False),
  ],
)
def test_the_latest_checkpoint_of_a_directory_of_keras_files(writer, flagged):
  text = f"import os\n{writer}\nlatest = tf.train.latest_checkpoint('d')\n"
  assert bool(_found(text, "EM517")) is flagged


ESTIMATOR = "e = tf.estimator.Estimator(model_fn, 'm')\n"
CHECKPOINT = "c = tf.train.Checkpoint(model=m)\n"


@pytest.mark.parametrize(
  ("text", "reason"),
  [
    (f"{CHECKPOINT}c.restore('m/model.ckpt-3').expect_partial()", "has a name that"),
    (f"{CHECKPOINT}c.read('m/model.ckpt-3')", "has a name that"),
    (f"{ESTIMATOR}{CHECKPOINT}c.restore(tf.train.latest_checkpoint('m'))", "Estimator of line 2"),
    (f"{ESTIMATOR}{CHECKPOINT}c.restore(tf.train.latest_checkpoint(e.model_dir))", "of line 2"),
    (f"{ESTIMATOR}{CHECKPOINT}c.restore(e.latest_checkpoint())", "Estimator of line 2"),
    (
      "s = tf.compat.v1.train.Saver()\np = s.save(session, 'm/a')\n"
      "tf.train.Checkpoint(model=m).restore(p)",
      "Saver of line 3",
    ),
    (f"{MODEL}model.load_weights('m/model.ckpt-1000')", "has a name that"),
    (f"{CHECKPOINT}c.restore('m/model.ckpt-3').assert_consumed()", None),
    (f"{CHECKPOINT}s = c.restore('m/model.ckpt-3')\ns.assert_consumed()", None),
    (f"{CHECKPOINT}c.restore('m/ckpt-3')", None),
    (f"{CHECKPOINT}c.save('m/model.ckpt')\nc.restore('m/model.ckpt-3')", None),
    (f"{ESTIMATOR}{CHECKPOINT}c.restore(tf.train.latest_checkpoint('other'))", None),
    ("v = tf.Variable(1., name='w')\ntf.train.Checkpoint(v=v).restore('m/model.ckpt-3')", None),
    (
      f"{ESTIMATOR}{CHECKPOINT}f = tf.compat.v1.train.Scaffold(saver=c)\n"
      "c.restore(tf.train.latest_checkpoint('m'))",
      None,
    ),
    ("s = tf.compat.v1.train.Saver()\ns.restore(session, 'm/model.ckpt-3')", None),
  ],
)
def test_a_tf1_checkpoint_that_an_object_should_load(text, reason):
  found = _found(f"{text}\n", "EM518")
  assert [reason in f.message for f in found] == [True] * (reason is not None)


def test_what_is_a_tf1_checkpoint_is_not_reported_for_its_suffix():
  assert not _found(f"{MODEL}model.load_weights('m/model.ckpt-1000')\n", "EM515")


@pytest.mark.parametrize(
  ("condition", "flagged"),
  [
    ("if tf.__version__ < '2.16':", False),
    ("if tf.__version__.startswith('1.'):", False),
    ("if tf.keras.__version__.startswith('2.'):", False),
    ("if tf.__version__ < '2.18':", True),
    ("if old:", True),
  ],
)
def test_code_that_only_keras_2_runs_is_not_reported(condition, flagged):
  saver = f"{CALLBACKS}.ModelCheckpoint('a/cp.ckpt', save_weights_only=True, period=2)"
  text = f"{condition}\n  c = {saver}\nelse:\n  c = None\n"
  assert bool(_found(text, "EM515")) is flagged
  assert bool(_found(text, "EM509")) is flagged


def test_a_model_with_its_own_save_may_do_as_it_likes():
  text = "class Net(tf.keras.Model):\n  def save(self, path): pass\nmodel = Net()\n"
  assert not _found(text + "model.save('models/a')\n", "EM515")
  assert _found(text + "model.save_weights('models/a')\n", "EM515")


def test_a_directory_that_other_code_gets_may_hold_checkpoints():
  text = f"d = make()\nc = {CALLBACKS}.ModelCheckpoint(d + '/a.keras')\n"
  latest = "latest = tf.train.latest_checkpoint(d)\n"
  assert _found(f"import os\n{text}os.makedirs(d)\n{latest}", "EM517")
  assert not _found(f"{text}train(directory=d)\n{latest}", "EM517")


@pytest.mark.parametrize(
  "expects", ["self.assertRaisesRegex(ValueError, 'x')", "pytest.raises(ValueError)"]
)
def test_what_a_test_expects_to_raise_is_not_reported(expects):
  text = f"{MODEL}with {expects}:\n  model.save('models/a')\n"
  assert not _found(text, "EM515")
  manager = f"with {expects}:\n  tf.train.CheckpointManager(c, 'd', max_to_keep=0)\n"
  assert not _found(manager, "EM507")
