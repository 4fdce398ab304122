"""Runs programs for the tests of equivalence."""

import json
import pathlib
import shutil
import subprocess
import sys

import forking

from migrator.verify import compare, directories, runs, session

HERE = pathlib.Path(__file__).resolve().parent
PROGRAMS = HERE.parent.parent / "fixtures" / "programs"
TIMEOUT = 300  # seconds that one program may take
QUIET = ["--no_shuffle", "--dropout", "0"]  # what makes the fault_tolerance program deterministic


class Lab:
  """Runs programs, each in a directory of its own, and remembers the legacy runs.

  Args:
    directory: Where the programs run.
    legacy_python: The interpreter of the legacy programs.
    target_pythons: Those of the migrated programs.
    variables: Of the process environment of all programs, besides those of this process.
  """

  def __init__(self, directory, legacy_python, target_pythons, variables=None):
    self._directory = directory
    self._count = 0
    self._legacy_runs = {}
    self._interpreters = {
      python: forking.ForkingInterpreter(python, timeout=TIMEOUT, variables=variables)
      for python in dict.fromkeys([legacy_python, *target_pythons])
    }
    self.legacy_python = legacy_python

  def close(self):
    for interpreter in self._interpreters.values():
      interpreter.close()

  def scratch(self, source=None):
    """Makes a scratch directory.

    Args:
      source: A scratch whose working directory is copied; None: it is empty.
    """
    self._count += 1
    scratch = runs.Scratch.create(self._directory / f"{self._count:03}")
    if source is not None:
      shutil.copytree(source.cwd, scratch.cwd, dirs_exist_ok=True)
    return scratch

  def legacy(self, path, arguments, seed=1):
    """Runs a legacy program from the beginning, once for all tests with the same arguments.

    Returns:
      A tuple (scratch, outcome); the first checkpoint is in scratch.first.
    """
    key = (path, tuple(arguments), seed)
    if key not in self._legacy_runs:
      scratch = self.scratch()
      outcome = self.start(path, arguments, scratch, legacy=True, seed=seed, first=True)
      self._legacy_runs[key] = scratch, outcome
    return self._legacy_runs[key]

  def from_first(self, path, arguments, python, legacy_scratch, model_dir="model_dir"):
    """Starts a migrated program on a copy of a legacy run's first checkpoint.

    Returns:
      A tuple (scratch, outcome).
    """
    scratch = self.scratch()
    directories.start_from(legacy_scratch.first, scratch.cwd / model_dir)
    return scratch, self.start(path, arguments, scratch, python, model_dir=model_dir)

  def weights_apart(self, legacy_prefix, migrated_prefix):
    """Returns the greatest difference per variable and slot, relative to its greatest value."""
    prefixes = [str(legacy_prefix), str(migrated_prefix)]
    outcome = self.start(HERE / "read_weights.py", prefixes, self.scratch(), legacy=True)
    found = json.loads(outcome.run.output.splitlines()[-1])
    missing = [name for name, values in found.items() if values is None]
    assert not missing
    return {name: difference / (size or 1.0) for name, (difference, size) in found.items()}

  def start(
    self,
    path,
    arguments,
    scratch,
    python=None,
    legacy=False,
    kill_at=None,
    seed=None,
    first=False,
    model_dir="",
    fails=False,
  ):
    """Starts a program in a scratch directory.

    Args:
      path: The program.
      arguments: Its arguments.
      scratch: Where it runs.
      python: The interpreter; None: the legacy one.
      legacy: Whether it is a legacy program.
      kill_at: Step after which it is killed.
      seed: Of the graph, for legacy programs that set none.
      first: Whether to keep the first checkpoint.
      model_dir: The model directory relative to the working directory, if known.
      fails: Whether the program is to end with an error.

    Returns:
      The outcome; if `fails`: the run.
    """
    interpreter = self._interpreters[python or self.legacy_python]
    interpreter.runtime = not legacy
    program = session.Program(path, arguments, interpreter, self._directory, legacy)
    if fails:
      run = interpreter.run(runs.Job(path, arguments, scratch))
      assert run.returncode > 0, run.output
      return run
    return program.start(scratch, kill_at, first, model_dir, seed=seed)


def agrees_with_a_seed(seeds, run):
  """Asserts that losses agree for a seed, or else for one of its reserves.

  Stock Adam rounds otherwise than TF1's (about 1e-7 a step). A unit that a few examples of the batch
  activate makes much of that: Adam moves its weights by the learning rate however small the
  gradient is, in the one program a step before the other. Of 100 seeds 18 were more than 1e-5
  apart within 20 steps, the median was 5e-6. A real difference shows with every seed, and the
  optimizers of --exact need no reserve.

  Args:
    seeds: A seed and its reserves.
    run: Called with a seed, returns the difference.
  """
  differences = []
  for seed in seeds:
    differences.append(run(seed))
    if differences[-1] <= compare.STOCK:
      return
  raise AssertionError(f"seeds {seeds}: differences {differences}, more than {compare.STOCK}")


def before(name):
  """The legacy program of a fixture."""
  return PROGRAMS / name / "before.py"


def after(name, target):
  """The committed migrated program of a fixture."""
  return PROGRAMS / name / f"after_{target}.py"


def rewrite(source, directory, *options):
  """Returns a rewritten copy of a program."""
  directory.mkdir(parents=True)
  copy = directory / source.name
  shutil.copy(source, copy)
  command = [sys.executable, "-m", "migrator.cli", "rewrite", "--write", *options, str(copy)]
  result = subprocess.run(command, capture_output=True, text=True, check=False)
  assert copy.read_bytes() != source.read_bytes(), result.stdout + result.stderr
  return copy


def programs(name, directory):
  """Returns the migrated programs of a fixture, by optimizers ("stock", "exact") and target."""
  targets = ("fit", "loop")
  exact = {t: rewrite(before(name), directory / t, "--exact", "--target", t) for t in targets}
  return {"stock": {t: after(name, t) for t in targets}, "exact": exact}
