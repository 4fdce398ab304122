"""Keras layers in a model_fn: whether their variables have the same names in Keras 2's graphs and in Keras 3."""

from __future__ import annotations

import ast

from migrator.analysis.model_fns import calls
from migrator.analysis.model_fns.modes import Unreadable
from migrator.analysis.module import Module

# Layers without weights, whose names do not count.
_WEIGHTLESS = frozenset(
  """Activation Add Average AveragePooling1D AveragePooling2D Concatenate Dropout ELU Flatten
  GlobalAveragePooling1D GlobalAveragePooling2D GlobalMaxPooling1D GlobalMaxPooling2D Input InputLayer LeakyReLU
  MaxPooling1D MaxPooling2D MaxPool1D MaxPool2D Multiply Permute ReLU RepeatVector Reshape Softmax
  SpatialDropout1D SpatialDropout2D Subtract UpSampling2D ZeroPadding2D""".split()
)
_KERAS = ("tf.keras.layers.", "tf.keras.models.", "tf.keras.Model", "tf.keras.Sequential")


def check(module: Module, node: ast.AST) -> None:
  """Checks the Keras layers in some code.

  Raises:
    Unreadable: Keras 3 gives their variables other names, which a checkpoint does not have.
  """
  _check_names(module, node)
  for call in ast.walk(node):
    if isinstance(call, ast.ClassDef) and any(
      calls.path(module, ast.Call(base, [], [])).startswith(_KERAS) for base in call.bases
    ):
      raise Unreadable(call, f"`{call.name}` is a Keras class of its own")
    if not isinstance(call, ast.Call):
      continue
    path = calls.path(module, call)
    name = path.rpartition(".")[2]
    if path.startswith(_KERAS) and name not in _WEIGHTLESS:
      named = any(k.arg in ("name", None) for k in call.keywords)
      if not named:
        what = f"`{module.source(call.func)}` has no name, and Keras 3 counts names in another way"
        raise Unreadable(call, what)
    if path.startswith("tf.keras.applications."):
      raise Unreadable(call, "its network is one of tf.keras.applications")


_INPUTS = ("input_shape", "batch_input_shape", "input_dim", "batch_shape")


def _check_names(module: Module, node: ast.AST) -> None:
  """Names that Keras 3 gives to the variables of layers that have a name: measured with TensorFlow 2.21."""
  names: dict[str, ast.AST] = {}
  for call in ast.walk(node):
    path = calls.path(module, call) if isinstance(call, ast.Call) else ""
    if not path.startswith("tf.keras.layers."):
      continue
    assert isinstance(call, ast.Call)
    if path.endswith(".InputLayer") or any(k.arg in _INPUTS for k in call.keywords):
      # A Sequential model that knows its input made its variables outside of its name.
      what = "its Sequential model begins with its input, and Keras 3 names its variables otherwise"
      raise Unreadable(call, what)
    for keyword in call.keywords:
      name = module.constant(keyword.value) if keyword.arg == "name" else None
      if isinstance(name, str):
        names.setdefault(name, keyword.value)
  seen = [name.lower() for name in names]
  for name, place in names.items():
    base, _, number = name.lower().rpartition("_")
    if seen.count(name.lower()) > 1 or (number.isdigit() and base in seen):
      raise Unreadable(place, f"Keras 3 gives the variables of the layer `{name}` another number")
