"""The interpreter in which the real Estimator runs."""

import fcntl
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import tensorflow as tf

HERE = Path(__file__).resolve().parent
# A directory of results for the tests of both versions of TensorFlow; see tests/run.py.
SHARED = "MIGRATOR_SHARED"


def legacy_interpreter():
  """Returns a Python with Estimators.

  Raises:
    pytest.fail.Exception: if there is none; nothing can be compared then.
  """
  python = os.environ.get("MIGRATOR_LEGACY_PYTHON")
  if python:
    return python
  if tf.__version__.startswith("2.15."):
    return sys.executable
  return pytest.fail(
    "MIGRATOR_LEGACY_PYTHON must name a Python with TensorFlow 2.15 and tensorflow-estimator: the "
    "runtime is compared with the real Estimator."
  )


def run_legacy(tmp_path_factory, name, command, **variables):
  """Runs the real Estimator once, for both versions of TensorFlow where they share results.

  Args:
    tmp_path_factory: pytest's.
    name: Of the run, unlike that of any other.
    command: Function of the run's directory; writes there what the run needs, and returns the arguments
      of the interpreter.
    **variables: Added to its environment.

  Returns:
    The directory, which no test may change.
  """
  shared = os.environ.get(SHARED)
  if not shared:
    return _run(tmp_path_factory.mktemp(name), command, variables)
  root, done = Path(shared, name), Path(shared, f"{name}.done")
  with open(Path(shared, f"{name}.lock"), "w") as lock:
    fcntl.flock(lock, fcntl.LOCK_EX)
    if not done.exists():
      shutil.rmtree(root, ignore_errors=True)
      root.mkdir()
      _run(root, command, variables)
      done.touch()
  return root


def _run(root, command, variables):
  process = subprocess.run(
    [legacy_interpreter(), *map(str, command(root))],
    stdout=subprocess.PIPE,
    stderr=subprocess.STDOUT,
    text=True,
    check=False,
    env={**os.environ, **variables},
  )
  assert process.returncode == 0, process.stdout[-5000:]
  return root
