"""Step time and memory of a program with its own model_fn: the Estimator's, hosted and split.

  python benchmarks/model_fn_steps.py --legacy PYTHON215 [--python PYTHON]... [--size SIZE] [--steps N] [--runs N]

The program below is rewritten in both forms. Each form trains in a process of its own, for few and for many
steps. Step time is that between the first and the last `global_step/sec` in the event file of the long run: the
end of a training is not in it, where TensorFlow at times waits for seconds until the threads of a Dataset have
ended. CPU time is the difference of the long and the short run. The least of all runs counts, which alternate.
Prints ratios to the Estimator in the same interpreter, the legacy one;
other interpreters are compared with it, too. The small program's step is a few milliseconds: there the loop
around the step counts. In the large one the step itself counts.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FEW = 60
SIZES = {"small": (16, [16, 32], 1000), "large": (48, [32, 64], 150)}  # pixels, filters, steps

PROGRAM = '''"""A convolutional network on made-up pictures."""
import glob
import json
import os
import resource
import sys
import time

import numpy as np
import tensorflow.compat.v1 as tf


def input_fn():
  random = np.random.RandomState(0)
  images = random.rand(640, PIXELS, PIXELS, 3).astype(np.float32)
  labels = random.randint(0, 10, 640).astype(np.int32)
  return tf.data.Dataset.from_tensor_slices(({"image": images}, labels)).repeat().batch(32)


def model_fn(features, labels, mode, params):
  training = mode == tf.estimator.ModeKeys.TRAIN
  net = features["image"]
  for filters in params["filters"]:
    net = tf.layers.conv2d(net, filters, 3, padding="same", activation=tf.nn.relu)
    net = tf.layers.batch_normalization(net, training=training)
    net = tf.layers.max_pooling2d(net, 2, 2)
  net = tf.layers.dense(tf.layers.flatten(net), 64, activation=tf.nn.relu)
  logits = tf.layers.dense(net, 10)
  if mode == tf.estimator.ModeKeys.PREDICT:
    return tf.estimator.EstimatorSpec(mode, predictions={"logits": logits})
  loss = tf.losses.sparse_softmax_cross_entropy(labels=labels, logits=logits)
  if mode == tf.estimator.ModeKeys.EVAL:
    accuracy = tf.metrics.accuracy(labels, tf.argmax(logits, 1))
    return tf.estimator.EstimatorSpec(mode, loss=loss, eval_metric_ops={"accuracy": accuracy})
  optimizer = tf.train.MomentumOptimizer(0.01, 0.9)
  with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
    train_op = optimizer.minimize(loss, global_step=tf.train.get_global_step())
  return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def main():
  config = tf.estimator.RunConfig(
      save_checkpoints_secs=3600, log_step_count_steps=25, tf_random_seed=1)
  estimator = tf.estimator.Estimator(
      model_fn, sys.argv[1], config=config, params={"filters": FILTERS})
  busy = time.process_time()
  estimator.train(input_fn, max_steps=int(sys.argv[2]))
  busy = time.process_time() - busy
  memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
  (path,) = glob.glob(os.path.join(sys.argv[1], "events.*"))
  times = [
      (event.step, event.wall_time)
      for event in tf.train.summary_iterator(path)
      if [value for value in event.summary.value if value.tag == "global_step/sec"]
  ]
  seconds = (times[-1][1] - times[0][1]) / (times[-1][0] - times[0][0])
  print(json.dumps({"seconds": seconds, "cpu": busy, "bytes": memory}))


main()
'''


def main() -> None:
  parser = argparse.ArgumentParser(
    description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
  )
  parser.add_argument("--legacy", required=True, help="a Python with tensorflow-estimator")
  parser.add_argument("--python", action="append", default=[], help="another Python (repeat)")
  parser.add_argument("--size", choices=sorted(SIZES), default="large", help="of the program")
  parser.add_argument("--steps", type=int, help="how many steps are timed")
  parser.add_argument("--runs", type=int, default=3)
  arguments = parser.parse_args()
  steps_timed = arguments.steps or SIZES[arguments.size][2]
  with tempfile.TemporaryDirectory(prefix="migrator-steps-") as scratch:
    forms = programs(Path(scratch), arguments.size)
    kinds = [("estimator", arguments.legacy)]
    kinds += [(f, p) for p in [arguments.legacy, *arguments.python] for f in ("hosted", "split")]
    results: dict[tuple[str, str], dict[str, list[dict[str, float]]]] = {}
    for number in range(arguments.runs):
      for kind in kinds:
        few, many = (
          run(
            kind[1], forms[kind[0]], Path(scratch), steps, f"{number}-{kinds.index(kind)}-{steps}"
          )
          for steps in (FEW, FEW + steps_timed)
        )
        found = results.setdefault(kind, {"few": [], "many": []})
        found["few"].append(few)
        found["many"].append(many)
    figures = {kind: least(found, steps_timed) for kind, found in results.items()}
    show(figures, arguments.legacy)


def programs(folder: Path, size: str) -> dict[str, Path]:
  """Writes the program and what the tool makes of it."""
  pixels, filters, _ = SIZES[size]
  program = PROGRAM.replace("PIXELS", str(pixels)).replace("FILTERS", str(filters))
  found = {}
  for form, options in (("estimator", None), ("hosted", ["--hosted"]), ("split", [])):
    path = folder / f"{form}_program.py"
    path.write_text(program, encoding="utf-8")
    if options is not None:
      command = [sys.executable, "-m", "migrator.cli", "rewrite", "--write", *options, str(path)]
      subprocess.run(command, cwd=ROOT, stdout=subprocess.DEVNULL, check=False)
      text = path.read_text(encoding="utf-8")
      if (form == "hosted") != ("runtime.ModelFn(" in text):
        raise SystemExit(f"the program was not rewritten as {form}")
    found[form] = path
  return found


def run(python: str, path: Path, folder: Path, steps: int, name: str) -> dict[str, float]:
  quiet = {"TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": "-1", "TF_NUM_INTRAOP_THREADS": "1"}
  process = subprocess.run(
    [python, str(path), str(folder / name), str(steps)],
    env={**os.environ, **quiet, "PYTHONPATH": str(ROOT)},
    capture_output=True,
    text=True,
    check=False,
  )
  if process.returncode:
    raise SystemExit(process.stderr[-2000:])
  return json.loads(process.stdout.splitlines()[-1])


def least(found: dict[str, list[dict[str, float]]], steps: int) -> dict[str, float]:
  """Returns the least seconds a step, on the clock and of the CPU, and bytes."""
  few, many = (
    {key: min(run[key] for run in found[kind]) for key in ("seconds", "cpu", "bytes")}
    for kind in ("few", "many")
  )
  return {**many, "cpu": (many["cpu"] - few["cpu"]) / steps}


def show(figures: dict[tuple[str, str], dict[str, float]], legacy: str) -> None:
  base = figures[("estimator", legacy)]
  print(f"Estimator: {base['seconds'] * 1000:.2f} ms a step, {base['bytes'] / 2**20:.0f} MiB")
  print("form    interpreter  step time  CPU time  memory  (of the Estimator's)")
  names = list(dict.fromkeys(python for _, python in figures))
  for (form, python), found in figures.items():
    if form != "estimator":
      which = "legacy" if python == legacy else f"other {names.index(python)}"
      ratios = [found[key] / base[key] for key in ("seconds", "cpu", "bytes")]
      print(f"{form:7} {which:12} {ratios[0]:9.3f} {ratios[1]:9.3f} {ratios[2]:7.3f}")


if __name__ == "__main__":
  main()
