"""The global step: incremented by an optimizer and by hand as well."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple, Optional

from migrator.analysis.module import Module
from migrator.lint import values
from migrator.lint.checks import estimators
from migrator.lint.checks.registry import Context, Report, check

_STEP_WORDS = (
  "assign_add",
  "assign(global_step",
  "assign(gs",
  "assign(self.global_step",
  "assign(self.step",
  "assign(step",
  "gs.assign(",
  "step.assign(",
)
# Functions that apply gradients and count the step unless they are told not to.
_TRAIN_OPS = {
  "tf.contrib.layers.optimize_loss": ("loss", "global_step", "learning_rate", "optimizer"),
  "tf.contrib.slim.learning.create_train_op": ("total_loss", "optimizer", "global_step"),
  "tf.contrib.training.create_train_op": ("total_loss", "optimizer", "global_step"),
}
_APPLY = {
  "apply_gradients": ("grads_and_vars", "global_step"),
  "minimize": ("loss", "global_step"),
}
_TRAIN_OP = rf"(?:{'|'.join(_APPLY)}|optimize_loss|create_train_op)"
_THE_STEP = "the global step of the graph"


class _Counting(NamedTuple):
  """A call that makes an optimizer count.

  Attributes:
    call: the call.
    steps: what identifies the variable that it counts in.
    optimizer: whose call it is; None for one that is certain to count.
  """

  call: ast.Call
  steps: set[str]
  optimizer: Optional[ast.expr]


@check(
  "EM412",
  "EM416",
  words=_STEP_WORDS,
  also=(*_APPLY, "optimize_loss", "create_train_op"),
  evidence="global_step",
)
def counted_steps(context: Context) -> Iterator[Report]:
  """The global step incremented by hand where an optimizer gets it as well."""
  module = context.module
  targets = {n: _incremented(module, n) for n in module.scope_of if isinstance(n, ast.Call)}
  increments = {call: target for call, target in targets.items() if target is not None}
  counting = list(_counting_calls(context)) if increments else []
  for increment, target in increments.items():
    steps = _identity(module, target)
    for other in counting:
      if not steps & other.steps or not _together(module, increment, other.call):
        continue
      shown = values.text(module, other.call.func)
      line = module.span(other.call).line
      if other.optimizer is None or _Optimizers(module).counts(other.optimizer):
        yield context.report("EM412", increment, call=shown, line=line)
      elif not _asks_for_optimizer(module, increment):
        name = _Optimizers(module).name(other.optimizer)
        yield context.report("EM416", increment, call=shown, line=line, optimizer=name)
      break


def _asks_for_optimizer(module: Module, increment: ast.AST) -> bool:
  """Whether the step is only incremented where the optimizer is one that needs it."""
  tests = (a.test for a in module.ancestors(increment) if isinstance(a, (ast.If, ast.IfExp)))
  return any("optim" in module.source(test).lower() for test in tests)


@check(
  "EM412",
  words=tuple(f"{name}(" for name in _APPLY),
  also=("global_step=",),
  evidence=rf"(?s)\A(?=.*(?:control_dependencies|group)).*{_TRAIN_OP}.*{_TRAIN_OP}",
)
def grouped(context: Context) -> Iterator[Report]:
  """Two train ops that run together and get the same global step."""
  module = context.module
  counting = list(_counting_calls(context))
  for i, second in enumerate(counting):
    for first in counting[:i]:
      if not first.steps & second.steps or not _together(module, first.call, second.call):
        continue
      if not _run_together(context, first.call, second.call):
        continue
      certain = (
        c.optimizer is None or _Optimizers(module).counts(c.optimizer) for c in (first, second)
      )
      if all(certain):
        shown = values.text(module, first.call.func)
        yield context.report("EM412", second.call, call=shown, line=module.span(first.call).line)


def _run_together(context: Context, first: ast.Call, second: ast.Call) -> bool:
  """Whether one op waits for the other, or both are in one `tf.group`."""
  module = context.module
  names = [_assigned(module, call) for call in (first, second)]
  if names[0] is None:
    return False
  for ancestor in module.ancestors(second):
    if isinstance(ancestor, ast.With):
      held = {n.id for item in ancestor.items for n in ast.walk(item) if isinstance(n, ast.Name)}
      if names[0] in held and "control_dependencies" in module.source(
        ancestor.items[0].context_expr
      ):
        return True
  for call, _ in context.calls_of("tf.group"):
    arguments = {n.id for a in call.args for n in ast.walk(a) if isinstance(n, ast.Name)}
    here = estimators.enclosing_function(module, call) is estimators.enclosing_function(
      module, first
    )
    if here and set(names) <= arguments:
      return True
  return False


def _assigned(module: Module, call: ast.Call) -> Optional[str]:
  parent = module.parents.get(call)
  if isinstance(parent, ast.Assign) and len(parent.targets) == 1:
    target = parent.targets[0]
    return target.id if isinstance(target, ast.Name) else None
  return None


def _incremented(module: Module, call: ast.Call) -> Optional[ast.expr]:
  """The global step to which a call adds 1, or None."""
  symbol = module.resolve(call.func)
  target: Optional[ast.expr] = None
  if symbol is not None and symbol.path in ("tf.assign_add", "tf.assign"):
    found = values.arguments(module, call, ("ref", "value"))
    target, value, name = found.get("ref"), found.get("value"), symbol.path
  elif isinstance(call.func, ast.Attribute) and call.func.attr in ("assign_add", "assign"):
    target, name = call.func.value, call.func.attr
    found = values.arguments(module, call, ("delta" if name == "assign_add" else "value",))
    value = found.get("delta") or found.get("value")
  if target is None or value is None or not is_global_step(module, target):
    return None
  if name.endswith("assign_add"):
    return target if values.literal(module, value) == 1 else None
  added = module.definition(value)
  if not isinstance(added, ast.BinOp) or not isinstance(added.op, ast.Add):
    return None
  for step, one in ((added.left, added.right), (added.right, added.left)):
    if values.literal(module, one) == 1 and is_global_step(module, step):
      return target
  return None


def is_global_step(module: Module, node: ast.AST) -> bool:
  """Whether an expression is the global step, by what makes it or by its name."""
  name = node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")
  return name in ("global_step", "_global_step") or _THE_STEP in _identity(module, node)


def _identity(module: Module, node: ast.AST) -> set[str]:
  """What two expressions for one step have in common: TensorFlow's own, or their names."""
  found = estimators.keys(module, node)
  for value in values.possible(module, node) or ():
    symbol = module.resolve(value.func) if isinstance(value, ast.Call) else None
    if symbol is not None and symbol.path.endswith("global_step"):
      found.add(_THE_STEP)
  return found


def _counting_calls(context: Context) -> Iterator[_Counting]:
  """The calls that get the global step to count it."""
  module = context.module
  for call, symbol in context.calls:
    parameters = _TRAIN_OPS.get(symbol.path)
    if parameters is None:
      continue
    found = values.arguments(module, call, parameters)
    step = found.get("global_step")
    if values.literal(module, found.get("increment_global_step")) is False:
      continue
    if step is not None and values.literal(module, step) is not None:
      yield _Counting(call, _identity(module, step), None)
    elif found.complete and (step is None or symbol.path.endswith(".optimize_loss")):
      yield _Counting(call, {_THE_STEP}, None)
  for node in module.scope_of:
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
      continue
    parameters = _APPLY.get(node.func.attr)
    if parameters is None:
      continue
    step = values.arguments(module, node, parameters).get("global_step")
    if step is not None and is_global_step(module, step):
      yield _Counting(node, _identity(module, step), node.func.value)


def _together(module: Module, one: ast.AST, other: ast.AST) -> bool:
  """Whether two places belong to one round of the same code."""
  for around in (estimators.enclosing_function, estimators.enclosing_loop):
    if around(module, one) is not around(module, other):
      return False
  return not _excludes(module, one, other)


def _excludes(module: Module, one: ast.AST, other: ast.AST) -> bool:
  """Whether two places are in different branches of one condition."""
  branches = {}
  child = one
  for ancestor in module.ancestors(one):
    if isinstance(ancestor, ast.If):
      branches[ancestor] = child in ancestor.body
    child = ancestor
  child = other
  for ancestor in module.ancestors(other):
    if isinstance(ancestor, ast.If) and ancestor in branches:
      return branches[ancestor] != (child in ancestor.body)
    child = ancestor
  return False


class _Optimizers:
  """Which optimizers count the step that `apply_gradients` gets: all of TensorFlow's own do."""

  def __init__(self, module: Module):
    self._module = module
    self._seen: set[ast.AST] = set()

  def counts(self, node: ast.AST) -> bool:
    """Whether an expression is certainly an optimizer of TensorFlow, or one around it."""
    found = self._possible(node)
    return bool(found) and all(self._made_counts(v) for v in found)

  def name(self, node: ast.AST) -> str:
    """What to call an optimizer that may not count: its class, else the expression."""
    for value in values.possible(self._module, node) or ():
      made = self._module.definition(value.func) if isinstance(value, ast.Call) else None
      if isinstance(made, ast.ClassDef):
        return made.name
    return values.text(self._module, node)

  def _possible(self, node: ast.AST) -> list[ast.AST]:
    found: list[ast.AST] = []
    for value in values.possible(self._module, node) or ():
      if value in self._seen:
        continue
      self._seen.add(value)
      branches = [value.body, value.orelse] if isinstance(value, ast.IfExp) else [value]
      for branch in branches:
        found += [branch] if isinstance(branch, ast.Call) else self._possible(branch) or [branch]
    return found

  def _made_counts(self, made: ast.AST) -> bool:
    if not isinstance(made, ast.Call):
      return False
    wrapped = made.args[0] if made.args else None
    if wrapped is None:
      wrapped = next((k.value for k in made.keywords if k.arg in ("opt", "optimizer")), None)
    symbol = self._module.resolve(made.func)
    if symbol is not None and symbol.path.startswith(("tf.train.", "tf.contrib.")):
      if not symbol.path.endswith("Optimizer"):
        return False
      inner = self._possible(wrapped) if wrapped is not None else []
      calls = [v for v in inner if isinstance(v, ast.Call) and self._is_optimizer(v)]
      return all(self._made_counts(v) for v in calls)
    definition = self._module.definition(made.func)
    if isinstance(definition, ast.ClassDef):
      return self._class_counts(definition)
    # Another package's wrapper, as horovod's.
    return wrapped is not None and self.counts(wrapped)

  def _is_optimizer(self, call: ast.Call) -> bool:
    return "ptimizer" in self._module.source(call.func)

  def _class_counts(self, node: ast.ClassDef) -> bool:
    """Whether a class of this file leaves `apply_gradients` to TensorFlow's Optimizer."""
    if any(isinstance(f, ast.FunctionDef) and f.name == "apply_gradients" for f in node.body):
      return False
    for base in node.bases:
      symbol = self._module.resolve(base)
      if symbol is not None:
        return symbol.path.startswith("tf.train.") and symbol.path.endswith("Optimizer")
      definition = self._module.definition(base)
      if isinstance(definition, ast.ClassDef) and definition is not node:
        return self._class_counts(definition)
    return False
