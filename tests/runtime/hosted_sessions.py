"""Trains, evaluates and predicts with the programs of hosted_programs.py and records what can be seen.

  python hosted_sessions.py ROOT RESULTS.json    does all with the real Estimator of TensorFlow 2.15

The runtime's tests do the same with the runtime's names, beginning with the real Estimator's checkpoints.
"""

import json
import os
import shutil
import sys
import types

import hosted_programs
import tensorflow as tf
from observed import described, listed_steps, read_events, steps_on_disk

v1 = tf.compat.v1
KEEP = {"save_checkpoints_steps": 4, "keep_checkpoint_max": 3, "tf_random_seed": 11}


class Api(types.SimpleNamespace):
  """Names of TensorFlow, or those of the runtime in their place; parameters are copied, it is not."""

  def __deepcopy__(self, memo):
    return self


def real_api():
  """Returns the names of TensorFlow 2.15."""
  estimator = v1.estimator
  return Api(
    Estimator=estimator.Estimator,
    EstimatorSpec=estimator.EstimatorSpec,
    ModeKeys=estimator.ModeKeys,
    RunConfig=estimator.RunConfig,
    WarmStartSettings=estimator.WarmStartSettings,
    layers=v1.layers,
    rnn_cell=v1.nn.rnn_cell,
    place="",
  )


def runtime_api():
  """Returns the names of the runtime that stand for those."""
  from migrator import runtime

  return Api(
    Estimator=runtime.ModelFn,
    EstimatorSpec=runtime.EstimatorSpec,
    ModeKeys=runtime.ModeKeys,
    RunConfig=runtime.RunConfig,
    WarmStartSettings=runtime.WarmStartSettings,
    layers=runtime.layers,
    rnn_cell=runtime.rnn_cell,
    place="tf2",
  )


class Watch(v1.train.SessionRunHook):
  """Records the loss of each step."""

  def __init__(self):
    self.losses = []

  def begin(self):
    self._loss = v1.get_collection(v1.GraphKeys.LOSSES)[-1]

  def before_run(self, run_context):
    return v1.train.SessionRunArgs(self._loss)

  def after_run(self, run_context, run_values):
    self.losses.append(float(run_values.results))


class Teller(v1.train.SessionRunHook):
  """Writes down when it is called."""

  def __init__(self, name, told):
    self._name, self._told = name, told

  def __deepcopy__(self, memo):
    return self

  def begin(self):
    self._told.append(f"{self._name} begin")

  def after_create_session(self, session, coord):
    self._told.append(f"{self._name} after_create_session")

  def before_run(self, run_context):
    self._told.append(f"{self._name} before_run")

  def after_run(self, run_context, run_values):
    self._told.append(f"{self._name} after_run")

  def end(self, session):
    self._told.append(f"{self._name} end")


class Listener(v1.train.CheckpointSaverListener):
  """Writes down the saves; asks for the end after one."""

  def __init__(self, name, told, stop_at=None):
    self._name, self._told, self._stop_at = name, told, stop_at

  def begin(self):
    self._told.append(f"{self._name} begin")

  def before_save(self, session, global_step_value):
    self._told.append(f"{self._name} before {global_step_value}")

  def after_save(self, session, global_step_value):
    self._told.append(f"{self._name} after {global_step_value}")
    return global_step_value == self._stop_at

  def end(self, session, global_step_value):
    self._told.append(f"{self._name} end {global_step_value}")


def files(api, model_dir):
  """Returns the steps of the checkpoints, on disk and in the state file."""
  directory = os.path.join(model_dir, api.place)
  return {"files": steps_on_disk(directory), "listed": listed_steps(directory)}


def error_of(call):
  """Returns class and message of the error of a call."""
  try:
    call()
  except Exception as e:  # What the Estimator raises is the result.
    return [type(e).__name__, str(e)]
  return None


def plain(values):
  """Returns the results of an evaluation, or a row, as JSON."""
  if not isinstance(values, dict):
    values = {"": values}
  return {key: described(value) for key, value in values.items()}


def run_config(api, **changes):
  """Returns the configuration of the programs, whose graphs are run as they are."""
  # A program that moves the step by itself does it beside the hooks that read it: on one thread, always in the
  # same order.
  session = v1.ConfigProto(inter_op_parallelism_threads=1, use_per_session_threads=True)
  session.graph_options.rewrite_options.disable_meta_optimizer = True
  return api.RunConfig(
    session_config=session, checkpoint_save_graph_def=False, **{**KEEP, **changes}
  )


def reading_first(model_fn):
  """Returns the model_fn with a training that waits for the step's reader.

  TensorFlow's own SummarySaverHook counts from a step that is read beside the training. With data that comes
  on a thread of the input's, it is at times read late, and a summary is then written a step early.
  """

  def ordered(features, labels, mode, params):
    with tf.control_dependencies(v1.get_collection("global_step_read_op_cache")):
      features = tf.nest.map_structure(tf.identity, features, expand_composites=True)
    return model_fn(features, labels, mode, params)

  return ordered


def first_ten(api, name, model_dir):
  """Trains the first ten steps of a program."""
  input_fn, model_fn = hosted_programs.PROGRAMS[name]
  config = run_config(api, save_summary_steps=0, log_step_count_steps=None)
  estimator = api.Estimator(reading_first(model_fn), model_dir, config, params={"api": api})
  watch = Watch()
  estimator.train(input_fn, hooks=[watch], max_steps=10)
  return {"losses": watch.losses, **files(api, model_dir)}


def go_on(api, name, model_dir):
  """Continues a program at step 10, to 20; evaluates and predicts."""
  input_fn, model_fn = hosted_programs.PROGRAMS[name]
  config = run_config(api, save_summary_steps=5, log_step_count_steps=10)
  estimator = api.Estimator(reading_first(model_fn), model_dir, config, params={"api": api})
  watch = Watch()
  estimator.train(input_fn, hooks=[watch], max_steps=20)
  result = {"losses": watch.losses, **files(api, model_dir)}
  result["evaluated"] = plain(estimator.evaluate(input_fn, steps=3))
  rows = estimator.predict(input_fn)
  result["rows"] = [plain(next(rows)) for _ in range(5)]
  rows.close()
  result["names"] = estimator.get_variable_names()
  result["step"] = int(estimator.get_variable_value("global_step"))
  v1.summary.FileWriterCache.clear()
  events = read_events(model_dir)
  # Writers that begin in the same second have one file: what the first ten steps wrote may be lost.
  result["events"] = {
    where: [row for row in rows if row[0] > 10 and not row[1].startswith("global_step/sec")]
    for where, rows in events.items()
  }
  return result


def resumed(api, model_dir):
  """Ends and resumes, and looks at an older checkpoint."""
  make = {"api": api}
  linear_input = hosted_programs.linear_input
  estimator = api.Estimator(hosted_programs.linear, model_dir, api.RunConfig(**KEEP), make)
  watch, result = Watch(), {}
  for name, arguments in {
    "to 25": {"max_steps": 25},
    "to 25 again": {"max_steps": 25},
    "3 more": {"steps": 3},
  }.items():
    estimator.train(linear_input, hooks=[watch], **arguments)
    result[name] = files(api, model_dir)
  older = os.path.join(model_dir, "model.ckpt-24")
  result["older"] = plain(estimator.evaluate(linear_input, 2, checkpoint_path=older, name="old"))
  estimator = api.Estimator(hosted_programs.linear, model_dir, None, make)
  estimator.train(lambda: linear_input().take(2), hooks=[watch])
  result["losses"] = watch.losses
  result["end of input"] = files(api, model_dir)
  v1.summary.FileWriterCache.clear()
  result["evaluation events"] = read_events(model_dir)["eval_old"]
  return result


def hooks(api, model_dir):
  """The order of all hooks and listeners in a training, an evaluation and a prediction."""
  told = []

  def more(mode, loss):
    return {
      "training_hooks": [Teller("spec", told)] if mode == "train" else None,
      "training_chief_hooks": [Teller("chief", told)] if mode == "train" else None,
      "evaluation_hooks": [Teller("evaluation", told)],
    }

  params = {"api": api, "more": Uncopied(more)}
  config = api.RunConfig(save_checkpoints_steps=2, tf_random_seed=1)
  estimator = api.Estimator(hosted_programs.linear, model_dir, config, params)
  heard = [Listener("first", told), Listener("second", told, stop_at=6)]
  estimator.train(
    hosted_programs.linear_input,
    [Teller("given", told)],
    steps=20,
    saving_listeners=[*heard, heard[0]],
  )
  estimator.evaluate(hosted_programs.linear_input, 2, [Teller("given", told)])
  return {"told": told, **files(api, model_dir)}


class Uncopied:
  """A function among parameters, which the Estimator copies deeply."""

  def __init__(self, function):
    self._function = function

  def __call__(self, *args):
    return self._function(*args)

  def __deepcopy__(self, memo):
    return self


def own_saver(api, model_dir):
  """A program's own saver hook takes the place of the default one, and gets the listeners."""
  told = []
  config = api.RunConfig(save_checkpoints_steps=2, tf_random_seed=1)
  estimator = api.Estimator(hosted_programs.linear, model_dir, config, {"api": api})
  hook = v1.train.CheckpointSaverHook(
    model_dir, save_steps=3, listeners=[Listener("its own", told)]
  )
  listeners = [Listener("of train", told, stop_at=6)]
  estimator.train(hosted_programs.linear_input, [hook], max_steps=20, saving_listeners=listeners)
  return {"told": told, **files(api, model_dir)}


def scaffold(api, model_dir):
  """A scaffold: its saver keeps what it keeps, its functions are called when they were."""
  told = []

  def more(mode, loss):
    counter = v1.get_variable("counter", shape=[], initializer=v1.ones_initializer())
    local = v1.get_variable(
      "local",
      initializer=7.0,
      trainable=False,
      collections=[v1.GraphKeys.LOCAL_VARIABLES],
    )
    doubled = counter.assign(counter * 2.0)

    def init_fn(scaffold, session):
      told.append(f"init {mode} {float(session.run(doubled))}")

    found = v1.train.Scaffold(
      init_fn=init_fn,
      local_init_op=tf.group(local.initializer, v1.tables_initializer()),
      saver=v1.train.Saver(max_to_keep=2),
    )
    result = {"scaffold": found}
    if mode == "eval":
      result["eval_metric_ops"] = {
        "counter": v1.metrics.mean(counter),
        "local": (local + 0.0, tf.no_op()),
      }
    return result

  params = {"api": api, "more": Uncopied(more)}
  config = api.RunConfig(save_checkpoints_steps=2, tf_random_seed=1)
  estimator = api.Estimator(hosted_programs.linear, model_dir, config, params)
  estimator.train(hosted_programs.linear_input, max_steps=7)
  estimator.train(hosted_programs.linear_input, max_steps=9)
  values = plain(estimator.evaluate(hosted_programs.linear_input, 1))
  return {"told": told, "values": values, **files(api, model_dir)}


def warm(api, model_dir):
  """Begins with the weights of another checkpoint, by a path and by settings."""
  result = {}
  source = os.path.join(os.path.dirname(model_dir), "warm_source")
  make = {"api": api}
  config = api.RunConfig(tf_random_seed=1)
  estimator = api.Estimator(hosted_programs.linear, source, config, make)
  estimator.train(hosted_programs.linear_input, max_steps=5)
  settings = {
    "path": source,
    "all": api.WarmStartSettings(source, vars_to_warm_start=["weights", "bias", "global_step"]),
    "renamed": api.WarmStartSettings(
      source, vars_to_warm_start="bias", var_name_to_prev_var_name={"bias": "bias"}
    ),
  }
  for name, given in settings.items():
    config = api.RunConfig(tf_random_seed=2)
    warmed = api.Estimator(
      hosted_programs.linear, os.path.join(model_dir, name), config, make, given
    )
    before = warmed.evaluate(hosted_programs.linear_input, 1)
    watch = Watch()
    warmed.train(hosted_programs.linear_input, [watch], steps=2)
    result[name] = [plain(before), watch.losses]
  return result


def tables(api, model_dir):
  """Lookup tables, values of another checkpoint for some variables, an input_fn of tensors that ends."""
  source = os.path.join(os.path.dirname(model_dir), "warm_source")

  def input_fn(params, mode, config):
    assert config.tf_random_seed == 3 and mode in ("train", "eval", "infer") and "api" in params
    words = tf.constant([["a", "b", "c"], ["b", "c", "d"]])
    data = tf.data.Dataset.from_tensors(words).repeat(3)
    return v1.data.make_one_shot_iterator(data).get_next()

  def model_fn(features, mode, params):
    api = params["api"]
    table = tf.lookup.StaticHashTable(
      tf.lookup.KeyValueTensorInitializer(["a", "b", "c"], tf.constant([0, 1, 2])), 3
    )
    v1.add_to_collection(v1.GraphKeys.TABLE_INITIALIZERS, table._initialize())
    with v1.variable_scope("linear"):
      weights = v1.get_variable("weights", [3, 1])
    v1.train.init_from_checkpoint(os.path.join(source, api.place), {"weights": "linear/weights"})
    value = tf.matmul(tf.one_hot(table.lookup(features)[:, 0], 3), weights)
    loss = tf.reduce_sum(tf.square(value))
    if mode == "infer":
      return api.EstimatorSpec(mode, predictions={"value": value, "words": features[:, 0]})
    step = v1.train.get_global_step()
    train_op = v1.train.AdagradOptimizer(0.1).minimize(loss, global_step=step)
    return api.EstimatorSpec(mode, loss=loss, train_op=train_op)

  config = api.RunConfig(tf_random_seed=3, save_checkpoints_steps=None)
  estimator = api.Estimator(model_fn, model_dir, config, {"api": api})
  initial = [plain(row) for row in estimator.predict(input_fn)]
  watch = Watch()
  estimator.train(input_fn, [watch])
  empty = [plain(batch) for batch in estimator.predict(input_fn, yield_single_examples=False)]
  keys = [plain(row) for row in estimator.predict(input_fn, predict_keys=["words"])]
  return {
    "initial": initial,
    "losses": watch.losses,
    "batches": empty,
    "keys": keys,
    **files(api, model_dir),
  }


def errors(api, model_dir):
  """What is refused, with its message."""
  linear, linear_input = hosted_programs.linear, hosted_programs.linear_input
  make = {"api": api}
  estimator = api.Estimator(linear, model_dir, params=make)

  def with_spec(**spec):
    def model_fn(features, labels, mode):
      spec.setdefault("loss", tf.reduce_sum(features["x"]))
      return api.EstimatorSpec(mode, **{k: v() if callable(v) else v for k, v in spec.items()})

    return api.Estimator(model_fn, model_dir)

  def no_labels(features, mode):
    return None

  calls = {
    "none": lambda: api.Estimator(None, model_dir),
    "signature": lambda: api.Estimator(lambda x, mode: None, model_dir),
    "no params": lambda: api.Estimator(no_labels, model_dir, params={"a": 1}),
    "unknown": lambda: api.Estimator(lambda features, other: None, model_dir),
    "config": lambda: api.Estimator(linear, model_dir, {"model_dir": model_dir}, make),
    "directories": lambda: api.Estimator(linear, "a", api.RunConfig("b"), make),
    "warm": lambda: api.Estimator(linear, model_dir, None, make, 5),
    "steps": lambda: estimator.train(linear_input, steps=3, max_steps=3),
    "zero steps": lambda: estimator.train(linear_input, steps=0),
    "zero max": lambda: estimator.train(linear_input, max_steps=0),
    "zero eval": lambda: estimator.evaluate(linear_input, steps=0),
    "hooks": lambda: estimator.train(linear_input, hooks=["a"]),
    "listeners": lambda: estimator.train(linear_input, saving_listeners=["a"]),
    "labels": lambda: api.Estimator(no_labels, model_dir).train(linear_input),
    "no spec": lambda: api.Estimator(lambda features, labels: None, model_dir).train(linear_input),
    "no train_op": lambda: with_spec().train(linear_input),
    "no loss": lambda: with_spec(loss=lambda: None).evaluate(linear_input),
    "loss": lambda: with_spec(loss=lambda: tf.zeros([2])).evaluate(linear_input),
    "metrics": lambda: with_spec(eval_metric_ops={"a": 3}).evaluate(linear_input),
    "step metric": lambda: with_spec(
      eval_metric_ops=lambda: {"global_step": v1.metrics.mean(1.0)}
    ).evaluate(linear_input),
    "loss metric": lambda: with_spec(
      eval_metric_ops=lambda: {"loss": v1.metrics.mean(1.0)}
    ).evaluate(linear_input),
    "spec hooks": lambda: with_spec(training_hooks=["a"]).evaluate(linear_input),
    "scaffold": lambda: with_spec(scaffold="a").evaluate(linear_input),
    "no predictions": lambda: next(with_spec().predict(linear_input)),
    "no keys": lambda: next(estimator.predict(linear_input, predict_keys=["a"])),
    "triple": lambda: estimator.train(lambda: (1, 2, 3), steps=1),
    "no variables": lambda: estimator.get_variable_names(),
    "no value": lambda: estimator.get_variable_value("weights"),
    "no saver": lambda: api.Estimator(
      linear, model_dir, api.RunConfig(save_checkpoints_steps=None), make
    ).train(linear_input, steps=1, saving_listeners=[Listener("a", [])]),
    "both cadences": lambda: api.RunConfig(save_checkpoints_steps=1, save_checkpoints_secs=1),
    "negative": lambda: api.RunConfig(save_summary_steps=-1),
    "seed": lambda: api.RunConfig(tf_random_seed=1.5),
    "device": lambda: api.RunConfig(device_fn=lambda x: x),
    "session": lambda: api.RunConfig(session_config="a"),
    "empty": lambda: api.RunConfig(model_dir=""),
    "replace": lambda: api.RunConfig().replace(task_id=3),
    "replace both": lambda: api.RunConfig().replace(
      save_checkpoints_steps=1, save_checkpoints_secs=1
    ),
  }
  return {name: error_of(call) for name, call in calls.items()}


PARTS = {
  "resumed": resumed,
  "hooks": hooks,
  "own_saver": own_saver,
  "scaffold": scaffold,
  "warm": warm,
  "tables": tables,
}


def main():
  root, answer = sys.argv[1:]
  api = real_api()
  results = {}
  for name in hosted_programs.PROGRAMS:
    model_dir = os.path.join(root, name)
    results[name] = {"first": first_ten(api, name, model_dir)}
    v1.summary.FileWriterCache.clear()  # What it holds back belongs to the copy.
    shutil.copytree(model_dir, model_dir + "_at_10")
    results[name]["then"] = go_on(api, name, model_dir)
  for name, part in PARTS.items():
    results[name] = part(api, os.path.join(root, name))
  results["errors"] = errors(api, os.path.join(root, "errors"))
  with open(answer, "w", encoding="utf-8") as file:
    json.dump(results, file)


if __name__ == "__main__":
  main()
