"""`tf.estimator.add_metrics(estimator, function)` -> the functions, for evaluations.

https://www.tensorflow.org/versions/r1.15/api_docs/python/tf/estimator/add_metrics
"""

from __future__ import annotations

import ast

from migrator.analysis import units
from migrator.rewrite import moves
from migrator.rewrite.plan import Plan, Unsupported


def read(plan: Plan, unit: units.Unit, place: ast.Call) -> list[str]:
  """The functions that give a unit more metrics, as source at its construction.

  Takes the calls that added them out: what they gave is the estimator.

  Args:
    plan: of the file.
    unit: the unit.
    place: the call of a constructor, where the functions have to be known.

  Raises:
    Unsupported: EM209, a call that cannot be taken out, or a function not known at the place.
  """
  texts = []
  for added in unit.added_metrics:
    reason = moves.obstacle(plan.module, added.function, place)
    if reason is None and _is_later(plan, added.function, place):
      reason = "it is defined behind the estimator"
    if reason is not None:
      what = f"add_metrics with `{plan.module.source(added.function)}` ({reason})"
      raise Unsupported("EM209", added.call, name=what)
    texts.append(plan.source(added.function))
    _take_out(plan, unit, added.call, added.owner)
  return texts


def _is_later(plan: Plan, function: ast.expr, place: ast.Call) -> bool:
  """Whether a function is defined in the place's own scope, but further down."""
  definition = plan.module.definition(function)
  if not isinstance(definition, (ast.FunctionDef, ast.Lambda)):
    return False
  same = plan.module.scope_of[definition] is plan.module.scope_of[place]
  return same and isinstance(function, ast.Name) and definition.lineno > place.lineno


def _take_out(plan: Plan, unit: units.Unit, call: ast.Call, owner: ast.expr) -> None:
  """Leaves the estimator in place of a call that gives it back."""
  statement = plan.module.parents[call]
  if not isinstance(owner, (ast.Name, ast.Attribute)):
    raise Unsupported("EM209", call, name="add_metrics of what is no variable")
  same = (
    isinstance(statement, ast.Assign)
    and len(statement.targets) == 1
    and plan.module.source(statement.targets[0]) == plan.module.source(owner)
  )
  if same:
    plan.remove(statement, drop_comments=False)
  elif unit.handle:
    plan.expressions[call] = plan.source(owner)
  else:
    raise Unsupported("EM209", call, name="add_metrics that gives another variable")
