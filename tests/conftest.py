"""Fixtures that all tests may use; imports nothing that is not in every environment."""

import os
import pathlib
import signal

import pytest


def pytest_configure():
  """Tests interrupt commands: what a shell runs in its background begins with SIGINT ignored."""
  if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def repository():
  """The root of the checkout."""
  return pathlib.Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def legacy_python():
  """The interpreter of TensorFlow 2.15 with Estimators; `tests/run.py` names it."""
  return _from_environment("MIGRATOR_LEGACY_PYTHON")[0]


@pytest.fixture(scope="session")
def target_pythons():
  """The interpreters on which migrated programs run: TensorFlow 2.15 and 2.21."""
  return _from_environment("MIGRATOR_PYTHONS")


def _from_environment(name):
  value = os.environ.get(name)
  if not value:
    pytest.fail(f"{name} is not set: start the tests with `python3 tests/run.py`")
  return value.split(os.pathsep)
