"""Removes the statements that made feature columns which nobody reads any more."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from typing import Any

from migrator.analysis import facts
from migrator.rewrite.plan import Plan


def remove_unread(plan: Plan, every: Iterable[Any]) -> None:
  """Plans the removal, and what is left to do for the columns that became layers.

  Args:
    plan: of the file.
    every: the `Columns` of its estimators.
  """
  every = list(every)
  shown: set[str] = set()
  for found in every:
    shown.update(found.comments)
    for column in found.columns:
      shown.update([*column.item.leading, column.item.trailing])
  unread = _unread_statements(plan, every)
  for statement in unread:
    plan.remove(statement)
    comments = [*plan.comments.leading(statement), *plan.comments.inside(statement)]
    comments.append(plan.comments.trailing(statement))
    edit = plan.statement(statement)
    edit.comments = [c for c in comments if c and c not in shown]
  for found in every:
    for function in getattr(found, "registered", ()):
      plan.decorators[function] = f"{plan.tf}.keras.utils.register_keras_serializable()"
  _report_shared(plan, unread, every)


def _report_shared(plan: Plan, unread: list[ast.stmt], every: list[Any]) -> None:
  """Says which statements that stay make shared embeddings: TF2 makes them in a graph only."""
  arguments = {id(name) for found in every for name in found.names}
  for use in plan.module.uses() if every else ():
    if not use.symbol.path.startswith("tf.feature_column.shared_embedding"):
      continue
    around = [use.node, *plan.module.ancestors(use.node)]
    gone = any(node in unread for node in around) or any(
      id(n) in arguments for n in ast.walk(use.node)
    )
    if not gone and not isinstance(use.node, (ast.Import, ast.ImportFrom)):
      plan.report("EM253", use.node)


def _unread_statements(plan: Plan, every: Iterable[Any]) -> list[ast.stmt]:
  """The statements that only serve columns which became layers.

  Args:
    plan: of the file.
    every: the `Columns` of the estimators whose arguments are gone.
  """
  every = list(every)
  explained = {id(name) for found in every for name in found.names}
  candidates = {s: None for found in every for s in found.statements}
  while True:
    kept = [s for s in candidates if _is_read(plan, s, candidates, explained)]
    if not kept:
      return list(candidates)
    for statement in kept:
      del candidates[statement]


def _is_read(plan: Plan, statement: ast.stmt, candidates, explained: set[int]) -> bool:
  """Whether something that stays reads what a statement makes or changes."""
  module = plan.module
  for name in _touched(statement):
    _, bindings = module.scope_of[name].lookup(name.id)
    others = [b for b in bindings if b.node not in candidates]
    if isinstance(name.ctx, ast.Store) and others and all(b.kind == "loop" for b in others):
      continue  # the variable of another loop, too
    for load in facts.loads(module, name):
      if id(load) not in explained and not any(a in candidates for a in module.ancestors(load)):
        return True
  if isinstance(statement, ast.FunctionDef):
    names = (n for n in ast.walk(module.tree) if isinstance(n, ast.Name) and n.id == statement.name)
    return any(
      id(name) not in explained and not any(a in candidates for a in module.ancestors(name))
      for name in names
    )
  return False


def _touched(statement: ast.stmt) -> Iterator[ast.Name]:
  """The variables that a statement binds or changes."""
  if isinstance(statement, ast.FunctionDef):
    return
  for node in ast.walk(statement):
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
      yield node
    elif isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
      if isinstance(node.value, ast.Name):
        yield node.value
    elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
      owner = getattr(node.value.func, "value", None)
      if isinstance(owner, ast.Name):
        yield owner
