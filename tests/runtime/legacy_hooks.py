"""Trains the real Estimator of TensorFlow 2.15 with the hooks that need one.

  python legacy_hooks.py REQUEST.json ANSWER.json

REQUEST.json: {"stopping": {name: case}, "evaluating": {name: case}}; see test_runtime_callbacks_estimator.py
for what is in a case. ANSWER.json has the same names:

  stopping: {"log": lines of the hook, "steps": global step after each training, "errors": class or
    None of each}
  evaluating: {"inputs": how often input_fn was called, "steps": as above}; what was evaluated is in
    the event files of the model directory.
"""

import json
import os
import sys

import jobs
import legacy
import tensorflow as tf
from hook_sessions import Clock, Lines, Seen, with_hooks

v1 = tf.compat.v1


def write_results(directory, results):
  """Writes event files as evaluations do, one for each list of [step, {name: value}]."""
  for number, part in enumerate(results):
    with tf.Graph().as_default():
      writer = v1.summary.FileWriter(directory, filename_suffix=f".{number}")
    for step, values in part:
      summary = v1.Summary(
        value=[v1.Summary.Value(tag=tag, simple_value=value) for tag, value in values.items()]
      )
      writer.add_summary(summary, step)
    writer.close()


def damage(directory):
  """Spoils the last event of the first event file."""
  path = os.path.join(directory, sorted(os.listdir(directory))[0])
  with open(path, "r+b") as file:
    file.seek(-6, os.SEEK_END)
    file.write(b"\xff\xff\xff\xff")


def stop_after(calls):
  """Returns a function that is true when called for the last of so many times."""
  count = [0]

  def should_stop():
    count[0] += 1
    return count[0] >= calls

  return should_stop


def stopping(case):
  """Trains as often as the case says, with one early stopping hook; returns what was seen."""
  estimator = legacy.make_estimator(case["job"])
  where = case.get("eval_dir") or os.path.join(case["job"]["model_dir"], "eval")
  if case["results"]:
    write_results(where, case["results"])
  if case.get("damaged"):
    damage(where)
  arguments = dict(case["arguments"])
  if "calls" in arguments:
    arguments["should_stop_fn"] = stop_after(arguments.pop("calls"))
  hook = getattr(tf.estimator.experimental, case["function"] + "_hook")(estimator, **arguments)
  seen = []
  for count in case["trainings"]:
    if case["train"]:
      seen.append(train(estimator, case["job"], count, hook))
    else:
      first = seen[-1].step if seen else 0
      seen.append(with_hooks(Clock(), [hook], losses=[0.5] * count, first=first))
  return {
    "log": [line for part in seen for line in part.log if "early stopping" in line],
    "steps": [part.step for part in seen],
    "errors": [part.error for part in seen],
  }


def train(estimator, job, count, hook):
  """Trains the Estimator for so many steps; returns what was seen."""
  with Lines() as log:
    estimator.train(lambda: jobs.make_dataset(tf, job), steps=count, hooks=[hook])
  return Seen(log.lines, int(estimator.get_variable_value("global_step")), None)


def evaluating(case):
  """Trains as often as the case says, with one evaluating hook; returns what was seen."""
  estimator, inputs = legacy.make_estimator(case["job"]), []

  def input_fn():
    inputs.append(1)
    return jobs.make_dataset(tf, case["job"], 5)

  hook = tf.estimator.experimental.InMemoryEvaluatorHook(estimator, input_fn, **case["arguments"])
  steps = []
  for batches in case["trainings"]:
    estimator.train(lambda b=batches: jobs.make_dataset(tf, case["job"], b), hooks=[hook])
    steps.append(int(estimator.get_variable_value("global_step")))
  v1.summary.FileWriterCache.clear()
  return {"inputs": len(inputs), "steps": steps}


def main():
  tf.get_logger().setLevel("INFO")
  with open(sys.argv[1], encoding="utf-8") as file:
    request = json.load(file)
  answer = {
    kind: {name: globals()[kind](case) for name, case in cases.items()}
    for kind, cases in request.items()
  }
  with open(sys.argv[2], "w", encoding="utf-8") as file:
    json.dump(answer, file)


if __name__ == "__main__":
  main()
