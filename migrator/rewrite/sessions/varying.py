"""Paths of saves that are not the same at each save, or not known where the Saver is made."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from migrator.analysis.binding import Binding
from migrator.analysis.module import Module
from migrator.rewrite.sessions.found import Unit
from migrator.rewrite.sessions.steps import Saved

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_LOOPS = (ast.For, ast.AsyncFor, ast.While)
# What makes a text or a path of nothing but its arguments.
_PURE = ("join", "format", "str", "expanduser", "abspath", "dirname", "basename")
_DEPTH = 4


def changing(module: Module, unit: Unit, saved: Saved) -> list[str]:
  """The names in directory and name of a save that have another value at each save."""
  made_with = {a for c in unit.calls for a in _loops(module, c)}
  loops = _loops(module, saved.call) - made_with
  formatted = saved.place.whole is not None and _is_formatted(saved.place.whole)
  return _unique(
    name
    for name in _used(saved)
    if _changes(module, name, loops, _DEPTH)
    or (formatted and _is_of_another_function(module, unit, name))
  )


def elsewhere(module: Module, unit: Unit, saved: Saved) -> list[str]:
  """The names in directory and name of a save that have no value where the Saver is made."""
  return _unique(n for n in _used(saved) if _is_of_another_function(module, unit, n))


def _unique(names: Iterator[ast.Name]) -> list[str]:
  return list(dict.fromkeys(n.id for n in names))


def _used(saved: Saved) -> list[ast.Name]:
  """The names of a path that stand in its directory or name, not in its number."""
  place = saved.place
  shown = ast.walk(ast.parse(f"({place.directory}, {place.name})", mode="eval"))
  inside = {n.id for n in shown if isinstance(n, ast.Name)} - {"self", "cls"}
  nodes = [saved.node, *([place.value] if place.value is not None else [])]
  return [n for node in nodes for n in ast.walk(node) if isinstance(n, ast.Name) and n.id in inside]


def _loops(module: Module, node: ast.AST) -> set[ast.AST]:
  return {a for a in module.ancestors(node) if isinstance(a, _LOOPS)}


def _is_formatted(node: ast.expr) -> bool:
  """Whether an expression makes a text of values."""
  return any(
    isinstance(n, ast.JoinedStr)
    or (isinstance(n, ast.BinOp) and isinstance(n.op, (ast.Mod, ast.Add)))
    or (isinstance(n, ast.Call) and _function(n) in ("format", "str"))
    for n in ast.walk(node)
  )


def _function(call: ast.Call) -> str:
  return ast.unparse(call.func).rpartition(".")[2]


def _bindings(module: Module, name: ast.Name) -> list[Binding]:
  scope = module.scope_of.get(name)
  return scope.lookup(name.id)[1] if scope is not None else []


def _changes(module: Module, name: ast.Name, loops: set[ast.AST], depth: int) -> bool:
  """Whether a name gets another value in each round of loops."""
  for binding in _bindings(module, name):
    if binding.node not in loops and not loops.intersection(module.ancestors(binding.node)):
      continue
    value = binding.value
    if value is None or depth == 0:
      return True
    parts = list(ast.walk(value))
    if any(isinstance(p, ast.Call) and _function(p) not in _PURE for p in parts):
      return True
    if any(isinstance(p, ast.Name) and _changes(module, p, loops, depth - 1) for p in parts):
      return True
  return False


def _is_of_another_function(module: Module, unit: Unit, name: ast.Name) -> bool:
  """Whether a name is bound in a function that is not around what makes the Saver."""
  around = set(module.ancestors(unit.call))
  for binding in _bindings(module, name):
    function = next((a for a in module.ancestors(binding.node) if isinstance(a, _FUNCTIONS)), None)
    if function is not None and function not in around:
      return True
  return False
