"""Keras models, their `fit` calls, and the callbacks that these get."""

from __future__ import annotations

import ast
import weakref
from collections.abc import Iterator, Mapping
from typing import Any, Optional, TypeVar

from migrator.analysis import conditions
from migrator.analysis.module import Module
from migrator.lint import values

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
MODEL_CLASSES = ("tf.keras.Model", "tf.keras.models.Model")
SEQUENTIALS = ("tf.keras.Sequential", "tf.keras.models.Sequential")
_MAKERS = (
  *MODEL_CLASSES,
  *SEQUENTIALS,
  "tf.keras.models.load_model",
  "tf.keras.models.clone_model",
  "tf.keras.models.model_from_json",
)
_CALLBACK_LIST = "tf.keras.callbacks.CallbackList"
_KERAS_3_SINCE = (2, 16)
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


def is_for_keras_2(module: Module, node: ast.AST) -> bool:
  """Whether code runs with Keras 2 only: by the environment variable, or under a version test."""
  variable = "TF_USE_LEGACY_KERAS"
  if variable in module.text and any(c.value == variable for c in nodes(module, ast.Constant)):
    return True
  if "version" not in module.text.lower():
    return False
  child = node
  for ancestor in module.ancestors(node):
    if isinstance(ancestor, (ast.If, ast.IfExp)) and child is not ancestor.test:
      body = ancestor.body if isinstance(ancestor.body, list) else [ancestor.body]
      if _asks_for_keras_2(module, ancestor.test, child in body):
        return True
    child = ancestor
  return False


def _asks_for_keras_2(module: Module, test: ast.expr, truth: bool) -> bool:
  text = ast.unparse(test)
  if "keras" in text.lower() and "version" in text.lower():
    return True
  return any(
    known.never or (known.below and known.below <= _KERAS_3_SINCE)
    for known in conditions.implied(module, test, truth)
  )


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
    for value in values.possible(module, element) or ():
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
  if isinstance(node, (ast.List, ast.Tuple)):
    for element in node.elts:
      if isinstance(element, ast.Starred):
        yield from _elements(module, element.value, depth)
      else:
        yield element
  elif isinstance(node, ast.BinOp):
    yield from _elements(module, node.left, depth)
    yield from _elements(module, node.right, depth)
  elif isinstance(node, ast.IfExp):
    yield from _elements(module, node.body, depth)
    yield from _elements(module, node.orelse, depth)
  elif isinstance(node, ast.Name):
    yield from _of_variable(module, node, depth)
  elif isinstance(node, ast.Call):
    function = module.definition(node.func)
    if values.is_call_of(module, node, (_CALLBACK_LIST,)) and node.args:
      yield from _elements(module, node.args[0], depth)
    elif isinstance(function, ast.FunctionDef):
      for value in returned(function):
        yield from _elements(module, value, depth)
    else:
      yield node
  else:
    yield node


def _of_variable(module: Module, name: ast.Name, depth: int) -> Iterator[ast.AST]:
  """The elements of all lists that a variable is bound to, and of what is appended to it."""
  owner, bindings = module.scope_of.get(name, module.root).lookup(name.id)
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


def is_model(module: Module, node: ast.AST, depth: int = 0) -> bool:
  """Whether an expression is certainly a Keras model."""
  if isinstance(node, ast.Attribute) and node.attr == "model":
    owner = next((a for a in module.ancestors(node) if isinstance(a, ast.ClassDef)), None)
    of_callback = owner is not None and is_callback_class(module, owner)
    if of_callback and isinstance(node.value, ast.Name) and node.value.id == "self":
      return True
  if isinstance(node, ast.Name) and _is_compiled(module, node):
    return True
  possible = values.possible(module, node)
  if not possible or depth > _MAX_DEPTH:
    return False
  return all(_makes_model(module, value, depth + 1) for value in possible)


def _makes_model(module: Module, node: ast.AST, depth: int) -> bool:
  if not isinstance(node, ast.Call):
    return False
  symbol = module.resolve(node.func)
  if symbol is not None and (
    symbol.path in _MAKERS or symbol.path.startswith("tf.keras.applications.")
  ):
    return True
  made_by = module.definition(node.func)
  if isinstance(made_by, ast.ClassDef):
    return is_model_class(module, made_by)
  if isinstance(made_by, ast.FunctionDef):
    results = list(returned(made_by))
    return bool(results) and all(is_model(module, r, depth) for r in results)
  return False


def _is_compiled(module: Module, name: ast.Name) -> bool:
  """Whether `name.compile(...)` is called with an optimizer or a loss where the name means the same."""
  owner = module.scope_of.get(name, module.root).lookup(name.id)[0]
  for call in method_calls(module, "compile"):
    target = call.func.value  # type: ignore[attr-defined]
    if not isinstance(target, ast.Name) or target.id != name.id:
      continue
    keywords = {k.arg for k in call.keywords}
    if keywords & {"optimizer", "loss", "metrics"} or call.args:
      return module.scope_of[target].lookup(name.id)[0] is owner and _imports_keras(module)
  return False


def _imports_keras(module: Module) -> bool:
  return any(use.symbol.path.startswith("tf.keras") for use in module.uses())


def overrides(module: Module, model: ast.AST, method: str) -> bool:
  """Whether a model may be of a class of the module that has its own version of a method."""
  for value in values.possible(module, model) or ():
    made_by = module.definition(value.func) if isinstance(value, ast.Call) else None
    if _defines(module, made_by, method, 0):
      return True
  return False


def _defines(module: Module, node: Optional[ast.AST], method: str, depth: int) -> bool:
  if not isinstance(node, ast.ClassDef) or depth > _MAX_DEPTH:
    return False
  if any(isinstance(f, ast.FunctionDef) and f.name == method for f in node.body):
    return True
  return any(_defines(module, module.definition(b), method, depth + 1) for b in node.bases)


def is_model_class(module: Module, node: ast.AST) -> bool:
  """Whether a class derives from a Keras model."""
  return _derives(module, node, lambda path: path in (*MODEL_CLASSES, *SEQUENTIALS), 0)


def is_callback_class(module: Module, node: ast.AST) -> bool:
  """Whether a class derives from a Keras callback."""
  return _derives(module, node, lambda path: path.startswith("tf.keras.callbacks."), 0)


def _derives(module: Module, node: Optional[ast.AST], fits, depth: int) -> bool:
  if not isinstance(node, ast.ClassDef) or depth > _MAX_DEPTH:
    return False
  for base in node.bases:
    symbol = module.resolve(base)
    if symbol is not None and fits(symbol.path):
      return True
    if _derives(module, module.definition(base), fits, depth + 1):
      return True
  return False
