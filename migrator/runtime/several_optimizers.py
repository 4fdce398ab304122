"""The state of several optimizers, each of which trains its own part of a model.

A DNNLinearCombined Estimator had Adagrad for `dnn/` and Ftrl for `linear/`, a GAN an Adam for each net.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Optional, Union

import tensorflow as tf

from migrator.runtime.slots import Kind, NoOptimizer, OptimizerState, Slot

State = Union[OptimizerState, NoOptimizer]


class SeveralOptimizers:
  """In place of an `OptimizerState`; the states in the order in which the program gives the optimizers.

  Attributes:
    kind: the names of all. The slots are those of the single states.
    states: the single states.
    iterations: of the first optimizer.
    learning_rate: None; each optimizer keeps its own.
  """

  learning_rate = None

  def __init__(self, pairs: Sequence[tuple[Any, Sequence[Any]]], trainable: list, flavour: str):
    """Builds each optimizer for its variables if need be.

    Args:
      pairs: optimizer and the weights that it trains.
      trainable: all weights of the model that are trained.
      flavour: "v1" or "v2".

    Raises:
      ValueError: unless each trainable weight has one optimizer.
      TypeError: if an optimizer is not known.
    """
    self._owner: dict[int, int] = {}
    for place, (_, variables) in enumerate(pairs):
      for variable in variables:
        if self._owner.setdefault(id(variable), place) != place:
          raise ValueError(f"Two of the optimizers train {_name(variable)}: one of them may.")
    without = [_name(v) for v in trainable if id(v) not in self._owner]
    if without:
      raise ValueError(f"None of the optimizers trains {', '.join(without)}.")
    foreign = set(self._owner) - {id(v) for v in trainable}
    if foreign:
      names = [_name(v) for _, vs in pairs for v in vs if id(v) in foreign]
      raise ValueError(f"The model does not train {', '.join(names)}.")
    self.states = [OptimizerState(o, list(variables), flavour) for o, variables in pairs]
    names = [state.kind.name for state in self.states]
    ignored = tuple(dict.fromkeys(s for state in self.states for s in state.kind.ignored))
    used = {slot.suffix for state in self.states for slot in state.kind.slots}
    self.kind = Kind(" and ".join(names), "", ignored=tuple(s for s in ignored if s not in used))
    self.iterations = self.states[0].iterations

  def of(self, variable: Any) -> OptimizerState:
    """Returns the state of the optimizer that trains a weight."""
    return self.states[self._owner[id(variable)]]

  def use_names(self, names: dict[str, Any]) -> None:
    """Tells optimizers that treat weights by their name the names in the checkpoint."""
    for state in self.states:
      state.use_names(names)

  def slot(self, slot: Slot, variable: Any) -> tf.Variable:
    """Returns the slot of one trainable variable."""
    return self.of(variable).slot(slot, variable)

  def hyperparameter(self, attribute: str) -> float:
    """Returns 0: there is none that is of all."""
    return 0.0

  def adam_betas(self) -> Optional[tuple[float, float]]:
    """Returns None: each state has its own."""
    return None

  def rate(self) -> Optional[float]:
    """Returns None: each state has its own."""
    return None


def make_state(
  optimizer: Any, trainable: list, flavour: str
) -> Union[OptimizerState, NoOptimizer, SeveralOptimizers]:
  """Returns the state of what a program gives as its optimizer.

  Args:
    optimizer: a Keras optimizer, also a `Combined`, None, or pairs of an optimizer and the weights that
      it trains.
    trainable: the weights of the model that are trained.
    flavour: "v1" or "v2".

  Raises:
    TypeError, ValueError: see `OptimizerState` and `SeveralOptimizers`.
  """
  if optimizer is None:
    return NoOptimizer()
  if hasattr(optimizer, "pairs"):
    optimizer.build(trainable)
    optimizer = optimizer.pairs(trainable)
  if not isinstance(optimizer, (list, tuple)):
    return OptimizerState(optimizer, trainable, flavour)
  if not optimizer or not all(isinstance(p, (list, tuple)) and len(p) == 2 for p in optimizer):
    raise TypeError("Several optimizers are given as pairs: [(optimizer, variables), ...].")
  return SeveralOptimizers(optimizer, trainable, flavour)


def single_states(
  state: Union[OptimizerState, NoOptimizer, SeveralOptimizers],
) -> list[Union[OptimizerState, NoOptimizer]]:
  """Returns the single states, in their order."""
  return list(state.states) if isinstance(state, SeveralOptimizers) else [state]


def _name(variable: Any) -> str:
  return str(getattr(variable, "path", variable.name))
