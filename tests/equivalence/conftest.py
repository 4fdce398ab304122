"""Fixtures of the tests of equivalence: migrated programs against the real Estimator."""

import os
import secrets

import harness
import pytest

SEEDS = "MIGRATOR_SEEDS"
WANTED = 3
# Files whose tests are of one program each: the parameter `name`.
BY_PROGRAM = ("test_canned.py", "test_model_fns.py")
RESERVES = 4  # per seed, see harness.agrees_with_a_seed


def pytest_configure():
  # Seeds that nobody chose; the worker processes inherit them.
  numbers = [str(secrets.randbits(31)) for _ in range(WANTED * (1 + RESERVES))]
  os.environ.setdefault(SEEDS, ",".join(numbers))


def pytest_collection_modifyitems(items):
  """Tests of one file share their runs of the Estimator; those of one canned program theirs."""
  for item in items:
    group = item.path.name
    program = getattr(item, "callspec", None) and item.callspec.params.get("name")
    if program is not None and group in BY_PROGRAM:
      group = f"{group}:{program}"
    item.add_marker(pytest.mark.xdist_group(group))


def pytest_report_header():
  return f"{SEEDS}={os.environ[SEEDS]} (set it to repeat this run)"


@pytest.fixture(params=range(WANTED), ids="seed{}".format)
def seeds(request):
  """One of the session's seeds, and its reserves."""
  return [int(seed) for seed in os.environ[SEEDS].split(",")][request.param :: WANTED]


@pytest.fixture(scope="session")
def lab(tmp_path_factory, legacy_python, target_pythons):
  laboratory = harness.Lab(tmp_path_factory.mktemp("lab"), legacy_python, target_pythons)
  yield laboratory
  laboratory.close()


@pytest.fixture(scope="session")
def lab_of_same_kernels(tmp_path_factory, legacy_python, target_pythons):
  """A lab in which TensorFlow 2.15 and 2.21 compute with the same kernels.

  Those of oneDNN are others in each version and on each kind of processor. What they round otherwise, a program
  can make any difference of: one with a bias before a batch normalization has a gradient of nothing but
  rounding, of which Adam makes whole steps. Without them the same graph gives the same numbers.
  """
  laboratory = harness.Lab(
    tmp_path_factory.mktemp("lab_of_same_kernels"),
    legacy_python,
    target_pythons,
    {"TF_ENABLE_ONEDNN_OPTS": "0"},
  )
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


@pytest.fixture(scope="session")
def programs(tmp_path_factory):
  """The migrated fault_tolerance programs: programs["stock" or "exact"][target]."""
  return harness.programs("fault_tolerance", tmp_path_factory.mktemp("programs"))
