"""Estimators that flow on from where they are made: one object takes their place.

Target fit: the `runtime.BackupAndRestore`, which has the model. Target loop: an object with the
functions of the loop.
"""

from __future__ import annotations

import ast
import re

from migrator.analysis import type_hints, units
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
  if isinstance(statement, ast.AnnAssign):
    hint = module.source(statement.annotation)
    place = before.index(hint, before.index(":"))
    before = before[:place] + plan.source(statement.annotation) + before[place + len(hint) :]
  return before, behind


def respell_hints(plan: Plan, unit: units.Unit, name: str) -> None:
  """Type hints that name the estimator's class name the object that takes its place.

  Args:
    plan: gets the edits.
    unit: the unit.
    name: the class of that object, as the output spells it.
  """
  for hint in unit.hints:
    for node in ast.walk(hint):
      if isinstance(node, (ast.Name, ast.Attribute)):
        symbol = plan.module.resolve(node)
        if symbol is not None and units.estimator_kind(symbol):
          plan.expressions[node] = name
      elif isinstance(node, ast.Constant) and isinstance(node.value, str):
        _respell_string(plan, node, node.value, name)


def _respell_string(plan: Plan, node: ast.Constant, value: str, name: str) -> None:
  """A hint in a string of this value, where the string shows it as it is."""
  scope = plan.module.scope_of.get(node, plan.module.root)
  text = source = plan.module.source(node)
  for symbol, written in type_hints.chains(plan.module, value, scope, "eval"):
    if units.estimator_kind(symbol):
      text = re.sub(rf"(?<![\w.]){re.escape(written)}(?![\w.])", name, text)
  if text != source:
    plan.expressions[node] = text
