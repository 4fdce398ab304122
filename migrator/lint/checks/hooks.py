"""Hooks and listeners that count, stop, or are given numbers in another unit than Keras'."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Optional

from migrator.analysis.module import UNKNOWN, Module
from migrator.lint import values
from migrator.lint.checks import estimators
from migrator.lint.checks.registry import Context, Report, check, hook_classes

_LISTENER = "tf.train.CheckpointSaverListener"
_SESSIONS = (
  "tf.train.MonitoredTrainingSession",
  "tf.train.MonitoredSession",
  "tf.train.SingularMonitoredSession",
)
_PARAMETERS = ("estimator", "metric_name", "", "eval_dir", "min_steps")
# Early-stopping hooks: what they take as a number of steps, and what of Keras looks like it.
_UNITS = {
  "stop_if_no_decrease_hook": ("max_steps_without_decrease", "patience"),
  "stop_if_no_increase_hook": ("max_steps_without_increase", "patience"),
  "stop_if_lower_hook": ("min_steps", "start_from_epoch"),
  "stop_if_higher_hook": ("min_steps", "start_from_epoch"),
}
_EARLY_STOPPING = tuple(
  f"{module}.{name}"
  for module in ("tf.estimator.experimental", "tf.contrib.estimator")
  for name in _UNITS
)


@check("EM307", words=("before_run", "after_run"))
def counting_hooks(context: Context) -> Iterator[Report]:
  """Hooks that take the number of their calls for the step."""
  module = context.module
  most = 0
  for node, _, symbol in hook_classes(module):
    if symbol.path == _LISTENER:
      continue
    most = most or runs_in_a_loop(context)
    for method in node.body:
      if not isinstance(method, ast.FunctionDef) or method.name not in ("before_run", "after_run"):
        continue
      for statement in estimators.own_nodes(method):
        counter = incremented(statement, node.name)
        if counter is None or _has_other_source(node, counter, statement):
          continue
        if most < 2 and not ("step" in counter.lower() and _decides(module, node, counter)):
          continue
        runs = f", of which a loop here makes {most} in each round" if most > 1 else ""
        yield context.report(
          "EM307",
          statement,
          name=node.name,
          method=method.name,
          counter=counter,
          often=f"at every `session.run`{runs}",
          start=first_value(node, counter),
        )


def incremented(node: ast.AST, owner: str) -> Optional[str]:
  """The attribute to which a statement adds 1, or None."""
  target: Optional[ast.AST] = None
  if isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Add) and _is_one(node.value):
    target = node.target
  elif isinstance(node, ast.Assign) and isinstance(node.value, ast.BinOp):
    added = node.value
    same = isinstance(added.op, ast.Add) and _is_one(added.right)
    if same and len(node.targets) == 1 and _chain(node.targets[0]) == _chain(added.left):
      target = node.targets[0]
  if not isinstance(target, ast.Attribute) or not isinstance(target.value, ast.Name):
    return None
  return target.attr if target.value.id in ("self", owner) else None


def _is_one(node: ast.AST) -> bool:
  return isinstance(node, ast.Constant) and node.value == 1 and not isinstance(node.value, bool)


def _chain(node: ast.AST) -> str:
  return ast.unparse(node)


def _attributes(node: ast.AST, name: str) -> Iterator[ast.Attribute]:
  for part in ast.walk(node):
    if isinstance(part, ast.Attribute) and part.attr == name and isinstance(part.value, ast.Name):
      yield part


def _has_other_source(owner: ast.ClassDef, counter: str, increment: ast.AST) -> bool:
  """Whether the counter is also set to what is no constant, for example the global step."""
  for node in ast.walk(owner):
    if not isinstance(node, ast.Assign) or node is increment:
      continue
    stored = any(_is_stored(t, counter) for t in node.targets)
    if stored and not _is_literal(node.value) and incremented(node, owner.name) is None:
      return True
  return False


def _is_stored(target: ast.AST, name: str) -> bool:
  return any(not isinstance(a.ctx, ast.Load) for a in _attributes(target, name))


def _is_literal(node: ast.AST) -> bool:
  try:
    ast.literal_eval(node)
  except ValueError:
    return False
  return True


def first_value(owner: ast.ClassDef, counter: str) -> str:
  """The number that the counter begins with, where one is written out."""
  for node in ast.walk(owner):
    if not isinstance(node, ast.Assign) or not _is_literal(node.value):
      continue
    value = ast.literal_eval(node.value)
    for target in node.targets:
      name = target.id if isinstance(target, ast.Name) else getattr(target, "attr", "")
      if name == counter and isinstance(value, (int, float)):
        return str(value)
  return "its first value"


def _decides(module: Module, owner: ast.ClassDef, counter: str) -> bool:
  """Whether the counter is compared, divided, printed or handed on."""
  for use in _attributes(owner, counter):
    if not isinstance(use.ctx, ast.Load):
      continue
    for ancestor in module.ancestors(use):
      if isinstance(ancestor, (ast.Compare, ast.Call, ast.FormattedValue)):
        return True
      if isinstance(ancestor, ast.BinOp) and isinstance(ancestor.op, ast.Mod):
        return True
      if isinstance(ancestor, ast.stmt):
        break
  return False


def runs_in_a_loop(context: Context) -> int:
  """The largest number of `run` calls of one monitored session in a round of a loop; 1 if none."""
  module = context.module
  most = 1
  for call, _ in context.calls_of(*_SESSIONS):
    name = _session_variable(module, call)
    if name is None:
      continue
    rounds: dict[ast.AST, list[ast.Call]] = {}
    for node in module.scope_of:
      if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        owner = node.func.value
        if node.func.attr == "run" and isinstance(owner, ast.Name) and owner.id == name:
          loop = estimators.enclosing_loop(module, node)
          if loop is not None and not _is_conditional(module, node, loop):
            rounds.setdefault(loop, []).append(node)
    most = max([most, *(len(runs) for runs in rounds.values())])
  return most


def _session_variable(module: Module, call: ast.Call) -> Optional[str]:
  """The name of a session that a `with` or an assignment gives it."""
  parent = module.parents.get(call)
  target: Optional[ast.AST] = None
  if isinstance(parent, ast.withitem):
    target = parent.optional_vars
  elif isinstance(parent, ast.Assign) and len(parent.targets) == 1:
    target = parent.targets[0]
  return target.id if isinstance(target, ast.Name) else None


def _is_conditional(module: Module, node: ast.AST, loop: ast.AST) -> bool:
  for ancestor in module.ancestors(node):
    if ancestor is loop:
      return False
    if isinstance(ancestor, (ast.If, ast.IfExp, ast.Try)):
      return True
  return True


@check("EM309", words=("after_save",))
def stopping_listeners(context: Context) -> Iterator[Report]:
  """Listeners whose `after_save` returns something."""
  module = context.module
  for node, _, symbol in hook_classes(module):
    if symbol.path != _LISTENER:
      continue
    for method in node.body:
      if not isinstance(method, ast.FunctionDef) or method.name != "after_save":
        continue
      for statement in estimators.own_nodes(method):
        if not isinstance(statement, ast.Return) or statement.value is None:
          continue
        value = statement.value
        if isinstance(value, ast.Constant) and not value.value:
          continue
        if isinstance(value, ast.Call) and _returns_nothing(module, value, node):
          continue
        what = "where that is true, the training ends after this save"
        if statement in method.body and _is_always_true(value):
          what = "that is always true, so that the training ends after the second save"
        shown = values.text(module, value)
        yield context.report("EM309", statement, name=node.name, value=shown, what=what)


def _returns_nothing(module: Module, call: ast.Call, owner: ast.ClassDef) -> bool:
  """Whether a call is one of the base's `after_save`, or of a method that returns nothing."""
  source = module.source(call.func)
  if ".after_save" in source:
    return True
  for method in owner.body:
    if isinstance(method, ast.FunctionDef) and source == f"self.{method.name}":
      returns = [n for n in estimators.own_nodes(method) if isinstance(n, ast.Return)]
      return all(r.value is None for r in returns)
  return False


def _is_always_true(node: ast.expr) -> bool:
  """Whether a value is true whatever the program does."""
  if isinstance(node, ast.Constant):
    return bool(node.value)
  if isinstance(node, ast.JoinedStr):
    return any(isinstance(v, ast.Constant) and v.value for v in node.values)
  if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod):
    return isinstance(node.left, ast.Constant) and isinstance(node.left.value, str)
  return False


@check("EM308", words=("stop_if_",))
def early_stopping(context: Context) -> Iterator[Report]:
  """Numbers of steps that early-stopping hooks take, where Keras takes epochs."""
  module = context.module
  for call, symbol in context.calls_of(*_EARLY_STOPPING):
    name = symbol.path.rpartition(".")[2]
    found, keyword, keras = _stopping_arguments(module, call, name)
    node = found.get(keyword)
    if node is None:
      continue
    value = values.literal(module, node)
    if value == 0:
      continue
    shown = values.text(module, node) if value is UNKNOWN else repr(value)
    yield context.report("EM308", call, call=f"{name}({keyword}={shown})", keras=keras)


def _stopping_arguments(
  module: Module, call: ast.Call, name: str
) -> tuple[values.Arguments, str, str]:
  keyword, keras = _UNITS[name]
  third = keyword if keyword != "min_steps" else "threshold"
  parameters = [third if p == "" else p for p in _PARAMETERS]
  return values.arguments(module, call, parameters), keyword, keras


@check("EM310", words=("stop_if_",))
def evaluations_that_nobody_reads(context: Context) -> Iterator[Report]:
  """Early stopping that looks into another directory than the evaluations go to."""
  module = context.module
  hooks = dict(context.calls_of(*_EARLY_STOPPING))
  for _, train_specs, eval_specs in estimators.evaluated_trainings(context):
    for spec in eval_specs:
      found = values.arguments(module, spec, estimators.EVAL_SPEC_PARAMETERS)
      name = values.literal(module, found.get("name"))
      if not isinstance(name, str) or not name or len(eval_specs) != 1:
        continue
      for hook in _hooks_of(module, train_specs):
        symbol = hooks.get(hook)
        if symbol is None:
          continue
        hook_name = symbol.path.rpartition(".")[2]
        read, _, _ = _stopping_arguments(module, hook, hook_name)
        if read.complete and read.get("eval_dir") is None:
          line = module.span(spec).line
          yield context.report("EM310", hook, name=hook_name, line=line, directory=f"eval_{name}")


def _hooks_of(module: Module, train_specs: list[ast.Call]) -> Iterator[ast.Call]:
  for spec in train_specs:
    found = values.arguments(module, spec, estimators.TRAIN_SPEC_PARAMETERS)
    for element in estimators.elements(module, found.get("hooks")):
      for value in values.possible(module, element) or ():
        if isinstance(value, ast.Call):
          yield value
