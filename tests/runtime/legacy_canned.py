"""Trains canned Estimators (fixtures/canned/canned_cases.py) with TensorFlow 2.15.

  python legacy_canned.py DIRECTORY

Each case has a model directory of its name; DIRECTORY/losses.json has the losses of all steps.
"""

import json
import os
import sys
from pathlib import Path

import tensorflow as tf

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "fixtures" / "canned"))
import canned_cases


def main():
  root = sys.argv[1]
  losses = {
    name: canned_cases.train(tf, case, os.path.join(root, name))
    for name, case in canned_cases.CASES.items()
  }
  with open(os.path.join(root, "losses.json"), "w", encoding="utf-8") as file:
    json.dump(losses, file)


if __name__ == "__main__":
  main()
