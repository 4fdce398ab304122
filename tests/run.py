"""Sets up what the tests need and runs all of them.

  python3 tests/run.py                     everything
  python3 tests/run.py --only base         one stage (repeat --only for more)
  python3 tests/run.py -k resume           only the tests whose names match

Three environments are made under .venvs/ when they are absent or when their
requirements changed: `base` without TensorFlow, `tf2.15` (the last version with
Estimators) and `tf2.21` (Keras 3). Needs nothing but the standard library.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import glob
import hashlib
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENVS = ROOT / ".venvs"
# Those that run within each TensorFlow, and those that run programs in both.
RUNTIME_TESTS = ("tests/runtime", "tests/checkpoint")
PROOF_TESTS = ("tests/verify", "tests/equivalence")
TENSORFLOW = "tensorflow"  # the group of stages that need the environments with it
PROOF = ("-n", "2", "--dist", "loadgroup", "--durations=10")
AT_ONCE = 2  # stages; proof has two workers, but begins when one of the others has ended
NO_TESTS_COLLECTED = 5  # pytest's exit code


def tensorflow_package():
  """Returns the smaller CPU package where the registry has it."""
  return "tensorflow-cpu" if platform.machine() in ("x86_64", "AMD64") else "tensorflow"


class Environment:
  """A virtual environment under .venvs/.

  Attributes:
    name: The directory's name.
    versions: Acceptable (major, minor) versions of Python, best first.
    requirements: Arguments of `pip install`.
  """

  def __init__(self, name, versions, requirements):
    self.name = name
    self.versions = versions
    self.requirements = requirements
    self.directory = VENVS / name
    scripts = "Scripts" if os.name == "nt" else "bin"
    self.python = str(self.directory / scripts / "python")

  def stamp(self):
    """Returns a text that changes when the environment has to be made anew."""
    text = "\n".join([str(ROOT), *self.requirements])
    if "-e" in self.requirements:
      text += (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    return hashlib.sha256(text.encode()).hexdigest()

  def ensure(self):
    """Makes the environment unless it is there already.

    Raises:
      SystemExit: No suitable Python was found, or an installation failed.
    """
    stamp_file = self.directory / "migrator-stamp"
    if stamp_file.exists() and stamp_file.read_text() == self.stamp():
      return
    interpreter = find_python(self.versions)
    if interpreter is None:
      wanted = " or ".join(f"{major}.{minor}" for major, minor in self.versions)
      raise SystemExit(
        f"tests/run.py: the environment {self.name} needs Python {wanted} (with venv and pip); "
        "none was found on PATH or under pyenv. Install one, e.g. `pyenv install 3.11`."
      )
    say(f"making {self.directory.relative_to(ROOT)} with {interpreter}")
    shutil.rmtree(self.directory, ignore_errors=True)
    check([interpreter, "-m", "venv", str(self.directory)])
    check([self.python, "-m", "pip", "install", "--quiet", *self.requirements])
    stamp_file.write_text(self.stamp())


def environments():
  """Returns the environments by name."""
  tensorflow = tensorflow_package()
  tests = ["pytest>=7", "pytest-xdist>=3", "click>=8.0", "libcst>=1.1"]
  # TensorFlow 2.21 writes `tf.summary.scalar` only where TensorBoard is installed too.
  newest = [f"{tensorflow}==2.21.*", "tensorboard>=2.20", "pandas>=2", *tests]
  legacy = [f"{tensorflow}==2.15.*", "tensorflow-estimator==2.15.*", "pandas<3", *tests]
  return {
    env.name: env
    for env in (
      Environment("base", [(3, 11), (3, 12), (3, 13), (3, 10), (3, 9)], ["-e", ".[test]"]),
      Environment("tf2.15", [(3, 11), (3, 10), (3, 9)], legacy),
      Environment("tf2.21", [(3, 11), (3, 12), (3, 13), (3, 10)], newest),
    )
  }


def find_python(versions):
  """Returns the path of an interpreter of one of the versions that can make environments."""
  names = [f"python{major}.{minor}" for major, minor in versions]
  pyenv = os.environ.get("PYENV_ROOT", os.path.expanduser("~/.pyenv"))
  for name, version in zip(names, versions):
    candidates = [sys.executable] if sys.version_info[:2] == version else []
    candidates += [shutil.which(name), shutil.which("python3")]
    candidates += sorted(glob.glob(os.path.join(pyenv, "versions", "*", "bin", name)), reverse=True)
    for candidate in filter(None, candidates):
      # A shim of a version that is not selected fails here, as does a Python without ensurepip.
      probe = "import ensurepip, sys, venv; print(*sys.version_info[:2])"
      result = subprocess.run(
        [candidate, "-c", probe],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        check=False,
      )
      if result.returncode == 0 and result.stdout.split() == [str(part) for part in version]:
        return candidate
  return None


def say(text):
  print(f"== {text}", flush=True)


def check(command):
  """Runs a command of the set-up; stops everything when it fails."""
  if subprocess.run(command, cwd=ROOT, check=False).returncode:
    raise SystemExit(f"tests/run.py: failed: {' '.join(command)}")


class Stage:
  """One command of the whole run.

  Attributes:
    name: What `--only` takes.
    group: Stages of one group run two at a time; the output of each is shown when it has ended.
    environment: The name of the environment whose Python runs it.
    arguments: Arguments of that Python.
  """

  def __init__(self, name, environment, arguments, group=None):
    self.name = name
    self.environment = environment
    self.arguments = arguments
    self.group = group or name

  def run(self, interpreters, variables, keyword, captured):
    """Runs the stage.

    Returns:
      A tuple (exit code, seconds, output); the output is empty unless captured.
    """
    command = [interpreters[self.environment], *self.arguments]
    pytest = "pytest" in self.arguments
    if keyword and pytest:
      command += ["-k", keyword]
    # As in an activated environment: tests find its ruff.
    scripts = os.path.dirname(command[0])
    path = os.pathsep.join(filter(None, [scripts, variables.get("PATH")]))
    start = time.monotonic()
    result = subprocess.run(
      command,
      cwd=ROOT,
      env=dict(variables, PATH=path),
      stdout=subprocess.PIPE if captured else None,
      stderr=subprocess.STDOUT if captured else None,
      text=True,
      check=False,
    )
    code = result.returncode
    if keyword and pytest and code == NO_TESTS_COLLECTED:
      code = 0
    return code, time.monotonic() - start, result.stdout or ""


def stages():
  """Returns the stages in the order in which they run."""
  pytest = ["-m", "pytest", "-q"]
  ignored = [f"--ignore={path}" for path in (*RUNTIME_TESTS, *PROOF_TESTS)]
  return [
    Stage("style", "base", ["-m", "ruff", "check", "."]),
    Stage("format", "base", ["-m", "ruff", "format", "--check", "."]),
    Stage("types", "base", ["-m", "mypy"]),
    Stage("base", "base", [*pytest, "-n", "2", "tests", *ignored]),
    Stage("runtime-2.15", "tf2.15", [*pytest, *RUNTIME_TESTS], TENSORFLOW),
    Stage("runtime-2.21", "tf2.21", [*pytest, *RUNTIME_TESTS], TENSORFLOW),
    # By group (tests/equivalence/conftest.py): its tests share their runs of the Estimator.
    Stage("proof", "base", [*pytest, *PROOF, *PROOF_TESTS], TENSORFLOW),
  ]


def test_variables(interpreters):
  """Returns the process environment of the stages."""
  variables = dict(os.environ)
  path = variables.get("PYTHONPATH")
  variables.update(
    PYTHONPATH=f"{ROOT}{os.pathsep}{path}" if path else str(ROOT),
    MIGRATOR_LEGACY_PYTHON=interpreters["tf2.15"],
    MIGRATOR_PYTHONS=os.pathsep.join([interpreters["tf2.15"], interpreters["tf2.21"]]),
    CUDA_VISIBLE_DEVICES="-1",
    TF_CPP_MIN_LOG_LEVEL=variables.get("TF_CPP_MIN_LOG_LEVEL", "2"),
    TF_NUM_INTRAOP_THREADS=variables.get("TF_NUM_INTRAOP_THREADS", "1"),
  )
  return variables


def main():
  parser = argparse.ArgumentParser(
    description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
  )
  all_stages = stages()
  names = [stage.name for stage in all_stages]
  parser.add_argument("--only", action="append", choices=names, help="run this stage only")
  parser.add_argument("-k", dest="keyword", help="passed to pytest")
  args = parser.parse_args()
  chosen = [stage for stage in all_stages if not args.only or stage.name in args.only]

  envs = environments()
  interpreters = {name: env.python for name, env in envs.items()}
  variables = test_variables(interpreters)
  envs["base"].ensure()
  # TensorFlow is installed while the stages run that need none.
  installer = concurrent.futures.ThreadPoolExecutor(1)
  if any(stage.group == TENSORFLOW for stage in chosen):
    installed = [installer.submit(env.ensure) for env in envs.values() if env.name != "base"]
  else:
    installed = []
  shared = tempfile.TemporaryDirectory(prefix="migrator-tests-")
  # What the real Estimator did, for the tests of both versions of TensorFlow.
  variables["MIGRATOR_SHARED"] = shared.name

  results = {}
  groups = list(dict.fromkeys(stage.group for stage in chosen))
  for group in groups:
    members = [stage for stage in chosen if stage.group == group]
    if group == TENSORFLOW:
      for environment in installed:
        environment.result()
    say(" and ".join(stage.name for stage in members))
    captured = len(members) > 1
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
      futures = {
        pool.submit(stage.run, interpreters, variables, args.keyword, captured): stage
        for stage in members
      }
      for future in concurrent.futures.as_completed(futures):
        stage = futures[future]
        code, seconds, output = future.result()
        if captured:
          print(f"-- {stage.name}\n{output}", flush=True)
        results[stage.name] = code, seconds

  say("summary")
  for name, (code, seconds) in results.items():
    print(f"{name:14} {'passed' if code == 0 else f'FAILED (exit {code})':18} {seconds:6.0f} s")
  failed = sum(code != 0 for code, _ in results.values())
  print(f"stages: {len(results) - failed} passed, {failed} failed", flush=True)
  return 1 if failed else 0


if __name__ == "__main__":
  sys.exit(main())
