"""Programs with a model_fn that evaluate while they train, export, and run without a TPU.

Each session takes an API, the real one or the runtime's, and a directory, and returns what is to be compared. What the
real one did is recorded by fixtures/services/make_services.py.
"""

import json
import os
import types
from pathlib import Path

import evaluation_sessions
import export_sessions
import numpy as np
import tensorflow as tf
from observed import read_events, steps_on_disk

v1 = tf.compat.v1
WORDS = export_sessions.WORDS
ROWS = 24


def real_api():
  """Returns the names of TensorFlow 2.15."""
  estimator = v1.estimator
  return types.SimpleNamespace(
    Estimator=estimator.Estimator,
    EstimatorSpec=estimator.EstimatorSpec,
    EvalSpec=estimator.EvalSpec,
    ModeKeys=estimator.ModeKeys,
    RunConfig=estimator.RunConfig,
    TPUEstimator=estimator.tpu.TPUEstimator,
    TrainSpec=estimator.TrainSpec,
    add_metrics=estimator.add_metrics,
    export=estimator.export,
    exporters=estimator,
    hooks=estimator.experimental,
    supervised=estimator.experimental.build_raw_supervised_input_receiver_fn,
    tpu=estimator.tpu,
    train_and_evaluate=estimator.train_and_evaluate,
    checkpoints="",
  )


def runtime_api():
  """Returns the names of the runtime that stand for those."""
  from migrator import runtime

  return types.SimpleNamespace(
    Estimator=runtime.ModelFn,
    EstimatorSpec=runtime.EstimatorSpec,
    EvalSpec=runtime.EvalSpec,
    ModeKeys=runtime.ModeKeys,
    RunConfig=runtime.RunConfig,
    TPUEstimator=runtime.TPUModelFn,
    TrainSpec=runtime.TrainSpec,
    add_metrics=runtime.add_metrics,
    export=runtime.export,
    exporters=runtime.export,
    hooks=runtime.hosted_hooks,
    supervised=runtime.export.build_raw_supervised_input_receiver_fn,
    tpu=runtime.tpu,
    train_and_evaluate=runtime.train_and_evaluate,
    checkpoints="tf2",
  )


def run_config(api, **arguments):
  """Returns a configuration whose sessions run graphs as they are: optimizing them takes longer."""
  session = v1.ConfigProto()
  session.graph_options.rewrite_options.disable_meta_optimizer = True
  return api.RunConfig(tf_random_seed=1, session_config=session, **arguments)


def network(x, width=3, classes=3):
  """Returns logits, from weights that begin the same everywhere."""
  start = np.linspace(-1, 1, width * classes).reshape(width, classes).astype(np.float32)
  with v1.variable_scope("net"):
    kernel = v1.get_variable("kernel", initializer=start)
    bias = v1.get_variable("bias", [classes], initializer=v1.zeros_initializer())
  return tf.matmul(x, kernel) + bias


def classifier(api):
  """Returns a model_fn."""

  def model_fn(features, labels, mode, config):
    logits = network(features["x"])
    predictions = {"probabilities": tf.nn.softmax(logits), "best": tf.argmax(logits, 1)}
    if mode == api.ModeKeys.PREDICT:
      return api.EstimatorSpec(mode, predictions=predictions)
    loss = v1.losses.sparse_softmax_cross_entropy(labels, logits)
    metrics = {"accuracy": v1.metrics.accuracy(labels, predictions["best"])}
    if mode == api.ModeKeys.EVAL:
      return api.EstimatorSpec(mode, predictions, loss, eval_metric_ops=metrics)
    step = v1.train.get_global_step()
    # Hooks that fetch it would else get it before or after it is counted.
    read = [v1.get_default_graph().as_graph_element(step)]
    with tf.control_dependencies(read + v1.get_collection("global_step_read_op_cache")):
      train = v1.train.AdagradOptimizer(0.1).minimize(loss, step)
    return api.EstimatorSpec(mode, predictions, loss, train, metrics)

  return model_fn


def input_fn(batches=None, first=0):
  """Returns an input function."""
  return lambda: evaluation_sessions.make_data(first, batches)


class Notes(v1.train.SessionRunHook):
  """Notes the sessions and the losses."""

  def __init__(self, label, notes):
    self._label = label
    self._notes = notes

  def begin(self):
    self._notes.append([self._label, "begin"])

  def end(self, session):
    self._notes.append([self._label, "end"])


class Saves(v1.train.CheckpointSaverListener):
  """Notes the saves."""

  def __init__(self, notes):
    self._notes = notes

  def after_save(self, session, global_step_value):
    self._notes.append(["saved", int(global_step_value)])


def numbers(values):
  """Returns metrics as plain numbers."""
  return None if values is None else {key: float(value) for key, value in values.items()}


def error_of(call):
  """Returns the class and the message of the error that a call raises."""
  try:
    call()
  except Exception as error:  # Whatever it raises is the result.
    return [type(error).__name__, str(error)]
  return None


def evaluations(api, root):
  """Trains and evaluates: at each checkpoint, with a throttle, after the end, again, with exporters."""
  results = []
  for index, (steps, arguments) in enumerate(
    (
      (10, {"throttle_secs": 0, "steps": 2}),
      (10, {"throttle_secs": 0}),
      (16, {"name": "other", "steps": None}),
    )
  ):
    notes = []
    estimator = api.Estimator(classifier(api), root, run_config(api, save_checkpoints_steps=4))
    exporters = evaluation_sessions.make_exporters(
      ["best", "noting"] if index == 0 else ["final", "noting"],
      api.exporters.Exporter,
      api.exporters,
      evaluation_sessions.serving_input_fn(api.export),
      notes,
    )

    def evaluation_input(notes=notes):
      notes.append("input")
      return evaluation_sessions.make_data(2, 4)

    result = api.train_and_evaluate(
      estimator,
      api.TrainSpec(input_fn(), steps, [Notes("train", notes)], [Saves(notes)]),
      api.EvalSpec(
        evaluation_input, exporters=exporters, hooks=[Notes("eval", notes)], **arguments
      ),
    )
    results.append(evaluation_sessions.outcome(root, result, notes, None))
  results.append(steps_on_disk(os.path.join(root, api.checkpoints)))
  return results


def stops(api, root):
  """Stops early, by the results of evaluations; and evaluates without checkpoints."""
  results = {}

  def make(name, every=10):
    directory = os.path.join(root, name)
    return api.Estimator(classifier(api), directory, run_config(api, save_checkpoints_steps=every))

  def left(estimator):
    names = sorted(estimator.get_variable_names())
    return [int(estimator.get_variable_value("global_step")), names]

  often = {"run_every_secs": None, "run_every_steps": 1}
  first = make("no_increase", 2)
  os.makedirs(first.eval_dir())
  hook = api.hooks.stop_if_no_increase_hook(first, "loss", 2, **often)
  api.train_and_evaluate(
    first, api.TrainSpec(input_fn(), 7, [hook]), api.EvalSpec(input_fn(6), throttle_secs=0)
  )
  results["no_increase"] = left(first)
  often["eval_dir"] = first.eval_dir()
  for name, hook_of in {
    "lower": lambda e: api.hooks.stop_if_lower_hook(e, "loss", 1.5, **often),
    "not_lower": lambda e: api.hooks.stop_if_lower_hook(e, "loss", 0.5, **often),
    "higher": lambda e: api.hooks.stop_if_higher_hook(e, "accuracy", -1, min_steps=4, **often),
    "too_early": lambda e: api.hooks.stop_if_higher_hook(e, "accuracy", -1, min_steps=5, **often),
    "no_decrease": lambda e: api.hooks.stop_if_no_decrease_hook(e, "loss", 1, **often),
    "step": lambda e: api.hooks.make_stop_at_checkpoint_step_hook(e, 2),
  }.items():
    estimator = make(name)
    estimator.train(input_fn(), [hook_of(estimator)], max_steps=3)
    results[name] = left(estimator)
  estimator = api.Estimator(classifier(api), os.path.join(root, "memory"), run_config(api))
  notes = []
  hook = api.hooks.InMemoryEvaluatorHook(
    estimator, input_fn(4, 2), steps=3, hooks=[Notes("eval", notes)], name="now", every_n_iter=2
  )
  estimator.train(input_fn(), hooks=[hook], max_steps=5)
  results["memory"] = [evaluation_sessions.evaluated(estimator.model_dir), notes]
  results["memory_errors"] = [
    error_of(lambda: api.hooks.InMemoryEvaluatorHook(estimator, input_fn(), every_n_iter=0)),
    error_of(lambda: api.hooks.make_early_stopping_hook(estimator, list, 1, 1)),
    error_of(lambda: api.hooks.make_early_stopping_hook(estimator, 3)),
  ]
  return results


def added(api, root):
  """Evaluates with metrics that are added."""
  estimator = api.Estimator(classifier(api), root, run_config(api))
  estimator.train(input_fn(), max_steps=3)

  def more(labels, predictions, features, config):
    assert config.save_summary_steps == 100
    return {
      "first": v1.metrics.mean(predictions["probabilities"][:, 0]),
      "accuracy": v1.metrics.mean(features["x"][:, 0]),
      "label": v1.metrics.mean(labels),
    }

  other = api.add_metrics(estimator, more)
  refused = error_of(lambda: api.add_metrics(estimator, lambda labels, logits: {}))
  return [
    numbers(other.evaluate(input_fn(3))),
    refused and refused[0],
    refused and refused[1][-37:],
  ]


def exporting(api, root):
  """Exports: all kinds of outputs, all kinds of receivers, a table, several graphs."""

  def model_fn(features, labels, mode, params):
    x, hours = features["x"], features["hours-per.week"]
    logits = network(tf.concat([tf.reshape(x, [-1, 3]), tf.reshape(hours, [-1, 1])], 1), width=4)
    if params.get("words"):
      table = tf.lookup.StaticVocabularyTable(
        tf.lookup.TextFileInitializer(
          str(WORDS),
          tf.string,
          tf.lookup.TextFileIndex.WHOLE_LINE,
          tf.int64,
          tf.lookup.TextFileIndex.LINE_NUMBER,
        ),
        1,
      )
      v1.add_to_collection(v1.GraphKeys.ASSET_FILEPATHS, tf.constant(str(WORDS)))
      ids = table.lookup(tf.reshape(features["day"], [-1]))
      logits += tf.expand_dims(tf.cast(ids, tf.float32), 1)
    scores = tf.nn.softmax(logits)
    predictions = {"scores": scores, "best": tf.argmax(logits, 1)}
    if mode == api.ModeKeys.PREDICT:
      names = tf.as_string(tf.tile([[0, 1, 2]], [tf.shape(x)[0], 1]))
      outputs = {
        "all": api.export.PredictOutput(predictions),
        "scores": api.export.ClassificationOutput(scores=scores),
        "classes": api.export.ClassificationOutput(scores, names),
        "serving_default": api.export.PredictOutput(logits),
        ("two", "parts"): api.export.RegressionOutput(logits[:, 0]),
      }
      outputs["regress"] = outputs.pop(("two", "parts"))
      chosen = params.get("outputs")
      if chosen is not None:
        outputs = {name: outputs[name] for name in chosen} or None
      return api.EstimatorSpec(mode, predictions, export_outputs=outputs)
    loss = v1.losses.sparse_softmax_cross_entropy(labels, logits)
    metrics = {"accuracy": v1.metrics.accuracy(labels, predictions["best"])}
    train = v1.train.GradientDescentOptimizer(0.5).minimize(loss, v1.train.get_global_step())
    return api.EstimatorSpec(mode, predictions, loss, train, metrics)

  def train_data():
    data = export_sessions.make_data()
    data["day"] = np.array(["sun", "mon"] * (ROWS // 2))
    return tf.data.Dataset.from_tensor_slices((data, np.arange(ROWS) % 3)).batch(6)

  directory = os.path.join(root, "model")

  def make(**params):
    return api.Estimator(model_fn, directory, run_config(api), params)

  result = {"untrained": error_of(lambda: make().export_saved_model(root, lambda: None))}
  result["untrained"][1] = result["untrained"][1].replace(root, "")
  make().train(train_data)
  cases = {name: (name, {}, {}) for name in export_sessions.RECEIVERS}
  words = {**export_sessions.SPEC, "day": tf.io.FixedLenFeature([1], tf.string)}
  extra = os.path.join(root, "extra.txt")
  Path(extra).write_text("more")
  cases["plain"] = ("parsing", {"outputs": []}, {})
  cases["one"] = ("parsing", {"outputs": ["scores"]}, {"as_text": True})
  cases["words"] = ("parsing", {"words": True}, {"assets_extra": {"below/more.txt": extra}})
  for name, (receiver, params, arguments) in cases.items():
    spec = words if params.get("words") else None
    path = make(**params).export_saved_model(
      os.path.join(root, name), export_sessions.receiver_fn(receiver, api.export, spec), **arguments
    )
    result[name] = _export(path)
  result["no_default"] = error_of(
    lambda: make(outputs=["all", "scores"]).export_saved_model(
      root, export_sessions.receiver_fn("parsing", api.export)
    )
  )
  data = {key: tf.constant(value) for key, value in export_sessions.make_data().items()}
  supervised = api.supervised(data, tf.constant(np.arange(ROWS) % 3))
  path = make().experimental_export_all_saved_models(
    os.path.join(root, "all_modes"),
    {
      api.ModeKeys.TRAIN: supervised,
      api.ModeKeys.EVAL: supervised,
      api.ModeKeys.PREDICT: export_sessions.receiver_fn("raw", api.export),
    },
  )
  result["all_modes"] = _graphs(path)
  path = make().export_saved_model(
    os.path.join(root, "evaluation"), supervised, experimental_mode=api.ModeKeys.EVAL
  )
  result["evaluation"] = _graphs(path)
  return result


def _export(path):
  """Returns what an export has and answers."""
  path = os.fsdecode(path)
  extra = os.path.join(path, "assets.extra", "below", "more.txt")
  return {
    "type": "directory" if os.path.basename(path).isdigit() else path,
    "files": sorted(name for name in os.listdir(path)),
    "signatures": export_sessions.described(path),
    "answers": export_sessions.answers(path),
    "assets": export_sessions.assets(path),
    "extra": Path(extra).read_text() if os.path.exists(extra) else None,
  }


def _graphs(path):
  """Returns the tags of each graph of an export, and its signatures with their outputs."""
  saved = export_sessions._read(os.fsdecode(path))
  return [
    [
      list(graph.meta_info_def.tags),
      {
        name: [signature.method_name, sorted(signature.inputs), sorted(signature.outputs)]
        for name, signature in graph.signature_def.items()
      },
      sorted(name for name in graph.collection_def if "train_op" in name),
    ]
    for graph in saved.meta_graphs
  ]


def without_tpu(api, root):
  """Trains, evaluates, predicts and exports with a TPUEstimator on the CPU."""
  notes = []

  def model_fn(features, labels, mode, params, config):
    notes.append([mode, sorted(params.items()), config.log_step_count_steps])
    logits = network(features["x"])
    if mode == api.ModeKeys.PREDICT:
      return api.tpu.TPUEstimatorSpec(mode, predictions={"scores": tf.nn.softmax(logits)})
    loss = v1.losses.sparse_softmax_cross_entropy(labels, logits)
    shown = [tf.reshape(v1.train.get_global_step(), [1]), tf.reshape(loss, [1])]
    # What the host is told would else be read before or after the step is counted.
    with tf.control_dependencies(shown):
      optimizer = v1.train.MomentumOptimizer(0.1, 0.9)
      train = optimizer.minimize(loss, v1.train.get_global_step())

    def metric_fn(labels, logits):
      return {"accuracy": v1.metrics.accuracy(labels, tf.argmax(logits, 1))}

    def host(step, loss):
      with tf.summary.create_file_writer(os.path.join(root, "host")).as_default():
        tf.summary.experimental.set_step(step[0])
        with tf.summary.record_if(True):
          tf.summary.scalar("host/loss", loss[0], step[0])
        return v1.summary.all_v2_summary_ops()

    def scaffold():
      notes.append("scaffold")
      return v1.train.Scaffold(saver=v1.train.Saver(max_to_keep=2))

    return api.tpu.TPUEstimatorSpec(
      mode,
      loss=loss,
      train_op=train,
      eval_metrics=(metric_fn, [labels, logits])
      if params["as_list"]
      else (metric_fn, {"labels": labels, "logits": logits}),
      host_call=(host, shown) if mode == api.ModeKeys.TRAIN else None,
      scaffold_fn=scaffold,
      training_hooks=[Notes("train", notes)],
    )

  def data(params, config=None):
    notes.append(["input", sorted(params.items())])
    return evaluation_sessions.make_data(0, 12).unbatch().batch(params["batch_size"])

  def make(as_list, use_tpu=False):
    config = api.tpu.RunConfig(
      model_dir=root,
      save_checkpoints_steps=4,
      log_step_count_steps=3,
      tf_random_seed=1,
      tpu_config=api.tpu.TPUConfig(iterations_per_loop=2, num_shards=8),
    )
    return api.TPUEstimator(
      model_fn,
      config=config,
      params={"as_list": as_list},
      use_tpu=use_tpu,
      eval_on_tpu=not use_tpu,
      train_batch_size=4,
      eval_batch_size=5,
      predict_batch_size=7,
    )

  make(False).train(data, max_steps=10)
  tpu = make(True)
  results = {
    "evaluated": numbers(tpu.evaluate(data, steps=2)),
    "predicted": [row["scores"].tolist() for row in tpu.predict(data)],
    "params": sorted(tpu.params.items()),
    "for_tpu": error_of(lambda: make(True, True).train(data, max_steps=12))[0],
    "only_evaluated": numbers(make(True, True).evaluate(data, steps=2, name="other")),
    "log": tpu.config.log_step_count_steps,
    "saved": steps_on_disk(os.path.join(root, api.checkpoints)),
    "names": sorted(tpu.get_variable_names()),
  }
  before = len(notes)
  path = tpu.export_saved_model(
    os.path.join(root, "export"),
    evaluation_sessions.serving_input_fn(api.export),
  )
  # The graph for TPUs, which the real one adds, is left out, and the call of the model_fn for it.
  results["export"] = _graphs(path)[:1]
  results["notes"] = json.loads(json.dumps(notes[: before + 1]))
  v1.summary.FileWriterCache.clear()
  results["events"] = {
    directory: events
    for directory, events in read_events(root).items()
    if not directory.startswith("export")
  }
  results["errors"] = _tpu_errors(api, model_fn, data)
  return results


def _tpu_errors(api, model_fn, data):
  """Returns what is refused."""
  config, spec = api.tpu.RunConfig(), api.tpu.TPUEstimatorSpec
  refused = [
    lambda: api.TPUEstimator(model_fn, config=None),
    lambda: api.TPUEstimator(model_fn, config=config, params={"batch_size": 3}),
    lambda: api.TPUEstimator(model_fn, config=config, use_tpu=True),
    lambda: api.TPUEstimator(model_fn, config=config, use_tpu=True, train_batch_size=0),
    lambda: api.tpu.TPUConfig(iterations_per_loop=0),
    lambda: api.tpu.TPUConfig(iterations_per_loop="3x"),
    lambda: api.tpu.TPUConfig(num_shards="3"),
    lambda: api.tpu.TPUConfig(num_cores_per_replica=3),
    lambda: api.tpu.TPUConfig(input_partition_dims=[[1], None, None]),
    lambda: api.tpu.TPUConfig(input_partition_dims=[[1]]),
    lambda: api.tpu.TPUConfig(input_partition_dims=[[1]], per_host_input_for_training=3),
    lambda: api.tpu.TPUConfig(eval_training_input_configuration=1),
    lambda: api.tpu.TPUConfig(initial_infeed_sleep_secs=-1),
    lambda: spec("infer", predictions={}, eval_metrics=3),
    lambda: spec("infer", predictions={}, eval_metrics=(3, [])),
    lambda: spec("infer", predictions={}, host_call=(len,)),
    lambda: spec("infer", predictions={}, host_call=(lambda a: a, 3)),
    lambda: spec("infer", predictions={}, host_call=(lambda a: a, [1, 2])),
    lambda: spec("infer", predictions={}, training_hooks=[3]),
  ]
  made = api.tpu.TPUConfig(per_host_input_for_training=False, iterations_per_loop="5m")
  replaced = config.replace(tpu_config=made, save_summary_steps=7)
  again = replaced.replace(tf_random_seed=3)
  return [
    *map(error_of, refused),
    [str(value) for value in made],
    [str(value) for value in config.tpu_config],
    [again.save_summary_steps, again.tpu_config == made, again.tf_random_seed],
  ]


def refusals(api, root):
  """Returns what the specifications refuse, and what they hold."""
  fn = input_fn()
  calls = [
    lambda: api.TrainSpec(3),
    lambda: api.TrainSpec(fn, 0),
    lambda: api.TrainSpec(fn, 1, [3]),
    lambda: api.TrainSpec(fn, 1, None, [3]),
    lambda: api.EvalSpec(3),
    lambda: api.EvalSpec(fn, 0),
    lambda: api.EvalSpec(fn, name=3),
    lambda: api.EvalSpec(fn, hooks=[3]),
    lambda: api.EvalSpec(fn, exporters=[3]),
    lambda: api.EvalSpec(fn, start_delay_secs=-1),
    lambda: api.EvalSpec(fn, throttle_secs=-1),
    lambda: api.export.PredictOutput({3: tf.zeros([])}),
    lambda: api.export.PredictOutput({"a": 3}),
    lambda: api.export.ClassificationOutput(),
    lambda: api.export.RegressionOutput(tf.zeros([], tf.int32)),
    lambda: api.supervised({"a": tf.zeros([1])}, {"a": tf.zeros([1])}),
  ]
  train, evaluation = api.TrainSpec(fn, hooks=[]), api.EvalSpec(fn)
  return [
    *map(error_of, calls),
    list(train[1:]),
    list(evaluation[1:]),
    sorted(api.export.PredictOutput({("a", "b"): tf.zeros([])}).outputs),
  ]


SESSIONS = (evaluations, stops, added, exporting, without_tpu, refusals)


def run(api, root):
  """Returns the results of all sessions, by name."""
  results = {}
  for session in SESSIONS:
    directory = os.path.join(root, session.__name__)
    os.makedirs(directory)
    results[session.__name__] = session(api, directory)
  return results
