"""What a model_fn returns: the arguments of its EstimatorSpec in one mode.

https://www.tensorflow.org/versions/r1.15/api_docs/python/tf/estimator/EstimatorSpec
"""

from __future__ import annotations

import ast
from typing import Optional

from migrator.analysis.model_fns import calls
from migrator.analysis.model_fns.flow import Flow, Value
from migrator.analysis.model_fns.modes import EVAL, PREDICT, TRAIN, Function, Unreadable
from migrator.analysis.module import Module

_PARAMETERS = tuple(
  """mode predictions loss train_op eval_metric_ops export_outputs training_chief_hooks training_hooks
  scaffold evaluation_hooks prediction_hooks""".split()
)

_SPEC = frozenset(
  ("mode", "predictions", "loss", "train_op", "eval_metric_ops", "export_outputs", "training_hooks")
)
_LOGGING_HOOKS = frozenset(("tf.train.LoggingTensorHook", "tf.train.SummarySaverHook"))


def read(flow: Flow) -> dict[str, Value]:
  """The arguments of the EstimatorSpec that a mode returns, less those that are None.

  Raises:
    Unreadable: the function returns something else.
  """
  index = len(flow.leaves) - 1
  statement = flow.leaves[index].node
  assert isinstance(statement, ast.Return)
  if statement.value is None:
    raise Unreadable(statement, "it returns nothing")
  made = flow.resolve(Value(statement.value, index))
  call = made.node
  symbol = flow.function.module.resolve(call.func) if isinstance(call, ast.Call) else None
  if symbol is None or symbol.path.rpartition(".")[2] != "EstimatorSpec":
    what = flow.function.module.source(statement.value).partition("\n")[0]
    raise Unreadable(statement, f"`{what}` is no EstimatorSpec that the function shows")
  assert isinstance(call, ast.Call)
  if any(isinstance(a, ast.Starred) for a in call.args) or len(call.args) > len(_PARAMETERS):
    raise Unreadable(call, "the arguments of its EstimatorSpec are not listed")
  found = {n: Value(v, made.index) for n, v in zip(_PARAMETERS, call.args)}
  for keyword in call.keywords:
    if keyword.arg is None:
      found |= _record(flow, keyword.value, made.index)
    else:
      found[keyword.arg] = Value(keyword.value, made.index)
  return {n: v for n, v in found.items() if not _is_none(flow, v)}


def _record(flow: Flow, node: ast.expr, index: int) -> dict[str, Value]:
  """The arguments of `**spec`, where `spec` is a dict to which they are added one by one."""
  name = node.id if isinstance(node, ast.Name) else ""
  if name not in flow.records:
    raise Unreadable(node, "the arguments of its EstimatorSpec are not listed")
  found = {}
  for i, leaf in enumerate(flow.leaves[:index]):
    targets = leaf.node.targets if isinstance(leaf.node, ast.Assign) else []
    for inner in ast.walk(leaf.node):
      is_part = isinstance(inner, ast.Subscript) and isinstance(inner.ctx, ast.Store)
      if is_part and isinstance(inner.value, ast.Name) and inner.value.id == name:  # type: ignore[attr-defined]
        if targets != [inner]:
          raise Unreadable(inner, "the arguments of its EstimatorSpec are not listed")
        key = inner.slice.value  # type: ignore[attr-defined]
        found[key] = Value(leaf.node.value, i)  # type: ignore[attr-defined]
  return found


def _is_none(flow: Flow, value: Value) -> bool:
  node = flow.resolve(value).node
  return isinstance(node, ast.Constant) and node.value is None


def mapping(flow: Flow, value: Optional[Value]) -> Optional[Value]:
  """The dict that is written where a value is made; None where it is filled in another way."""
  if value is None:
    return None
  made = flow.resolve(value)
  return made if isinstance(made.node, ast.Dict) else None


def check(function: Function, flows: dict[str, Flow], specs: dict[str, dict[str, Value]]) -> None:
  """Checks that the modes return what is known.

  Raises:
    Unreadable: an argument is missing, or has no counterpart.
  """
  needed = {TRAIN: ("loss", "train_op"), EVAL: ("loss",), PREDICT: ("predictions",)}
  for mode, spec in specs.items():
    for name in needed[mode]:
      if name not in spec:
        raise Unreadable(function.node, f"mode {mode!r} gives no {name}")
    for name in spec:
      if name not in _SPEC:
        raise Unreadable(spec[name].node, f"its EstimatorSpec has `{name}`")
  hooks = specs[TRAIN].get("training_hooks")
  if hooks is not None:
    flow = flows[TRAIN]
    value = flow.resolve(hooks)
    elements = getattr(value.node, "elts", None)
    made = [flow.resolve(Value(e, value.index)).node for e in elements or [value.node]]
    for hook in made:
      path = calls.path(function.module, hook) if isinstance(hook, ast.Call) else ""
      if path not in _LOGGING_HOOKS:
        raise Unreadable(hooks.node, "its EstimatorSpec has hooks")


def wanted(specs: dict[str, dict[str, Value]]) -> dict[tuple[str, str], Value]:
  """What the pieces have to give: (mode, name) -> value."""
  names: dict[str, tuple[str, ...]] = {TRAIN: ("loss",), EVAL: ("loss", "eval_metric_ops")}
  names[PREDICT] = ("predictions", "export_outputs")
  return {
    (mode, name): spec[name] for mode, spec in specs.items() for name in names[mode] if name in spec
  }


def is_hook(module: Module, node: ast.stmt) -> bool:
  """Whether a statement only makes hooks that log or write summaries."""
  made = node.value if isinstance(node, (ast.Assign, ast.Expr)) else None
  nodes = made.elts if isinstance(made, (ast.List, ast.Tuple)) else [made]
  made_here = [
    n for n in nodes if isinstance(n, ast.Call) and calls.path(module, n) in _LOGGING_HOOKS
  ]
  return bool(nodes) and len(made_here) == len(nodes)
