"""The callbacks in place of hooks that need an Estimator: early stopping, evaluation in memory.

Each row of the two tables is a training by the real Estimator or, where that makes no difference and saves
a second, in a session; and the same with the callback.
"""

import functools
import json
import os
import shutil

import jobs
import pytest
import tensorflow as tf
from callback_hosts import HOSTS
from hook_sessions import Clock, Lines, numbers
from interpreter import HERE, run_legacy
from legacy_hooks import stop_after
from migrated import make_backup, make_loss, make_network, make_optimizer

from migrator import runtime

FALLING = [[[step, {"loss": 10.0 - step, "accuracy": step / 10}] for step in (0, 2, 4, 6, 8)]]
BETTER_AND_WORSE = [
  [[0, {"loss": 3.0}], [100, {"loss": 2.0}], [200, {"loss": 2.0}]],
  [[300, {"loss": 1.75}], [400, {"loss": 1.875}], [500, {"loss": 1.75}]],
]
"""Event files of evaluations: a list per file."""


def stopping(function, results, *trainings, where=None, damaged=False, train=False, **arguments):
  """A row of STOPPING: the function, what was evaluated before, and how many steps are trained.

  With `train` it is the Estimator that trains.
  Without `run_every_steps` in the arguments it is 2.
  """
  if "run_every_steps" not in arguments and "run_every_secs" not in arguments:
    arguments["run_every_steps"] = 2
  if arguments.get("run_every_steps") is not None:
    arguments.setdefault("run_every_secs", None)
  return {
    "function": function,
    "results": results,
    "trainings": trainings,
    "arguments": arguments,
    "eval_dir": where,
    "damaged": damaged,
    "train": train,
  }


no_decrease = functools.partial(stopping, "stop_if_no_decrease", metric_name="loss")
STOPPING = {
  "function at its first call": stopping("make_early_stopping", [], 7, calls=1),
  "function at its second call": stopping("make_early_stopping", [], 7, calls=2),
  "function at its third call, every 3": stopping(
    "make_early_stopping", [], 12, calls=3, run_every_steps=3
  ),
  "function at its third call, of two trainings": stopping(
    "make_early_stopping", [], 3, 7, calls=3, run_every_steps=3, train=True
  ),
  "function, every minute": stopping("make_early_stopping", [], 3, calls=2, run_every_secs=60),
  "function, never": stopping("make_early_stopping", [], 5, calls=99),
  "higher": stopping("stop_if_higher", FALLING, 5, metric_name="accuracy", threshold=0.5),
  "not higher than the same": stopping(
    "stop_if_higher", FALLING, 5, metric_name="loss", threshold=10
  ),
  "higher, from a step on": stopping(
    "stop_if_higher", FALLING, 5, metric_name="accuracy", threshold=0.1, min_steps=5
  ),
  "lower": stopping("stop_if_lower", FALLING, 5, metric_name="loss", threshold=4.5),
  "not lower": stopping("stop_if_lower", FALLING, 5, metric_name="loss", threshold=2),
  "no decrease for 100 steps": no_decrease(
    BETTER_AND_WORSE, 5, max_steps_without_decrease=100, train=True
  ),
  "no decrease for 200 steps": no_decrease(BETTER_AND_WORSE, 5, max_steps_without_decrease=200),
  "no decrease for 201 steps": no_decrease(BETTER_AND_WORSE, 5, max_steps_without_decrease=201),
  "no decrease for 100 steps, from a step on": no_decrease(
    BETTER_AND_WORSE, 5, max_steps_without_decrease=100, min_steps=300
  ),
  "no increase": stopping(
    "stop_if_no_increase", FALLING, 5, metric_name="loss", max_steps_without_increase=6
  ),
  "results of nobody": no_decrease([], 5, max_steps_without_decrease=0),
  "another directory": no_decrease(
    BETTER_AND_WORSE, 5, where="elsewhere", max_steps_without_decrease=100
  ),
  "a damaged file": no_decrease(
    [[[0, {"loss": 1.0}], [1000, {"loss": 9.0}]], [[40, {"loss": 2.0}]]],
    5,
    damaged=True,
    max_steps_without_decrease=41,
  ),
  "a metric that is not there": no_decrease(
    [[[0, {"error": 1.0}]]], 5, max_steps_without_decrease=1
  ),
}

EVALUATING = {
  "every 3 steps": {"trainings": [7], "arguments": {"every_n_iter": 3}},
  "every 3 steps, ends at the third": {
    "trainings": [3],
    "arguments": {"every_n_iter": 3, "steps": 2},
  },
  "twice, with a name": {
    "trainings": [3, 2],
    "arguments": {"every_n_iter": 2, "name": "holdout", "steps": 1},
  },
}


@pytest.fixture(autouse=True)
def _clean_process():
  """Closes the event files; what Keras would forget besides takes longer than most tests here."""
  yield
  tf.compat.v1.summary.FileWriterCache.clear()


@pytest.fixture(scope="module")
def estimator(tmp_path_factory):
  """The rows with their directories, and what the Estimator did; all from one process."""

  def command(root):
    config = {"save_summary_steps": 0, "log_step_count_steps": None}
    request = {"stopping": {}, "evaluating": {}}
    for number, (name, row) in enumerate(STOPPING.items()):
      directory = root / f"stopping{number}"
      where = row["eval_dir"] and str(directory / row["eval_dir"])
      arguments = {**row["arguments"], "eval_dir": where} if where else row["arguments"]
      job = jobs.job(directory, hidden_units=[], optimizer="sgd", config=config)
      request["stopping"][name] = {**row, "job": job, "eval_dir": where, "arguments": arguments}
    for number, (name, row) in enumerate(EVALUATING.items()):
      job = jobs.job(root / f"evaluating{number}", optimizer="sgd", config=config)
      request["evaluating"][name] = {**row, "job": job}
    (root / "request.json").write_text(json.dumps(request))
    return [HERE / "legacy_hooks.py", root / "request.json", root / "answer.json"]

  # With more threads it is a race whether a hook reads the step before or after it is counted.
  root = run_legacy(tmp_path_factory, "hooks", command, TF_NUM_INTEROP_THREADS="1")
  return tuple(json.loads((root / f"{n}.json").read_text()) for n in ("request", "answer"))


@pytest.mark.parametrize("name", STOPPING)
def test_early_stopping_stops_where_the_hook_did(estimator, monkeypatch, tmp_path, name):
  case, expected = (part["stopping"][name] for part in estimator)
  arguments = dict(case["arguments"])
  if "calls" in arguments:
    arguments["should_stop_fn"] = stop_after(arguments.pop("calls"))
  callback = getattr(runtime, case["function"])(case["job"]["model_dir"], **arguments)
  loop, seen = HOSTS["loop"](Clock(monkeypatch), tmp_path), []
  for count in case["trainings"]:
    first = seen[-1].step if seen else 0
    seen.append(loop.train([callback], losses=[0.5] * count, first=first))
  assert [part.step for part in seen] == expected["steps"]
  assert [part.error for part in seen] == expected["errors"]
  assert [line for part in seen for line in part.log if "early stopping" in line] == expected["log"]


def test_the_hooks_stop_in_the_middle_and_do_not(estimator):
  cases, answers = (part["stopping"] for part in estimator)
  stopped = {n for n, a in answers.items() if a["steps"][-1] < sum(cases[n]["trainings"])}
  assert {"function at its second call", "higher", "lower", "no decrease for 200 steps"} <= stopped
  assert {"function, never", "not lower", "results of nobody"} <= set(answers) - stopped
  assert answers["a metric that is not there"]["errors"] == ["KeyError"]


def test_early_stopping_works_in_fit_by_what_an_evaluation_wrote(monkeypatch, tmp_path):
  fit = HOSTS["fit"](Clock(monkeypatch), tmp_path)
  job = jobs.job(tmp_path / "other")
  runtime.evaluate(
    make_network(job),
    make_loss(job),
    jobs.make_dataset(tf, job, 2),
    global_step=20,
    model_dir=str(tmp_path),
  )
  callback = runtime.stop_if_higher(
    str(tmp_path), "average_loss", 0.0, run_every_secs=None, run_every_steps=3
  )
  assert fit.train([callback]).step == 1
  callback = runtime.stop_if_higher(
    str(tmp_path), "average_loss", 0.0, min_steps=21, run_every_secs=None, run_every_steps=3
  )
  assert fit.train([callback], first=1).step == 13


@pytest.mark.parametrize(
  ("arguments", "error"),
  [
    ({"run_every_secs": 60, "run_every_steps": 1}, ValueError),
    ({"run_every_secs": None}, ValueError),
    ({"should_stop_fn": True}, TypeError),
  ],
)
def test_early_stopping_refuses_what_the_hook_refused(arguments, error):
  with pytest.raises(error, match=r"must be set|should be provided|must be callable"):
    runtime.make_early_stopping("model", **{"should_stop_fn": lambda: True, **arguments})


class InFit:
  """Trains with `fit`."""

  def __init__(self, job):
    self._model, self.evaluator = make_backup(job)

  def train(self, dataset, callback):
    self._model.fit(dataset, callbacks=[self.evaluator, callback], verbose=0)
    return self.evaluator.global_step


class InLoop:
  """Trains in a loop of its own."""

  def __init__(self, job):
    self._model, self._loss = make_network(job), make_loss(job)
    self._optimizer = make_optimizer(job)
    checkpoint = runtime.named_checkpoint(self._model, self._optimizer, scope="dnn", flavour="v1")
    self._step = checkpoint.by_name["global_step"]
    runtime.load_tf1_checkpoint(checkpoint, job["model_dir"])
    self.evaluator = functools.partial(
      runtime.evaluate,
      self._model,
      self._loss,
      global_step=self._step,
      model_dir=job["model_dir"],
    )

  def train(self, dataset, callback):
    callbacks = tf.keras.callbacks.CallbackList([callback], model=self._model)
    callbacks.on_train_begin()
    for features, labels in dataset:
      callbacks.on_train_batch_begin(int(self._step))
      with tf.GradientTape() as tape:
        loss = self._loss(labels, self._model(features, training=True))
      weights = self._model.trainable_variables
      self._optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights))
      self._step.assign_add(1)
      callbacks.on_train_batch_end(int(self._step) - 1, {"loss": loss.numpy()})
    callbacks.on_train_end()
    return int(self._step)


def beginning(case, target):
  """Copies the first checkpoint of a model directory; returns the job in the new one."""
  target.mkdir()
  source = case["job"]["model_dir"]
  for name in os.listdir(source):
    if name.startswith("model.ckpt-0."):
      shutil.copy(os.path.join(source, name), target)
  (target / "checkpoint").write_text('model_checkpoint_path: "model.ckpt-0"\n')
  return {**case["job"], "model_dir": str(target)}


@pytest.mark.parametrize(
  ("host", "name"),
  [(InLoop, name) for name in EVALUATING]
  + [(InFit, "every 3 steps, ends at the third"), (InFit, "twice, with a name")],
)
def test_evaluation_in_memory_is_that_of_the_hook(estimator, tmp_path, host, name):
  case, expected = (part["evaluating"][name] for part in estimator)
  job = beginning(case, tmp_path / "model")
  training, inputs = host(job), []

  def input_fn():
    inputs.append(1)
    return jobs.make_dataset(tf, job, 5)

  callback = runtime.InMemoryEvaluator(training.evaluator, input_fn, **case["arguments"])
  steps = [training.train(jobs.make_dataset(tf, job, b), callback) for b in case["trainings"]]
  assert steps == expected["steps"]
  assert len(inputs) == expected["inputs"] == len(case["trainings"])
  sub = f"eval_{case['arguments']['name']}" if "name" in case["arguments"] else "eval"
  wanted = numbers(os.path.join(case["job"]["model_dir"], sub))
  seen = numbers(tmp_path / "model" / sub)
  assert sorted(row[:2] for row in seen) == sorted(row[:2] for row in wanted)
  assert [step for step, tag, _ in seen if tag == "loss"] == [
    s for s, t, _ in wanted if t == "loss"
  ]
  for (_, tag, value), (_, _, other) in zip(sorted(seen), sorted(wanted)):
    assert value == pytest.approx(other, rel=1e-5), tag
  assert len({value for _, tag, value in seen if tag == "loss"}) > 1


def test_callbacks_of_an_evaluation_in_memory_are_called(estimator, tmp_path):
  case = estimator[0]["evaluating"]["every 3 steps"]
  training = InLoop(beginning(case, tmp_path / "model"))
  callback = runtime.InMemoryEvaluator(
    training.evaluator,
    lambda: jobs.make_dataset(tf, case["job"], 5),
    steps=2,
    callbacks=[runtime.LoggingTensor(["global_step"], every_n_iter=2, before_step=False)],
    every_n_iter=2,
  )
  with Lines() as log:
    training.train(jobs.make_dataset(tf, case["job"], 3), callback)
  lines = [line for line in log.lines if "global_step =" in line and "Saving dict" not in line]
  assert lines == [f"INFO global_step = {step}" for step in (0, 2, 3)]


class _Stop(tf.keras.callbacks.Callback):
  """Ends whatever gets it, as a hook of trainings and evaluations does."""

  def on_test_batch_end(self, batch, logs=None):
    self.model.stop_training = self.model.stop_evaluating = True


def test_stop_of_an_evaluation_in_memory_does_not_end_the_training(estimator, tmp_path):
  case = estimator[0]["evaluating"]["every 3 steps"]
  training = InLoop(beginning(case, tmp_path / "model"))
  callback = runtime.InMemoryEvaluator(
    training.evaluator,
    lambda: jobs.make_dataset(tf, case["job"], 5),
    callbacks=[_Stop()],
    every_n_iter=1,
  )
  training.train(jobs.make_dataset(tf, case["job"], 3), callback)
  assert not training._model.stop_training


@pytest.mark.parametrize(
  ("arguments", "error", "message"),
  [
    ({"every_n_iter": 0}, ValueError, "invalid every_n_iter=0."),
    ({"every_n_iter": None}, ValueError, "invalid every_n_iter=None."),
    ({"steps": 0}, ValueError, "Must specify steps > 0, given: 0"),
    ({"backup_or_evaluate": "model"}, TypeError, "neither a runtime.BackupAndRestore"),
  ],
)
def test_evaluation_in_memory_refuses_bad_arguments(arguments, error, message):
  with pytest.raises(error, match=message):
    runtime.InMemoryEvaluator(
      **{"backup_or_evaluate": lambda *_, **__: {}, "input_fn": lambda: None, **arguments}
    )
