"""Watches TF2 programs: fit, training loops, checkpoint managers, our runtime. See observer.py."""

import inspect
import math
import os

from observer import watch_results, wrap
from observer_legacy import training_hooks

NEW_STATE = "tf2"  # where migrated programs keep their checkpoints, below the model directory


class FitTap:
  """The loss of the step that a `fit` has just made.

  Attributes:
    variable: float64 []; it can be assigned where XLA compiles the step and Python is not called.
  """

  def __init__(self, tf):
    with tf.init_scope():
      self.variable = tf.Variable(math.nan, dtype=tf.float64, trainable=False)


def watch_gradients(recorder, backprop):
  """Sees the loss of each step: what gradients are taken of."""

  def gradient(original):
    def wrapper(self, target, *args, **kwargs):
      if "estimator" not in recorder.inside:
        _tap(recorder, target)
      return original(self, target, *args, **kwargs)

    return wrapper

  wrap(backprop.GradientTape, "gradient", gradient)


def _tap(recorder, target):
  import tensorflow as tf

  if not tf.is_tensor(target) or tf.distribute.has_strategy():
    return
  value = tf.reduce_sum(target)
  if "fit" in recorder.inside:
    recorder.fit_tap.variable.assign(tf.cast(value, tf.float64))
    return

  def record(loss):
    # The step before this one is complete now, whatever the program did after its update.
    recorder.end_of_step(recorder.step)
    if recorder.resumed:
      recorder.begin(recorder.step, recorder.model_dir)
    recorder.loss(recorder.step + 1, loss)
    return loss

  if tf.executing_eagerly():
    record(value.numpy())
  else:
    tf.numpy_function(record, [value], value.dtype)


def _in_loop(recorder):
  return not {"fit", "save"} & set(recorder.inside)


def watch_managers(recorder, module):
  """Watches tf.train.CheckpointManager."""
  _watch_manager(recorder, module.CheckpointManager)


def watch_checkpoints(recorder, module):
  """Watches tf.train.Checkpoint.restore, with which a loop may resume without its manager."""

  def restore(original):
    def wrapper(self, save_path, *args, **kwargs):
      status = original(self, save_path, *args, **kwargs)
      if save_path and _in_loop(recorder):
        recorder.resume(save_path)
      return status

    return wrapper

  wrap(module.Checkpoint, "restore", restore)


def _watch_manager(recorder, manager_class):
  def construct(original):
    def wrapper(self, *args, **kwargs):
      original(self, *args, **kwargs)
      bound = inspect.signature(original).bind(self, *args, **kwargs)
      recorder.counter = bound.arguments.get("step_counter")
      parent, name = os.path.split(os.path.realpath(self.directory))
      recorder.model_dir = parent if name == NEW_STATE else os.path.join(parent, name)

    return wrapper

  def save(original):
    def wrapper(self, checkpoint_number=None, *args, **kwargs):
      recorder.check_directory(self.directory)
      recorder.inside.append("save")
      try:
        path = original(self, checkpoint_number, *args, **kwargs)
      finally:
        recorder.inside.remove("save")
      if path and "save" not in recorder.inside:
        recorder.saved(path)
      step = recorder.counter if checkpoint_number is None else checkpoint_number
      if step is not None and _in_loop(recorder):
        recorder.step = int(step)
        recorder.end_of_step(recorder.step)
      return path

    return wrapper

  def write(original):
    """Of the runtime's manager: a saver among the callbacks writes without `save`."""

    def wrapper(self, *args, **kwargs):
      path = original(self, *args, **kwargs)
      if "save" not in recorder.inside:
        recorder.saved(path)
      return path

    return wrapper

  def restore(original):
    def wrapper(self, *args, **kwargs):
      recorder.check_directory(self.directory)
      path = original(self, *args, **kwargs)
      if _in_loop(recorder):
        recorder.resume(path)
      return path

    return wrapper

  wrap(manager_class, "__init__", construct)
  wrap(manager_class, "save", save)
  if hasattr(manager_class, "write"):
    wrap(manager_class, "write", write)
  if hasattr(manager_class, "restore_or_initialize"):
    wrap(manager_class, "restore_or_initialize", restore)


def watch_fit(recorder, module):
  """Watches Model.fit of Keras 2, of Keras 3 and of tf_keras."""
  import tensorflow as tf

  def fit(original):
    def wrapper(self, *args, **kwargs):
      # One for all: the step of a model is traced once, in its first fit.
      recorder.fit_tap = recorder.fit_tap or FitTap(tf)
      bound = inspect.signature(original).bind(self, *args, **kwargs)
      first, last = _callbacks(recorder, tf)
      given = bound.arguments.get("callbacks")
      given = list(given) if isinstance(given, (list, tuple)) else [given] if given else []
      stepper = next((c for c in given if hasattr(c, "global_step")), None)
      first.stepper = last.stepper = stepper
      # The backup is first of all, so that what is saved does not depend on us.
      position = given.index(stepper) + 1 if stepper else 0
      bound.arguments["callbacks"] = [*given[:position], first, *given[position:], last]
      recorder.inside.append("fit")
      try:
        return original(*bound.args, **bound.kwargs)
      finally:
        recorder.inside.remove("fit")

    return wrapper

  wrap(module.Model, "fit", fit)


def _callbacks(recorder, tf):
  class Callback(tf.keras.callbacks.Callback):  # type: ignore[name-defined]
    stepper = None

    def step(self):
      """The global step: the runtime's, else Keras's."""
      if self.stepper is not None:
        return int(self.stepper.global_step)
      return int(self.model.optimizer.iterations.numpy())

  class First(Callback):
    """Stands before the user's callbacks: one of them may raise an error."""

    def on_train_batch_begin(self, batch, logs=None):
      self._step = self.step()
      recorder.fit_tap.variable.assign(math.nan)

    def on_train_batch_end(self, batch, logs=None):
      loss = recorder.fit_tap.variable.numpy()
      if math.isnan(loss):  # an own train_step without a GradientTape, or really NaN
        loss = float((logs or {}).get("loss", math.nan))
      recorder.loss(self._step + 1, loss)

  class Last(Callback):
    """Stands after the user's callbacks."""

    def on_train_begin(self, logs=None):
      recorder.begin(self.step(), getattr(self.stepper, "model_dir", None))

    def on_train_batch_end(self, batch, logs=None):
      recorder.end_of_step(self.step())

  return First(), Last()


def watch_runtime(recorder, runtime):
  """Watches migrator.runtime."""
  watch_results(recorder, runtime)
  watch_results(recorder, runtime.BackupAndRestore)
  _watch_manager(recorder, runtime.CheckpointManager)


def watch_hosted(recorder, module):
  """Watches programs that keep their model_fn."""

  def construct(original):
    def wrapper(self, *args, **kwargs):
      original(self, *args, **kwargs)
      recorder.check_directory(self.model_dir)
      if recorder.seed is not None and self._config.tf_random_seed is None:
        self._config = self._config.replace(tf_random_seed=recorder.seed)

    return wrapper

  def session(original):
    def wrapper(self, spec, hooks, *args, **kwargs):
      import tensorflow as tf

      step = tf.compat.v1.train.get_global_step()
      first, last = training_hooks(recorder, spec.loss, step, self.model_dir)
      return original(self, spec, [first, *hooks, last], *args, **kwargs)

    return wrapper

  def call(original):
    def wrapper(*args, **kwargs):
      recorder.inside.append("estimator")
      try:
        return original(*args, **kwargs)
      finally:
        recorder.inside.pop()

    return wrapper

  wrap(module.ModelFn, "__init__", construct)
  wrap(module.ModelFn, "_call_model_fn", call)
  wrap(module.ModelFn, "_training_session", session)
  watch_results(recorder, module.ModelFn)


WATCHES = {
  "tensorflow.python.eager.backprop": watch_gradients,
  "tensorflow.python.checkpoint.checkpoint_management": watch_managers,
  "tensorflow.python.checkpoint.checkpoint": watch_checkpoints,
  "keras.src.engine.training": watch_fit,
  "keras.src.models.model": watch_fit,
  "tf_keras.src.engine.training": watch_fit,
  "migrator.runtime": watch_runtime,
  "migrator.runtime.hosting.model_fn": watch_hosted,
}
