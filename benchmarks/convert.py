"""Conversion of a large checkpoint beside `cp` of its data, and its memory beside TensorFlow's import.

  python benchmarks/convert.py [--dir DIRECTORY] [--tables 40] [--rows 200000] [--runs 5]

Needs a Python with TensorFlow. Makes a checkpoint of 2 GB in a scratch folder (three times that is needed
on its disk), and removes all of it in the end. The commands alternate; before each of them the outputs are
removed and the disk has taken what was written. What counts is the ratio of the medians.
"""

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from measure import ROOT, environment, prepare

MAKE = """
import sys
import numpy as np
import tensorflow as tf
prefix, tables, rows = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
random = np.random.default_rng(0)
names, values = ["global_step"], [np.array(1000, np.int64)]
for i in range(tables):
  names.append(f"dnn/input_from_feature_columns/input_layer/c{i}_embedding/embedding_weights")
  values.append(random.standard_normal((rows, 64), np.float32))
tf.raw_ops.SaveV2(prefix=prefix, tensor_names=names, shape_and_slices=[""] * len(names),
                  tensors=[tf.constant(v) for v in values])
"""
FACTORY = """
import tensorflow as tf

def create():
  inputs = [tf.keras.Input((1,), dtype="int32", name=f"i{i}") for i in range(TABLES)]
  nets = [tf.keras.layers.Embedding(ROWS, 64, name=f"c{i}_embedding")(x) for i, x in enumerate(inputs)]
  return tf.keras.Model(inputs, tf.keras.layers.Add()(nets), name="dnn")
"""
MAP = '"*/embeddings" = "dnn/input_from_feature_columns/input_layer/*/embedding_weights"'
PEAK = "import resource; print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
# The work as the command does it, within a process that tells its own peak.
RUN = """
import json, resource, sys, time
begin = time.perf_counter()
from migrator.checkpoint import batch

class Silent:
  def expect(self, count): pass
  def advance(self, count): pass

options = json.loads(sys.argv[1])
result = batch.run(batch.Request(**options), None, Silent())[0]
if result.error:
  raise SystemExit(result.error)
seconds = result.report.seconds
seconds["whole process but Python's start"] = time.perf_counter() - begin
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(json.dumps({"way": result.report.way, "peak": peak, "seconds": seconds,
                  "verified": result.report.verified}))
"""
WORK = ("plan", "write", "read back")


def child(code, *arguments, variables, directory):
  """Runs Python code; returns what it printed last."""
  process = subprocess.run(
    [sys.executable, "-c", code, *arguments],
    cwd=directory,
    env=variables,
    capture_output=True,
    text=True,
    check=False,
  )
  if process.returncode:
    raise SystemExit(f"{process.stderr[-3000:]}\na child failed")
  return process.stdout.strip().splitlines()[-1] if process.stdout.strip() else ""


def settle(directory, keep):
  """Removes what earlier runs wrote, and waits for the disk."""
  for path in directory.iterdir():
    if path.name not in keep:
      shutil.rmtree(path) if path.is_dir() else path.unlink()
  os.sync()


def copy(source, directory, pause=0.0):
  """Copies the data file with `cp`; returns the seconds.

  Memory that was freed some seconds ago costs more on a virtual machine, whose host takes it back: what
  imports TensorFlow before it copies is compared with a `cp` that waits as long.
  """
  time.sleep(pause)
  begin = time.perf_counter()
  subprocess.run(["cp", source, directory / "copied"], check=True)
  return time.perf_counter() - begin


def main():
  parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
  parser.add_argument("--dir", default=None, help="where the scratch folder is made")
  parser.add_argument("--tables", type=int, default=40)
  parser.add_argument("--rows", type=int, default=200_000)
  parser.add_argument("--runs", type=int, default=5)
  parser.add_argument("--model", action="store_true", help="with a factory and a map file, too")
  args = parser.parse_args()
  prepare()
  scratch = Path(tempfile.mkdtemp(prefix="migrator-convert-", dir=args.dir))
  try:
    measure(args, scratch)
  finally:
    shutil.rmtree(scratch)


def measure(args, scratch):
  """Measures, and prints the tables."""
  work = scratch / "work"
  work.mkdir()
  variables = {**environment(scratch / "cache"), "CUDA_VISIBLE_DEVICES": "-1"}
  variables.update(TF_CPP_MIN_LOG_LEVEL="3", PYTHONPATH=str(ROOT))
  prefix = str(work / "model.ckpt-1000")
  child(MAKE, prefix, str(args.tables), str(args.rows), variables=variables, directory=work)
  data = prefix + ".data-00000-of-00001"
  size = os.path.getsize(data)
  text = FACTORY.replace("TABLES", str(args.tables)).replace("ROWS", str(args.rows))
  (work / "bench_model.py").write_text(text)
  (work / "map.toml").write_text(f"[variables]\n{MAP}\n")
  keep = {path.name for path in work.iterdir()}

  straight = {"checkpoints": [prefix], "out": str(work / "new" / "out")}
  commands = {
    "linked": straight,
    "copied, read back": {**straight, "link": "copy"},
    "copied": {**straight, "link": "copy", "verify": "none"},
  }
  if args.model:
    model = {**straight, "model": "bench_model:create", "map_file": "map.toml"}
    commands["linked, with a model"] = model
    commands["copied with a model, read back"] = {**model, "link": "copy"}
  imported = int(child(f"import tensorflow; {PEAK}", variables=variables, directory=work))
  begin = time.perf_counter()
  child("import tensorflow", variables=variables, directory=work)
  pauses = {"cp": 0.0}
  if args.model:
    pauses["cp after a pause"] = time.perf_counter() - begin
  times = {name: [] for name in pauses}
  found = {name: [] for name in commands}
  names = [*pauses, *commands]
  for turn in range(args.runs + 1):
    # Each begins a round as often as the others: the disk takes the first ones faster.
    for name in names[turn % len(names) :] + names[: turn % len(names)]:
      settle(work, keep)
      if name in pauses:
        answer = copy(data, work, pauses[name])
      else:
        answer = json.loads(
          child(RUN, json.dumps(commands[name]), variables=variables, directory=work)
        )
      if turn:  # The first round only fills the caches.
        (times if name in times else found)[name].append(answer)
  report(size, times, found, imported)


def report(size, times, found, imported):
  """Prints the medians and their ratios."""
  load = ", ".join(f"{x:.1f}" for x in os.getloadavg())
  print(f"{size / 1e9:.2f} GB; load {load}")
  for name, seconds in times.items():
    print(
      f"{name}: {statistics.median(seconds):.2f} s (from {min(seconds):.2f} to {max(seconds):.2f})"
    )
  print(f"peak of `import tensorflow`: {imported / 1024:.0f} MB\n")
  print(f"{'':32} {'work':>8} {'of cp':>8} {'peak':>8} {'beyond the import':>18}")
  for name, results in found.items():
    work = statistics.median(sum(r["seconds"].get(w, 0) for w in WORK) for r in results)
    peak = max(r["peak"] for r in results)
    # No data are written where they are linked: the memory does not matter.
    paused = "model" in name and "linked" not in name
    cp = statistics.median(times["cp after a pause" if paused else "cp"])
    print(
      f"{name:32} {work:6.3f} s {work / cp:8.3f} {peak / 1024:5.0f} MB {(peak - imported) / 1024:15.0f} MB"
    )
  print("\nseconds of the parts (medians)")
  for name, results in found.items():
    parts = {
      part: statistics.median(r["seconds"].get(part, 0) for r in results)
      for part in results[0]["seconds"]
    }
    print(f"{name:32} " + ", ".join(f"{part} {value:.3f}" for part, value in parts.items()))


if __name__ == "__main__":
  main()
