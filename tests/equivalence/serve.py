"""Asks exported models the same questions.

  python serve.py REQUEST EXPORT_DIR ...

REQUEST is JSON: {input name: list}. Prints, for each export, {signature: {output: list or null}} as JSON:
null where a signature takes other inputs.
"""

import json
import sys

import numpy as np
import tensorflow as tf


def answers(export_dir, request):
  """Returns what each signature answers."""
  loaded = tf.saved_model.load(export_dir)
  found = {}
  for name, signature in loaded.signatures.items():
    specs = signature.structured_input_signature[1]
    if set(specs) != set(request):
      found[name] = sorted(specs)
      continue
    inputs = {key: tf.constant(request[key], spec.dtype) for key, spec in specs.items()}
    outputs = signature(**inputs)
    found[name] = {key: _listed(value.numpy()) for key, value in sorted(outputs.items())}
  return found


def _listed(array):
  if array.dtype.kind == "O":
    array = np.asarray([value.decode("latin-1") for value in array.ravel()]).reshape(array.shape)
  return array.tolist()


if __name__ == "__main__":
  given = json.loads(sys.argv[1])
  print(json.dumps([answers(path, given) for path in sys.argv[2:]]))
