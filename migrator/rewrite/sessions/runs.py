"""The variables of a session, and where it is run more than once a round."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Optional

from migrator.analysis.module import Module
from migrator.lint.checks import estimators
from migrator.rewrite.sessions import found
from migrator.rewrite.sessions.found import Unit
from migrator.rewrite.sessions.text import source

_MANAGED = ("managed_session", "prepare_or_wait_for_session", "PrepareSession")


def session_names(module: Module, unit: Unit) -> set[str]:
  """The variables of the session of a unit."""
  names = {unit.name} if unit.name else set()
  if unit.kind == found.SUPERVISOR:
    for call in list(module.scope_of):
      if not isinstance(call, ast.Call) or not _is_method(call, *_MANAGED):
        continue
      parent = module.parents.get(call)
      if isinstance(parent, ast.withitem) and parent.optional_vars is not None:
        names.add(source(module, parent.optional_vars))
      elif isinstance(parent, ast.Assign):
        names.add(source(module, parent.targets[0]))
  return names


def several(module: Module, unit: Unit) -> Iterator[tuple[tuple[int, ...], str]]:
  """Loops with more than one run of a monitored session in a round, and runs without hooks.

  Yields:
    The lines, and what becomes of them.
  """
  if unit.kind in (found.SAVER, found.META_GRAPH):
    return
  names = session_names(module, unit)
  calls = [
    node
    for node in list(module.scope_of)
    if isinstance(node, ast.Call)
    and isinstance(node.func, ast.Attribute)
    and source(module, node.func.value) in names
  ]
  inner: list[int] = []
  for loop in list(module.scope_of):
    if not isinstance(loop, (ast.While, ast.For)):
      continue
    inside = set(estimators.own_nodes(loop))
    runs = [c for c in calls if c in inside and _is_method(c, "run")]
    direct = [c for c in runs if _innermost(module, c) is loop]
    if len(direct) > 1:
      yield (
        tuple(c.lineno for c in direct),
        f"{len(direct)} runs in each round, and the hooks were called at each of them: callbacks are called once a "
        "step. What is no training step becomes an ordinary call",
      )
    asks = any(c in inside and _is_method(c, "should_stop", "ShouldStop") for c in calls)
    if asks and _innermost(module, loop) is None:
      inner += [c.lineno for c in runs if c not in direct]
  if inner:
    yield (
      tuple(inner),
      "runs in loops within the loop of the session, each a call of the hooks, and a step where it trains: the inner "
      "loops stay, with the step, the save and the end of each run in them",
    )
  bare = tuple(c.lineno for c in calls if _is_method(c, "run_step_fn"))
  if bare:
    yield (
      bare,
      "`run_step_fn`: what its function runs with `session.run` is run without the hooks, with `run_with_hooks` with "
      "them: for the former no callback is called, and neither the step nor a save belongs to it",
    )


def _is_method(call: ast.Call, *names: str) -> bool:
  return isinstance(call.func, ast.Attribute) and call.func.attr in names


def _innermost(module: Module, node: ast.AST) -> Optional[ast.AST]:
  """The innermost loop around a node."""
  return next((a for a in module.ancestors(node) if isinstance(a, (ast.While, ast.For))), None)
