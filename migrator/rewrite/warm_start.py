"""`warm_start_from=` -> the runtime's argument of that name.

https://www.tensorflow.org/versions/r1.15/api_docs/python/tf/estimator/WarmStartSettings
"""

from __future__ import annotations

import ast
from typing import Optional

from migrator.analysis import facts
from migrator.rewrite import moves
from migrator.rewrite.plan import Plan, Unsupported

_CLASSES = {
  "tf.estimator.WarmStartSettings": "WarmStartSettings",
  "tf.estimator.VocabInfo": "VocabInfo",
  "tf.train.VocabInfo": "VocabInfo",
}


def read(
  plan: Plan, argument: Optional[facts.Argument], place: ast.AST
) -> tuple[str, list[ast.Name]]:
  """Returns the source of the argument at `place`, and the names of variables it replaces.

  Raises:
    Unsupported: EM208, settings that have another value at the place.
  """
  if argument is None or plan.module.constant(argument.value) is None:
    return "", []
  node = argument.value
  definition = plan.module.definition(node)
  names: list[ast.Name] = []
  if isinstance(node, ast.Name) and isinstance(definition, ast.Call) and _name(plan, definition):
    reason = moves.obstacle(plan.module, definition, place)
    if reason is not None:
      raise Unsupported("EM208", argument.node, argument=f"warm_start_from ({reason})")
    names.append(node)
    node = definition
  return _text(plan, node), names


def _name(plan: Plan, call: ast.Call) -> Optional[str]:
  symbol = plan.module.resolve(call.func)
  return _CLASSES.get(symbol.path) if symbol is not None else None


def _text(plan: Plan, node: ast.expr) -> str:
  """The source of the settings, with the runtime's classes in place of the Estimator's."""
  for call in ast.walk(node):
    name = _name(plan, call) if isinstance(call, ast.Call) else None
    if name is not None and isinstance(call, ast.Call):
      plan.expressions[call.func] = f"{plan.runtime()}.{name}"
  return plan.source(node)
