"""Compares the speed of lint and rewrite with other tools on the same tree, in one run.

  python benchmarks/compare.py TREE [--runs 5]

lint stands beside `ruff check --select UP,NPY --no-cache`, rewrite beside libcst's runner with a
command that changes nothing. The runs alternate, so that a machine whose speed drifts slows
both; what counts is the ratio of the medians, never the seconds. Needs ruff and libcst in the
environment (the extra `test`).
"""

import argparse
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

NOOP = """
from libcst.codemod import VisitorBasedCodemodCommand


class Noop(VisitorBasedCodemodCommand):
  DESCRIPTION = "Changes nothing."

  def leave_Call(self, original_node, updated_node):
    return updated_node
"""


def measure(command, directory):
  """Runs a command; returns wall and CPU seconds (user and system, with children)."""
  before = resource.getrusage(resource.RUSAGE_CHILDREN)
  begin = time.perf_counter()
  with open(os.devnull, "wb") as sink:
    subprocess.run(command, cwd=directory, stdout=sink, stderr=sink, check=False)
  wall = time.perf_counter() - begin
  after = resource.getrusage(resource.RUSAGE_CHILDREN)
  return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def compare(name, ours, theirs, directory, runs):
  """Prints the medians of both commands and their ratio."""
  times = {"ours": [], "theirs": []}
  measure(ours, directory)
  measure(theirs, directory)
  for _ in range(runs):
    times["ours"].append(measure(ours, directory))
    times["theirs"].append(measure(theirs, directory))
  for i, unit in enumerate(("wall", "CPU")):
    our = statistics.median(t[i] for t in times["ours"])
    their = statistics.median(t[i] for t in times["theirs"])
    print(f"{name:8} {unit:4} {our:8.2f} s {their:8.2f} s   ratio {our / their:.2f}")


def main():
  parser = argparse.ArgumentParser(
    description=__doc__, formatter_class=argparse.RawTextHelpFormatter
  )
  parser.add_argument("tree", type=Path)
  parser.add_argument("--runs", type=int, default=5)
  parser.add_argument("--only", choices=["lint", "rewrite"])
  arguments = parser.parse_args()
  tree = str(arguments.tree.resolve())
  migrator = [sys.executable, "-m", "migrator.cli"]
  ruff = shutil.which("ruff") or str(Path(sys.executable).with_name("ruff"))
  with tempfile.TemporaryDirectory() as scratch:
    Path(scratch, "noop_command.py").write_text(NOOP)
    Path(scratch, ".libcst.codemod.yaml").write_text("modules: ['.']\n")
    if arguments.only != "rewrite":
      theirs = [ruff, "check", "--isolated", "--no-cache", "--select", "UP,NPY", tree]
      compare("lint", [*migrator, "lint", tree], theirs, scratch, arguments.runs)
    if arguments.only != "lint":
      codemod = ["codemod", "-x", "noop_command.Noop", "-j", "1", tree]
      theirs = [sys.executable, "-m", "libcst.tool", *codemod]
      compare("rewrite", [*migrator, "rewrite", "--check", tree], theirs, scratch, arguments.runs)


if __name__ == "__main__":
  main()
