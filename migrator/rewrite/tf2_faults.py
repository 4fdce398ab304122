"""Mends TF2 code in the style of older guides: `callbacks.experimental.BackupAndRestore`.

https://www.tensorflow.org/api_docs/python/tf/keras/callbacks/BackupAndRestore
"""

from __future__ import annotations

import ast
from typing import Optional

from migrator.lint.checks import unbuilt
from migrator.rewrite.plan import Plan

_EXPERIMENTAL = "tf.keras.callbacks.experimental.BackupAndRestore"


def plan_fixes(plan: Plan) -> None:
  """Plans the fixes of the whole file."""
  for use in plan.module.uses():
    if use.symbol.path != _EXPERIMENTAL or not isinstance(use.node, ast.Attribute):
      continue
    experimental = use.node.value
    if isinstance(experimental, ast.Attribute) and experimental.attr == "experimental":
      plan.expressions[use.node] = plan.source(experimental.value) + ".BackupAndRestore"
      plan.report("EM501", use.node)
  for fit, model, backup in unbuilt.unbuilt_fits(plan.module):
    shape = _input_shape(plan, fit)
    assert isinstance(fit.func, ast.Attribute)
    if shape is None or not isinstance(fit.func.value, ast.Name):
      continue
    edit = plan.statement(fit)
    line = f"{fit.func.value.id}.build({shape})"
    if line not in edit.before:
      edit.before.append(line)
    what = unbuilt.describe(plan.module, model)
    plan.report("EM502", model.func, what=what, line=plan.module.span(backup).line)


def _input_shape(plan: Plan, call: ast.Call) -> Optional[str]:
  """The argument of `build`, from the data that `fit` gets."""
  named = {k.arg: k.value for k in call.keywords}
  data = call.args[0] if call.args else named.get("x")
  labels = call.args[1] if len(call.args) > 1 else named.get("y")
  if not isinstance(data, (ast.Name, ast.Attribute)):
    return None
  text = plan.source(data)
  if labels is not None:
    return f"(None, *{text}.shape[1:])"
  return f"{text}.element_spec[0].shape"
