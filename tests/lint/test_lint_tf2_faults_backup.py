"""BackupAndRestore: what resumes wrongly, what is lost, and what it cannot do."""

import pytest

from migrator.lint import engine

BACKUP = "tf.keras.callbacks.BackupAndRestore"
BUILT = "tf.keras.Sequential([tf.keras.Input([4]), tf.keras.layers.Dense(1)])"


def _found(text, code, first="import tensorflow as tf\n"):
  return [f for f in engine.check_text(first + text, "a.py") if f.code == code]


def _codes(text):
  return {f.code for f in engine.check_text("import tensorflow as tf\n" + text, "a.py")}


@pytest.mark.parametrize(
  ("call", "replacement"),
  [
    (f"{BACKUP}('b')", f"{BACKUP}('b', delete_checkpoint=False)"),
    (f"{BACKUP}('b',)", None),
    (f"{BACKUP}(\n  'b')", None),
    (f"{BACKUP}('b', delete_checkpoint=True)", "False"),
  ],
)
def test_a_backup_that_is_deleted_says_what_to_write(call, replacement):
  (found,) = _found(f"backup = {call}\n", "EM505")
  if call.endswith(",)"):
    replacement = f"{BACKUP}('b',delete_checkpoint=False)"
  assert found.replacement == replacement


NET = """
class Base(tf.keras.layers.Layer): pass
class Net(tf.keras.Model):
  def __init__(self):
    super().__init__({inputs})
    self.dense = tf.keras.layers.Dense(1)
    {more}
  def call(self, x):
    return self.dense(x)
model = Net()
model.compile("sgd", "mse")
{before}
model.fit(x, y, callbacks=[tf.keras.callbacks.BackupAndRestore("b")])
"""


def _net(inputs="", more="pass", before="pass"):
  return NET.format(inputs=inputs, more=more, before=before)


@pytest.mark.parametrize(
  "text",
  [
    _net(),
    _net(inputs="name='net'"),
    _net(before="checkpoint = tf.train.Checkpoint(model=model)"),
    _net(before="print(model)"),
  ],
)
def test_a_model_class_that_nothing_builds(text):
  (found,) = _found(text, "EM502")
  assert found.message.startswith("Nothing builds this `Net`")


@pytest.mark.parametrize(
  "text",
  [
    _net(inputs="inputs, outputs"),
    _net(inputs="inputs=i, outputs=o"),
    _net(more="self.build([None, 4])"),
    _net(more="self(tf.zeros([1, 4]))"),
    _net(before="model(x[:1])"),
    _net(before="model.load_weights('a.weights.h5')"),
    _net(before="warm_up(model)"),
    _net().replace("tf.keras.Model", "Trainer"),
  ],
)
def test_a_model_class_that_may_be_built(text):
  assert not _found(text, "EM502")


def test_a_model_that_another_method_builds_is_not_reported():
  text = """
class Trainer:
  def __init__(self):
    self.model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
    self.model.build([None, 4])
  def train(self):
    self.model.fit(x, y, callbacks=[tf.keras.callbacks.BackupAndRestore("b")])
"""
  assert not _found(text, "EM502")
  assert _found(text.replace("    self.model.build([None, 4])\n", ""), "EM502")


LEGACY = "import os\nos.environ['TF_USE_LEGACY_KERAS'] = '1'\nimport tensorflow as tf\n"


def test_a_program_that_asks_for_keras_2_gets_no_warning_of_keras_3():
  text = f"""
model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
saver = tf.keras.callbacks.ModelCheckpoint("b/cp.ckpt", save_weights_only=True, period=2)
model.fit(x, y, callbacks=[{BACKUP}("b", save_freq=5), saver])
"""
  keras3 = {"EM502", "EM504", "EM509", "EM515", "EM525"}
  assert keras3 <= _codes(text)
  legacy = {f.code for f in engine.check_text(LEGACY + text, "a.py")}
  assert not legacy & keras3


@pytest.mark.parametrize(
  ("compiled", "message"),
  [
    ("steps_per_execution=4", "every 20 batches in Keras 2 and every 5"),
    ("steps_per_execution=n", "every 5 x n batches in Keras 2 and every 5"),
    ("steps_per_execution='auto'", "every 5 x 'auto' batches in Keras 2 and every 5"),
    ("steps_per_execution=1", None),
    ("jit_compile=True", None),
  ],
)
def test_batches_are_counted_by_executions(compiled, message):
  text = f"model = {BUILT}\nmodel.compile('sgd', 'mse', {compiled})\n"
  text += f"model.fit(x, y, callbacks=[{BACKUP}('b', 5)])\n"
  found = _found(text, "EM510")
  assert [message in f.message for f in found] == [True] * (message is not None)


@pytest.mark.parametrize(
  ("text", "what"),
  [
    (
      "tf.compat.v1.disable_eager_execution()",
      "`tf.compat.v1.disable_eager_execution()` of line 2",
    ),
    ("tf.compat.v1.disable_v2_behavior()", "`tf.compat.v1.disable_v2_behavior()` of line 2"),
    ("if __name__ == '__main__': tf.compat.v1.disable_v2_behavior()", "line 2"),
    ("tf.config.run_functions_eagerly(True)", None),
    ("if old: tf.compat.v1.disable_eager_execution()", None),
    ("tf.compat.v1.disable_eager_execution()\ntf.compat.v1.enable_eager_execution()", None),
    ("my.disable_eager_execution()", None),
    ("def main(_):\n  tf.compat.v1.disable_v2_behavior()", "line 3"),
    ("def old():\n  tf.compat.v1.disable_v2_behavior()", None),
  ],
)
def test_eager_execution_is_disabled(text, what):
  found = _found(f"{text}\nbackup = {BACKUP}('b')\n", "EM511")
  assert [what in f.message for f in found] == [True] * (what is not None)


def test_a_backup_in_a_graph():
  assert _found(f"g = tf.Graph()\nwith g.as_default():\n  b = {BACKUP}('b')\n", "EM511")
  later = f"with tf.Graph().as_default():\n  def f():\n    return {BACKUP}('b')\n"
  assert not _found(later, "EM511")


SCOPE = """
strategy = {strategy}
with strategy.scope():
  model = create()
model.fit(x, y, callbacks=[tf.keras.callbacks.BackupAndRestore("b"{more})])
"""


@pytest.mark.parametrize(
  ("strategy", "more", "consequence"),
  [
    ("tf.distribute.OneDeviceStrategy('/gpu:0')", "", "NotImplementedError"),
    ("tf.distribute.experimental.CentralStorageStrategy()", "", "NotImplementedError"),
    ("tf.distribute.ParameterServerStrategy(r)", ", save_freq=9", "`save_freq=9` saves nothing"),
    ("tf.distribute.ParameterServerStrategy(r)", "", None),
    ("tf.distribute.MirroredStrategy()", "", None),
    ("tf.distribute.MultiWorkerMirroredStrategy()", "", None),
    ("tf.distribute.TPUStrategy(r)", "", None),
    ("get_strategy()", "", None),
  ],
)
def test_strategies_that_a_backup_does_not_support(strategy, more, consequence):
  found = _found(SCOPE.format(strategy=strategy, more=more), "EM512")
  assert [consequence in f.message for f in found] == [True] * (consequence is not None)


def test_the_strategy_is_that_of_the_model_and_not_another_one_of_the_file():
  text = SCOPE.format(strategy="tf.distribute.MirroredStrategy()", more="")
  other = "other = tf.distribute.OneDeviceStrategy('/gpu:0')\nwith other.scope():\n  m = f()\n"
  assert not _found(other + text, "EM512")


@pytest.mark.parametrize(
  ("data", "reason"),
  [
    ("tf.data.Dataset.from_generator(g, output_signature=s).batch(8)", "from_generator"),
    ("tf.data.TFRecordDataset(f).map(p).shuffle(9).batch(8).prefetch(1)", "TFRecordDataset"),
    ("tf.data.Dataset.from_tensor_slices(x).filter(p).repeat(2).batch(8)", "`filter`"),
    ("tf.data.Dataset.range(9).interleave(p).batch(8)", "`interleave`"),
    ("tf.data.Dataset.range(9).flat_map(p).take(64)", "`flat_map`"),
    ("(row for row in rows)", "a generator"),
    ("tf.data.Dataset.from_tensor_slices(x).map(p).batch(8)", None),
    ("tf.data.Dataset.range(9).repeat().take(64).batch(8)", None),
    ("tf.data.TFRecordDataset(f).apply(tf.data.experimental.assert_cardinality(9))", None),
    ("frame.filter(p)", None),
    ("x", None),
  ],
)
def test_data_of_unknown_size(data, reason):
  text = f"data = {data}\nmodel.fit(data, callbacks=[{BACKUP}('b', save_freq=5)])\n"
  found = _found(text, "EM520")
  assert [reason in f.message for f in found] == [True] * (reason is not None)


@pytest.mark.parametrize(
  ("arguments", "flagged"),
  [
    ("", True),
    ("steps_per_epoch=None, ", True),
    ("steps_per_epoch=9, ", False),
    ("steps_per_epoch=steps, ", False),
    ("**options, ", False),
  ],
)
def test_steps_per_epoch_gives_the_size(arguments, flagged):
  text = f"""
def data():
  def rows():
    yield 1
  return tf.data.Dataset.from_generator(rows, output_types=tf.float32)
model.fit(data(), {arguments}callbacks=[{BACKUP}('b', save_freq=5)])
model.fit(data(), callbacks=[{BACKUP}('b')])
"""
  assert bool(_found(text, "EM520")) is flagged


CALLBACKS = "tf.keras.callbacks"


@pytest.mark.parametrize(
  ("other", "flagged"),
  [
    (f"{CALLBACKS}.EarlyStopping('loss')", True),
    (f"{CALLBACKS}.ReduceLROnPlateau()", True),
    (f"{CALLBACKS}.ModelCheckpoint('a.keras', save_best_only=True)", True),
    (f"{CALLBACKS}.ModelCheckpoint('a.keras', 'loss', 0, True)", True),
    (
      f"{CALLBACKS}.ModelCheckpoint('a.keras', save_best_only=True, initial_value_threshold=v)",
      False,
    ),
    (f"{CALLBACKS}.ModelCheckpoint('a.keras')", False),
    (f"{CALLBACKS}.TensorBoard()", False),
  ],
)
def test_callbacks_whose_state_is_lost(other, flagged):
  together = f"model.fit(x, y, callbacks=[{BACKUP}('b'), {other}])\n"
  alone = f"model.fit(x, y, callbacks=[{other}])\nmodel.fit(x, y, callbacks=[{BACKUP}('b')])\n"
  assert bool(_found(together, "EM521")) is flagged
  assert not _found(alone, "EM521")


@pytest.mark.parametrize(
  "callbacks",
  [
    "c = [b]\nc.append(s)",
    "c = []\nc.extend([b, s])",
    "c = [b]\nc += [s]",
    "c = [b] + ([s] if early else [])",
    "def make():\n  return [b, s]\nc = make()",
    "c = tf.keras.callbacks.CallbackList([b, s])",
    "c = [*[b], s]",
  ],
)
def test_the_callbacks_of_a_fit_however_they_are_put_together(callbacks):
  text = f"b = {BACKUP}('b')\ns = {CALLBACKS}.EarlyStopping('loss')\n{callbacks}\n"
  assert _found(text + "model.fit(x, y, callbacks=c)\n", "EM521")


@pytest.mark.parametrize(
  ("directory", "other", "flagged"),
  [
    ("'run'", f"{CALLBACKS}.ModelCheckpoint('run/a.keras')", True),
    ("'./run/'", f"{CALLBACKS}.ModelCheckpoint('run/deep/a.keras')", True),
    ("d", f"{CALLBACKS}.ModelCheckpoint(os.path.join(d, 'a.keras'))", True),
    ("d", f"{CALLBACKS}.TensorBoard(d)", True),
    ("f'{d}/run'", f"{CALLBACKS}.CSVLogger(d + '/run/log.csv')", True),
    ("d", "tf.summary.create_file_writer(d / 'logs')", True),
    ("d", "tf.train.CheckpointManager(c, directory=d, max_to_keep=3)", True),
    ("FLAGS.dir", f"{CALLBACKS}.TensorBoard(os.path.join(FLAGS.dir, 'logs'))", True),
    ("os.path.join(d, 'b')", f"{CALLBACKS}.ModelCheckpoint(os.path.join(d, 'a.keras'))", False),
    ("'run'", f"{CALLBACKS}.ModelCheckpoint('runs/a.keras')", False),
    ("d, delete_checkpoint=False", f"{CALLBACKS}.TensorBoard(d)", False),
    ("temporary()", f"{CALLBACKS}.TensorBoard(temporary())", False),
  ],
)
def test_files_of_others_in_a_directory_that_is_deleted(directory, other, flagged):
  text = f"import os\ncallbacks = [{BACKUP}({directory}), {other}]\n"
  assert bool(_found(text, "EM525")) is flagged


def test_directories_of_the_same_name_in_two_functions_are_two():
  text = f"""
def train(path):
  return {BACKUP}(path)
def log(path):
  return {CALLBACKS}.TensorBoard(path)
"""
  assert not _found(text, "EM525")


def test_a_directory_that_is_bound_anew_is_another():
  text = f"path = make()\nb = {BACKUP}(path)\npath = make()\nt = {CALLBACKS}.TensorBoard(path)\n"
  assert not _found(text, "EM525")
  assert _found(text.replace("path = make()\nt =", "t ="), "EM525")


def test_the_callbacks_are_those_of_the_fit_and_not_of_another_below_or_above():
  text = f"""
callbacks = [{CALLBACKS}.EarlyStopping("loss")]
first.fit(x, y, callbacks=callbacks)
callbacks = [{BACKUP}("b")]
second.fit(x, y, callbacks=callbacks)
callbacks = [{CALLBACKS}.ReduceLROnPlateau()]
third.fit(x, y, callbacks=callbacks)
"""
  assert not _found(text, "EM521")
  appended = text.replace(
    "second.fit", f"callbacks.append({CALLBACKS}.EarlyStopping())\nsecond.fit"
  )
  assert [f.span.line for f in _found(appended, "EM521")] == [6]


def test_what_is_bound_in_the_same_loop_counts():
  text = f"""
for fold in folds:
  callbacks = [{CALLBACKS}.EarlyStopping("loss")]
  model.fit(x, y, callbacks=callbacks)
for fold in folds:
  callbacks = [{BACKUP}("b")]
  model.fit(x, y, callbacks=callbacks)
"""
  assert not _found(text, "EM521")


def test_a_strategy_that_two_branches_make_is_reported_once():
  text = (
    "if gpus:\n  strategy = tf.distribute.OneDeviceStrategy('gpu:0')\n"
    "else:\n  strategy = tf.distribute.OneDeviceStrategy('cpu:0')\n"
    "with strategy.scope():\n  model = create_model()\n"
    f"model.fit(x, y, callbacks=[{BACKUP}('b')])\n"
  )
  (found,) = _found(text, "EM512")
  assert "(line 3)" in found.message
