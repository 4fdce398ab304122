"""What a split model_fn no longer shows."""

from __future__ import annotations

import ast

from migrator.analysis.model_fns import calls
from migrator.analysis.model_fns.pieces import Split
from migrator.rewrite.plan import Plan


def report(plan: Plan, split: Split) -> None:
  """Reports the summaries (EM245) and messages (EM246) that are dropped, and random numbers (EM247)."""
  for node in split.dropped:
    code = "EM245" if calls.is_summary(plan.module, node) else "EM246"
    shown = plan.module.source(node).partition("\n")[0]
    plan.report(code, node, what=shown)
  _report_random(plan, split)
  for helper in calls.helpers(plan.module, split.function.node):
    for inner in ast.walk(helper):
      if isinstance(inner, ast.Expr) and calls.is_summary(plan.module, inner):
        plan.report("EM245", inner, what=plan.module.source(inner).partition("\n")[0])


def _report_random(plan: Plan, split: Split) -> None:
  """Reports what draws other random numbers than in the graph of an Estimator, or not always the same."""
  module = plan.module
  for code in (split.function.node, *calls.helpers(module, split.function.node)):
    for call in ast.walk(code):
      if not isinstance(call, ast.Call) or not calls.is_random(calls.path(module, call)):
        continue
      seed = next((k.value for k in call.keywords if k.arg == "seed"), None)
      until = "only in the first `train` of a process, and as long as all batches have one shape"
      if seed is None or (isinstance(seed, ast.Constant) and seed.value is None):
        until = "no longer, having no `seed`"
      plan.report("EM247", call, what=module.source(call).partition("\n")[0], until=until)
