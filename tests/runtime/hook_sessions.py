"""One training, watched by a real hook in a session and by the callback in its place.

The training is the same everywhere: the loss of step k is the k-th number that is given, the weights do not
change, and a clock moves on by 1.5 seconds in each step. A graph has the tensors "loss:0", "step_now:0"
and "counter_now:0" (100 + steps), a callback "loss" and "global_step" in its logs, and the counter is a
variable. What can be seen of a training is in `Seen`.
"""

import glob
import logging
import os
import time
from collections import namedtuple

import numpy as np
import tensorflow as tf
from tensorflow.python.training import training_util

from migrator import runtime
from migrator.runtime import steps

v1 = tf.compat.v1
LOSSES = (0.5, 0.1, 2.25, 0.7, 1e-7, 12345.678, 0.3, 3.0, 0.2, 0.9, 0.6, 0.8)

Seen = namedtuple("Seen", "log step error")
"""A training: the lines of the log, the global step after it, the class of its error or None."""

_NOISE = (
  "Saving checkpoints",
  "Graph was finalized",
  "Running local_init_op",
  "Done running local_init_op",
  "Callback method `on_train_batch_end` is slow",  # Keras, of the clock
)


class Clock:
  """A clock that only moves when told to."""

  _START = 2e9

  def __init__(self, monkeypatch):
    self.now = self._START
    monkeypatch.setattr(time, "time", lambda: self.now)

  def reset(self):
    """Goes back to the start."""
    self.now = self._START


class Lines(logging.Handler):
  """Collects what is logged while it is entered."""

  def __init__(self):
    super().__init__()
    self.lines = []

  def emit(self, record):
    text = record.getMessage()
    if not text.startswith(_NOISE):
      self.lines.append(f"{record.levelname} {text}")

  def __enter__(self):
    self._logger = tf.get_logger()
    self._level = self._logger.level
    self._logger.setLevel("INFO")
    self._logger.addHandler(self)
    return self

  def __exit__(self, *exception):
    self._logger.removeHandler(self)
    self._logger.setLevel(self._level)


class _TickHook(v1.train.SessionRunHook):
  """Lets time pass in each step, and asks for the end after one."""

  def __init__(self, clock, stop_at):
    self._clock = clock
    self._stop_at = stop_at
    self.seen = None

  def after_run(self, run_context, run_values):
    self._clock.now += 1.5
    self.seen = int(run_context.session.run(v1.train.get_global_step()))
    if self.seen == self._stop_at:
      run_context.request_stop()


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


def with_hooks(clock, hooks, losses=LOSSES, first=0, stop_at=None):
  """Trains in a monitored session; returns what was seen.

  Args:
    clock: the Clock.
    hooks: the hooks, which name tensors.
    losses: those of the steps; the input ends with them.
    first: the global step at which the training begins.
    stop_at: another hook requests the end after this step.
  """
  error, tick = None, _TickHook(clock, stop_at)
  with tf.Graph().as_default(), Lines() as log:
    v1.get_variable(
      "global_step",
      initializer=np.int64(first),
      trainable=False,
      collections=[v1.GraphKeys.GLOBAL_VARIABLES, v1.GraphKeys.GLOBAL_STEP],
    )
    step = v1.train.get_global_step()
    counter = v1.get_variable("counter", initializer=np.float32(100 + first))
    iterator = v1.data.make_initializable_iterator(
      tf.data.Dataset.from_tensor_slices(np.array(losses, np.float32))
    )
    v1.add_to_collection(v1.GraphKeys.TABLE_INITIALIZERS, iterator.initializer)
    # What a step reads it reads before it updates anything, as TF 2 does but for a race.
    reads = [
      tf.identity(iterator.get_next(), "loss"),
      tf.identity(step, "step_now"),
      tf.identity(counter, "counter_now"),
      training_util._get_or_create_global_step_read(),
    ]
    with tf.control_dependencies(reads):
      train_op = tf.group(v1.assign_add(step, 1), v1.assign_add(counter, 1.0))
    try:
      with v1.train.SingularMonitoredSession(hooks=[tick, *hooks]) as session:
        while not session.should_stop():
          session.run(train_op)
    except Exception as e:  # What it raises is the result.
      error = type(e).__name__
  return Seen(log.lines, first if tick.seen is None else tick.seen, error)


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
    steps.register(self._host, self._step)

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


def numbers(directory):
  """Returns [step, tag, number] of the event files in a directory, in their order."""
  v1.summary.FileWriterCache.clear()
  found = []
  for path in sorted(glob.glob(os.path.join(directory, "events.*"))):
    for event in v1.train.summary_iterator(path):
      found += [[event.step, value.tag, value.simple_value] for value in event.summary.value]
  return found
