"""Programs that train and evaluate, run by the real `train_and_evaluate` and by migrated ones.

Each program is a list of runs, one after the other in one model directory; a run is one call of
train_and_evaluate, with new objects as after a restart.
What the real ones did is recorded by fixtures/evaluations/make_evaluations.py.
"""

import os

import numpy as np
import tensorflow as tf

v1 = tf.compat.v1
NO_THROTTLE = {"throttle_secs": 0}
PROGRAMS = {
  "often": {
    "every": 4,
    "runs": [
      {"max_steps": 10, "exporters": ["latest", "best", "noting"], **NO_THROTTLE},
      {"max_steps": 10, **NO_THROTTLE},
      {"max_steps": 15, "exporters": ["best", "noting"], **NO_THROTTLE},
    ],
  },
  "throttled": {
    "every": 4,
    "runs": [{"max_steps": 10, "exporters": ["noting"]}, {"max_steps": 15, "name": "other"}],
  },
  "without_end": {
    "every": 3,
    "runs": [{"batches": 5, "exporters": ["final", "noting"], "steps": 1, **NO_THROTTLE}],
  },
  "all_input": {"every": 5, "runs": [{"max_steps": 5, "steps": None, **NO_THROTTLE}]},
  "no_saves": {"every": None, "runs": [{"max_steps": 3, **NO_THROTTLE}]},
}
ROWS, BATCH = 48, 8


def make_data(first=0, batches=None):
  """Returns the batches of (features, labels), repeated unless their number is given."""
  random = np.random.RandomState(5)
  x = random.rand(ROWS, 3).astype(np.float32)
  y = (x.sum(axis=1) * 2).astype(np.int32) % 3
  data = tf.data.Dataset.from_tensor_slices(({"x": x}, y)).batch(BATCH).skip(first)
  return data.repeat() if batches is None else data.take(batches)


def evaluation_data(notes):
  """Returns the input function of the evaluations, which notes its calls."""

  def input_fn():
    notes.append("input")
    return make_data(first=2, batches=4)

  return input_fn


def make_exporters(names, base, classes, receiver_fn, notes):
  """Returns exporters by their names.

  Args:
    names: of "latest", "final", "best" and "noting".
    base: the base class of exporters.
    classes: the module with TensorFlow's exporters, or the runtime's.
    receiver_fn: for exports.
    notes: where the noting one writes what it gets.
  """

  class Noting(base):
    """Notes its arguments."""

    @property
    def name(self):
      return "noting"

    def export(self, estimator, export_path, checkpoint_path, eval_result, is_the_final_export):
      step = int(eval_result["global_step"])
      assert os.path.basename(checkpoint_path) == f"model.ckpt-{step}"
      assert export_path == os.path.join(estimator.model_dir, "export", "noting")
      notes.append(["export", step, bool(is_the_final_export)])
      return f"at {step}"

  def clearly_better(best_eval_result, current_eval_result):
    best, current = best_eval_result["loss"], current_eval_result["loss"]
    # Better by so much that some are, and some are not.
    return bool(best - current > 0.0012)

  made = {
    "latest": lambda: classes.LatestExporter("latest", receiver_fn, exports_to_keep=2),
    "final": lambda: classes.FinalExporter("final", receiver_fn),
    "best": lambda: classes.BestExporter("best", receiver_fn, compare_fn=clearly_better),
    "noting": Noting,
  }
  return [made[name]() for name in names]


def serving_input_fn(export):
  """Returns the function for exports."""
  return export.build_parsing_serving_input_receiver_fn(
    {"x": tf.io.FixedLenFeature([3], tf.float32)}
  )


def outcome(model_dir, result, notes, error):
  """Returns what a run left, for a comparison."""
  metrics, exported = result
  if exported is not None:
    exported = [None if e is None else "path" if isinstance(e, bytes) else e for e in exported]
  directory = os.path.join(model_dir, "export")
  exports = {n: len(os.listdir(os.path.join(directory, n))) for n in _names(directory)}
  return {
    "metrics": metrics and {key: float(value) for key, value in metrics.items()},
    "exported": exported,
    "exports": exports,
    "notes": list(notes),
    "evaluated": evaluated(model_dir),
    "error": error,
  }


def _names(directory):
  return sorted(os.listdir(directory)) if os.path.isdir(directory) else []


def evaluated(model_dir):
  """Returns directory -> [[step, loss], ...] of the event files of evaluations."""
  v1.summary.FileWriterCache.clear()
  found = {}
  for name in _names(model_dir):
    if not name.startswith("eval"):
      continue
    losses = []
    directory = os.path.join(model_dir, name)
    for path in sorted(os.listdir(directory), key=lambda p: p):
      for event in v1.train.summary_iterator(os.path.join(directory, path)):
        for value in event.summary.value:
          if value.tag == "loss":
            losses.append([event.step, value.simple_value])
    found[name] = sorted(losses)
  return found
