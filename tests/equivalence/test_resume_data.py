"""--resume-data: the rewritten loop goes on where the checkpoint left the input."""

import os
import subprocess
import sys

import pytest

PROGRAM = """
import tensorflow as tf
import tensorflow.compat.v1 as tf1

columns = [tf.feature_column.numeric_column("x")]


def input_fn():
  rows = tf.data.Dataset.range(20)
  return rows.map(lambda i: ({"x": [tf.cast(i, tf.float32)]}, i % 3)).batch(1)


class Stop(tf1.train.SessionRunHook):
  def begin(self):
    self.steps = 0

  def after_run(self, run_context, run_values):
    self.steps += 1
    if self.steps == 4:
      raise RuntimeError("stop")


config = tf1.estimator.RunConfig(save_checkpoints_steps=1)
classifier = tf1.estimator.DNNClassifier(
    [4], columns, "model", n_classes=3, config=config,
    optimizer=tf1.train.GradientDescentOptimizer(0.1))
try:
  classifier.train(input_fn, hooks=[Stop()], max_steps=9)
except RuntimeError:
  print("interrupted")
classifier.train(input_fn, max_steps=9)
"""
# Prints the feature of each row that a step is trained on, from outside of the program.
OBSERVER = """
import runpy
import tensorflow as tf

call = tf.keras.Model.__call__


def observed(self, features, *args, **kwargs):
  if isinstance(features, dict) and not tf.executing_eagerly() and kwargs.get("training"):
    tf.print("row", features["x"][0, 0])
  return call(self, features, *args, **kwargs)


tf.keras.Model.__call__ = observed
runpy.run_path("program.py", run_name="__main__")
"""


@pytest.mark.parametrize(
  ("option", "rows"),
  [(["--resume-data"], list(range(9))), ([], [0, 1, 2, 3, 0, 1, 2, 3, 4])],
)
def test_input_position_after_an_interruption(tmp_path, repository, target_pythons, option, rows):
  environment = {**os.environ, "PYTHONPATH": str(repository)}
  for i, python in enumerate(target_pythons):
    folder = tmp_path / str(i)
    folder.mkdir()
    (folder / "program.py").write_text(PROGRAM)
    (folder / "observer.py").write_text(OBSERVER)
    command = [sys.executable, "-m", "migrator.cli", "rewrite", "--write", "--target", "loop"]
    subprocess.run(
      [*command, *option, "program.py"],
      cwd=folder,
      env=environment,
      check=True,
      capture_output=True,
    )
    done = subprocess.run(
      [python, "observer.py"],
      cwd=folder,
      env=environment,
      capture_output=True,
      text=True,
      check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert "interrupted" in done.stdout
    printed = (done.stdout + done.stderr).splitlines()
    assert [int(float(line.split()[1])) for line in printed if line.startswith("row")] == rows
