"""The training of hook_sessions.py, watched by callbacks: in a loop, and in `fit`.

A callback gets "loss" in its logs; the counter of the graph is a variable here.
"""

import types

import numpy as np
import tensorflow as tf
from hook_sessions import LOSSES, Lines, Seen

from migrator import runtime
from migrator.runtime import steps


class _Tick(tf.keras.callbacks.Callback):
  """Does as a callback what _TickHook does, and counts."""

  def __init__(self, clock, stop_at, counter):
    super().__init__()
    self._clock = clock
    self._stop_at = stop_at
    self._counter = counter

  def on_train_batch_end(self, batch, logs=None):
    self._clock.now += 1.5
    self._counter.assign_add(1.0)
    if steps.global_step(self.model) == self._stop_at:
      self.model.stop_training = True


class _Host:
  """The model of callbacks in a loop without Keras."""

  stop_training = False


class Loop:
  """Trains in a loop of its own, as a migrated program does."""

  def __init__(self, clock, directory):
    self._clock = clock
    self._host = _Host()
    self._step = tf.Variable(0, dtype=tf.int64)
    self.counter = tf.Variable(100.0)
    counted = types.SimpleNamespace(by_name={steps.GLOBAL_STEP: self._step})
    steps.register(self._host, counted)

  def train(self, callbacks, losses=LOSSES, first=0, stop_at=None):
    """Trains; arguments and result are those of `with_hooks`."""
    self._step.assign(first)
    self.counter.assign(100.0 + first)
    error = None
    with Lines() as log:
      try:
        self._train(callbacks, losses, stop_at)
      except Exception as e:
        error = type(e).__name__
    return Seen(log.lines, int(self._step.numpy()), error)

  def _train(self, callbacks, losses, stop_at):
    tick = _Tick(self._clock, stop_at, self.counter)
    callbacks = tf.keras.callbacks.CallbackList([tick, *callbacks], model=self._host)
    self._host.stop_training = False
    callbacks.on_train_begin()
    for loss in np.array(losses, np.float32):
      callbacks.on_train_batch_begin(self._step.numpy())
      self._step.assign_add(1)
      callbacks.on_train_batch_end(self._step.numpy() - 1, {"loss": loss})
      if self._host.stop_training:
        break
    callbacks.on_train_end()


class Fit:
  """Trains with `fit` after BackupAndRestore, as a migrated program does."""

  def __init__(self, clock, directory):
    self._clock = clock
    inputs = tf.keras.Input([1])
    logits = tf.keras.layers.Dense(
      1, use_bias=False, kernel_initializer="ones", trainable=False, name="logits"
    )(inputs)
    self._model = tf.keras.Model(inputs, logits)
    self._model.compile(tf.keras.optimizers.SGD(0.0), loss=lambda _, y: tf.reduce_mean(y))
    self.backup = runtime.BackupAndRestore(
      self._model, directory, flavour="v1", save_summary_steps=0, log_step_count_steps=None
    )
    self.counter = tf.Variable(100.0)

  def train(self, callbacks, losses=LOSSES, first=0, stop_at=None):
    """Trains; arguments and result are those of `with_hooks`."""
    self._fit([1.0] * (first - self.backup.global_step), [])
    self.counter.assign(100.0 + first)
    error = None
    with Lines() as log:
      try:
        self._fit(losses, [_Tick(self._clock, stop_at, self.counter), *callbacks])
      except Exception as e:
        error = type(e).__name__
    return Seen(log.lines, self.backup.global_step, error)

  def _fit(self, losses, callbacks):
    if losses:
      x = np.array(losses, np.float32).reshape(-1, 1)
      dataset = tf.data.Dataset.from_tensor_slices((x, x)).batch(1)
      self._model.fit(dataset, callbacks=[self.backup, *callbacks], verbose=0)


HOSTS = {"loop": Loop, "fit": Fit}
