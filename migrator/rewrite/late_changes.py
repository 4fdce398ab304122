"""Lists that a constructor was given and that change behind it.

An Estimator keeps the list itself, and reads it anew for the graph of each training, evaluation and
prediction (estimator/canned/dnn.py: `hidden_units`, `tuple(feature_columns)` in its model_fn).
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Optional

from migrator.analysis import facts, units
from migrator.analysis.module import Module
from migrator.rewrite import moves
from migrator.rewrite.plan import Plan, Unsupported

_END = 10**9
_LISTS = ("feature_columns", "hidden_units", "label_vocabulary")


def check(
  plan: Plan, unit: units.Unit, call: ast.Call, arguments: Mapping[str, facts.Argument]
) -> None:
  """Refuses an estimator that would have read a list when it had changed.

  Args:
    plan: of the file.
    unit: the estimator.
    call: of its constructor.
    arguments: of that call.

  Raises:
    Unsupported: EM208, a list changes between the constructor and a call of a method.
  """
  for name, argument in arguments.items():
    if name.endswith(_LISTS) and isinstance(argument.value, ast.Name):
      line = _changed_in(plan.module, argument.value, call, unit)
      if line is not None:
        what = f"{name} (`{argument.value.id}` is changed in line {line}, behind the constructor)"
        raise Unsupported("EM208", argument.node, argument=what)


def _changed_in(module: Module, name: ast.Name, call: ast.Call, unit: units.Unit) -> Optional[int]:
  """The line below a call that changes a list in place, before the estimator's last use."""
  scope = module.scope_of[name]
  _, bindings = scope.lookup(name.id)
  changes: list[ast.AST] = [n for n in facts.loads(module, name) if moves.changes(module, n)]
  changes += [b.node for b in bindings if isinstance(b.node, ast.AugAssign)]
  others = [b.node for b in bindings if isinstance(b.node, ast.stmt) and b.node not in changes]
  begin = call.end_lineno or call.lineno
  # Behind another binding the name is that of another list.
  end = min((n.lineno for n in others if n.lineno > begin), default=_END)
  uses = [use.call.lineno for use in unit.calls]
  if not unit.handle:
    # Behind the next constructor the variable is another estimator.
    made = [c.call.lineno for c in unit.constructions if c.call.lineno > begin]
    uses = [line for line in uses if line < min(made, default=_END)]
  if all(module.scope_of[use.call] is module.scope_of[call] for use in unit.calls):
    end = min(end, max(uses, default=0))
  lines = [n.lineno for n in changes if module.scope_of[n] is scope]  # type: ignore[attr-defined]
  return min((line for line in lines if begin < line < end), default=None)
