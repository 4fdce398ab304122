"""How time and memory grow with a tree of files of 5 KB, of which 2 % mention what rules are about.

  python benchmarks/growth.py [--sizes 1000,10000,100000] [--runs 3]

For each size: wall and CPU seconds of lint without a cache, with a cold and with a warm one,
microseconds of CPU for a file, and the largest memory of any of its processes.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import measure

HEAD = '''"""Module {number}."""

import os
'''
BODY = '''

def join_{number}_{part}(folder, name, suffix=".txt"):
  """Returns the path of a file in a folder."""
  return os.path.join(folder, name + suffix)


class Reader{number}x{part}:
  """Reads the lines of a file."""

  def __init__(self, path):
    self.path = path

  def lines(self):
    with open(self.path) as file:
      return [line.rstrip() for line in file]
'''
OURS = "\n\nimport tensorflow as tf\n\nsaver = tf.compat.v1.train.Saver()\n"
PARTS = 12
EVERY = 50
IN_FOLDER = 50
# Runs a command and prints what it took: a process of its own, whose children are only these.
WATCH = """
import json, resource, subprocess, sys, time
begin = time.perf_counter()
subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
usage = resource.getrusage(resource.RUSAGE_CHILDREN)
wall = time.perf_counter() - begin
print(json.dumps([wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss]))
"""


def make(root, count):
  """Writes a tree of `count` files, long ago, so that their times tell that they are unchanged."""
  for number in range(count):
    folder = Path(root, f"p{number // IN_FOLDER // 40}", f"m{number // IN_FOLDER}")
    if number % IN_FOLDER == 0:
      folder.mkdir(parents=True)
    path = folder / f"f{number}.py"
    parts = [BODY.format(number=number, part=part) for part in range(PARTS)]
    end = OURS if number % EVERY == 0 else ""
    path.write_text(HEAD.format(number=number) + "".join(parts) + end)
    os.utime(path, (1_000_000_000, 1_000_000_000))


def watch(command, variables):
  """Returns wall seconds, CPU seconds and the largest memory in MB of a command."""
  process = subprocess.run(
    [sys.executable, "-c", WATCH, *command], env=variables, capture_output=True, check=True
  )
  wall, cpu, peak = json.loads(process.stdout)
  return wall, cpu, peak / (1e6 if sys.platform == "darwin" else 1e3)


def main():
  parser = argparse.ArgumentParser(
    description=__doc__, formatter_class=argparse.RawTextHelpFormatter
  )
  parser.add_argument("--sizes", default="1000,10000,100000")
  parser.add_argument("--runs", type=int, default=3)
  arguments = parser.parse_args()
  measure.prepare()
  print(f"load {os.getloadavg()[0]:.1f}")
  for count in map(int, arguments.sizes.split(",")):
    with tempfile.TemporaryDirectory() as scratch:
      tree = os.path.join(scratch, "tree")
      make(tree, count)
      cache = os.path.join(scratch, "cache")
      lint = [*measure.MIGRATOR, "lint", tree, "--isolated"]
      ruff = [measure.ruff(), "check", "--isolated", "--no-cache", "--select", "UP,NPY", tree]
      commands = {
        "no cache": [*lint, "--no-cache"],
        "warm cache": [*lint, "--cache-dir", cache],
        "ruff, no cache": ruff,
      }
      variables = measure.environment(scratch)
      _line(count, "cold cache", [watch(commands["warm cache"], variables)])
      found = {name: [] for name in commands}
      for _ in range(arguments.runs):
        for name, command in commands.items():
          found[name].append(watch(command, variables))
      for name, measured in found.items():
        _line(count, name, measured)


def _line(count, name, measured):
  wall, cpu, peak = (statistics.median(column) for column in zip(*measured))
  each = cpu / count * 1e6
  print(
    f"{count:7} files  {name:14} wall {wall:7.2f} s  CPU {cpu:7.2f} s {each:6.0f} us a file"
    f"  {peak:4.0f} MB"
  )


if __name__ == "__main__":
  main()
