"""Which expressions are Keras models, and which classes are models or callbacks."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Optional

from migrator.analysis.module import Module
from migrator.lint.checks import fits, reaching

CLASSES = ("tf.keras.Model", "tf.keras.models.Model")
SEQUENTIALS = ("tf.keras.Sequential", "tf.keras.models.Sequential")
_MAKERS = (
  *CLASSES,
  *SEQUENTIALS,
  "tf.keras.models.load_model",
  "tf.keras.models.clone_model",
  "tf.keras.models.model_from_json",
)
_MAX_DEPTH = 6


def is_model(module: Module, node: ast.AST, depth: int = 0) -> bool:
  """Whether an expression is certainly a Keras model."""
  if isinstance(node, ast.Attribute) and node.attr == "model":
    owner = next((a for a in module.ancestors(node) if isinstance(a, ast.ClassDef)), None)
    of_callback = owner is not None and is_callback_class(module, owner)
    if of_callback and isinstance(node.value, ast.Name) and node.value.id == "self":
      return True
  if isinstance(node, ast.Name) and _is_compiled(module, node):
    return True
  possible = reaching.possible(module, node)
  if not possible or depth > _MAX_DEPTH:
    return False
  return all(_makes_model(module, value, depth + 1) for value in possible)


def _makes_model(module: Module, node: ast.AST, depth: int) -> bool:
  if not isinstance(node, ast.Call):
    return False
  symbol = module.resolve(node.func)
  if symbol is not None and (
    symbol.path in _MAKERS or symbol.path.startswith("tf.keras.applications.")
  ):
    return True
  made_by = module.definition(node.func)
  if isinstance(made_by, ast.ClassDef):
    return is_model_class(module, made_by)
  if isinstance(made_by, ast.FunctionDef):
    results = list(fits.returned(made_by))
    return bool(results) and all(is_model(module, r, depth) for r in results)
  return False


def _is_compiled(module: Module, name: ast.Name) -> bool:
  """Whether `name.compile(...)` is called with an optimizer or a loss where the name means the same."""
  owner = module.scope_of.get(name, module.root).lookup(name.id)[0]
  for call in fits.method_calls(module, "compile"):
    target = call.func.value  # type: ignore[attr-defined]
    if not isinstance(target, ast.Name) or target.id != name.id:
      continue
    keywords = {k.arg for k in call.keywords}
    asks = bool(call.args or keywords & {"optimizer", "loss", "metrics"})
    if asks and module.scope_of[target].lookup(name.id)[0] is owner:
      return _imports_keras(module)
  return False


def _imports_keras(module: Module) -> bool:
  return any(use.symbol.path.startswith("tf.keras") for use in module.uses())


def overrides(module: Module, model: ast.AST, method: str) -> bool:
  """Whether a model may be of a class of the module that has its own version of a method."""
  for value in reaching.possible(module, model):
    made_by = module.definition(value.func) if isinstance(value, ast.Call) else None
    if _defines(module, made_by, method, 0):
      return True
  return False


def _defines(module: Module, node: Optional[ast.AST], method: str, depth: int) -> bool:
  if not isinstance(node, ast.ClassDef) or depth > _MAX_DEPTH:
    return False
  if any(isinstance(f, ast.FunctionDef) and f.name == method for f in node.body):
    return True
  return any(_defines(module, module.definition(b), method, depth + 1) for b in node.bases)


def is_model_class(module: Module, node: ast.AST) -> bool:
  """Whether a class derives from a Keras model."""
  return _derives(module, node, lambda path: path in (*CLASSES, *SEQUENTIALS), 0)


def is_callback_class(module: Module, node: ast.AST) -> bool:
  """Whether a class derives from a Keras callback."""
  return _derives(module, node, lambda path: path.startswith("tf.keras.callbacks."), 0)


def _derives(
  module: Module, node: Optional[ast.AST], is_base: Callable[[str], bool], depth: int
) -> bool:
  if not isinstance(node, ast.ClassDef) or depth > _MAX_DEPTH:
    return False
  for base in node.bases:
    symbol = module.resolve(base)
    if symbol is not None and is_base(symbol.path):
      return True
    if _derives(module, module.definition(base), is_base, depth + 1):
      return True
  return False
