"""What stands in a split model_fn for conditions on the mode and for collections of losses."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from migrator.analysis.model_fns.modes import Function, Unreadable
from migrator.analysis.model_fns.pieces import LOSSES, MODEL_LOSSES, TRAINING, VARIABLES
from migrator.analysis.module import Module
from migrator.rewrite.plan import Plan

_REGULARIZATION = ("tf.losses.get_regularization_loss", "tf.contrib.losses.get_regularization_loss")
_LISTS = ("tf.losses.get_regularization_losses",)
_VARIABLES = ("TRAINABLE_VARIABLES", "trainable_variables")
_KEYS = ("REGULARIZATION_LOSSES", "regularization_losses")


def plan_expressions(plan: Plan, function: Function) -> dict[ast.AST, str]:
  """Plans the new expressions.

  Returns:
    Each expression that is replaced -> the new parameter that it reads.

  Raises:
    Unreadable: losses are collected in several ways.
  """
  replaced: dict[ast.AST, str] = {}
  kinds = set()
  for node, text, name, kind in _expressions(plan, function, function.node):
    if name in function.scope.bindings:
      alias = function.scope.bindings[name]
      is_mode = len(alias) == 1 and isinstance(
        alias[0].value, (ast.Compare, ast.BoolOp, ast.UnaryOp)
      )
      if not (name == TRAINING and is_mode):
        raise Unreadable(node, f"`{name}` is a variable of its own")
    plan.expressions[node] = text
    replaced[node] = name
    kinds.add(kind)
  _check_outer(plan.module, function, {*replaced.values(), "features"})
  kinds.discard("")
  if len(kinds) > 1:
    raise Unreadable(function.node, "it collects regularization losses in several ways")
  if "collection" in kinds and _makes_keras(plan.module):
    raise Unreadable(function.node, "the losses of Keras layers are in no collection")
  return replaced


def _check_outer(module: Module, function: Function, parameters: set[str]) -> None:
  """A parameter of a new function hides what the file has under its name."""
  outer = [*function.scope.chain()][1:]
  for node in ast.walk(function.node):
    if isinstance(node, ast.Name) and node.id in parameters:
      scope, _ = module.scope_of[node].lookup(node.id)
      if scope in outer:
        raise Unreadable(node, f"`{node.id}` is a name of the file, and would be its parameter")


def _expressions(
  plan: Plan, function: Function, node: ast.AST
) -> Iterator[tuple[ast.AST, str, str, str]]:
  """Expression, text, new parameter, and which kind of collection it is."""
  is_condition = isinstance(node, (ast.Compare, ast.BoolOp, ast.UnaryOp)) or (
    isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)
  )
  text = function.training_text(node, TRAINING) if is_condition else None
  if text is not None:
    binds = isinstance(plan.module.parents[node], (ast.Compare, ast.BinOp, ast.Attribute))
    yield node, f"({text})" if binds and " " in text else text, TRAINING, ""
    return
  found = _losses(plan.module, node)
  if found is not None and found[0] == VARIABLES and VARIABLES in function.scope.bindings:
    found = (
      None  # It has variables that it calls so; those of the training are read where they are used.
    )
  if found is not None:
    name = LOSSES if found[1] == "collection" else found[0]
    yield (node, found[0].format(tf=plan.tf), name, found[1])
    return
  for child in ast.iter_child_nodes(node):
    yield from _expressions(plan, function, child)


def _losses(module: Module, node: ast.AST):
  if isinstance(node, ast.Call) and not node.args and not node.keywords:
    symbol = module.resolve(node.func)
    path = symbol.path if symbol is not None else ""
    if path in _REGULARIZATION:
      # There may be none, whose sum is 0.
      return f"{{tf}}.add_n({LOSSES} or [0.0])", "collection"
    if path in _LISTS:
      return LOSSES, "collection"
    if path == "tf.trainable_variables":
      return VARIABLES, ""
  if isinstance(node, ast.Call) and len(node.args) == 1 and not node.keywords:
    symbol = module.resolve(node.func)
    if symbol is not None and symbol.path == "tf.get_collection":
      key = node.args[0]
      known = module.resolve(key)
      text = known.path.rpartition(".")[2] if known is not None else getattr(key, "value", "")
      if text in _KEYS:
        return LOSSES, "collection"
      if text in _VARIABLES:
        return VARIABLES, ""
  if isinstance(node, ast.Attribute) and node.attr == "losses" and isinstance(node.value, ast.Name):
    name = f"{node.value.id}{MODEL_LOSSES}"
    return (name, f"model {node.value.id}") if module.resolve(node) is None else None
  return None


def _makes_keras(module: Module) -> bool:
  parts = ("tf.keras.layers.", "tf.keras.Model", "tf.keras.Sequential", "tf.keras.models.")
  return any(use.symbol.path.startswith((*parts, "tf.keras.applications")) for use in module.uses())
