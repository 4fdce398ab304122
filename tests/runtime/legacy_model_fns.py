"""Runs the programs of fixtures/model_fns with the real Estimator; needs TensorFlow 2.15.

Usage: python legacy_model_fns.py <directory>
Each program leaves its model directory there, and `results.json` has what it reported.
"""

import importlib
import json
import pathlib
import sys

import numpy as np
import tensorflow.compat.v1 as tf

PROGRAMS = ("mlp", "cnn", "siamese", "sequential")
SEED = 123


class Losses(tf.train.SessionRunHook):
  """Notes the loss of each step."""

  def __init__(self):
    self.losses, self.tensor = [], None

  def before_run(self, run_context):
    return tf.train.SessionRunArgs(self.tensor)

  def after_run(self, run_context, run_values):
    self.losses.append(float(run_values.results))


def run(name, root):
  program = importlib.import_module(name)
  losses = Losses()

  def model_fn(features, labels, mode, params):
    spec = program.model_fn(features, labels, mode, params)
    losses.tensor = spec.loss
    return spec

  config = tf.estimator.RunConfig(
    tf_random_seed=SEED, save_checkpoints_steps=10, keep_checkpoint_max=5
  )
  estimator = tf.estimator.Estimator(model_fn, str(root / name), config, program.PARAMS)
  estimator.train(program.input_fn, max_steps=10)
  estimator.train(program.input_fn, max_steps=30, hooks=[losses])
  # The last batch is smaller.
  results = estimator.evaluate(lambda: program.input_fn().unbatch().batch(7).take(3))
  predictions = estimator.predict(lambda: program.input_fn().take(1), yield_single_examples=False)
  return {
    "losses": losses.losses,
    "variables": {key: list(shape) for key, shape in tf.train.list_variables(str(root / name))},
    "results": {key: float(value) for key, value in results.items()},
    "predictions": {key: np.asarray(value).tolist() for key, value in next(predictions).items()},
  }


def main():
  root = pathlib.Path(sys.argv[1])
  fixtures = pathlib.Path(__file__).parents[2] / "fixtures" / "model_fns"
  sys.path.insert(0, str(fixtures))
  tf.logging.set_verbosity(tf.logging.ERROR)
  found = {name: run(name, root) for name in PROGRAMS}
  (root / "results.json").write_text(json.dumps(found))


if __name__ == "__main__":
  main()
