"""Prints, as JSON, how far the variables of two checkpoints are apart.

  python read_weights.py LEGACY_PREFIX MIGRATED_PREFIX

For each variable of the legacy checkpoint, optimizer slots included: [max|difference|, max|value|],
or null if the migrated checkpoint, whose names have an object suffix, does not have it.
"""

import json
import sys

import numpy as np
import tensorflow as tf

legacy, migrated = (tf.train.load_checkpoint(prefix) for prefix in sys.argv[1:])
SUFFIX = "/.ATTRIBUTES/VARIABLE_VALUE"
theirs = {}
for key in migrated.get_variable_to_shape_map():
  name = key[: -len(SUFFIX)] if key.endswith(SUFFIX) else key
  theirs[name.replace(".S", "/")] = key
result = {}
for name in legacy.get_variable_to_shape_map():
  value = legacy.get_tensor(name)
  if name in theirs:
    other = migrated.get_tensor(theirs[name])
    result[name] = [float(np.max(np.abs(value - other))), float(np.max(np.abs(value)))]
  else:
    result[name] = None
print(json.dumps(result))
