"""Lists of hooks that can hold more than the file shows."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Optional

from migrator.analysis import facts
from migrator.analysis.module import Module
from migrator.lint import values
from migrator.rewrite.sessions.found import Unit
from migrator.rewrite.sessions.text import excerpt

_LISTS = ("hooks", "chief_only_hooks")
_ADDING = ("extend", "insert", "__iadd__")


def unknown(module: Module, unit: Unit) -> list[str]:
  """The source of what the lists of hooks get from elsewhere: of parameters, calls, attributes."""
  found: list[ast.expr] = []
  for name in _LISTS:
    found += _unknown(module, unit.arguments.get(name), set())
  return list(dict.fromkeys(excerpt(module, node) for node in found))


def _unknown(module: Module, node: Optional[ast.AST], seen: set[ast.AST]) -> Iterator[ast.expr]:
  if node is None or node in seen or not isinstance(node, ast.expr):
    return
  seen.add(node)
  pieces = values.pieces(node)
  if isinstance(node, ast.BinOp) and not isinstance(node.op, ast.Add):
    pieces = None
  if pieces is not None:
    for piece, is_list in pieces:
      if is_list:
        yield from _unknown(module, piece, seen)
  elif isinstance(node, ast.BoolOp):
    for value in node.values:
      yield from _unknown(module, value, seen)
  elif isinstance(node, ast.Name):
    yield from _of_name(module, node, seen)
  elif not isinstance(node, ast.Constant) and not _is_empty(node):
    yield node


def _is_empty(node: ast.expr) -> bool:
  """Whether an expression is `list()`."""
  return isinstance(node, ast.Call) and not node.args and ast.unparse(node.func) == "list"


def _of_name(module: Module, name: ast.Name, seen: set[ast.AST]) -> Iterator[ast.expr]:
  _, bindings = module.scope_of[name].lookup(name.id)
  if not bindings:
    yield name  # Of a star import, or of what the file is put together with.
  for binding in bindings:
    value = binding.value
    if isinstance(binding.node, ast.AugAssign):
      value = binding.node.value
    if value is None:
      yield name
    else:
      yield from _unknown(module, value, seen)
  for load in facts.loads(module, name):
    parent = module.parents.get(load)
    call = module.parents.get(parent) if parent is not None else None
    called = isinstance(call, ast.Call) and call.func is parent
    if called and isinstance(parent, ast.Attribute) and parent.attr in _ADDING:
      assert isinstance(call, ast.Call)
      yield from _unknown(module, call.args[-1] if call.args else None, seen)
