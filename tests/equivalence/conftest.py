"""Fixtures of the tests of equivalence: migrated programs against the real Estimator."""

import os
import secrets

import pytest

import harness

SEEDS = "MIGRATOR_SEEDS"


def pytest_configure():
  # Three seeds that nobody chose; the worker processes inherit them.
  os.environ.setdefault(SEEDS, ",".join(str(secrets.randbits(31)) for _ in range(3)))


def pytest_report_header():
  return f"{SEEDS}={os.environ[SEEDS]} (set it to repeat this run)"


def pytest_generate_tests(metafunc):
  if "seed" in metafunc.fixturenames:
    metafunc.parametrize("seed_number", range(3), ids="seed{}".format)


@pytest.fixture
def seed(seed_number):
  """One of the session's seeds."""
  return int(os.environ[SEEDS].split(",")[seed_number])


@pytest.fixture(scope="session")
def lab(tmp_path_factory, legacy_python, target_pythons):
  laboratory = harness.Lab(tmp_path_factory.mktemp("lab"), legacy_python, target_pythons)
  yield laboratory
  laboratory.close()


@pytest.fixture(params=["fit", "loop"])
def target(request):
  """What programs are migrated to."""
  return request.param


@pytest.fixture(params=["2.15", "2.21"])
def python(request, target_pythons):
  """The interpreter on which the migrated program runs."""
  return target_pythons[["2.15", "2.21"].index(request.param)]
