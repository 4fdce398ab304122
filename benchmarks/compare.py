"""Compares the speed of lint and rewrite with other tools on the same tree, in one run.

  python benchmarks/compare.py TREE [--runs 5] [--only lint|rewrite]

lint stands beside `ruff check --select UP,NPY --no-cache`, without and with a warm cache; rewrite
beside libcst's runner with a command that changes nothing. The runs alternate, so that a machine
whose speed drifts slows both; what counts is the ratio of the medians, never the seconds. Needs
ruff and libcst in the environment (the extra `test`).
"""

import argparse
import os
import sys
import tempfile
import time
from pathlib import Path

import measure

NOOP = """
from libcst.codemod import VisitorBasedCodemodCommand


class Noop(VisitorBasedCodemodCommand):
  DESCRIPTION = "Changes nothing."

  def leave_Call(self, original_node, updated_node):
    return updated_node
"""


def lint(tree, scratch, runs, sparse):
  """Lint cold, in one process, and warm beside ruff cold."""
  cache = os.path.join(scratch, "cache")
  start = [*measure.MIGRATOR, "lint", tree, "--isolated"]
  commands = [
    [*start, "--no-cache"],
    [*start, "--no-cache", "--jobs", "1"],
    [*start, "--cache-dir", cache],
    [measure.ruff(), "check", "--isolated", "--no-cache", "--select", "UP,NPY", tree],
  ]
  variables = measure.environment(scratch)
  cold, single, warm, theirs = measure.medians(commands, scratch, variables, runs)
  measure.report("lint cold", cold, theirs, 0.5 if sparse else 1.0)
  measure.report("lint cold, one process", single, theirs)
  measure.report("lint warm", warm, theirs, 0.3)


def rewrite(tree, scratch, runs):
  """Rewrite beside libcst's runner."""
  Path(scratch, "noop_command.py").write_text(NOOP)
  Path(scratch, ".libcst.codemod.yaml").write_text("modules: ['.']\n")
  codemod = ["codemod", "-x", "noop_command.Noop", "-j", "1", tree]
  commands = [
    [*measure.MIGRATOR, "rewrite", "--check", tree],
    [sys.executable, "-m", "libcst.tool", *codemod],
  ]
  ours, theirs = measure.medians(commands, scratch, measure.environment(scratch), runs)
  measure.report("rewrite", ours, theirs)


def main():
  parser = argparse.ArgumentParser(
    description=__doc__, formatter_class=argparse.RawTextHelpFormatter
  )
  parser.add_argument("tree", type=Path)
  parser.add_argument("--runs", type=int, default=5)
  parser.add_argument("--only", choices=["lint", "rewrite"])
  parser.add_argument(
    "--sparse", action="store_true", help="under 3 %% of the files mention our names: goal 0.5"
  )
  arguments = parser.parse_args()
  tree = str(arguments.tree.resolve())
  measure.prepare()
  print(f"{tree}, {time.strftime('%Y-%m-%d')}, load {os.getloadavg()[0]:.1f}")
  with tempfile.TemporaryDirectory() as scratch:
    if arguments.only != "rewrite":
      lint(tree, scratch, arguments.runs, arguments.sparse)
    if arguments.only != "lint":
      rewrite(tree, scratch, arguments.runs)


if __name__ == "__main__":
  main()
