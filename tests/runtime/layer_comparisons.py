"""Runs the graphs of fixtures/layers with our layers and with TF1's own, and compares what is seen."""

import importlib
import json
import pathlib
import sys
import types

import numpy as np
import tensorflow as tf

from migrator.runtime import layers, rnn_cell

v1 = tf.compat.v1
FIXTURES = pathlib.Path(__file__).resolve().parents[2] / "fixtures" / "layers"
# What the program of TF1 and TF2 count as the same: last digits of single precision, of the size
# of the largest value of a tensor.
TOLERANCE = 1e-6
# Gradients are sums of many terms, in an order that other versions of TensorFlow do not keep.
GRADIENT_TOLERANCE = 3e-6


def load(name):
  """Returns a module of fixtures/layers."""
  sys.path.insert(0, str(FIXTURES))
  try:
    return importlib.import_module(name)
  finally:
    sys.path.remove(str(FIXTURES))


LAYERS, CELLS = load("layer_cases"), load("cell_cases")
RECORDED = json.loads((FIXTURES / "results.json").read_text())


def ours(case, steps=1):
  """Returns what is seen of a case with the runtime's layers."""
  return LAYERS.run(v1, layers, rnn_cell, case, steps)


def theirs(case, steps=1):
  """Returns what is seen of a case with the layers that this TensorFlow has left."""
  return LAYERS.run(v1, *own_modules(), case, steps)


def has_own_normalization():
  """Returns whether this TensorFlow has `tf.compat.v1.layers` as a whole."""
  return hasattr(own_modules()[0], "batch_normalization")


def own_modules():
  """Returns TensorFlow's layers and cells: public up to 2.15, parts of them private after it."""
  if tf.__version__.startswith("2.15."):
    return v1.layers, v1.nn.rnn_cell
  place = "tensorflow.python.keras.legacy_tf_layers."
  found = {}
  for module in ("base", "core", "convolutional", "pooling"):
    found.update(vars(importlib.import_module(place + module)))
  cells = "tensorflow.python.keras.layers.legacy_rnn.rnn_cell_impl"
  return types.SimpleNamespace(**found), importlib.import_module(cells)


def assert_same(found, expected, names=False):
  """Compares two results of a case: names and shapes exactly, numbers to the last digits."""
  keys = ["variables", "trained", "shapes", "updates", *(["names"] if names else [])]
  for key in keys:
    assert found[key] == expected[key], key
  for key in sorted(set(expected) - set(keys) - {"names"}):
    assert len(found[key]) == len(expected[key]), key
    for i, (one, other) in enumerate(zip(found[key], expected[key])):
      assert (one is None) == (other is None), (key, i)
      if one is not None:
        compare(one, other, f"{key}[{i}]")


def compare(one, other, what):
  """Compares two arrays as `layer_cases.plain` gives them."""
  if not isinstance(other, dict):
    assert one == other, what
    return
  assert one["shape"] == other["shape"], what
  one, other = np.array(one["values"]), np.array(other["values"])
  size = max(np.max(np.abs(other), initial=0.0), 1e-3)
  worst = np.max(np.abs(one - other), initial=0.0) / size
  assert worst <= (GRADIENT_TOLERANCE if "gradients" in what else TOLERANCE), (what, worst)
