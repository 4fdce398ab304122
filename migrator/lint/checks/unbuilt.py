"""Models that are not built before a `fit` with BackupAndRestore."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Optional

from migrator.analysis.module import Module
from migrator.lint import values
from migrator.lint.checks import fits, keras_models, keras_versions, reaching
from migrator.lint.checks.registry import Context, Report, check

_SHAPE_KEYWORDS = frozenset(
  ("input_shape", "batch_input_shape", "input_dim", "batch_shape", "shape")
)
# Called on a model, they build it, or work only if it is built.
_BUILDING_METHODS = frozenset(
  """build compute_output_shape evaluate fit fit_generator load_weights predict predict_on_batch
  set_weights summary test_on_batch train_on_batch""".split()
)
_HARMLESS = ("tf.train.Checkpoint", "tf.train.CheckpointManager")
_HARMLESS_NAMES = ("print", "type", "isinstance", "id", "repr")
_NAMING = frozenset(("name", "dtype", "trainable", "dynamic", "autocast"))


@check("EM502", words=("BackupAndRestore",))
def unbuilt_models(context: Context) -> Iterator[Report]:
  """`fit` with BackupAndRestore of a model that has no input shape."""
  module = context.module
  reported: set[ast.AST] = set()
  for fit, model, backup in unbuilt_fits(module, classes=True):
    if model not in reported and not keras_versions.is_silent_in_keras_3(module, fit):
      reported.add(model)
      what = describe(module, model)
      yield context.report("EM502", model, what=what, line=module.span(backup).line)


def describe(module: Module, model: ast.Call) -> str:
  """What is said of a model that is not built."""
  if values.is_call_of(module, model, keras_models.SEQUENTIALS):
    return "This Sequential has no input shape"
  return f"Nothing builds this `{values.text(module, model.func)}`"


def unbuilt_fits(
  module: Module, *, classes: bool = False
) -> Iterator[tuple[ast.Call, ast.Call, ast.AST]]:
  """The `fit` calls with BackupAndRestore of a model that is not built before.

  Args:
    module: the module.
    classes: also models of classes that the module derives from `tf.keras.Model`.

  Yields:
    The fit call, the call that makes the model, and the BackupAndRestore.
  """
  for fit in fits.fit_calls(module):
    backup = fits.callback_of(module, fit, *fits.BACKUPS)
    if backup is None or not isinstance(fit.func, ast.Attribute):
      continue
    for model in _unbuilt(module, fit.func.value, fit):
      if classes or values.is_call_of(module, model, keras_models.SEQUENTIALS):
        yield fit, model, backup


def _unbuilt(module: Module, node: ast.AST, before: ast.AST) -> Iterator[ast.Call]:
  """The calls behind a model expression that make a model which nothing builds before a place."""
  if isinstance(node, ast.Name) and _is_built(module, node, before):
    return
  if isinstance(node, ast.Attribute) and _is_attribute_built(module, node, before):
    return
  for value in reaching.possible(module, node):
    if not isinstance(value, ast.Call):
      continue
    if values.is_call_of(module, value, keras_models.SEQUENTIALS):
      if _lacks_shape(module, value):
        yield value
      continue
    made_by = module.definition(value.func)
    if isinstance(made_by, ast.FunctionDef):
      for result in fits.returned(made_by):
        yield from _unbuilt(module, result, module.parents[result])
    elif isinstance(made_by, ast.ClassDef) and _needs_data(module, made_by):
      yield value


def _needs_data(module: Module, node: ast.ClassDef) -> bool:
  """Whether a model class gets its variables from the first batch only."""
  if not any(_path(module, base) in keras_models.CLASSES for base in node.bases):
    return False
  body = {f.name: f for f in node.body if isinstance(f, ast.FunctionDef)}
  if "call" not in body or "fit" in body:
    return False
  constructor = body.get("__init__")
  for call in ast.walk(constructor) if constructor is not None else ():
    if isinstance(call, ast.Call) and _builds(module, call):
      return False
  return True


def _builds(module: Module, call: ast.Call) -> bool:
  """Whether a call in a constructor builds the model: by its inputs, or by a first batch."""
  function = call.func
  if isinstance(function, ast.Name):
    return function.id == "self" or any(_is_self(a) for a in call.args)
  if not isinstance(function, ast.Attribute):
    return False
  if function.attr == "__init__":
    given = [a for a in call.args if not _is_self(a)]
    return bool(given) or any(k.arg is not None and k.arg not in _NAMING for k in call.keywords)
  if _is_self(function.value):
    return function.attr in (*_BUILDING_METHODS, "call", "__call__")
  return any(_is_self(a) for a in call.args)


def _is_self(node: ast.AST) -> bool:
  return isinstance(node, ast.Name) and node.id == "self"


def _path(module: Module, node: ast.AST) -> str:
  symbol = module.resolve(node)
  return symbol.path if symbol is not None else ""


def _is_built(module: Module, name: ast.Name, before: ast.AST) -> bool:
  """Whether the model of this name may be built above a place: called, or given to a function.

  What was done before the name was bound to another model does not count.
  """
  owner, _ = module.scope_of[name].lookup(name.id)
  line = before.lineno  # type: ignore[attr-defined]
  made = reaching.last_value(module, name)
  first = made.lineno if isinstance(made, ast.Call) else 0
  for call in fits.nodes(module, ast.Call):
    if not first <= call.lineno < line:
      continue
    target: ast.AST = call.func
    if isinstance(target, ast.Attribute) and target.attr in _BUILDING_METHODS:
      target = target.value
    named = [target] if _is_harmless(module, call) else [target, *call.args]
    named += [k.value for k in call.keywords] if len(named) > 1 else []
    for node in named:
      same = isinstance(node, ast.Name) and node.id == name.id
      if same and module.scope_of[node].lookup(name.id)[0] is owner:
        return True
  return False


def _is_attribute_built(module: Module, node: ast.Attribute, before: ast.AST) -> bool:
  """Whether the model `self.x` may be built anywhere else in its class: methods have no order."""
  owner = next((a for a in module.ancestors(node) if isinstance(a, ast.ClassDef)), None)
  text = ast.unparse(node)
  for call in ast.walk(owner) if owner is not None else ():
    if not isinstance(call, ast.Call) or call is before:
      continue
    target: ast.AST = call.func
    if isinstance(target, ast.Attribute) and target.attr in _BUILDING_METHODS:
      target = target.value
    named = [target] if _is_harmless(module, call) else [target, *call.args]
    if any(isinstance(n, ast.Attribute) and ast.unparse(n) == text for n in named):
      return True
  return False


def _is_harmless(module: Module, call: ast.Call) -> bool:
  """Whether a function certainly does not build a model that it gets."""
  if isinstance(call.func, ast.Name) and call.func.id in _HARMLESS_NAMES:
    return True
  return values.is_call_of(module, call, _HARMLESS)


def _lacks_shape(module: Module, sequential: ast.Call) -> bool:
  """Whether the first layer is known and says nothing about the input."""
  first = _first_layer(module, sequential)
  if not isinstance(first, ast.Call):
    return False
  path = _path(module, first.func)
  if not path.startswith("tf.keras.layers."):
    return False
  if path.rpartition(".")[2] in ("Input", "InputLayer"):
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
    if not isinstance(display, (ast.List, ast.Tuple)):
      return None
    if display.elts:
      return module.definition(display.elts[0])
  statement = module.parents.get(sequential)
  if not isinstance(statement, ast.Assign) or not isinstance(statement.targets[0], ast.Name):
    return None
  name = statement.targets[0].id
  owner = module.scope_of[sequential].lookup(name)[0]
  for call in fits.method_calls(module, "add"):
    target = call.func.value  # type: ignore[attr-defined]
    same = isinstance(target, ast.Name) and target.id == name
    if not same or not call.args or call.lineno <= sequential.lineno:
      continue
    if module.scope_of[target].lookup(name)[0] is owner:
      return module.definition(call.args[0])
  return None
