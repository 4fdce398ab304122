"""The functions into which a model_fn is cut."""

from __future__ import annotations

import ast
import dataclasses
from typing import Optional

from migrator.analysis.model_fns import train_ops
from migrator.analysis.model_fns.flow import Flow, Value
from migrator.analysis.model_fns.modes import Function, Leaf

# New parameters, besides the outputs of the network.
LOSSES, TRAINING = "losses", "training"
VARIABLES = "variables"  # those that are trained
MODEL_LOSSES = "_losses"  # behind the name of a Keras model


@dataclasses.dataclass
class Piece:
  """A function of the new program.

  Attributes:
    leaves: its statements, in order.
    result: what it returns; None where it returns the outputs of the network.
    parameters: of the model_fn that it reads, and new ones.
    flow: of the mode in which it was read.
    takes: the outputs of the network that it reads; None for all of them.
  """

  leaves: list[Leaf]
  result: Optional[Value]
  parameters: set[str]
  flow: Flow
  takes: Optional[tuple[str, ...]] = None


@dataclasses.dataclass
class Split:
  """A model_fn in pieces.

  Attributes:
    function: the model_fn.
    outputs: the variables in which the network ends, as parameters of what follows.
    results: the expressions that the network returns for them.
    forward: the network.
    loss, metrics, predictions, exports: of what the modes return; None where they return none.
    train: the train_op.
    gradients: what is done to the gradients, None for nothing.
    flows: of the modes.
    dropped: statements of the training that have no counterpart.
    constants: `True` in a statement of the training, for which the other modes have `False`.
    is_joint: whether the network computes the loss, too; `results` are its outputs besides the loss then.
    early: the statements of the network that a prediction needs, which has no labels; None where it needs all.
  """

  function: Function
  outputs: tuple[str, ...]
  results: tuple[str, ...]
  forward: Piece
  loss: Piece
  metrics: Optional[Piece]
  predictions: Optional[Piece]
  exports: Optional[Piece]
  train: train_ops.TrainOp
  gradients: Optional[Piece]
  flows: dict[str, Flow]
  dropped: list[ast.stmt]
  constants: set[ast.Constant] = dataclasses.field(default_factory=set)
  is_joint: bool = False
  early: Optional[Piece] = None

  @property
  def reads_labels(self) -> bool:
    """Whether a training reads the labels."""
    return "labels" in self.forward.parameters | self.loss.parameters
