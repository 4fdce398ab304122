"""What a start costs: `--help` and lint of one small file beside `python -c pass`.

  python benchmarks/startup.py [--runs 15]

The file is as pre-commit hands it over: named, and changed since the last run.
"""

import argparse
import os
import sys
import tempfile
from pathlib import Path

import measure

PROGRAM = """
import tensorflow as tf


def train(model_fn, input_fn, model_dir):
  config = tf.estimator.RunConfig(model_dir, save_checkpoints_steps=100, keep_checkpoint_max=3)
  estimator = tf.estimator.Estimator(model_fn, config=config)
  estimator.train(input_fn, max_steps=1000)
  return tf.train.latest_checkpoint(model_dir)
"""
GOAL = 8


def main():
  parser = argparse.ArgumentParser(
    description=__doc__, formatter_class=argparse.RawTextHelpFormatter
  )
  parser.add_argument("--runs", type=int, default=15)
  arguments = parser.parse_args()
  measure.prepare()
  print(f"load {os.getloadavg()[0]:.1f}")
  with tempfile.TemporaryDirectory() as scratch:
    Path(scratch, "program.py").write_text(PROGRAM)
    Path(scratch, "other.py").write_text("import os\n\nprint(os.getcwd())\n")
    names = ("--help", "lint of a program", "lint of another file", "lint, unchanged file")
    lint = [*measure.MIGRATOR, "lint", "--isolated"]
    commands = [
      [sys.executable, "-c", "pass"],
      [*measure.MIGRATOR, "--help"],
      [*lint, "program.py", "--no-cache"],
      [*lint, "other.py", "--no-cache"],
      [*lint, "program.py"],
    ]
    variables = measure.environment(scratch)
    base, *found = measure.medians(commands, scratch, variables, arguments.runs)
  for name, ours in zip(names, found):
    measure.report(name, ours, base, GOAL)


if __name__ == "__main__":
  main()
