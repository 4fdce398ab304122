"""The public cases about TF2 code: the small inputs, and each finding in them."""

from migrator.lint import engine


def _places(text, *codes):
  found = engine.check_text(text.lstrip("\n"), "a.py")
  return [(f.span.line, f.code) for f in found if not codes or f.code in codes]


def test_case_08_a_checkpoint_by_the_index_of_the_batch():
  text = """
import tensorflow as tf
class Rate(tf.keras.callbacks.Callback):
    def on_train_batch_end(self, batch, logs=None):
        if batch % 7 == 0:
            print("step", batch)
class Save(tf.keras.callbacks.Callback):
    def on_train_batch_end(self, batch, logs=None):
        if batch % 7 == 0:
            self.model.save_weights("w.weights.h5")
"""
  assert _places(text) == [(8, "EM523")]


def test_case_29_a_restore_that_silently_loads_nothing():
  text = """
import tensorflow as tf
m = tf.keras.Sequential([tf.keras.layers.Input((4,)), tf.keras.layers.Dense(3, name="fc1"),
                         tf.keras.layers.Dense(1, name="fc2")])
before = m.get_weights()[0].copy()
tf.train.Checkpoint(model=m).restore("/m/model.ckpt-3").expect_partial()
print((before != m.get_weights()[0]).any())      # True on TF 2.15, False on TF 2.21
"""
  assert _places(text) == [(5, "EM518")]


def test_case_47_a_checkpoint_of_the_other_keras_is_not_asserted():
  text = """
import tensorflow as tf
def mk():
    m = tf.keras.Sequential([tf.keras.layers.Input((1,)), tf.keras.layers.Dense(1)])
    m.compile(tf.keras.optimizers.Adam(.01), "mse"); m.optimizer.build(m.trainable_variables); return m
m = mk()
tf.train.Checkpoint(model=m, optimizer=m.optimizer).save("/x/ck")        # run on 2.15
tf.train.Checkpoint(model=m, optimizer=m.optimizer).restore("/x/ck-1")   # run on 2.21
"""
  assert _places(text) == [(7, "EM506")]


def test_case_50_data_of_unknown_size():
  text = """
import tensorflow as tf
ds = tf.data.Dataset.from_generator(gen, output_signature=sig).batch(8)
m.fit(ds, epochs=4, callbacks=[tf.keras.callbacks.BackupAndRestore("/b", save_freq=5)])   # crash at batch 13
m2.fit(ds, epochs=4, callbacks=[tf.keras.callbacks.BackupAndRestore("/b", save_freq=5)])  # TypeError
"""
  assert _places(text, "EM520", "EM513") == [(3, "EM520"), (4, "EM520")]


def test_case_52_counters_that_no_backup_holds():
  text = """
import tensorflow as tf
cbs = [tf.keras.callbacks.BackupAndRestore("/b"),
       tf.keras.callbacks.EarlyStopping("loss", patience=2),
       tf.keras.callbacks.ModelCheckpoint("/b/best.weights.h5", save_weights_only=True,
                                          save_best_only=True, monitor="loss")]
m.fit(ds, epochs=9, callbacks=cbs)       # kill in epoch 2, run again
"""
  # /b goes with the best weights in it when fit ends, on Keras 3.
  assert _places(text) == [(2, "EM505"), (2, "EM525"), (3, "EM521"), (4, "EM521")]


def test_case_54_only_the_chief_saves():
  text = """
import tensorflow as tf
strategy = tf.distribute.experimental.MultiWorkerMirroredStrategy()
callbacks = []
if task_type == "chief":
    callbacks.append(tf.keras.callbacks.ModelCheckpoint("/shared/{epoch}.keras"))
"""
  assert _places(text) == [(5, "EM522")]


def test_case_55_the_best_model_by_batches():
  text = """
import tensorflow as tf
cb = tf.keras.callbacks.ModelCheckpoint("/b/best.weights.h5", save_weights_only=True,
                                        save_best_only=True, monitor="val_loss", save_freq=16)
m.fit(ds, validation_data=ds, epochs=4, callbacks=[cb])     # 8 batches per epoch
"""
  assert _places(text) == [(3, "EM514")]


def test_case_58_suffixes_that_keras_3_refuses():
  text = """
import tensorflow as tf
cb = tf.keras.callbacks.ModelCheckpoint("/b/cp-{epoch}", save_weights_only=True)
m.compile(optimizer="sgd", loss="mse")
m.fit(ds, epochs=2, callbacks=[cb])
m.load_weights(tf.train.latest_checkpoint("/b"))
"""
  assert _places(text) == [(2, "EM515"), (5, "EM515")]
  renamed = text.replace("cp-{epoch}", "cp-{epoch}.weights.h5")
  assert _places(renamed) == [(5, "EM515"), (5, "EM517")]


def test_case_59_a_manager_beside_a_saver():
  text = """
import tensorflow as tf
saver = tf.compat.v1.train.Saver()
saver.save(session, "/m/model.ckpt", global_step=3)
c = tf.train.Checkpoint(v=tf.Variable(1.0))
for run in range(2):
    mgr = tf.train.CheckpointManager(c, "/m", max_to_keep=2)    # /m is the old model_dir
    for s in range(3): mgr.save(3 * run + s)
"""
  assert _places(text, "EM508") == [(6, "EM508")]
