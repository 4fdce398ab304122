"""What a model_fn returns: the arguments of its EstimatorSpec in one mode.

https://www.tensorflow.org/versions/r1.15/api_docs/python/tf/estimator/EstimatorSpec
"""

from __future__ import annotations

import ast
from typing import Optional

from migrator.analysis.model_fns.flow import Flow, Value
from migrator.analysis.model_fns.modes import Unreadable

_PARAMETERS = tuple(
  """mode predictions loss train_op eval_metric_ops export_outputs training_chief_hooks training_hooks
  scaffold evaluation_hooks prediction_hooks""".split()
)


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
