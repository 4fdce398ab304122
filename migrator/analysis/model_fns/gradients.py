"""What a model_fn does to the gradients before they are applied."""

from __future__ import annotations

from typing import Optional

from migrator.analysis.model_fns import calls
from migrator.analysis.model_fns.flow import Flow
from migrator.analysis.model_fns.modes import Function, Unreadable
from migrator.analysis.model_fns.pieces import Piece
from migrator.analysis.model_fns.train_ops import TrainOp


def piece(function: Function, flow: Flow, train: TrainOp) -> Optional[Piece]:
  """Returns the statements that change the gradients; None where nothing does.

  Args:
    function: the model_fn.
    flow: of its training.
    train: its train_op.

  Raises:
    Unreadable: they may do more, or depend on more than the gradients and `params`.
  """
  value = train.gradients
  if value is None or train.gradient_nodes.get(flow.resolve(value).node) == "both":
    return None
  # What the computation itself reads is replaced with it.
  inner = Flow(function, flow.leaves, {**flow.replaced, **train.gradient_nodes})
  indexes = inner.needed(value)
  made = Piece([inner.leaves[i] for i in sorted(indexes)], value, set(), inner)
  made.parameters = inner.parameters(indexes, value) - set(train.gradient_nodes.values())
  for index in indexes:
    found = calls.effects(function.module, inner.leaves[index].node)
    if any(call not in train.gradient_nodes for call in found):
      raise Unreadable(
        inner.leaves[index].node, "its gradients are changed by code that is not known"
      )
  bad = made.parameters - {"params"}
  if bad:
    raise Unreadable(value.node, f"its gradients depend on `{min(bad)}`")
  return made
