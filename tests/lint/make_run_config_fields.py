"""Prints the parameters of RunConfig; its output on TF 1.15 and 2.15 is run_config_fields.json.

Run it once with each TensorFlow: `python make_run_config_fields.py run_config_fields.json`.
"""

import inspect
import json
import os
import sys

import tensorflow as tf


def main(path):
  fields = {}
  if os.path.exists(path):
    with open(path) as file:
      fields = json.load(file)
  version = ".".join(tf.__version__.split(".")[:2])
  parameters = inspect.signature(tf.compat.v1.estimator.RunConfig.__init__).parameters
  fields[version] = [name for name in parameters if name != "self"]
  with open(path, "w") as file:
    json.dump(fields, file, indent=2, sort_keys=True)
    file.write("\n")


if __name__ == "__main__":
  main(sys.argv[1])
