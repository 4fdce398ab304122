"""The interpreter in which the real Estimator runs."""

import os
import sys
from pathlib import Path

import pytest
import tensorflow as tf

HERE = Path(__file__).resolve().parent


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
