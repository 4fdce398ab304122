"""Prints, as JSON, how far the variables of two checkpoints are apart.

  python read_weights.py LEGACY_PREFIX MIGRATED_PREFIX

For each variable of the legacy checkpoint, optimizer slots included: [max|difference|, max|value|],
or null if the migrated checkpoint does not have it.
"""

import json
import sys

import numpy as np
import tensorflow as tf

SUFFIX = "/.ATTRIBUTES/VARIABLE_VALUE"
legacy, migrated = (tf.train.load_checkpoint(prefix) for prefix in sys.argv[1:])
theirs = {
  key[: -len(SUFFIX)].replace(".S", "/"): key
  for key in migrated.get_variable_to_shape_map()
  if key.endswith(SUFFIX)
}
result = {}
for key in legacy.get_variable_to_shape_map():
  if key.endswith("_power"):  # Adam's count, which TF2 keeps as a count
    continue
  value = legacy.get_tensor(key)
  name = key.replace("/t_0/", "/").replace("training/Adagrad/", "")
  if name in theirs:
    other = migrated.get_tensor(theirs[name])
    result[name] = [float(np.max(np.abs(value - other))), float(np.max(np.abs(value)))]
  else:
    result[name] = None
print(json.dumps(result))
