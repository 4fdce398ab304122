"""Faults of TF2 code that uses BackupAndRestore and ModelCheckpoint."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Optional

from migrator.analysis.module import Module
from migrator.lint import values
from migrator.lint.checks.registry import Context, Report, check

_BACKUPS = (
  "tf.keras.callbacks.BackupAndRestore",
  "tf.keras.callbacks.experimental.BackupAndRestore",
)
_SEQUENTIALS = ("tf.keras.Sequential", "tf.keras.models.Sequential")
_SHAPE_KEYWORDS = frozenset(
  ("input_shape", "batch_input_shape", "input_dim", "batch_shape", "shape")
)
_BUILDING_METHODS = frozenset(
  ("build", "evaluate", "predict", "predict_on_batch", "train_on_batch", "test_on_batch")
)


@check("EM504", "EM505", words=("BackupAndRestore",))
def arguments(context: Context) -> Iterator[Report]:
  """`save_freq` in batches, and the backup that is deleted at the end."""
  for call, _ in context.calls_of(*_BACKUPS):
    found = values.arguments(context.module, call, ("backup_dir", "save_freq"))
    frequency = values.literal(context.module, found.get("save_freq"))
    if isinstance(frequency, int) and not isinstance(frequency, bool):
      yield context.report("EM504", call, value=frequency)
    delete = found.get("delete_checkpoint")
    if delete is None:
      if found.complete:
        yield context.report("EM505", call)
    elif values.literal(context.module, delete) is True:
      yield context.report("EM505", call)


@check("EM509", words=("ModelCheckpoint",))
def period(context: Context) -> Iterator[Report]:
  """`ModelCheckpoint(period=)`."""
  for call, _ in context.calls_of("tf.keras.callbacks.ModelCheckpoint"):
    found = values.arguments(context.module, call).get("period")
    if found is not None:
      yield context.report("EM509", found)


@check("EM502", words=("BackupAndRestore",))
def unbuilt_models(context: Context) -> Iterator[Report]:
  """`fit` with BackupAndRestore of a Sequential that has no input shape."""
  reported: set[ast.AST] = set()
  for _, model, backup in unbuilt_fits(context.module):
    if model not in reported:
      reported.add(model)
      yield context.report("EM502", model, line=context.module.span(backup).line)


def unbuilt_fits(module: Module) -> Iterator[tuple[ast.Call, ast.Call, ast.AST]]:
  """The `fit` calls with BackupAndRestore of a model that is not built before.

  Yields:
    The fit call, the call that makes the Sequential, and the BackupAndRestore.
  """
  for fit in module.scope_of:
    if not isinstance(fit, ast.Call) or not _is_method(fit, "fit"):
      continue
    backup = _backup_of(module, fit)
    if backup is None or not isinstance(fit.func, ast.Attribute):
      continue
    for model in _unbuilt(module, fit.func.value, fit):
      yield fit, model, backup


def _is_method(node: ast.Call, name: str) -> bool:
  return isinstance(node.func, ast.Attribute) and node.func.attr == name


def _backup_of(module: Module, fit: ast.Call) -> Optional[ast.AST]:
  """The BackupAndRestore among the callbacks of a `fit` call, or None."""
  callbacks = next((k.value for k in fit.keywords if k.arg == "callbacks"), None)
  for element in _elements(module, callbacks):
    for value in values.possible(module, element) or ():
      if values.is_call_of(module, value, _BACKUPS):
        return value
  return None


def _elements(module: Module, node: Optional[ast.AST]) -> Iterator[ast.AST]:
  """The elements of a list display, a sum of lists, or the one callback."""
  node = module.definition(node) if node is not None else None
  if isinstance(node, (ast.List, ast.Tuple)):
    for element in node.elts:
      yield element.value if isinstance(element, ast.Starred) else element
  elif isinstance(node, ast.BinOp):
    yield from _elements(module, node.left)
    yield from _elements(module, node.right)
  elif node is not None:
    yield node


def _unbuilt(module: Module, node: ast.AST, before: ast.AST) -> Iterator[ast.Call]:
  """The Sequential calls behind a model expression that nothing builds before a place."""
  if isinstance(node, ast.Name) and _is_built(module, node, before):
    return
  for value in values.possible(module, node) or ():
    if values.is_call_of(module, value, _SEQUENTIALS):
      if isinstance(value, ast.Call) and _lacks_shape(module, value):
        yield value
    elif isinstance(value, ast.Call):
      function = module.definition(value.func)
      if isinstance(function, ast.FunctionDef):
        for statement in ast.walk(function):
          if isinstance(statement, ast.Return) and statement.value is not None:
            yield from _unbuilt(module, statement.value, statement)


def _is_built(module: Module, name: ast.Name, before: ast.AST) -> bool:
  """Whether the model of this name is called or built above a place."""
  owner, _ = module.scope_of[name].lookup(name.id)
  for node, scope in module.scope_of.items():
    if not isinstance(node, ast.Call) or node.lineno >= before.lineno:  # type: ignore[attr-defined]
      continue
    target = node.func
    if isinstance(target, ast.Attribute) and target.attr in _BUILDING_METHODS:
      target = target.value
    same = isinstance(target, ast.Name) and target.id == name.id
    if same and scope.lookup(name.id)[0] is owner:
      return True
  return False


def _lacks_shape(module: Module, sequential: ast.Call) -> bool:
  """Whether the first layer is known and says nothing about the input."""
  first = _first_layer(module, sequential)
  if not isinstance(first, ast.Call):
    return False
  symbol = module.resolve(first.func)
  if symbol is None or not symbol.path.startswith("tf.keras.layers."):
    return False
  if symbol.path.rpartition(".")[2] in ("Input", "InputLayer"):
    return False
  return not any(k.arg is None or k.arg in _SHAPE_KEYWORDS for k in first.keywords)


def _first_layer(module: Module, sequential: ast.Call) -> Optional[ast.AST]:
  """The first layer: of the list, else of the first `add` to the variable; or None."""
  found = values.arguments(module, sequential, ("layers", "name"))
  layers = found.get("layers")
  if not found.complete:
    return None
  if layers is not None:
    display = module.definition(layers)
    if not isinstance(display, (ast.List, ast.Tuple)) or not display.elts:
      return None
    return module.definition(display.elts[0])
  statement = module.parents.get(sequential)
  if not isinstance(statement, ast.Assign) or not isinstance(statement.targets[0], ast.Name):
    return None
  name = statement.targets[0].id
  owner = module.scope_of[sequential].lookup(name)[0]
  adds = [
    node
    for node, scope in module.scope_of.items()
    if isinstance(node, ast.Call)
    and isinstance(node.func, ast.Attribute)
    and node.func.attr == "add"
    and isinstance(node.func.value, ast.Name)
    and node.func.value.id == name
    and node.args
    and node.lineno > sequential.lineno
    and scope.lookup(name)[0] is owner
  ]
  first = min(adds, key=lambda n: (n.lineno, n.col_offset), default=None)
  return module.definition(first.args[0]) if first is not None else None
