"""The tensors that a built-in hook reads by name -> the values of a step that a callback gets.

The names are those of the graphs that the canned classifiers of TF 1.15 and 2.15 build.
"""

from __future__ import annotations

import ast
from typing import NamedTuple, Optional

from migrator.analysis import facts
from migrator.rewrite import emit
from migrator.rewrite.plan import Plan, Unsupported

# The loss, whose name depends on the head of the flavour; training and evaluation share it.
LOSSES = {"v1": "dnn/head/weighted_loss/Sum", "v2": "head/losses/weighted_loss/value"}
# The summary of the loss, a serialized protocol buffer: who logs it wants the loss.
_SUMMARY = "loss"
# Reading this one gives the step after the one that is taken in TF 1.15, a handle in 2.15.
_STEP = "global_step"
_STEP_AFTER = "global_step/read"  # TF 1.15
_STEP_BEFORE = "global_step/Read/ReadVariableOp"  # TF 2.15
_STEP_FUNCTIONS = (
  "tf.contrib.framework.get_global_step",
  "tf.contrib.framework.get_or_create_global_step",
  "tf.train.create_global_step",
  "tf.train.get_global_step",
  "tf.train.get_or_create_global_step",
)


class _Leaf(NamedTuple):
  """A tensor of a hook.

  Attributes:
    node: the tensor or its name.
    key: "loss" or "global_step".
    after: for the step, whether it is the one after this step is counted.
    note: what is different, "" if nothing.
  """

  node: ast.expr
  key: str
  after: Optional[bool] = None
  note: str = ""


def convert(
  plan: Plan,
  hook: str,
  arguments: dict[str, facts.Argument],
  argument: facts.Argument,
  use: str,
) -> list[str]:
  """Plans keys in place of the tensors of a hook.

  Args:
    plan: of the file; `plan.target` is the unit whose hook it is.
    hook: the name of its class.
    arguments: of its constructor.
    argument: the one with a tensor or its name, or a dict, list or tuple of such; or with a variable
      that holds one.
    use: "train", "evaluate" or "predict".

  Returns:
    Arguments to add to those of the callback.

  Raises:
    Unsupported: EM320, a tensor that has no counterpart.
  """
  node = argument.value
  given = plan.module.definition(node)
  if isinstance(given, ast.Dict) and None not in given.keys:
    nodes = given.values
  elif isinstance(given, (ast.List, ast.Tuple)):
    nodes = given.elts
  elif hook == "LoggingTensorHook":
    raise _unknown(plan, hook, node, use)
  else:
    nodes = [node]
  leaves = [_leaf(plan, hook, leaf, use) for leaf in nodes]
  if nodes != [node]:  # it is the container that gets the keys
    _check_readers(plan, hook, node, use)
  for leaf in leaves:
    if leaf.note:
      plan.report("EM323", leaf.node, hook=hook, what=leaf.note)
  _report_last(plan, hook, arguments, leaves)
  if hook == "LoggingTensorHook" and isinstance(given, (ast.List, ast.Tuple)):
    _keep_tags(plan, hook, given, leaves)
  else:
    for leaf in leaves:
      if not _is_spelled(plan, leaf):
        plan.expressions[leaf.node] = emit.string(leaf.key)
  return _when(plan, hook, leaves, use)


def _leaf(plan: Plan, hook: str, node: ast.expr, use: str) -> _Leaf:
  """What a tensor is in the logs of a step."""
  is_tf1 = plan.source_version == 1
  if isinstance(node, ast.Call):
    symbol = plan.module.resolve(node.func)
    if symbol is not None and symbol.path in _STEP_FUNCTIONS:
      return _Leaf(node, _STEP, is_tf1)
  value = plan.module.constant(node)
  if not isinstance(value, str):
    raise _unknown(plan, hook, node, use)
  name = value[:-2] if value.endswith(":0") else value
  if hook != "LoggingTensorHook" and name == value:
    raise _unknown(plan, hook, node, use)  # without ":0" it is no tensor, but an operation
  if name == _STEP:
    note = f"`{value}` is the global step; TF 2.15 gave a handle of the variable"
    return _Leaf(node, _STEP, is_tf1, "" if is_tf1 else note)
  if name in (_STEP_AFTER, _STEP_BEFORE):
    return _Leaf(node, _STEP, name == _STEP_AFTER)
  if name == LOSSES[plan.target.unit.flavour] and use != "predict":
    return _Leaf(node, "loss")
  if name == _SUMMARY and hook == "LoggingTensorHook" and use == "train":
    note = f"`{value}` is the loss; in the graph it is a summary, whose bytes were logged"
    return _Leaf(node, "loss", note=note)
  raise _unknown(plan, hook, node, use)


def _unknown(plan: Plan, hook: str, node: ast.expr, use: str) -> Unsupported:
  names = '"global_step:0"'
  if use != "predict":
    names = f'"{LOSSES[plan.target.unit.flavour]}:0" and {names}'
  return Unsupported("EM320", node, hook=hook, tensor=plan.module.source(node), names=names)


def _check_readers(plan: Plan, hook: str, node: ast.expr, use: str) -> None:
  """What else reads the variable with the tensors would get the keys."""
  while isinstance(node, ast.Name):
    for load in facts.loads(plan.module, node):
      call = plan.module.parents[load]
      call = plan.module.parents[call] if isinstance(call, ast.keyword) else call
      name = facts.hook_name(plan.module.resolve(call.func)) if isinstance(call, ast.Call) else None
      if name is None and not isinstance(call, ast.Assign):
        raise _unknown(plan, hook, node, use)
    _, bindings = plan.module.scope_of[node].lookup(node.id)
    node = bindings[0].value  # type: ignore[assignment]


def _report_last(
  plan: Plan, hook: str, arguments: dict[str, facts.Argument], leaves: list[_Leaf]
) -> None:
  """At the end of a session a hook ran the graph once more to get a loss."""
  at_end = arguments.get("at_end")
  if hook == "LoggingTensorHook":
    if at_end is None or plan.module.constant(at_end.value) is False:
      return
  elif hook != "FinalOpsHook":
    return
  for leaf in leaves:
    if leaf.key == "loss":
      what = (
        "at the end the loss is that of the last step; TF1 computed one of a further batch, and "
        "`train` raised OutOfRangeError where there was none"
      )
      plan.report("EM323", leaf.node, hook=hook, what=what)


def _keep_tags(plan: Plan, hook: str, given: ast.expr, leaves: list[_Leaf]) -> None:
  """A list of names becomes a dict, where the names would not be logged otherwise."""
  if all(_is_spelled(plan, leaf) for leaf in leaves):
    return
  tags = [plan.module.constant(leaf.node) for leaf in leaves]
  texts = [emit.string(tag) if isinstance(tag, str) else '"global_step:0"' for tag in tags]
  if texts != sorted(texts):
    plan.report("EM323", given, hook=hook, what="logs its values in the order of their names")
  plan.keep_comments(given)
  items = [f"{text}: {emit.string(leaf.key)}" for text, leaf in zip(texts, leaves)]
  plan.expressions[given] = "{" + ", ".join(items) + "}"


def _is_spelled(plan: Plan, leaf: _Leaf) -> bool:
  """Whether the text of a tensor's name is already a key."""
  return plan.module.constant(leaf.node) in (leaf.key, leaf.key + ":0")


def _when(plan: Plan, hook: str, leaves: list[_Leaf], use: str) -> list[str]:
  """`before_step=False` where the logged step is the one after the step."""
  if hook != "LoggingTensorHook" or use != "train":
    return []
  steps = [leaf for leaf in leaves if leaf.after is not None]
  for leaf in steps:
    if leaf.after != steps[0].after:
      raise _unknown(plan, hook, leaf.node, use)
  return ["before_step=False"] if steps and steps[0].after else []
