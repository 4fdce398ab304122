"""Experiments of `tf.contrib.learn`: what they do in TensorFlow 1.15 and, in tests, with the runtime.

Runs with Python 3.7, too.
"""

import glob
import os

STEPS = 8

# {case: (schedule, arguments of the Experiment, arguments of the configuration)}. Without a limit in seconds
# a look for a new checkpoint depends on steps alone.
CASES = {
  "the default": (
    None,
    {"check_interval_secs": None, "eval_steps": None},
    {"save_checkpoints_steps": 4},
  ),
  "looks that are seconds apart": (
    "train_and_evaluate",
    {"check_interval_secs": 1000},
    {"save_checkpoints_steps": 4},
  ),
  "an evaluation and an export at the end": (
    "train_and_evaluate",
    {"min_eval_frequency": 0, "eval_hooks": ["hook"], "train_monitors": ["hook"], "exports": 1},
    {"save_checkpoints_steps": 5},
  ),
  "a local run that looks every three steps": (
    "local_run",
    {"local_eval_frequency": 3, "check_interval_secs": None, "eval_steps": 1},
    {"save_checkpoints_steps": 1},
  ),
  "rounds": (
    "continuous_train_and_eval",
    {"train_steps_per_iteration": 5},
    {"save_checkpoints_steps": 100},
  ),
  "an evaluation": ("evaluate", {"eval_delay_secs": 0}, {"save_checkpoints_steps": 3}),
  "a test": ("test", {}, {"save_checkpoints_steps": 3}),
}


def run(api, name, folder):
  """What an experiment does: the results, checkpoints, event files, and calls of the input functions.

  Args:
    api: a namespace: tf1 (`tf` or `tf.compat.v1`), Estimator, EstimatorSpec, RunConfig, Experiment,
      make_export_strategy, ServingInputReceiver, latest (the path of the newest checkpoint), learn_run.
    name: of the case.
    folder: where the model_dir is made.
  """
  tf1 = api.tf1
  schedule, arguments, settings = CASES[name]
  arguments = dict(arguments)
  calls, directory = [], os.path.join(folder, "model")

  def newest():
    return os.path.basename(api.latest(directory) or "none").rpartition("-")[2]

  class Hook(tf1.train.SessionRunHook):
    def end(self, session):
      calls.append("hook")

  def examples(what):
    def input_fn():
      calls.append(what + newest())
      data = tf1.data.Dataset.from_tensors(({"x": [[1.0], [2.0]]}, [[3.0], [5.0]]))
      return data.repeat(4 if what == "eval" else None)

    return input_fn

  def model_fn(features, labels, mode):
    weight = tf1.get_variable("weight", [], initializer=tf1.ones_initializer())
    outputs = weight * features["x"]
    if labels is None:
      return api.EstimatorSpec(mode, predictions={"outputs": outputs})
    loss = tf1.losses.mean_squared_error(labels, outputs)
    step = tf1.train.get_global_step()
    train_op = tf1.train.GradientDescentOptimizer(0.05).minimize(loss, global_step=step)
    metrics = {"mean": tf1.metrics.mean(outputs)}
    return api.EstimatorSpec(mode, loss=loss, train_op=train_op, eval_metric_ops=metrics)

  def serving():
    features = {"x": tf1.placeholder(tf1.float32, [None, 1])}
    return api.ServingInputReceiver(features, features)

  def make(run_config, hparams):
    for key in ("eval_hooks", "train_monitors"):
      if key in arguments:
        arguments[key] = [Hook()]
    if arguments.pop("exports", None):
      arguments["export_strategies"] = [api.make_export_strategy(serving, exports_to_keep=1)]
    given = {"train_steps": STEPS, "eval_steps": 2}
    given.update(arguments)
    if schedule == "evaluate":
      api.Estimator(model_fn, config=run_config).train(examples("train"), max_steps=3)
    estimator = api.Estimator(model_fn, config=run_config)
    return api.Experiment(estimator, examples("train"), examples("eval"), **given)

  config = api.RunConfig(model_dir=directory, **settings)
  found = api.learn_run(make, schedule=schedule, run_config=config, hparams=None)
  steps = {p.rpartition("-")[2] for p in _files(directory, "model.ckpt-*.index")}
  return {
    "result": _told(found, directory),
    "checkpoints": sorted(int(one.partition(".")[0]) for one in steps),
    "calls": calls,
    "evaluations": {
      part: _events(tf1, os.path.join(directory, part)) for part in ("eval", "eval_one_pass")
    },
    "exports": len(_files(os.path.join(directory, "export", "Servo"), "*/saved_model.pb")),
  }


def _files(directory, pattern):
  found = glob.glob(os.path.join(directory, pattern)) + glob.glob(
    os.path.join(directory, "tf2", pattern)
  )
  return sorted(found)


def _told(found, directory):
  """A result as JSON has it."""
  if isinstance(found, dict):
    return {key: float(format(float(value), ".6g")) for key, value in found.items()}
  if isinstance(found, (list, tuple)):
    return [_told(one, directory) for one in found]
  if isinstance(found, bytes):
    return os.path.dirname(os.path.relpath(found.decode(), directory))
  return found if isinstance(found, (int, float, str, type(None))) else "the estimator"


def _events(tf1, directory):
  """[step, {tag: value}] of the event files of a directory."""
  found = []
  for path in sorted(glob.glob(os.path.join(directory, "events*"))):
    for event in tf1.train.summary_iterator(path):
      values = {
        v.tag: float(format(v.simple_value, ".6g")) for v in event.summary.value if v.simple_value
      }
      if values:
        found.append([event.step, values])
  return found
