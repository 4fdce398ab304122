"""Which bindings of a name count at a place: notebooks and scripts bind names again and again."""

from __future__ import annotations

import ast
from typing import Optional

from migrator.analysis.binding import Binding
from migrator.analysis.module import Module
from migrator.lint import values


def reaching(module: Module, name: ast.Name) -> list[Binding]:
  """The bindings whose value a name can have, as far as the order of the source tells.

  Within one scope what is below does not count, nor what is above a binding that happens in any
  case. Seen from a function, all bindings of a name of its module count.
  """
  scope = module.scope_of.get(name, module.root)
  owner, bindings = scope.lookup(name.id)
  if owner is not scope or len(bindings) < 2:
    return list(bindings)
  above = [b for b in bindings if b.node.lineno < name.lineno]
  around = set(module.ancestors(name))
  for number in range(len(above) - 1, -1, -1):
    binding = above[number]
    if isinstance(binding.node, ast.AugAssign):
      continue
    if not binding.guarded or module.parents.get(binding.node) in around:
      return above[number:]
  return above


def last_value(module: Module, name: ast.Name) -> Optional[ast.AST]:
  """The expression that a name stands for, if it is certain."""
  bindings = reaching(module, name)
  if len(bindings) != 1 or bindings[0].kind != "assign":
    return None
  return bindings[0].value


def possible(module: Module, node: ast.AST) -> list[ast.AST]:
  """What an expression can stand for at its place; empty when it cannot be known."""
  while isinstance(node, ast.Name):
    value = last_value(module, node)
    if value is None:
      break
    node = value
  return values.possible(module, node) or []
