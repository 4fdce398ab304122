"""Goes on from checkpoints of the real Estimator with each optimizer, and prints what parts.

  python benchmarks/optimizers.py [--seeds 3] [--only CASE ...]
  python benchmarks/optimizers.py --stock [--seeds 3]

Each TF1 optimizer trains 40 steps in an Estimator, with dense gradients only and with a table in which
rows are looked up, some of them twice. From its checkpoint at step 20 on the exact optimizer trains in
Keras. Printed are the greatest relative difference of a step's loss, and the greatest difference of a
weight and of a slot, of the greatest value of its tensor. With --stock the stock Keras optimizers are
compared with TF1's, with and without a schedule, from the beginning and from step 20 on.

The Estimator runs in MIGRATOR_LEGACY_PYTHON, a Python with TensorFlow 2.15 and tensorflow-estimator.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TESTS = ROOT / "tests" / "runtime"
LOSSES, WEIGHTS = 1e-6, 1e-5  # The goals.


def run_estimators(directory, runs):
  """Trains with the real Estimator; returns the losses of the runs."""
  python = os.environ.get("MIGRATOR_LEGACY_PYTHON")
  if not python:
    raise SystemExit("MIGRATOR_LEGACY_PYTHON must name a Python with TensorFlow 2.15's Estimator")
  (directory / "jobs.json").write_text(json.dumps(runs))
  command = [python, TESTS / "legacy_optimizers.py", directory, directory / "jobs.json"]
  with open(directory / "log", "wb") as log:
    process = subprocess.run(command, stdout=log, stderr=log, check=False)
  if process.returncode:
    raise SystemExit((directory / "log").read_text()[-3000:])
  return json.loads((directory / "losses.json").read_text())


def part(directory, case, sparse, seed, expected):
  """Goes on from step 20; returns the differences of losses, weights and slots."""
  import numpy as np
  import optimizer_cases
  import tensorflow as tf

  from migrator import runtime

  saved, steps = optimizer_cases.SAVED, optimizer_cases.STEPS
  model = optimizer_cases.make_model(tf, sparse)
  optimizer = optimizer_cases.make_optimizer(tf, runtime.optimizers, optimizer_cases.CASES[case])
  checkpoint = runtime.named_checkpoint(model, optimizer, flavour="v1")
  runtime.load_tf1_checkpoint(checkpoint, str(directory / f"model.ckpt-{saved}"))
  data = optimizer_cases.batches(seed)[saved:]
  found = optimizer_cases.train(tf, model, optimizer, data)
  losses = max(abs(a - b) / abs(b) for a, b in zip(found, expected[saved:]))
  reader = tf.train.load_checkpoint(str(directory / f"model.ckpt-{steps}"))
  worst = {True: 0.0, False: 0.0}
  for name in set(checkpoint.by_name) - {"global_step", "iterations"}:
    wanted = reader.get_tensor(name)
    difference = np.max(np.abs(checkpoint.by_name[name].numpy() - wanted))
    is_weight = name in checkpoint.weights
    worst[is_weight] = max(worst[is_weight], difference / np.max(np.abs(wanted)))
  tf.keras.backend.clear_session()
  return losses, worst[True], worst[False]


def exact(seeds, only):
  """Prints the table of the exact optimizers; returns whether the goals are reached."""
  import optimizer_cases

  cases = [case for case in optimizer_cases.CASES if not only or case in only]
  kinds = {"dense": False, "sparse": True}
  runs = {
    f"{case}-{kind}-{seed}": (case, sparse, seed)
    for case in cases
    for kind, sparse in kinds.items()
    for seed in seeds
  }
  reached = True
  with tempfile.TemporaryDirectory() as scratch:
    losses = run_estimators(Path(scratch), [[name, *run] for name, run in runs.items()])
    print(f"{'':28}{'dense: loss  weights    slots':32}sparse: loss  weights    slots")
    for case in cases:
      line = f"{case:28}"
      for kind, sparse in kinds.items():
        found = []
        for seed in seeds:
          name = f"{case}-{kind}-{seed}"
          found.append(part(Path(scratch, name), case, sparse, seed, losses[name]))
        worst = [max(numbers) for numbers in zip(*found)]
        reached = reached and worst[0] <= LOSSES and worst[1] <= WEIGHTS
        line += f"{worst[0]:11.1e}{worst[1]:9.1e}{worst[2]:9.1e}   "
      print(line, flush=True)
  print(f"goals {LOSSES:g} and {WEIGHTS:g}: {'reached' if reached else 'NOT REACHED'}")
  return reached


def stock(seeds):
  """Prints the table of the stock optimizers: the worst seed."""
  import stock_optimizers
  import tensorflow as tf

  from migrator.rewrite import optimizer_table

  print(f"{'':18}dense, constant     dense, schedule     sparse, constant    sparse, schedule")
  print(f"{'':18}" + "fresh     on        " * 4)
  for name in stock_optimizers.CASES:
    line = f"{name:18}"
    for sparse, schedule, fresh in optimizer_table.CONDITIONS:
      if not fresh:
        continue
      found = []
      for seed in seeds:
        found.append(stock_optimizers.differences(name, sparse, schedule, seed))
        tf.keras.backend.clear_session()
      line += "".join(f"{max(numbers):<10.0e}" for numbers in zip(*found))
    print(line, flush=True)


def main():
  parser = argparse.ArgumentParser(
    description=__doc__, formatter_class=argparse.RawTextHelpFormatter
  )
  parser.add_argument("--seeds", type=int, default=3)
  parser.add_argument("--only", nargs="*")
  parser.add_argument("--stock", action="store_true")
  arguments = parser.parse_args()
  sys.path[:0] = [str(ROOT), str(TESTS)]
  os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
  import tensorflow as tf

  seeds = range(1, arguments.seeds + 1)
  print(f"TensorFlow {tf.__version__}, {arguments.seeds} seeds")
  if arguments.stock:
    stock(seeds)
  elif not exact(seeds, arguments.only):
    raise SystemExit(1)


if __name__ == "__main__":
  main()
