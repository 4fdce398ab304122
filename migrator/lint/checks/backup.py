"""Faults of TF2 code around BackupAndRestore."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any, Optional

from migrator.analysis.module import Module
from migrator.lint import values
from migrator.lint.checks import cardinality, fits, keras_versions
from migrator.lint.checks.registry import Context, Report, check

PARAMETERS = ("backup_dir", "save_freq")
_STATEFUL = {
  "tf.keras.callbacks.EarlyStopping": (
    "EarlyStopping",
    "its patience and its best value start anew, so that training stops later",
  ),
  "tf.keras.callbacks.ReduceLROnPlateau": (
    "ReduceLROnPlateau",
    "its patience and its best value start anew, so that the learning rate falls later",
  ),
  fits.MODEL_CHECKPOINT: (
    "ModelCheckpoint(save_best_only=True)",
    "the first epoch counts as the best and is saved, be it worse",
  ),
}
_DISABLING = (
  "tf.disable_eager_execution",
  "tf.disable_v2_behavior",
)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_ENABLING = ("tf.enable_eager_execution", "tf.enable_v2_behavior")


@check("EM504", "EM505", words=("BackupAndRestore",))
def arguments(context: Context) -> Iterator[Report]:
  """`save_freq` in batches, and the backup that is deleted at the end."""
  module = context.module
  for call, _ in context.calls_of(*fits.BACKUPS):
    found = values.arguments(module, call, PARAMETERS)
    frequency = batches(module, found)
    if frequency is not None and not keras_versions.is_for_keras_2(module, call):
      yield context.report("EM504", call, value=frequency)
    if is_deleted(module, found):
      yield _deleted(context, call, found.get("delete_checkpoint"))


def batches(module: Module, found: values.Arguments) -> Optional[int]:
  """The `save_freq` of a callback, if it is a number."""
  value = values.literal(module, found.get("save_freq"))
  return value if isinstance(value, int) and not isinstance(value, bool) else None


def is_deleted(module: Module, found: values.Arguments) -> bool:
  """Whether a BackupAndRestore certainly deletes its backup when `fit` ends."""
  delete = found.get("delete_checkpoint")
  if delete is None:
    return found.complete
  return values.literal(module, delete) is True


def _deleted(context: Context, call: ast.Call, delete: Optional[ast.expr]) -> Report:
  """EM505, with what to write where that is one edit in the line of the call."""
  if isinstance(delete, ast.Constant):
    return Report("EM505", context.module.span(delete), {}, "False")
  report = context.report("EM505", call)
  if delete is not None or call.lineno != call.end_lineno:
    return report
  source = context.module.source(call)
  separator = ", " if (call.args or call.keywords) and not source[:-1].endswith(",") else ""
  fixed = f"{source[:-1]}{separator}delete_checkpoint=False)"
  return Report("EM505", context.module.span(call), report.values, fixed)


@check("EM510", words=("BackupAndRestore",), also=("steps_per_execution",))
def executions(context: Context) -> Iterator[Report]:
  """An integer `save_freq` of a model that is compiled with `steps_per_execution`."""
  module = context.module
  reported: set[ast.AST] = set()
  for fit in fits.fit_calls(module):
    backup = fits.callback_of(module, fit, *fits.BACKUPS)
    if backup is None or backup in reported:
      continue
    found = values.arguments(module, backup, PARAMETERS)
    frequency, node = batches(module, found), found.get("save_freq")
    compiled = _compile_of(module, fit)
    if frequency is None or node is None or compiled is None:
      continue
    steps = values.literal(module, compiled)
    if steps in (None, 1):
      continue
    reported.add(backup)
    known = isinstance(steps, int)
    shown = str(steps) if known else values.text(module, compiled)
    product = str(frequency * steps) if known else f"{frequency} x {shown}"
    yield context.report(
      "EM510",
      node,
      value=frequency,
      steps=shown,
      product=product,
      line=module.span(compiled).line,
    )


def _compile_of(module: Module, fit: ast.Call) -> Optional[ast.expr]:
  """The `steps_per_execution` with which the model of a `fit` call is compiled."""
  assert isinstance(fit.func, ast.Attribute)
  model = fit.func.value
  compiled = list(fits.method_calls(module, "compile"))
  same = [c for c in compiled if _is_same(module, c.func.value, model)]  # type: ignore[attr-defined]
  if not same:
    inside = [ast.walk(function) for function in _makers(module, model)]
    bodies = {node for walk in inside for node in walk}
    same = [c for c in compiled if c in bodies]
  found = {k.value for c in same for k in c.keywords if k.arg == "steps_per_execution"}
  return found.pop() if len(found) == 1 else None


def _is_same(module: Module, first: ast.AST, second: ast.AST) -> bool:
  """Whether two expressions are the same variable."""
  if isinstance(first, ast.Name) and isinstance(second, ast.Name) and first.id == second.id:
    scopes = [module.scope_of[n].lookup(n.id)[0] for n in (first, second)]
    return scopes[0] is scopes[1]
  if isinstance(first, ast.Attribute) and isinstance(second, ast.Attribute):
    return ast.unparse(first) == ast.unparse(second)
  return False


def _makers(module: Module, model: ast.AST) -> Iterator[ast.AST]:
  """The functions of the module whose result a model is."""
  for value in values.possible(module, model) or ():
    function = module.definition(value.func) if isinstance(value, ast.Call) else None
    if isinstance(function, ast.FunctionDef):
      yield function


@check("EM511", words=("BackupAndRestore",), also=("disable_", "as_default"))
def without_eager(context: Context) -> Iterator[Report]:
  """BackupAndRestore in a program that disables eager execution, or inside of a graph."""
  module = context.module
  disabling = _disabling(context)
  for call, _ in context.calls_of(*fits.BACKUPS):
    if keras_versions.is_expected_to_raise(module, call):
      continue
    disabled = next((d for d in disabling if _runs_before(module, d, call)), None)
    if disabled is not None:
      what = f"`{values.text(module, disabled.func)}()`"
      yield context.report("EM511", call, what=what, line=module.span(disabled).line)
      continue
    graph = _graph_around(module, call)
    if graph is not None:
      yield context.report("EM511", call, what="the graph", line=module.span(graph).line)


def _disabling(context: Context) -> list[ast.Call]:
  """The calls that disable eager execution under no condition."""
  module = context.module
  if any(symbol.path in _ENABLING for _, symbol in context.calls):
    return []
  return [
    call
    for call, _ in context.calls_of(*_DISABLING)
    if all(_is_main(a) for a in module.ancestors(call) if isinstance(a, (ast.If, ast.Try)))
  ]


def _runs_before(module: Module, disabling: ast.Call, backup: ast.Call) -> bool:
  """Whether a call certainly counts at another: at module level, in `main`, or around it."""
  functions = [a for a in module.ancestors(disabling) if isinstance(a, _FUNCTIONS)]
  around = set(module.ancestors(backup))
  return all(f in around or f.name in ("main", "_main") for f in functions)


def _is_main(node: ast.AST) -> bool:
  """Whether a condition is `if __name__ == "__main__"`."""
  return isinstance(node, ast.If) and "__name__" in ast.unparse(node.test)


def _graph_around(module: Module, node: ast.AST) -> Optional[ast.expr]:
  """The `tf.Graph().as_default()` in whose `with` block a node stands, or None."""
  for ancestor in module.ancestors(node):
    if isinstance(ancestor, (ast.FunctionDef, ast.Lambda)):
      return None
    for item in ancestor.items if isinstance(ancestor, ast.With) else ():
      entered = item.context_expr
      function = entered.func if isinstance(entered, ast.Call) else None
      if not isinstance(function, ast.Attribute) or function.attr != "as_default":
        continue
      if values.always_call_of(module, function.value, ("tf.Graph",)):
        return entered
  return None


@check("EM520", words=("BackupAndRestore",))
def unknown_sizes(context: Context) -> Iterator[Report]:
  """An integer `save_freq` with data whose size Keras cannot know."""
  module = context.module
  for fit in fits.fit_calls(module):
    backup = fits.callback_of(module, fit, *fits.BACKUPS)
    if backup is None:
      continue
    frequency = batches(module, values.arguments(module, backup, PARAMETERS))
    found = values.arguments(module, fit, ("x", "y"))
    steps = found.get("steps_per_epoch")
    if frequency is None or not found.complete:
      continue
    if steps is not None and values.literal(module, steps) is not None:
      continue
    data = found.get("x")
    reason = cardinality.unknown_because(module, data) if data is not None else None
    if data is not None and reason is not None:
      line = module.span(backup).line
      yield context.report("EM520", data, value=frequency, reason=reason, line=line)


@check("EM521", words=("BackupAndRestore",))
def lost_state(context: Context) -> Iterator[Report]:
  """Callbacks beside BackupAndRestore whose own state no backup holds."""
  module = context.module
  reported: set[ast.AST] = set()
  for fit in fits.fit_calls(module):
    backup = fits.callback_of(module, fit, *fits.BACKUPS)
    for call in fits.callbacks_of(module, fit) if backup is not None else ():
      symbol = module.resolve(call.func)
      kind = _STATEFUL.get(symbol.path) if symbol is not None else None
      if kind is None or backup is None or call in reported or not _counts(module, call, kind[0]):
        continue
      reported.add(call)
      line = module.span(backup).line
      yield context.report("EM521", call, callback=kind[0], consequence=kind[1], line=line)


def _counts(module: Module, call: ast.Call, kind: str) -> bool:
  """Whether a callback decides by what it has seen before."""
  if not kind.startswith("ModelCheckpoint"):
    return True
  found = values.arguments(module, call, fits.MODEL_CHECKPOINT_PARAMETERS)
  best: Any = values.literal(module, found.get("save_best_only"))
  return best is True and found.get("initial_value_threshold") is None
