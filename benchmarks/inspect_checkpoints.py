"""`migrator inspect` beside `import tensorflow`, and beside reading the same through TensorFlow.

  python benchmarks/inspect_checkpoints.py [--dir DIRECTORY] [--runs 9] [--no-stats]

Needs a Python with TensorFlow. Makes three checkpoints in a scratch folder: 3 variables, 40 tables of 2 GB
together, and 10,000 variables with Adam's slots; removes them in the end. The commands alternate, and the
medians are compared.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import measure

GOAL = 1.1  # of `import tensorflow`
CASES = ("3 variables", "40 tables, 2 GB", "10,000 variables and 20,000 slots")
MAKE = """
import os, sys
import numpy as np
import tensorflow as tf

def save(name, values):
  names = ["global_step", *values]
  tensors = [np.int64(1000), *values.values()]
  tf.raw_ops.SaveV2(prefix=os.path.join(sys.argv[1], name, "model.ckpt-1000"), tensor_names=names,
                    shape_and_slices=[""] * len(names), tensors=[tf.constant(t) for t in tensors])

random = np.random.default_rng(0)
save("0", {f"dense_{i}/kernel": np.ones([4, 4], np.float32) for i in range(3)})
rows = int(sys.argv[2])
save("1", {f"dnn/input_from_feature_columns/input_layer/c{i}_embedding/embedding_weights":
           random.standard_normal((rows, 64), np.float32) for i in range(40)})
one = np.zeros([1], np.float32)
names = [f"tower_{i // 100}/layer_{i % 100}/kernel" for i in range(10000)]
values = {name + slot: one for name in names for slot in ("", "/Adam", "/Adam_1")}
save("2", {**values, "beta1_power": np.float32(0.9 ** 6), "beta2_power": np.float32(0.999 ** 6)})
"""
# What the index answers, by way of TensorFlow.
THROUGH_TENSORFLOW = """
import sys
import tensorflow as tf
reader = tf.train.load_checkpoint(sys.argv[1])
shapes, dtypes = reader.get_variable_to_shape_map(), reader.get_variable_to_dtype_map()
for name in sorted(shapes):
  print(name, shapes[name], dtypes[name])
print(reader.get_tensor("global_step"))
"""


def peak(command, directory, variables):
  """Runs a command; returns the most memory that it took, in MB."""
  with open(os.devnull, "wb") as sink:
    process = subprocess.Popen(command, cwd=directory, env=variables, stdout=sink, stderr=sink)
    _, status, usage = os.wait4(process.pid, 0)
  if status:
    raise SystemExit(f"failed: {' '.join(command)}")
  return usage.ru_maxrss / 1024


def main():
  parser = argparse.ArgumentParser(
    description=__doc__, formatter_class=argparse.RawTextHelpFormatter
  )
  parser.add_argument("--dir", default=None, help="where the scratch folder is made")
  parser.add_argument("--rows", type=int, default=200_000, help="of each of the 40 tables")
  parser.add_argument("--runs", type=int, default=9)
  parser.add_argument("--no-stats", action="store_true", help="leave --stats of the 2 GB out")
  arguments = parser.parse_args()
  measure.prepare()
  scratch = Path(tempfile.mkdtemp(prefix="migrator-inspect-", dir=arguments.dir))
  try:
    for case in range(len(CASES)):
      (scratch / str(case)).mkdir()
    variables = {**measure.environment(scratch), "CUDA_VISIBLE_DEVICES": "-1"}
    variables["TF_CPP_MIN_LOG_LEVEL"] = "3"
    make = [sys.executable, "-c", MAKE, str(scratch), str(arguments.rows)]
    subprocess.run(make, env=variables, check=True)
    compare(scratch, variables, arguments)
  finally:
    shutil.rmtree(scratch)


def compare(scratch, variables, arguments):
  """Measures, and prints the tables."""
  prefixes = [str(scratch / str(case) / "model.ckpt-1000") for case in range(len(CASES))]
  ours = [[*measure.MIGRATOR, "inspect", prefix] for prefix in prefixes]
  theirs = [[sys.executable, "-c", THROUGH_TENSORFLOW, prefix] for prefix in prefixes]
  commands = [
    [sys.executable, "-c", "pass"],
    [sys.executable, "-c", "import tensorflow"],
    *ours,
    *theirs,
  ]
  print(f"load {os.getloadavg()[0]:.1f}")
  python, tensorflow, *found = measure.medians(commands, scratch, variables, arguments.runs)
  print(f"python -c pass: {python[0]:.3f} s; import tensorflow: {tensorflow[0]:.2f} s (wall)\n")
  print(f"{'wall seconds':36} {'inspect':>8} {'of import':>10} {'goal':>5} {'with TensorFlow':>16}")
  for name, own, other in zip(CASES, found, found[len(CASES) :]):
    ratio = own[0] / tensorflow[0]
    print(
      f"{name:36} {own[0]:8.3f} {ratio:10.3f} {GOAL:5} {other[0]:8.3f} ({other[0] / own[0]:.0f}x)"
    )
  memory = [peak(command, scratch, variables) for command in ours]
  print("\npeak memory, MB: " + ", ".join(f"{n} {m:.0f}" for n, m in zip(CASES, memory)))
  if not arguments.no_stats:
    stats = [*ours[1], "--stats"]
    data = prefixes[1] + ".data-00000-of-00001"
    (seconds, cpu), (reading, _) = measure.medians(
      [stats, ["cat", data]], scratch, variables, min(arguments.runs, 3)
    )
    size = os.path.getsize(data)
    print(
      f"--stats of {size / 1e9:.2f} GB: {seconds:.2f} s, {size / 1e9 / seconds:.2f} GB/s, CPU {cpu:.2f} s, "
      f"peak {peak(stats, scratch, variables):.0f} MB; `cat` of the same: {reading:.2f} s"
    )


if __name__ == "__main__":
  main()
