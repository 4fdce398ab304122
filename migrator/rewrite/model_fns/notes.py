"""What a split model_fn no longer shows."""

from __future__ import annotations

import ast

from migrator.analysis.model_fns import calls
from migrator.analysis.model_fns.pieces import Split
from migrator.rewrite.plan import Plan


def report(plan: Plan, split: Split) -> None:
  """Reports the summaries (EM245) and messages (EM246) of the training that are dropped."""
  for node in split.dropped:
    code = "EM245" if calls.is_summary(plan.module, node) else "EM246"
    shown = plan.module.source(node).partition("\n")[0]
    plan.report(code, node, what=shown)
  for helper in calls.helpers(plan.module, split.function.node):
    for inner in ast.walk(helper):
      if isinstance(inner, ast.Expr) and calls.is_summary(plan.module, inner):
        plan.report("EM245", inner, what=plan.module.source(inner).partition("\n")[0])
