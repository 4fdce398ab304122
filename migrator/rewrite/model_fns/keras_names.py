"""Keras layers in a model_fn: their variables get the names that they had in Keras 2's graphs, or it stays whole."""

from __future__ import annotations

import ast
from typing import Optional

from migrator.analysis.constants import UNKNOWN
from migrator.analysis.model_fns import calls
from migrator.analysis.model_fns.modes import Unreadable
from migrator.analysis.module import Module
from migrator.rewrite.model_fns import auto_names
from migrator.rewrite.model_fns.auto_names import LAYERS, MODELS, SEQUENTIAL
from migrator.rewrite.plan import Plan

# Layers without weights, whose names do not count.
_WEIGHTLESS = frozenset(
  """Activation Add Average AveragePooling1D AveragePooling2D Concatenate Dropout ELU Flatten
  GlobalAveragePooling1D GlobalAveragePooling2D GlobalMaxPooling1D GlobalMaxPooling2D Input InputLayer LeakyReLU
  MaxPooling1D MaxPooling2D MaxPool1D MaxPool2D Multiply Permute ReLU RepeatVector Reshape Softmax
  SpatialDropout1D SpatialDropout2D Subtract UpSampling2D ZeroPadding2D""".split()
)
_KERAS = (LAYERS, "tf.keras.models.", "tf.keras.Model", "tf.keras.Sequential")
_INPUTS = ("input_shape", "batch_input_shape", "input_dim", "batch_shape")
# What a model of Keras 3 with a known input has in common with a Sequential model of Keras 2.
_ATTRIBUTES = ("losses", "updates", "trainable_variables", "trainable_weights", "summary")


def plan_names(plan: Plan, function: ast.FunctionDef, codes: list[ast.AST]) -> None:
  """Checks the Keras layers in a model_fn and gives names to those that have none.

  Args:
    plan: of the file.
    function: the model_fn.
    codes: it, and the functions and classes that it may call.

  Raises:
    Unreadable: their variables would have other names, which a checkpoint does not have.
  """
  module = plan.module
  for code in codes:
    _check(module, code)
  _check_norms(module, codes)
  names = auto_names.find(module, function, codes)
  begun = {}
  nodes = [n for code in codes for n in ast.walk(code)]
  in_models = any(isinstance(n, ast.Call) and calls.path(module, n) in MODELS for n in nodes)
  for call in nodes:
    if isinstance(call, ast.Call) and calls.path(module, call) in SEQUENTIAL:
      _check_nested(module, call, in_models)
      first = _first_with_input(module, call)
      if first is not None:
        begun[first] = call
  for code in codes:
    _check_names(module, code, begun)
  for call, name in names.items():
    if call in begun.values():
      continue  # Its name is in no variable.
    if call not in begun:
      plan.endings[call] = f'name="{name}"'
  for first, model in begun.items():
    _plan_input(plan, model, first, names.get(first) or "first_layer")


def _check(module: Module, node: ast.AST) -> None:
  for call in ast.walk(node):
    if isinstance(call, ast.ClassDef) and any(
      calls.path(module, ast.Call(base, [], [])).startswith(_KERAS) for base in call.bases
    ):
      raise Unreadable(call, f"`{call.name}` is a Keras class of its own")
    if not isinstance(call, ast.Call):
      continue
    path = calls.path(module, call)
    name = path.rpartition(".")[2]
    if path.startswith(_KERAS) and name not in _WEIGHTLESS and path not in MODELS:
      named = any(k.arg in ("name", None) for k in call.keywords)
      if not named and auto_names.base_of(module, call) is None:
        what = f"`{module.source(call.func)}` has no name, and Keras 3 counts names in another way"
        raise Unreadable(call, what)
    if path.startswith("tf.keras.applications."):
      raise Unreadable(call, "its network is one of tf.keras.applications")
    if path in (f"{LAYERS}Input", "tf.keras.Input") and any(
      k.arg == "tensor" for k in call.keywords
    ):
      raise Unreadable(call, "its Keras model begins with a tensor")


def _check_norms(module: Module, codes: list[ast.AST]) -> None:
  """Keras 2 fused the normalization of images: its moving variance was that of a sample, n / (n - 1) of Keras 3's.

  Images have layers for images, or are flattened later.
  """
  made = [call for code in codes for call in ast.walk(code) if isinstance(call, ast.Call)]
  norms = [n for n in made if calls.path(module, n) == f"{LAYERS}BatchNormalization"]
  paths = {call: calls.path(module, call).lower() for call in made}
  for norm in norms:
    for call, path in paths.items():
      later = path.endswith(".flatten") and call.lineno > norm.lineno
      if later or ("2d" in path or "3d" in path):
        what = (
          "batch normalization of images in Keras 3 has another moving variance than in Keras 2"
        )
        raise Unreadable(norm, what)


def _check_nested(module: Module, model: ast.Call, in_models: bool) -> None:
  """Keras 2 makes the variables of a Sequential model in another in a function without the name of that.

  Args:
    module: of the file.
    model: makes a Sequential model.
    in_models: whether there are other models, of which it may be a layer.
  """
  what = "a Sequential model may be a layer of another model"
  if in_models:
    raise Unreadable(model, what)
  for argument in model.args:
    layers = module.definition(argument) or argument
    for layer in layers.elts if isinstance(layers, (ast.List, ast.Tuple)) else ():
      made = module.definition(layer)
      if not isinstance(made, ast.Call) or not calls.path(module, made).startswith(LAYERS):
        raise Unreadable(layer, what)
  parent = module.parents[model]
  if isinstance(parent, ast.Call) and model is not parent.func:
    raise Unreadable(model, what)  # .add(...), or a function of the file


def _first_with_input(module: Module, model: ast.Call) -> Optional[ast.Call]:
  """The first layer of a Sequential model, where it has its input; None where no layer has.

  Raises:
    Unreadable: it is none that the runtime's model can do.
  """
  layers = model.args[0] if len(model.args) == 1 else None
  first = layers.elts[0] if isinstance(layers, (ast.List, ast.Tuple)) and layers.elts else None
  given = _input(first)
  if given is None:
    return None
  assert isinstance(first, ast.Call)
  what = "its Sequential model begins with its input, and Keras 3 names its variables otherwise"
  path = calls.path(module, first)
  known = auto_names.base_of(module, first) is not None or path[len(LAYERS) :] in _WEIGHTLESS
  arguments = {k.arg for k in first.keywords}
  simple = path.startswith(LAYERS) and known and not path.endswith((".Embedding", ".InputLayer"))
  if not simple or arguments & {"name", "dtype", None} or str(given.arg).startswith("batch"):
    raise Unreadable(first, what)
  if module.constant(given.value) is UNKNOWN and not isinstance(given.value, ast.Name):
    raise Unreadable(given.value, what)
  if any(k.arg != "name" for k in model.keywords) or not _is_plain(module, model):
    raise Unreadable(model, what)
  return first


def _input(layer: Optional[ast.AST]) -> Optional[ast.keyword]:
  keywords = layer.keywords if isinstance(layer, ast.Call) else []
  return next((k for k in keywords if k.arg in _INPUTS), None)


def _is_plain(module: Module, model: ast.Call) -> bool:
  """Whether nothing is asked of a Sequential model that another model does not have."""
  attributes = {n.attr for n in ast.walk(module.tree) if isinstance(n, ast.Attribute)}
  only_sequential = attributes & {"add", "pop", "layers"}
  path_parts = {
    n.attr
    for n in ast.walk(module.tree)
    if isinstance(n, ast.Attribute) and module.resolve(n) is not None
  }
  return not only_sequential - path_parts and not isinstance(module.parents[model], ast.Attribute)


def _plan_input(plan: Plan, model: ast.Call, first: ast.Call, name: str) -> None:
  """Takes the input from the first layer and gives it to the runtime's model."""
  given = _input(first)
  assert given is not None
  shape = plan.source(given.value)
  plan.arguments[given] = f'name="{name}"'
  plan.expressions[model.func] = f"{plan.runtime()}.sequential"
  plan.endings[model] = f"input_shape={f'({shape},)' if given.arg == 'input_dim' else shape}"


def _check_names(module: Module, node: ast.AST, begun: dict[ast.Call, ast.Call]) -> None:
  """Names of layers that TF1 and Keras 3 number in different ways: measured with TensorFlow 2.15 and 2.21."""
  names: dict[str, ast.AST] = {}
  made: dict[str, ast.Call] = {}
  for call in ast.walk(node):
    path = calls.path(module, call) if isinstance(call, ast.Call) else ""
    if not path.startswith(LAYERS):
      continue
    assert isinstance(call, ast.Call)
    if path.endswith(".InputLayer") or (_input(call) is not None and call not in begun):
      # A Sequential model that knows its input made its variables outside of its name.
      what = "its Sequential model begins with its input, and Keras 3 names its variables otherwise"
      raise Unreadable(call, what)
    for keyword in call.keywords:
      name = module.constant(keyword.value) if keyword.arg == "name" else None
      if isinstance(name, str):
        names.setdefault(name, keyword.value)
        made.setdefault(name.lower(), call)
  seen = [name.lower() for name in names]
  for name, place in names.items():
    base, _, number = name.lower().rpartition("_")
    again = number.isdigit() and base in seen and not auto_names.called_once(module, made[base])
    if seen.count(name.lower()) > 1 or again:
      raise Unreadable(place, f"Keras 3 gives the variables of the layer `{name}` another number")
