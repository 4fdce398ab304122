"""Mends TF2 code in the style of older guides: `callbacks.experimental.BackupAndRestore`.

https://www.tensorflow.org/api_docs/python/tf/keras/callbacks/BackupAndRestore
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Optional

from migrator.analysis import facts
from migrator.analysis.module import Module
from migrator.rewrite.plan import Plan

_EXPERIMENTAL = "tf.keras.callbacks.experimental.BackupAndRestore"
_STABLE = "tf.keras.callbacks.BackupAndRestore"
_INPUT_ARGUMENTS = frozenset(("input_shape", "batch_input_shape", "input_dim"))


def plan_fixes(plan: Plan) -> None:
  """Plans the fixes of the whole file."""
  for use in list(plan.module.uses()):
    if use.symbol.path == _EXPERIMENTAL and isinstance(use.node, ast.Attribute):
      experimental = use.node.value
      if isinstance(experimental, ast.Attribute) and experimental.attr == "experimental":
        plan.expressions[use.node] = plan.source(experimental.value) + ".BackupAndRestore"
        plan.report("EM501", use.node)
  for call, name in unbuilt_fits(plan.module):
    shape = _input_shape(plan, call)
    if shape is None:
      continue
    edit = plan.statement(call)
    line = f"{name}.build({shape})"
    if line not in edit.before:
      edit.before.append(line)
    plan.report("EM502", call, line=call.lineno)


def unbuilt_fits(module: Module) -> Iterator[tuple[ast.Call, str]]:
  """`model.fit(..., callbacks=[BackupAndRestore])` of a Sequential without an input shape.

  Yields:
    The fit call and the model's variable.
  """
  for node in module.scope_of:
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
      continue
    model = node.func.value
    if node.func.attr != "fit" or not isinstance(model, ast.Name):
      continue
    callbacks = next((k.value for k in node.keywords if k.arg == "callbacks"), None)
    if not _backs_up(module, callbacks) or not _is_unbuilt(module, model):
      continue
    yield node, model.id


def _backs_up(module: Module, callbacks: Optional[ast.AST]) -> bool:
  if callbacks is None:
    return False
  definition = module.definition(callbacks)
  elements = definition.elts if isinstance(definition, (ast.List, ast.Tuple)) else [callbacks]
  for element in elements:
    call = module.definition(element)
    symbol = module.resolve(call.func) if isinstance(call, ast.Call) else None
    if symbol is not None and symbol.path in (_EXPERIMENTAL, _STABLE):
      return True
  return False


def _is_unbuilt(module: Module, model: ast.Name) -> bool:
  """Whether every value of the variable is a Sequential without an input shape."""
  _, bindings = module.scope_of[model].lookup(model.id)
  values = [b.value for b in bindings]
  if not values or any(v is None or not _sequential_without_input(module, v) for v in values):
    return False
  for name in facts.loads(module, model):
    attribute = module.parents.get(name)
    if isinstance(attribute, ast.Attribute) and attribute.attr in ("build", "add", "summary"):
      return False
    if isinstance(attribute, ast.Call) and attribute.func is name:
      called_before = (name.lineno, name.col_offset) < (model.lineno, model.col_offset)
      if called_before:
        return False
  return True


def _sequential_without_input(module: Module, node: ast.AST, depth: int = 0) -> bool:
  if not isinstance(node, ast.Call) or depth > 4:
    return False
  symbol = module.resolve(node.func)
  if symbol is None:
    definition = module.definition(node.func)
    if not isinstance(definition, ast.FunctionDef):
      return False
    returns = [n for n in ast.walk(definition) if isinstance(n, ast.Return)]
    return len(returns) == 1 and _returned(module, returns[0].value, depth)
  if symbol.path not in ("tf.keras.Sequential", "tf.keras.models.Sequential"):
    return False
  layers = node.args[0] if node.args else None
  if not isinstance(layers, ast.List) or not layers.elts:
    return False
  first = layers.elts[0]
  if not isinstance(first, ast.Call):
    return False
  layer = module.resolve(first.func)
  if layer is None or not layer.path.startswith("tf.keras.layers."):
    return False
  if layer.path.rpartition(".")[2] in ("Input", "InputLayer"):
    return False
  return not any(k.arg in _INPUT_ARGUMENTS or k.arg is None for k in first.keywords)


def _returned(module: Module, value: Optional[ast.AST], depth: int) -> bool:
  value = module.definition(value) if value is not None else None
  return value is not None and _sequential_without_input(module, value, depth + 1)


def _input_shape(plan: Plan, call: ast.Call) -> Optional[str]:
  """The argument of `build`, from the data that `fit` gets."""
  named = {k.arg: k.value for k in call.keywords}
  data = call.args[0] if call.args else named.get("x")
  labels = call.args[1] if len(call.args) > 1 else named.get("y")
  if not isinstance(data, (ast.Name, ast.Attribute)):
    return None
  text = plan.source(data)
  if labels is not None:
    return f"(None, *{text}.shape[1:])"
  return f"{text}.element_spec[0].shape"
