"""Whether a list of hooks can be None, which an Estimator took for an empty list."""

from __future__ import annotations

import ast

from migrator.analysis.binding import Binding
from migrator.analysis.module import Module
from migrator.rewrite import hook_flow

_DEPTH = 8


def may_be_none(module: Module, node: ast.AST, depth: int = 0) -> bool:
  """Whether an expression can be None, as far as the file shows what it can be.

  Args:
    module: the file.
    node: a list of hooks that has been followed.
    depth: of names and calls that were looked up on the way.
  """
  if isinstance(node, ast.IfExp):
    return may_be_none(module, node.body, depth) or may_be_none(module, node.orelse, depth)
  if isinstance(node, ast.BoolOp):
    return may_be_none(module, node.values[-1], depth)
  if depth < _DEPTH and isinstance(node, ast.Name):
    return _variable(module, node, depth + 1)
  if depth < _DEPTH and isinstance(node, ast.Attribute):
    statements = [module.parents[n] for n in hook_flow.attributes(module, node.attr)]
    return any(
      may_be_none(module, statement.value, depth + 1)
      for statement in statements
      if isinstance(statement, (ast.Assign, ast.AnnAssign)) and statement.value is not None
    )
  if depth < _DEPTH and isinstance(node, ast.Call):
    function = module.definition(node.func)
    return isinstance(function, ast.FunctionDef) and _function(module, function, depth + 1)
  return _is_none(node)


def _function(module: Module, function: ast.FunctionDef, depth: int) -> bool:
  own = [n for n in ast.walk(function) if isinstance(n, ast.Return)]
  values = [n.value for n in own if module.scope_of[n].node is function]
  return not _ends(function.body) or any(
    value is None or may_be_none(module, value, depth) for value in values
  )


def _ends(body: list[ast.stmt]) -> bool:
  """Whether statements always end in a return or an error."""
  last = body[-1]
  if isinstance(last, ast.If):
    return bool(last.orelse) and _ends(last.body) and _ends(last.orelse)
  if isinstance(last, (ast.With, ast.AsyncWith)):
    return _ends(last.body)
  return isinstance(last, (ast.Return, ast.Raise))


def _variable(module: Module, name: ast.Name, depth: int) -> bool:
  _, bindings = module.scope_of[name].lookup(name.id)
  replaced = any(_replaces_none(module, binding) for binding in bindings)
  if not replaced and any(isinstance(binding.node, ast.arg) for binding in bindings):
    return True
  values = [binding.value for binding in bindings if binding.value is not None]
  return any(
    may_be_none(module, value, depth) for value in values if not (replaced and _is_none(value))
  )


def _replaces_none(module: Module, binding: Binding) -> bool:
  """`hooks = hooks or []`, or an assignment under `if hooks is None:` or `if not hooks:`."""
  value = binding.value
  if isinstance(value, ast.BoolOp) and not binding.guarded:
    return isinstance(value.op, ast.Or) and _reads(value.values[0], binding.name)
  parent = module.parents.get(binding.node)
  if not isinstance(parent, ast.If) or binding.node not in parent.body or value is None:
    return False
  test = parent.test
  if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
    return _reads(test.operand, binding.name)
  return (
    isinstance(test, ast.Compare)
    and isinstance(test.ops[0], (ast.Is, ast.Eq))
    and _reads(test.left, binding.name)
    and _is_none(test.comparators[0])
  )


def _reads(node: ast.AST, name: str) -> bool:
  return isinstance(node, ast.Name) and node.id == name


def _is_none(node: ast.AST) -> bool:
  return isinstance(node, ast.Constant) and node.value is None
