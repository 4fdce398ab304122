"""Runs of commands side by side: what the other benchmarks share."""

import compileall
import os
import resource
import shutil
import statistics
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MIGRATOR = [sys.executable, "-m", "migrator.cli"]


def environment(scratch):
  """Variables as a user has them: compiled modules are used, our caches are in `scratch`."""
  kept = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "MIGRATOR"))}
  return {**kept, "PYTHONPATH": str(ROOT), "XDG_CACHE_HOME": str(scratch)}


def prepare():
  """Compiles our modules, as an installer does."""
  compileall.compile_dir(ROOT / "migrator", quiet=1)


def ruff():
  """The path of ruff, from the environment of this Python or the search path."""
  beside = Path(sys.executable).with_name("ruff")
  found = str(beside) if beside.exists() else shutil.which("ruff")
  if found is None:
    raise SystemExit("there is no ruff beside this Python nor on PATH: pip install '.[test]'")
  return found


def run(command, directory, variables):
  """Runs a command; returns wall and CPU seconds (user and system, with children)."""
  before = resource.getrusage(resource.RUSAGE_CHILDREN)
  begin = time.perf_counter()
  with open(os.devnull, "wb") as sink:
    subprocess.run(command, cwd=directory, env=variables, stdout=sink, stderr=sink, check=False)
  wall = time.perf_counter() - begin
  after = resource.getrusage(resource.RUSAGE_CHILDREN)
  return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def medians(commands, directory, variables, runs):
  """Runs commands in turns, once to warm up; returns (wall, CPU) medians of each in seconds."""
  times = [[] for _ in commands]
  for turn in range(runs + 1):
    for command, found in zip(commands, times):
      measured = run(command, directory, variables)
      if turn:
        found.append(measured)
  return [tuple(statistics.median(t[i] for t in found) for i in (0, 1)) for found in times]


def report(name, ours, theirs, limit=None):
  """Prints both medians and their ratio, and the ratio that is the goal."""
  for unit, our, their in zip(("wall", "CPU"), ours, theirs):
    goal = f"   goal {limit}" if limit is not None else ""
    print(f"{name:24} {unit:4} {our:8.3f} s {their:8.3f} s   ratio {our / their:5.2f}{goal}")
