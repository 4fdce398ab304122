"""The tensors that a built-in hook reads by name -> the values of a step that a callback gets.

The names are those of the graphs that the canned classifiers of TF 1.15 and 2.15 build.
"""

from __future__ import annotations

import ast

from migrator.rewrite import emit
from migrator.rewrite.plan import Plan, Unsupported

# The loss, whose name depends on the head of the flavour; training and evaluation share it.
LOSSES = {"v1": "dnn/head/weighted_loss/Sum", "v2": "head/losses/weighted_loss/value"}
# The summary of the loss, a serialized protocol buffer: who logs it wants the loss.
_SUMMARY = "loss"
# The step after the one that is taken (TF 1.15), a handle (2.15), and the step before it (2.15).
_STEPS = ("global_step", "global_step/read", "global_step/Read/ReadVariableOp")
_STEP_FUNCTIONS = (
  "tf.train.create_global_step",
  "tf.train.get_global_step",
  "tf.train.get_or_create_global_step",
)


def convert(plan: Plan, hook: str, node: ast.expr, use: str) -> None:
  """Plans keys in place of the tensors of a hook.

  Args:
    plan: of the file; `plan.target` is the unit whose hook it is.
    hook: the name of its class.
    node: a tensor or its name, or a dict, list or tuple of such; or a variable that holds one.
    use: "train", "evaluate" or "predict".

  Raises:
    Unsupported: EM320, a tensor that has no counterpart.
  """
  given = plan.module.definition(node)
  if isinstance(given, ast.Dict):
    leaves = given.values
  elif isinstance(given, (ast.List, ast.Tuple)):
    leaves = given.elts
  else:
    leaves = [node]
  for leaf in leaves:
    key = _key(plan, hook, leaf, use)
    if plan.module.constant(leaf) not in (key, key + ":0"):
      plan.expressions[leaf] = emit.string(key)


def _key(plan: Plan, hook: str, leaf: ast.expr, use: str) -> str:
  """The key of a value in the logs of a step."""
  value = plan.module.constant(leaf)
  if isinstance(leaf, ast.Call):
    symbol = plan.module.resolve(leaf.func)
    if symbol is not None and symbol.path in _STEP_FUNCTIONS:
      return "global_step"
  loss = LOSSES[plan.target.unit.flavour]
  if isinstance(value, str):
    name = value[:-2] if value.endswith(":0") else value
    if name in _STEPS:
      return "global_step"
    if name == loss and use != "predict":
      return "loss"
    if name == _SUMMARY and use == "train" and hook == "LoggingTensorHook":
      return "loss"
  there = f'"{loss}:0"' if use != "predict" else "no loss"
  raise Unsupported(
    "EM320", leaf, hook=hook, tensor=plan.module.source(leaf), names=f'{there} and "global_step:0"'
  )
