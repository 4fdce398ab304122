"""The `train_op` of a model_fn: which optimizer, and what is done to the gradients."""

from __future__ import annotations

import ast
import dataclasses
from typing import Optional

from migrator.analysis import facts
from migrator.analysis.model_fns.flow import Flow, Value
from migrator.analysis.model_fns.modes import Leaf, Unreadable

_STEPS = ("tf.train.get_global_step", "tf.train.get_or_create_global_step")
_MINIMIZE = (
  "loss",
  "global_step",
  "var_list",
  "gate_gradients",
  "aggregation_method",
  "colocate_gradients_with_ops",
  "name",
  "grad_loss",
)
_APPLY = ("grads_and_vars", "global_step", "name")
_GRADIENTS = ("ys", "xs", "grad_ys", "name", "colocate_gradients_with_ops")
# They say where and how gradients are computed, not what they are.
_WITHOUT_EFFECT = frozenset(
  ("gate_gradients", "aggregation_method", "colocate_gradients_with_ops", "name")
)
_COLLECTIONS = {
  "UPDATE_OPS": "update_ops",
  "update_ops": "update_ops",
  "TRAINABLE_VARIABLES": "trainable_variables",
  "trainable_variables": "trainable_variables",
  "REGULARIZATION_LOSSES": "regularization_losses",
  "regularization_losses": "regularization_losses",
}


@dataclasses.dataclass
class TrainOp:
  """What a train_op does.

  Attributes:
    optimizer: the call of its constructor, or the variable to which an `if` binds one of several: see
      `constructors`.
    loss: what is minimized.
    gradients: what is applied: pairs of a gradient and its variable; None for the gradients as they are.
    gradient_nodes: expression -> what it is of the pairs: "both", "gradients" or "variables".
    runs_updates: whether the update operations are run, too.
  """

  optimizer: Value
  loss: Value
  gradients: Optional[Value] = None
  gradient_nodes: dict[ast.AST, str] = dataclasses.field(default_factory=dict)
  runs_updates: bool = False


def collection(flow: Flow, node: ast.AST) -> Optional[str]:
  """The collection that `tf.get_collection(...)` gives, in small letters; None for anything else."""
  if not isinstance(node, ast.Call):
    return None
  path = _path(flow, node.func)
  if path == "tf.trainable_variables" and not node.args and not node.keywords:
    return "trainable_variables"
  if path != "tf.get_collection" or len(node.args) != 1 or node.keywords:
    return None
  key = node.args[0]
  name = key.value if isinstance(key, ast.Constant) else _path(flow, key).rpartition(".")[2]
  return _COLLECTIONS.get(name) if isinstance(name, str) else None


def read(flow: Flow, value: Value) -> TrainOp:
  """Reads a train_op.

  Raises:
    Unreadable: it is made in a way that is not known.
  """
  runs_updates = False
  while True:
    leaf, value = flow.leaves[value.index], flow.resolve(value)
    for around in {id(w): w for w in (*leaf.withs, *flow.leaves[value.index].withs)}.values():
      runs_updates |= _runs_updates(flow, around, value.index)
    call = value.node
    if not isinstance(call, ast.Call):
      raise Unreadable(call, "its train_op is not made by a call that the function shows")
    if _path(flow, call.func) not in ("tf.group", "tf.identity"):
      break
    others = [a for a in call.args if not _is_updates(flow, a, value.index)]
    runs_updates |= len(others) < len(call.args)
    if len(others) != 1:
      raise Unreadable(call, "its train_op is a group of several operations")
    value = Value(others[0], value.index)
  if not isinstance(call.func, ast.Attribute):
    raise Unreadable(call, f"its train_op is made by `{flow.function.module.source(call.func)}()`")
  method = call.func.attr
  if method == "minimize":
    made = _minimize(flow, call, value.index)
  elif method == "apply_gradients":
    made = _apply(flow, call, value.index)
  else:
    raise Unreadable(call, f"its train_op is made by `{flow.function.module.source(call.func)}()`")
  made.runs_updates = runs_updates
  return made


def _path(flow: Flow, node: ast.AST) -> str:
  symbol = flow.function.module.resolve(node)
  return symbol.path if symbol is not None else ""


def _is_updates(flow: Flow, node: ast.expr, index: int) -> bool:
  """Whether an expression is the update operations of the graph or of a Keras model."""
  node = node.value if isinstance(node, ast.Starred) else node
  value = flow.resolve(Value(node, index)).node
  if isinstance(value, ast.Attribute) and value.attr == "updates":
    return _path(flow, value) == ""
  if isinstance(value, ast.BinOp) and isinstance(value.op, ast.Add):
    return _is_updates(flow, value.left, index) and _is_updates(flow, value.right, index)
  if isinstance(value, ast.Call) and _path(flow, value.func) == "tf.group":
    return bool(value.args) and all(_is_updates(flow, a, index) for a in value.args)
  if isinstance(value, (ast.List, ast.Tuple)) and value.elts:
    return all(_is_updates(flow, a, index) for a in value.elts)
  return collection(flow, value) == "update_ops"


def _runs_updates(flow: Flow, around: ast.With, index: int) -> bool:
  """Whether a `with` around the train_op makes it run the update operations."""
  runs = False
  for item in around.items:
    call = item.context_expr
    path = _path(flow, call.func) if isinstance(call, ast.Call) else ""
    if path in ("tf.name_scope", "tf.variable_scope", "tf.device"):
      continue
    waits = path == "tf.control_dependencies" and isinstance(call, ast.Call) and bool(call.args)
    if not waits or not _is_updates(flow, call.args[0], index):  # type: ignore[attr-defined]
      raise Unreadable(around, "its train_op waits for something else than the update operations")
    runs = True
  return runs


def _bound(call: ast.Call, names: tuple[str, ...]) -> dict[str, facts.Argument]:
  bound = facts.bind_arguments(call, names)
  if bound is None or set(bound) - set(names):
    raise Unreadable(call, "its train_op has arguments that are not listed")
  return bound


def _check_step(flow: Flow, call: ast.Call, bound: dict[str, facts.Argument], index: int) -> None:
  given = bound.get("global_step")
  value = flow.resolve(Value(given.value, index)).node if given is not None else None
  if not isinstance(value, ast.Call) or _path(flow, value.func) not in _STEPS:
    raise Unreadable(call, "its train_op does not count the global step by itself")


def constructors(flow: Flow, value: Value) -> list[ast.Call]:
  """The calls of tf.train that may make an optimizer: one, or those in the branches of an `if`.

  Returns:
    The calls; none where something else may make it.
  """
  if isinstance(value.node, ast.Call):
    return [value.node] if _is_constructor(flow, value.node) else []
  reads = flow.reaching(value)
  index = reads.get(value.node.id, -1) if isinstance(value.node, ast.Name) else -1
  if index < 0:
    return []
  name, statement = value.node.id, flow.leaves[index].node  # type: ignore[attr-defined]
  if not isinstance(statement, ast.If) or flow.reads[index].get(name, -1) >= 0:
    return []
  found: list[ast.Call] = []
  todo: list[ast.stmt] = [statement]
  while todo:
    part = todo.pop(0)
    if isinstance(part, ast.If):
      todo = [*part.body, *part.orelse, *todo]
    elif isinstance(part, ast.Assign) and len(part.targets) == 1:
      target = part.targets[0]
      if not isinstance(target, ast.Name):
        return []
      if target.id == name:
        if not _is_constructor(flow, part.value):
          return []
        found.append(part.value)  # type: ignore[arg-type]
    elif not isinstance(part, (ast.Raise, ast.Pass)):
      return []
  return found


def _is_constructor(flow: Flow, node: ast.expr) -> bool:
  return isinstance(node, ast.Call) and _path(flow, node.func).startswith("tf.train.")


def _optimizer(flow: Flow, node: ast.expr, index: int) -> Value:
  made = flow.resolve(Value(node, index))
  if not constructors(flow, made):
    what = flow.function.module.source(node).partition("\n")[0]
    raise Unreadable(node, f"`{what}` is no optimizer of tf.train that is made in one place")
  return made


def _minimize(flow: Flow, call: ast.Call, index: int) -> TrainOp:
  bound = _bound(call, _MINIMIZE)
  _check_step(flow, call, bound, index)
  for name in bound:
    if name not in _WITHOUT_EFFECT | {"loss", "global_step"}:
      raise Unreadable(call, f"its train_op is limited by `{name}=`")
  if "loss" not in bound:
    raise Unreadable(call, "its train_op has no loss")
  assert isinstance(call.func, ast.Attribute)
  optimizer = _optimizer(flow, call.func.value, index)
  return TrainOp(optimizer, Value(bound["loss"].value, index))


def _apply(flow: Flow, call: ast.Call, index: int) -> TrainOp:
  bound = _bound(call, _APPLY)
  _check_step(flow, call, bound, index)
  if "grads_and_vars" not in bound:
    raise Unreadable(call, "its train_op has no gradients")
  assert isinstance(call.func, ast.Attribute)
  optimizer = _optimizer(flow, call.func.value, index)
  gradients = Value(bound["grads_and_vars"].value, index)
  nodes: dict[ast.AST, str] = {}
  losses: list[Value] = []
  for i in [*sorted(flow.needed(gradients)), index]:
    for node in ast.walk(flow.leaves[i].node if i != index else gradients.node):
      if not isinstance(node, ast.Call):
        continue
      if collection(flow, node) == "trainable_variables":
        nodes[node] = "variables"
      elif isinstance(node.func, ast.Attribute) and node.func.attr == "compute_gradients":
        if flow.identity(_optimizer(flow, node.func.value, i)) != flow.identity(optimizer):
          raise Unreadable(node, "it has several optimizers")
        losses.append(_computed(flow, node, i, _MINIMIZE[:1] + _MINIMIZE[2:]))
        nodes[node] = "both"
      elif _path(flow, node.func) == "tf.gradients":
        losses.append(_computed(flow, node, i, _GRADIENTS))
        nodes[node] = "gradients"
  if len(losses) != 1:
    raise Unreadable(call, "its train_op does not show how the gradients are computed")
  return TrainOp(optimizer, losses[0], gradients, nodes)


def _computed(flow: Flow, call: ast.Call, index: int, names: tuple[str, ...]) -> Value:
  """The loss of `compute_gradients(...)` or `tf.gradients(...)` for all variables."""
  bound = _bound(call, names)
  variables = bound.pop("var_list", None) or bound.pop("xs", None)
  if variables is not None:
    value = flow.resolve(Value(variables.value, index)).node
    if collection(flow, value) != "trainable_variables":
      raise Unreadable(call, "its gradients are those of some variables only")
  for name in bound:
    if name not in _WITHOUT_EFFECT | {"loss", "ys"}:
      raise Unreadable(call, f"its gradients are changed by `{name}=`")
  loss = bound.get("loss") or bound.get("ys")
  if loss is None:
    raise Unreadable(call, "its gradients have no loss")
  node = loss.value
  if isinstance(node, (ast.List, ast.Tuple)) and len(node.elts) == 1:
    node = node.elts[0]
  return Value(node, index)


def is_harmless(leaf: Leaf) -> bool:
  """Whether a statement computes nothing: a docstring, `pass`, a global, an assertion of the mode."""
  node = leaf.node
  if isinstance(node, ast.Expr):
    return isinstance(node.value, ast.Constant)
  return isinstance(node, (ast.Pass, ast.Import, ast.ImportFrom))
