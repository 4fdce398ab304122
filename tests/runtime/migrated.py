"""Runs the jobs of jobs.py as migrated programs: with `fit` and BackupAndRestore, or with a loop."""

import functools
import os

import jobs
import numpy as np
import tensorflow as tf
from observed import described, listed_steps, read_events, steps_on_disk

from migrator import runtime


def make_optimizer(job, exact=False):
  """Returns the optimizer that a migrated program has for `job["optimizer"]`."""
  name, keras, ours = job["optimizer"], tf.keras.optimizers, runtime.optimizers
  v1 = job["flavour"] == "v1"
  if exact:
    return {
      "adam": lambda: ours.Adam(0.01) if v1 else ours.Adam(0.01, epsilon=1e-7),
      "adagrad": lambda: ours.Adagrad(0.05, epsilon=None if v1 else 1e-7),
      "default": lambda: ours.Adagrad(0.05) if v1 else ours.Adagrad(0.001, epsilon=1e-7),
      "sgd": lambda: ours.GradientDescent(0.01),
      "momentum": lambda: ours.Momentum(0.01, 0.9),
      "rmsprop": lambda: ours.RMSProp(0.01),
    }[name]()
  return {
    "adam": lambda: keras.Adam(0.01, epsilon=1e-8 if v1 else 1e-7),
    "adagrad": lambda: keras.Adagrad(0.05, epsilon=0.0 if v1 else 1e-7),
    "default": lambda: keras.Adagrad(0.05, epsilon=0.0)
    if v1
    else keras.Adagrad(0.001, epsilon=1e-7),
    "sgd": lambda: keras.SGD(0.01),
    "momentum": lambda: keras.SGD(0.01, momentum=0.9),
    "rmsprop": lambda: keras.RMSprop(0.01, rho=0.9, epsilon=1e-10),
  }[name]()


def make_network(job):
  """Returns the Keras model, not compiled."""
  tf.keras.utils.set_random_seed(job["seed"])
  inputs = {key: tf.keras.Input(shape or [1], name=key) for key, shape in job["features"]}
  flat = [tf.keras.layers.Flatten()(inputs[key]) for key in sorted(inputs)]
  net = flat[0] if len(flat) == 1 else tf.keras.layers.Concatenate()(flat)
  for i, units in enumerate(job["hidden_units"]):
    net = tf.keras.layers.Dense(units, activation="relu", name=f"hiddenlayer_{i}")(net)
    if job["dropout"]:
      net = tf.keras.layers.Dropout(job["dropout"])(net)
  logits = tf.keras.layers.Dense(job["classes"], name="logits")(net)
  return tf.keras.Model(inputs, logits, name="dnn")


def make_loss(job):
  """Returns the loss with the reduction of the flavour."""
  reduction = "sum" if job["flavour"] == "v1" else "sum_over_batch_size"
  return tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True, reduction=reduction)


def make_model(job, exact=False):
  """Returns the compiled model."""
  model = make_network(job)
  model.compile(
    optimizer=make_optimizer(job, exact), loss=make_loss(job), weighted_metrics=["accuracy"]
  )
  return model


class Watch(tf.keras.callbacks.Callback):
  """Records the losses; raises or stops after a step if told to."""

  def __init__(self, step, raise_at=None, stop_at=None):
    super().__init__()
    self._step = step
    self._raise_at = raise_at
    self._stop_at = stop_at
    self.losses = []

  def on_train_batch_end(self, batch, logs=None):
    step = int(self._step())
    self.losses.append([step, float(logs["loss"])])
    if step == self._raise_at:
      raise RuntimeError("Interruption")
    if step == self._stop_at:
      self.model.stop_training = True


class Saves:
  """Notes the step of each save while it is entered."""

  def __enter__(self):
    self.steps = []
    self._write = runtime.NamedCheckpoint._write

    @functools.wraps(self._write)
    def write(checkpoint, *args, **kwargs):
      self.steps.append(int(checkpoint.by_name["global_step"].numpy()))
      return self._write(checkpoint, *args, **kwargs)

    runtime.NamedCheckpoint._write = write
    return self

  def __exit__(self, *exception):
    runtime.NamedCheckpoint._write = self._write


def make_backup(job, exact=False, **changes):
  """Returns a new model and its BackupAndRestore."""
  model = make_model(job, exact)
  arguments = {"variable_scope": "dnn", "flavour": job["flavour"], **job["config"], **changes}
  return model, runtime.BackupAndRestore(model, job["model_dir"], **arguments)


def spoiled(dataset, nan_at):
  """Returns the dataset with features that make the loss NaN in one batch."""
  return dataset.enumerate().map(
    lambda i, pair: (
      {k: tf.where(tf.equal(i, nan_at - 1), np.nan, v) for k, v in pair[0].items()},
      pair[1],
    )
  )


class Migrated:
  """A migrated program that trains with `fit`."""

  def __init__(self, job, exact=False):
    self.job = job
    self._exact = exact
    self.callbacks = []
    self.new()

  def new(self, **changes):
    """Makes model and callback again, as a restarted program does."""
    self.model, self.backup = make_backup({**self.job, **changes}, self._exact)
    return {}

  def check_config(self, **arguments):
    """Makes a callback; returns the error."""
    try:
      make_backup({**self.job, "config": arguments})
    except ValueError as e:
      return {"error": [type(e).__name__, str(e)]}
    return {"error": None}

  def train(self, batches=None, nan_at=None, first=0, raise_at=None, stop_at=None, **arguments):
    """Trains as `Estimator.train(**arguments)`; returns what legacy.py returns."""
    watch = Watch(lambda: self.backup.global_step, raise_at, stop_at)
    error = None
    with Saves() as saves:
      try:
        steps = self.backup.remaining_steps(**arguments)
        dataset = jobs.make_dataset(tf, self.job, batches, first=first)
        if nan_at is not None:
          dataset = spoiled(dataset, nan_at)
        if steps:
          self.model.fit(
            dataset.take(steps),
            # Else Keras 2 refuses data without an end.
            steps_per_epoch=-1 if steps < 0 else None,
            callbacks=[self.backup, watch, *self.callbacks],
            verbose=0,
          )
      except Exception as e:  # What is raised is the result.
        error = [type(e).__name__, str(e)]
    directory = os.path.join(self.job["model_dir"], "tf2")
    return {
      "saved": saves.steps,
      "files": steps_on_disk(directory),
      "listed": listed_steps(directory),
      "losses": watch.losses,
      "error": error,
    }

  def evaluate(self, batches=3, **arguments):
    """Evaluates; returns what legacy.py returns."""
    try:
      values = self.backup.evaluate(jobs.make_dataset(tf, self.job, batches), **arguments)
    except Exception as e:
      return {"error": [type(e).__name__, str(e)]}
    return {
      "values": {key: float(value) for key, value in values.items()},
      "types": {key: type(value).__name__ for key, value in values.items()},
      "keys": list(values),
    }

  def predict(self, batches=1, **arguments):
    """Predicts; returns what legacy.py returns."""
    dataset = jobs.make_dataset(tf, self.job, batches, labels=False)
    try:
      rows = list(self.backup.predict(dataset, **arguments))
    except Exception as e:
      return {"error": [type(e).__name__, str(e)]}
    return {"rows": [{key: described(value) for key, value in row.items()} for row in rows]}

  def events(self):
    """Returns what legacy.py returns."""
    tf.compat.v1.summary.FileWriterCache.clear()
    return read_events(self.job["model_dir"])

  def run(self):
    """Runs the calls of the job; returns their results."""
    return [getattr(self, kind)(**arguments) for kind, arguments in self.job["calls"]]


def relative_difference(first, second):
  """Returns the largest relative difference of two lists of [step, loss] with the same steps."""
  first, second = np.array(first), np.array(second)
  assert first.shape == second.shape, (first.shape, second.shape)
  np.testing.assert_array_equal(first[:, 0], second[:, 0])
  return float(np.max(np.abs(first[:, 1] - second[:, 1]) / np.abs(second[:, 1])))


def run_loop(job, checkpoint_prefix=None, steps=30, exact=False, dataset=None):
  """Trains with a loop and `named_checkpoint`; returns the losses and the checkpoint."""
  model = make_network(job)
  optimizer, loss_fn = make_optimizer(job, exact), make_loss(job)
  checkpoint = runtime.named_checkpoint(model, optimizer, scope="dnn", flavour=job["flavour"])
  if checkpoint_prefix is not None:
    runtime.load_tf1_checkpoint(checkpoint, checkpoint_prefix)
  step = checkpoint.by_name["global_step"]

  @tf.function
  def train_step(features, labels):
    with tf.GradientTape() as tape:
      loss = loss_fn(labels, model(features, training=True))
    variables = model.trainable_variables
    optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
    step.assign_add(1)
    return loss

  losses = []
  for features, labels in (jobs.make_dataset(tf, job) if dataset is None else dataset).take(steps):
    loss = train_step(features, labels)
    losses.append([int(step.numpy()), float(loss)])
  return losses, checkpoint


def weight_difference(checkpoint, reader):
  """Returns the largest difference of a weight, relative to the largest value of its tensor."""
  differences = []
  for name in checkpoint.weights:
    expected = reader.get_tensor(name)
    difference = np.max(np.abs(checkpoint.by_name[name].numpy() - expected))
    differences.append(float(difference / np.max(np.abs(expected))))
  return max(differences)
