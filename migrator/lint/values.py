"""What the expressions of a program can stand for, as far as a rule needs it."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import Any, Optional

from migrator.analysis.module import UNKNOWN, Module


class Arguments:
  """The arguments of a call by name.

  Attributes:
    nodes: the expressions.
    complete: False when `*args` or a `**kwargs` that cannot be read may hold more.
  """

  def __init__(self, nodes: dict[str, ast.expr], complete: bool = True):
    self.nodes = nodes
    self.complete = complete

  def get(self, name: str) -> Optional[ast.expr]:
    return self.nodes.get(name)


def arguments(module: Module, call: ast.Call, parameters: Sequence[str] = ()) -> Arguments:
  """Binds the arguments of a call, also those of `**{...}` and of `**options`.

  Args:
    module: the module of the call.
    call: the call.
    parameters: names of the positional parameters.
  """
  result = Arguments({})
  for i, value in enumerate(call.args):
    if isinstance(value, ast.Starred) or i >= len(parameters):
      result.complete = False
      break
    result.nodes[parameters[i]] = value
  for keyword in call.keywords:
    if keyword.arg is not None:
      result.nodes[keyword.arg] = keyword.value
    elif not _unpack(module, keyword.value, result):
      result.complete = False
  return result


def _unpack(module: Module, node: ast.expr, result: Arguments) -> bool:
  """Adds the items of a dict expression; returns whether all of them are known."""
  if isinstance(node, ast.Name) and _is_changed(module, node.id):
    return False
  value = module.definition(node)
  if isinstance(value, ast.Call) and _is_builtin(module, value.func, "dict") and not value.args:
    complete = True
    for keyword in value.keywords:
      if keyword.arg is None:
        complete &= _unpack(module, keyword.value, result)
      else:
        result.nodes[keyword.arg] = keyword.value
    return complete
  if isinstance(value, ast.Dict):
    complete = True
    for key, item in zip(value.keys, value.values):
      name = key.value if isinstance(key, ast.Constant) else None
      if key is None:
        complete &= _unpack(module, item, result)
      elif isinstance(name, str):
        result.nodes[name] = item
      else:
        complete = False
    return complete
  return False


def _is_builtin(module: Module, node: ast.AST, name: str) -> bool:
  if not isinstance(node, ast.Name) or node.id != name:
    return False
  return not module.scope_of[node].lookup(name)[1]


def _is_changed(module: Module, name: str) -> bool:
  """Whether a dict of this name is changed after it was made."""
  for node in module.scope_of:
    owner: Optional[ast.AST] = None
    stored = isinstance(node, ast.Subscript) and not isinstance(node.ctx, ast.Load)
    method = isinstance(node, ast.Attribute) and node.attr in ("update", "pop", "setdefault")
    if stored or method:
      owner = node.value  # type: ignore[attr-defined]
    if isinstance(owner, ast.Name) and owner.id == name:
      return True
  return False


def possible(module: Module, node: ast.AST) -> Optional[list[ast.AST]]:
  """All expressions, functions or classes that a name or `self.x` can stand for.

  Returns:
    At least one; an expression that is neither stands for itself. None when it cannot be
    known, for example for a parameter.
  """
  return _possible(module, node, set())


def _possible(module: Module, node: ast.AST, seen: set[ast.AST]) -> Optional[list[ast.AST]]:
  if node in seen:
    return None
  seen = {*seen, node}
  if isinstance(node, ast.Name):
    _, bindings = module.scope_of.get(node, module.root).lookup(node.id)
    values: list[ast.AST] = []
    for binding in bindings:
      if binding.kind in ("def", "class"):
        values.append(binding.node)
      elif binding.kind == "assign" and binding.value is not None:
        values.append(binding.value)
      else:
        return None
  elif isinstance(node, ast.Attribute) and _is_self(node):
    values = list(_self_assignments(module, node))
  elif isinstance(node, (ast.Attribute, ast.Subscript)):
    return None
  else:
    return [node]
  found = []
  for value in values:
    inner = _possible(module, value, seen)
    if inner is None:
      return None
    found += inner
  return found or None


def _is_self(node: ast.Attribute) -> bool:
  return isinstance(node.value, ast.Name) and node.value.id == "self"


def _self_assignments(module: Module, node: ast.Attribute) -> Iterator[ast.expr]:
  """The values that the class around `self.x` assigns to it."""
  owner = next((a for a in module.ancestors(node) if isinstance(a, ast.ClassDef)), None)
  for statement in ast.walk(owner) if owner is not None else ():
    if not isinstance(statement, ast.Assign):
      continue
    for target in statement.targets:
      if isinstance(target, ast.Attribute) and _is_self(target) and target.attr == node.attr:
        yield statement.value


def pieces(node: ast.AST) -> Optional[list[tuple[ast.expr, bool]]]:
  """What a list is put together from, in order: an expression, and whether it is a list itself.

  Returns:
    The pieces of a display, a sum or a conditional expression; None for anything else.
  """
  if isinstance(node, (ast.List, ast.Tuple)):
    return [(e.value, True) if isinstance(e, ast.Starred) else (e, False) for e in node.elts]
  if isinstance(node, ast.BinOp):
    return [(node.left, True), (node.right, True)]
  if isinstance(node, ast.IfExp):
    return [(node.body, True), (node.orelse, True)]
  return None


def is_call_of(module: Module, node: Optional[ast.AST], paths: Sequence[str]) -> bool:
  """Whether an expression is a call of one of the symbols."""
  if not isinstance(node, ast.Call):
    return False
  symbol = module.resolve(node.func)
  return symbol is not None and symbol.path in paths


def always_call_of(module: Module, node: ast.AST, paths: Sequence[str]) -> bool:
  """Whether whatever the expression can stand for is a call of one of the symbols."""
  values = possible(module, node)
  return bool(values) and all(is_call_of(module, v, paths) for v in values or ())


def literal(module: Module, node: Optional[ast.AST]) -> Any:
  """The value of a constant expression, or UNKNOWN."""
  return UNKNOWN if node is None else module.constant(node)


def text(module: Module, node: ast.AST, limit: int = 60) -> str:
  """The source of an expression on one line, cut where it is long."""
  source = " ".join(module.source(node).split())
  return source if len(source) <= limit else source[: limit - 3] + "..."
