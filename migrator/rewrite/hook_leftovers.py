"""What held a graph, a session or a tensor goes; nothing of it may stay in a callback."""

from __future__ import annotations

import ast

from migrator.analysis import facts, symbols
from migrator.rewrite import hook_values
from migrator.rewrite.hook_class import METHODS, HookClass
from migrator.rewrite.plan import StatementEdit

_OF_GRAPH = ("graph", "session", "original_args", "get_tensor_by_name", "get_collection")


def remove_tensors(hook: HookClass) -> None:
  """Attributes that held the global step's tensor, or one by name, go with their checks."""
  for name in hook.values.attributes():
    value = hook.values.attribute(name)
    if value is None or not _holds_tensors(hook, name, value):
      continue
    for statement in hook.values.assignments(name):
      if len(statement.targets) != 1:
        hook.refuse(statement, f"uses {hook.plan.module.source(statement.value)}")
      hook.plan.statement(statement).replacement = []
    for inner in ast.walk(hook.node):
      if hook_values.reads(inner, name) and not hook.is_edited(inner):
        _remove_check(hook, inner)
  _remove_variables(hook)
  for node in [*hook.pending, *_session_objects(hook)]:
    if not hook.is_edited(node):
      hook.refuse(node, f"uses {hook.plan.module.source(node)}")


def _holds_tensors(hook: HookClass, name: str, value: hook_values.Value) -> bool:
  """Whether an attribute holds tensors, which are gone, not only their names."""
  if value.kind in ("step", "stale step", "named"):
    return not hook.values.is_text(name)
  return value.kind in ("list", "tuple", "dict", "call") and any(
    isinstance(inner, ast.Call)
    for statement in hook.values.assignments(name)
    for inner in ast.walk(statement.value)
  )


def _session_objects(hook: HookClass) -> list[ast.Name]:
  """All places where a hook's method reads one of its parameters: none may stay."""
  found = []
  for method in hook.methods:
    if method.name in METHODS and method in hook.node.body:
      names = [a.arg for a in method.args.posonlyargs + method.args.args][1:]
      found += [
        n
        for n in ast.walk(method)
        if isinstance(n, ast.Name) and n.id in names and isinstance(n.ctx, ast.Load)
      ]
  return found


def _remove_variables(hook: HookClass) -> None:
  """Variables that held a graph, or a tensor of it, go with the last place that reads them."""
  found = [
    s
    for method in hook.methods
    for s in ast.walk(method)
    if isinstance(s, ast.Assign) and len(s.targets) == 1 and isinstance(s.targets[0], ast.Name)
  ]
  changed = True
  while changed:
    changed = False
    for statement in found:
      target = statement.targets[0]
      assert isinstance(target, ast.Name)
      loads = facts.loads(hook.plan.module, target)
      if hook.is_edited(statement) or not loads or not _is_of_graph(hook, statement.value):
        continue
      if target.id in hook.kept_variables:
        continue
      if all(hook.is_edited(load) for load in loads):
        hook.plan.statement(statement).replacement = []
        changed = True


def _is_of_graph(hook: HookClass, node: ast.expr) -> bool:
  """Whether an expression asks TensorFlow or the session for something of the graph."""
  for inner in ast.walk(node):
    if isinstance(inner, (ast.Name, ast.Attribute)):
      symbol = hook.plan.module.resolve(inner)
      if symbol is not None and symbols.is_tensorflow(symbol) and symbol.path != "tf":
        return not symbol.path.startswith(hook_values.HARMLESS)
      if isinstance(inner, ast.Attribute) and inner.attr in _OF_GRAPH:
        return True
  return False


def _remove_check(hook: HookClass, node: ast.AST) -> None:
  """`if self._global_step is None: raise ...` goes; another use is refused."""
  statement = hook.plan.module.statement(node)
  test = statement.test if isinstance(statement, (ast.If, ast.Assert)) else None
  compared = isinstance(test, ast.Compare) and test.left is node
  negated = isinstance(test, ast.UnaryOp) and test.operand is node
  plain = not isinstance(statement, ast.If) or (
    not statement.orelse and all(isinstance(s, ast.Raise) for s in statement.body)
  )
  if not (compared or negated or test is node) or not plain:
    hook.refuse(node, f"uses {hook.plan.module.source(node)}, a tensor")
  hook.plan.statements.setdefault(statement, StatementEdit()).replacement = []


def _is_public_v1(symbol: symbols.Symbol) -> bool:
  return symbol.api == "v1" and not symbol.private


def refuse_graph_names(hook: HookClass) -> None:
  """A hook that asks TensorFlow's graph for something would silently get something else."""
  plan, node = hook.plan, hook.node
  for use in plan.module.uses():
    inside = any(a is node for a in plan.module.ancestors(use.node))
    if not inside or use.node in node.bases or isinstance(use.node, (ast.Import, ast.ImportFrom)):
      continue
    if any(a is m.args for a in plan.module.ancestors(use.node) for m in plan.functions):
      continue  # the annotation of a parameter that goes
    if use.symbol.path in hook_values.RESPELLED and _is_public_v1(use.symbol):
      continue  # it is spelled so that TF2 has it
    if use.symbol.path in hook_values.RESPELLED:
      plan.expressions[use.node] = f"{hook.tf}.compat.v1.{use.symbol.path[3:]}"
    elif not use.symbol.path.startswith(hook_values.HARMLESS) and not hook.is_edited(use.node):
      hook.refuse(use.node, f"uses {use.symbol.path}")
