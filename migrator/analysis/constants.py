"""The values of expressions that need no running program."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
  from migrator.analysis.module import Module


class UnknownType:
  """The type of `UNKNOWN`: a value that only the running program has."""

  def __repr__(self) -> str:
    return "UNKNOWN"


UNKNOWN = UnknownType()


def compute(module: Module, node: ast.AST) -> Any:
  """The value of a container, a length or arithmetic of constants, or UNKNOWN."""
  if isinstance(node, (ast.List, ast.Tuple)):
    values = [module.constant(e) for e in node.elts]
    if any(v is UNKNOWN for v in values):
      return UNKNOWN
    return values if isinstance(node, ast.List) else tuple(values)
  if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "len":
    _, bindings = module.scope_of.get(node, module.root).lookup("len")
    value = module.constant(node.args[0]) if len(node.args) == 1 and not bindings else UNKNOWN
    return len(value) if isinstance(value, (list, tuple, dict, str, set)) else UNKNOWN
  if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
    value = module.constant(node.operand)
    return -value if isinstance(value, (int, float)) else UNKNOWN
  if isinstance(node, ast.BinOp):
    left, right = module.constant(node.left), module.constant(node.right)
    if not isinstance(left, (int, float)) or not isinstance(right, (int, float)):
      return UNKNOWN
    try:
      if isinstance(node.op, ast.Add):
        return left + right
      if isinstance(node.op, ast.Sub):
        return left - right
      if isinstance(node.op, ast.Mult):
        return left * right
      if isinstance(node.op, ast.Div):
        return left / right
      if isinstance(node.op, ast.FloorDiv):
        return left // right
    except ZeroDivisionError:
      return UNKNOWN
  return UNKNOWN
