"""Keras optimizers in a model_fn, whose global step they do not move."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Optional

from migrator.analysis.module import Module
from migrator.lint import values
from migrator.lint.checks import global_steps, retention
from migrator.lint.checks.registry import Context, Report, check

_KERAS = "tf.keras.optimizers."
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


@check("EM413", words=("EstimatorSpec", "create_estimator_spec"), also=("keras",))
def keras_optimizers(context: Context) -> Iterator[Report]:
  """Keras optimizers in a model_fn, which count steps of their own."""
  module = context.module
  for node in module.scope_of:
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
      continue
    function = _outermost(module, node)
    if function is None:
      continue
    optimizer = _optimizer_of(context, node, function)
    name = _keras_name(module, optimizer) if optimizer is not None else None
    if name is not None and not _is_linked(module, function):
      yield context.report("EM413", node, optimizer=name)


def _outermost(module: Module, node: ast.AST) -> Optional[ast.AST]:
  functions = [a for a in module.ancestors(node) if isinstance(a, _FUNCTIONS)]
  return functions[-1] if functions else None


def _optimizer_of(context: Context, call: ast.Call, function: ast.AST) -> Optional[ast.expr]:
  """The optimizer whose train op a model_fn makes by a call, or None."""
  assert isinstance(call.func, ast.Attribute)
  if call.func.attr == "create_estimator_spec":
    return values.arguments(context.module, call).get("optimizer")
  if call.func.attr not in ("get_updates", "apply_gradients"):
    return None
  if values.arguments(context.module, call).get("global_step") is not None:
    return None
  inside = {n for n in ast.walk(function) if isinstance(n, ast.Call)}
  trained = any(
    made in inside and ("train_op" in {k.arg for k in made.keywords} or len(made.args) > 3)
    for made, _ in context.calls_of(*retention.SPECS)
  )
  return call.func.value if trained else None


def _keras_name(module: Module, optimizer: ast.expr) -> Optional[str]:
  """The name of the Keras optimizer that an expression certainly is, or None."""
  names = []
  for value in values.possible(module, optimizer) or ():
    symbol = module.resolve(value.func) if isinstance(value, ast.Call) else None
    if symbol is None or not symbol.path.startswith(_KERAS) or ".schedules." in symbol.path:
      return None
    names.append(symbol.path)
  return names[0] if names else None


def _is_linked(module: Module, function: ast.AST) -> bool:
  """Whether a function makes the global step move: by hand, or as `optimizer.iterations`."""
  for node in ast.walk(function):
    if isinstance(node, ast.Attribute) and node.attr == "iterations":
      if not isinstance(node.ctx, ast.Load):
        return True
    elif isinstance(node, ast.Call) and _adds_to_step(module, node):
      return True
  return False


def _adds_to_step(module: Module, call: ast.Call) -> bool:
  """Whether a call moves something that is called a step."""
  if not isinstance(call.func, ast.Attribute) or call.func.attr not in ("assign", "assign_add"):
    return False
  plain = module.resolve(call.func) is not None and bool(call.args)
  target = call.args[0] if plain else call.func.value
  return "step" in module.source(target) or global_steps.is_global_step(module, target)
