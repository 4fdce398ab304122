"""Runs jobs (see jobs.py) with the real Estimator of TensorFlow 2.15.

  python legacy.py JOBS.json RESULTS.json

JOBS.json maps names to jobs; RESULTS.json maps the names to lists with one result per call:

  train: {"saved": steps in the order of the saves, "files": steps on disk, "listed": steps in the state
          file, "losses": [[step before, loss], ...], "error": [class, message] or None}
  evaluate: {"values": {...}, "types": {...}} or {"error": ...}
  predict: {"rows": [{key: {"value": list, "type": dtype, "shape": list}}]} or {"error": ...}
  events: {sub-directory: [[step, tag], ...]}, in the order of the file
"""

import json
import shutil
import sys

import jobs
import numpy as np
import tensorflow as tf
from observed import described, listed_steps, read_events, steps_on_disk

v1 = tf.compat.v1
_saved = []


def _record_saves():
  """Notes the step of each save, wherever it comes from."""
  original = v1.train.Saver.save

  def save(self, session, path, global_step=None, **kwargs):
    _saved.append(int(global_step))
    return original(self, session, path, global_step=global_step, **kwargs)

  v1.train.Saver.save = save


def make_optimizer(job):
  """Returns what is passed as `optimizer`."""
  name = job["optimizer"]
  if job["flavour"] == "v1":
    return {
      "adam": lambda: v1.train.AdamOptimizer(0.01),
      "adagrad": lambda: v1.train.AdagradOptimizer(0.05),
      "sgd": lambda: v1.train.GradientDescentOptimizer(0.01),
      "momentum": lambda: v1.train.MomentumOptimizer(0.01, 0.9),
      "rmsprop": lambda: v1.train.RMSPropOptimizer(0.01),
    }[name]()
  keras = tf.keras.optimizers.legacy
  return {
    "adam": lambda: keras.Adam(0.01),
    "adagrad": lambda: keras.Adagrad(0.05),
    "sgd": lambda: keras.SGD(0.01),
    "momentum": lambda: keras.SGD(0.01, momentum=0.9),
  }[name]()


def make_estimator(job):
  """Returns the Estimator of a job."""
  module = v1.estimator if job["flavour"] == "v1" else tf.estimator
  columns = [tf.feature_column.numeric_column(k, shape=s or (1,)) for k, s in job["features"]]
  arguments = {}
  if job["optimizer"] != "default":
    arguments["optimizer"] = make_optimizer(job)
  return module.DNNClassifier(
    hidden_units=job["hidden_units"],
    feature_columns=columns,
    n_classes=job["classes"],
    dropout=job["dropout"],
    model_dir=job["model_dir"],
    config=module.RunConfig(
      tf_random_seed=job["seed"], checkpoint_save_graph_def=False, **job["config"]
    ),
    **arguments,
  )


class _Watch(v1.train.SessionRunHook):
  """Records the losses; raises after a step if told to."""

  def __init__(self, raise_at=None, stop_at=None):
    self._raise_at = raise_at
    self._stop_at = stop_at
    self.losses = []

  def begin(self):
    self._loss = v1.get_collection(v1.GraphKeys.LOSSES)[-1]
    self._step = v1.train.get_global_step()

  def before_run(self, run_context):
    return v1.train.SessionRunArgs([self._step, self._loss])

  def after_run(self, run_context, run_values):
    step = int(run_context.session.run(self._step))
    self.losses.append([step, float(run_values.results[1])])
    if self._raise_at == step:
      raise RuntimeError("Interruption")
    if self._stop_at == step:
      run_context.request_stop()


def train(estimator, job, batches=None, nan_at=None, first=0, **arguments):
  """Trains; returns the result of the call."""
  del _saved[:]
  watch = _Watch(arguments.pop("raise_at", None), arguments.pop("stop_at", None))

  def input_fn():
    dataset = jobs.make_dataset(tf, job, batches, first=first)
    if nan_at is not None:
      dataset = dataset.enumerate().map(
        lambda i, pair: (
          {k: tf.where(tf.equal(i, nan_at - 1), np.nan, v) for k, v in pair[0].items()},
          pair[1],
        )
      )
    return dataset

  error = None
  try:
    estimator.train(input_fn, hooks=[watch], **arguments)
  except Exception as e:  # What the Estimator raises is the result.
    error = [type(e).__name__, str(e)]
  directory = job["model_dir"]
  return {
    "saved": list(_saved),
    "files": steps_on_disk(directory),
    "listed": listed_steps(directory),
    "losses": watch.losses,
    "error": error,
  }


def evaluate(estimator, job, batches=3, **arguments):
  """Evaluates; returns the result of the call."""
  try:
    values = estimator.evaluate(lambda: jobs.make_dataset(tf, job, batches), **arguments)
  except Exception as e:
    return {"error": [type(e).__name__, str(e)]}
  return {
    "values": {key: float(value) for key, value in values.items()},
    "types": {key: type(value).__name__ for key, value in values.items()},
    "keys": list(values),
  }


def predict(estimator, job, batches=1, **arguments):
  """Predicts; returns the result of the call."""
  try:
    rows = list(
      estimator.predict(lambda: jobs.make_dataset(tf, job, batches, labels=False), **arguments)
    )
  except Exception as e:
    return {"error": [type(e).__name__, str(e)]}
  return {"rows": [{key: described(value) for key, value in row.items()} for row in rows]}


def events(estimator, job):
  """Returns the steps and tags of all event files, by sub-directory."""
  v1.summary.FileWriterCache.clear()
  return read_events(job["model_dir"])


def check_config(estimator, job, **arguments):
  """Makes a RunConfig; returns the error."""
  try:
    tf.estimator.RunConfig(**arguments)
  except ValueError as e:
    return {"error": [type(e).__name__, str(e)]}
  return {"error": None}


def run(job):
  """Runs the calls of a job; returns their results."""
  estimator = make_estimator(job)
  results = []
  for kind, arguments in job["calls"]:
    if kind == "new":
      estimator = make_estimator({**job, **arguments})
      results.append({})
    elif kind == "copy":
      shutil.copytree(job["model_dir"], arguments["to"])
      results.append({})
    else:
      call = {"train": train, "evaluate": evaluate, "predict": predict, "events": events}.get(
        kind, check_config
      )
      results.append(call(estimator, job, **arguments))
  return results


def main():
  _record_saves()
  with open(sys.argv[1], encoding="utf-8") as file:
    everything = json.load(file)
  results = {name: run(job) for name, job in everything.items()}
  with open(sys.argv[2], "w", encoding="utf-8") as file:
    json.dump(results, file)


if __name__ == "__main__":
  main()
