"""What is said of a hook that is converted: what its callback does not do in the same way."""

from __future__ import annotations

import ast

from migrator.lint.checks import hooks
from migrator.rewrite.plan import Plan

# What finds the checkpoints of a directory.
_READERS = (
  "tf.train.latest_checkpoint",
  "tf.train.get_checkpoint_state",
  "tf.train.checkpoints_iterator",
)
# What a session took for the end of the input.
_ENDS = ("OutOfRangeError", "StopIteration")


def report_order(plan: Plan) -> None:
  """Reports EM316 for each `begin` in a file with listeners, which hear of the first save before it."""
  if ("listener",) not in plan.hook_uses.values():
    return
  for node, uses in plan.hook_uses.items():
    for method in node.body:
      if isinstance(method, ast.FunctionDef) and method.name == "begin" and "train" in uses:
        what = "ran before the listeners heard of the first save"
        plan.report("EM316", method, name=node.name, what=what)


def report(plan: Plan, node: ast.ClassDef) -> None:
  """Reports EM319, EM327 and EM329 for a class that has been converted."""
  _report_counters(plan, node)
  for inner in ast.walk(node):
    if isinstance(inner, ast.Call):
      symbol = plan.module.resolve(inner.func)
      asked = isinstance(inner.func, ast.Attribute) and inner.func.attr == "latest_checkpoint"
      if asked or (symbol is not None and symbol.path in _READERS):
        plan.report("EM319", inner, name=node.name, call=plan.module.source(inner))
    elif isinstance(inner, ast.Raise) and inner.exc is not None:
      error = inner.exc.func if isinstance(inner.exc, ast.Call) else inner.exc
      name = plan.module.source(error)
      # Model.fit takes it as a session did.
      if name.rpartition(".")[2] in _ENDS and plan.in_loop:
        plan.report("EM329", inner, name=node.name, error=name)


def _report_counters(plan: Plan, node: ast.ClassDef) -> None:
  """Reports each attribute that a hook's runs count up, once."""
  counters: dict[str, ast.AST] = {}
  for method in node.body:
    if isinstance(method, ast.FunctionDef) and method.name in ("before_run", "after_run"):
      for inner in ast.walk(method):
        name = hooks.incremented(inner, node.name)
        if name is not None:
          counters.setdefault(name, inner)
  for name, place in counters.items():
    start = hooks.first_value(node, name)
    plan.report("EM327", place, name=node.name, counter=name, start=start)
