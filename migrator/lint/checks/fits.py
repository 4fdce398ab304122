"""Keras models, their `fit` calls, and the callbacks that these get."""

from __future__ import annotations

import ast
import weakref
from collections.abc import Iterator, Mapping
from typing import Any, Optional, TypeVar

from migrator.analysis.module import Module
from migrator.lint import values
from migrator.lint.checks import reaching

BACKUPS = (
  "tf.keras.callbacks.BackupAndRestore",
  "tf.keras.callbacks.experimental.BackupAndRestore",
)
MODEL_CHECKPOINT = "tf.keras.callbacks.ModelCheckpoint"
MODEL_CHECKPOINT_PARAMETERS = (
  "filepath",
  "monitor",
  "verbose",
  "save_best_only",
  "save_weights_only",
  "mode",
  "save_freq",
)
_CALLBACK_LIST = "tf.keras.callbacks.CallbackList"
_MAX_DEPTH = 6

_Node = TypeVar("_Node", bound=ast.AST)
# The nodes of a module by their types, and its method calls by the methods' names.
_INDEX: weakref.WeakKeyDictionary[Module, Mapping[Any, list]] = weakref.WeakKeyDictionary()


def _index(module: Module) -> Mapping[Any, list]:
  found = _INDEX.get(module)
  if found is None:
    index: dict[Any, list] = {}
    for node in list(module.scope_of):
      index.setdefault(type(node), []).append(node)
      if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        index.setdefault(node.func.attr, []).append(node)
    found = _INDEX[module] = index
  return found


def nodes(module: Module, kind: type[_Node]) -> list[_Node]:
  """All nodes of a type, in the order of the source."""
  return _index(module).get(kind, [])


def method_calls(module: Module, *names: str) -> list[ast.Call]:
  """The calls `x.name(...)`."""
  index = _index(module)
  return [call for name in names for call in index.get(name, ())]


def fit_calls(module: Module) -> Iterator[ast.Call]:
  """The calls of `fit` that get callbacks."""
  for call in method_calls(module, "fit", "fit_generator"):
    if any(k.arg == "callbacks" for k in call.keywords):
      yield call


def callbacks_of(module: Module, fit: ast.Call) -> list[ast.Call]:
  """The calls that make the callbacks of a `fit` call, as far as they can be seen."""
  node = next((k.value for k in fit.keywords if k.arg == "callbacks"), None)
  found: dict[ast.Call, None] = {}
  for element in _elements(module, node, 0):
    for value in reaching.possible(module, element):
      if isinstance(value, ast.Call):
        found[value] = None
  return list(found)


def callback_of(module: Module, fit: ast.Call, *paths: str) -> Optional[ast.Call]:
  """The first callback of a `fit` call that is made by one of the symbols, or None."""
  made = callbacks_of(module, fit)
  return next((c for c in made if values.is_call_of(module, c, paths)), None)


def _elements(module: Module, node: Optional[ast.AST], depth: int) -> Iterator[ast.AST]:
  """The elements of a list, however it is put together; or the one callback."""
  if node is None or depth > _MAX_DEPTH:
    return
  depth += 1
  found = values.pieces(node)
  if found is not None:
    for piece, is_list in found:
      if is_list:
        yield from _elements(module, piece, depth)
      else:
        yield piece
  elif isinstance(node, ast.Name):
    yield from _of_variable(module, node, depth)
  elif isinstance(node, ast.Call):
    function = _method(module, node) or module.definition(node.func)
    if values.is_call_of(module, node, (_CALLBACK_LIST,)) and node.args:
      yield from _elements(module, node.args[0], depth)
    elif isinstance(function, ast.FunctionDef):
      for value in returned(function):
        yield from _elements(module, value, depth)
    else:
      yield node
  else:
    yield node


def _method(module: Module, call: ast.Call) -> Optional[ast.FunctionDef]:
  """The method of the same class that `self.name(...)` calls, or None."""
  function = call.func
  if not isinstance(function, ast.Attribute) or not isinstance(function.value, ast.Name):
    return None
  owner = next((a for a in module.ancestors(call) if isinstance(a, ast.ClassDef)), None)
  if owner is None or function.value.id not in ("self", "cls"):
    return None
  methods = (m for m in owner.body if isinstance(m, ast.FunctionDef))
  return next((m for m in methods if m.name == function.attr), None)


def _of_variable(module: Module, name: ast.Name, depth: int) -> Iterator[ast.AST]:
  """The elements of the lists that a variable can be here, and of what is appended to them."""
  scope = module.scope_of.get(name, module.root)
  owner, _ = scope.lookup(name.id)
  bindings = reaching.reaching(module, name)
  lines = [b.node.lineno for b in bindings]  # type: ignore[attr-defined]
  for binding in bindings:
    if isinstance(binding.node, ast.AugAssign):
      yield from _elements(module, binding.node.value, depth)
    elif binding.kind == "assign":
      yield from _elements(module, binding.value, depth)
  for call in method_calls(module, "append", "extend", "insert"):
    target = call.func.value  # type: ignore[attr-defined]
    if not isinstance(target, ast.Name) or target.id != name.id or not call.args:
      continue
    if module.scope_of[target].lookup(name.id)[0] is not owner:
      continue
    if owner is scope and lines and not lines[0] <= call.lineno <= name.lineno:
      continue
    if call.func.attr == "extend":  # type: ignore[attr-defined]
      yield from _elements(module, call.args[0], depth)
    else:
      yield call.args[-1]


def returned(function: ast.AST) -> Iterator[ast.expr]:
  """The expressions that a function returns."""
  for node in _own_nodes(function):
    if isinstance(node, ast.Return) and node.value is not None:
      yield node.value


def is_generator(function: ast.AST) -> bool:
  """Whether a function yields."""
  return any(isinstance(node, (ast.Yield, ast.YieldFrom)) for node in _own_nodes(function))


def _own_nodes(function: ast.AST) -> Iterator[ast.AST]:
  """The nodes of a function without those of functions and classes in it."""
  todo = list(ast.iter_child_nodes(function))
  while todo:
    node = todo.pop(0)
    yield node
    if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)):
      todo += ast.iter_child_nodes(node)
