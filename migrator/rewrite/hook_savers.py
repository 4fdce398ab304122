"""A Saver with which a hook restores the weights when the session exists -> `runtime.load_weights`.

https://www.tensorflow.org/versions/r1.15/api_docs/python/tf/train/Saver
"""

from __future__ import annotations

import ast
from typing import Optional

from migrator.analysis import facts
from migrator.rewrite import hook_values
from migrator.rewrite.plan import Plan, Unsupported

_SAVER = "tf.train.Saver"
_SAVER_PARAMETERS = ("var_list", "reshape", "sharded", "max_to_keep")
# What a Saver may restore: the weights that a Keras model has too. All variables are refused, as
# they hold the global step and the slots.
_WEIGHTS = ("tf.trainable_variables", "tf.compat.v1.trainable_variables")
_COLLECTION = "GraphKeys.TRAINABLE_VARIABLES"


def convert(plan: Plan, node: ast.ClassDef) -> None:
  """Plans the edits of the savers within a hook's class.

  Raises:
    Unsupported: EM302, for a saver of other variables, or one that does something else than to restore.
  """
  for call in [n for n in ast.walk(node) if isinstance(n, ast.Call)]:
    symbol = plan.module.resolve(call.func)
    if symbol is not None and symbol.path == _SAVER:
      _convert_saver(plan, node, call)


def _convert_saver(plan: Plan, node: ast.ClassDef, call: ast.Call) -> None:
  statement = plan.module.parents[call]
  arguments = facts.bind_arguments(call, _SAVER_PARAMETERS)
  var_list = (arguments or {}).get("var_list")
  if arguments is None or not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
    raise Unsupported("EM302", call, hook=node.name, what=f"makes {plan.module.source(call)}")
  if var_list is None:
    does = _does(plan, node, statement.targets[0])
    what = f"{does} all variables, the global step and the slots among them"
    raise Unsupported("EM302", call, hook=node.name, what=what)
  if not _is_weights(plan, var_list.value):
    does = _does(plan, node, statement.targets[0])
    what = f"{does} {plan.module.source(var_list.value)}"
    raise Unsupported("EM302", call, hook=node.name, what=what)
  target = statement.targets[0]
  plan.statement(call).replacement = []
  for use in _uses(plan, node, target):
    attribute = plan.module.parents[use]
    restore = plan.module.parents.get(attribute)
    plain = (
      isinstance(attribute, ast.Attribute)
      and attribute.attr == "restore"
      and isinstance(restore, ast.Call)
      and isinstance(plan.module.parents[restore], ast.Expr)
    )
    given = facts.bind_arguments(restore, ("sess", "save_path")) if plain else None
    if given is None or set(given) != {"sess", "save_path"}:
      used = plan.module.source(attribute if isinstance(attribute, ast.Attribute) else use)
      raise Unsupported("EM302", use, hook=node.name, what=f"uses {used}")
    path = plan.source(given["save_path"].value)
    line = f"{plan.runtime()}.load_weights(self.model, {path})"
    plan.statement(restore).replacement = [line]


def _does(plan: Plan, node: ast.ClassDef, target: ast.expr) -> str:
  """What a class does with a saver, in a word."""
  above = [plan.module.parents[use] for use in _uses(plan, node, target)]
  methods = {a.attr for a in above if isinstance(a, ast.Attribute)}
  if "save" in methods:
    return "saves and restores" if "restore" in methods else "saves"
  return "restores" if "restore" in methods else "makes a Saver of"


def _is_weights(plan: Plan, node: ast.expr) -> bool:
  """Whether an expression is the list of all trainable variables."""
  definition: Optional[ast.AST] = plan.module.definition(node)
  if not isinstance(definition, ast.Call):
    return False
  symbol = plan.module.resolve(definition.func)
  if symbol is None or definition.keywords:
    return False
  if symbol.path in _WEIGHTS:
    return not definition.args
  key = plan.module.resolve(definition.args[0]) if len(definition.args) == 1 else None
  collects = symbol.path.rpartition(".")[2] == "get_collection"
  return collects and key is not None and key.path.endswith(_COLLECTION)


def _uses(plan: Plan, node: ast.ClassDef, target: ast.expr) -> list[ast.expr]:
  """The places of a class that read a saver."""
  if isinstance(target, ast.Name):
    return list(facts.loads(plan.module, target))
  if not hook_values.is_own_attribute(target):
    raise Unsupported("EM302", target, hook=node.name, what="keeps a saver elsewhere")
  assert isinstance(target, ast.Attribute)
  return [n for n in ast.walk(node) if hook_values.reads(n, target.attr)]  # type: ignore[misc]
