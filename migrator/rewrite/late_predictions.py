"""What `predict` gave and nobody has asked for an element when its statement ends."""

from __future__ import annotations

import ast

from migrator.analysis.module import Module

# They take no element of what they get before they are asked for one.
_LAZY = frozenset(("zip", "map", "filter", "enumerate", "iter"))
_CONTAINERS = (ast.Tuple, ast.List, ast.Dict, ast.IfExp)


def outlives_statement(module: Module, call: ast.Call) -> bool:
  """Whether the generator that a call gives is kept, or returned, without a first `next()`."""
  node: ast.AST = call
  parent = module.parents.get(node)
  while parent is not None and _hands_on(module, node, parent):
    node, parent = parent, module.parents.get(parent)
  if isinstance(parent, (ast.Assign, ast.AnnAssign, ast.NamedExpr)):
    return parent.value is node and not _unpacks(parent, node)
  return isinstance(parent, (ast.Return, ast.Yield))


def _hands_on(module: Module, node: ast.AST, parent: ast.AST) -> bool:
  """Whether the value of the parent has the generator, as it is."""
  if isinstance(parent, ast.Call):
    return node is not parent.func and _is_lazy(module, parent.func)
  if isinstance(parent, ast.comprehension):
    expression = module.parents.get(parent)
    return isinstance(expression, ast.GeneratorExp) and parent.iter is node
  if isinstance(parent, ast.GeneratorExp):
    return isinstance(node, ast.comprehension)
  return isinstance(parent, _CONTAINERS)


def _is_lazy(module: Module, function: ast.expr) -> bool:
  if isinstance(function, ast.Name) and function.id in _LAZY:
    return True
  symbol = module.resolve(function)
  return symbol is not None and symbol.path.startswith("itertools.")


def _unpacks(statement: ast.AST, node: ast.AST) -> bool:
  """Whether `a, b = generator` asks for the elements itself."""
  targets = statement.targets if isinstance(statement, ast.Assign) else []
  is_display = isinstance(node, (ast.Tuple, ast.List))
  return not is_display and any(isinstance(t, (ast.Tuple, ast.List)) for t in targets)
