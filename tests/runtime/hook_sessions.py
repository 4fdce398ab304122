"""A training that real hooks watch in a session; callback_hosts.py has the same one for callbacks.

The loss of step k is the k-th number that is given, nothing is learnt, and a clock moves on by 1.5 seconds
in each step. The graph has the tensors "loss:0", "step_now:0" and "counter_now:0" (100 + steps). What can
be seen of a training is in `Seen`.
"""

import glob
import logging
import os
import time
from collections import namedtuple

import numpy as np
import tensorflow as tf
from tensorflow.python.training import training_util

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
  """A clock that only moves when told to; with a monkeypatch it is that of the process."""

  _START = 2e9

  def __init__(self, monkeypatch=None):
    self.now = self._START
    if monkeypatch is not None:
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
    # TensorFlow says once in a process that a class is deprecated, whichever test is the first.
    if not text.startswith(_NOISE) and "is deprecated and will be removed in" not in text:
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
      step._as_graph_element(),
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


def numbers(directory):
  """Returns [step, tag, number] of the event files in a directory, in their order."""
  v1.summary.FileWriterCache.clear()
  found = []
  for path in sorted(glob.glob(os.path.join(directory, "events.*"))):
    for event in v1.train.summary_iterator(path):
      found += [[event.step, value.tag, value.simple_value] for value in event.summary.value]
  return found
