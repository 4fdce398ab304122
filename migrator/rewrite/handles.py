"""Estimators that flow on from where they are made: one object takes their place.

Target fit: the `runtime.BackupAndRestore`, which has the model. Target loop: an object with the
functions of the loop.
"""

from __future__ import annotations

import ast
import re

from migrator.analysis import units
from migrator.rewrite.plan import Plan, Unsupported


def owner(plan: Plan, node: ast.expr) -> str:
  """The source of an expression that gives the object, where it can be written several times.

  Raises:
    Unsupported: EM275, for a call or anything else that is no name.
  """
  inner = node
  while isinstance(inner, ast.Attribute):
    inner = inner.value
  if not isinstance(inner, ast.Name):
    raise Unsupported("EM275", node, owner=plan.module.source(node))
  return plan.source(node)


def base(unit: units.Unit) -> str:
  """What names of new functions and variables of a unit end in."""
  name = unit.name.rpartition(".")[2]
  if name == unit.kind:
    name = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name.replace("DNN", "Dnn")).lower()
  return name if name.isidentifier() else "estimator"


def spaced(lines: list[str]) -> list[str]:
  """Lines of a block without two blank ones after each other."""
  return [line for i, line in enumerate(lines) if line or (i and lines[i - 1])]


def around(plan: Plan, call: ast.Call) -> tuple[str, str]:
  """What stands before and behind the construction in its statement.

  Raises:
    Unsupported: EM220, where the statement is not `name = call` or `return call`.
  """
  module = plan.module
  statement = module.parents[call]
  if not isinstance(statement, (ast.Assign, ast.AnnAssign, ast.Return)):
    raise Unsupported("EM220", call, what="an estimator that is made inside of an expression")
  text, made = module.source(statement), module.source(call)
  if text.count(made) != 1 or "\n" in text.partition(made)[0]:
    raise Unsupported("EM220", call, what="an estimator that is made inside of an expression")
  before, _, behind = text.partition(made)
  return before, behind
