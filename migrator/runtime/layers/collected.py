"""What a layer adds to the collections of a graph: losses and update operations."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any, Optional

import tensorflow as tf

from migrator.runtime.layers import graphs

v1 = tf.compat.v1


class Collected:
  """The losses and updates of a layer; a part of `Layer`.

  Args:
    activity_regularizer: function from an output to a loss, or None.
  """

  trainable: bool

  def __init__(self, activity_regularizer: Optional[Callable[[Any], Any]]) -> None:
    self._activity_regularizer = activity_regularizer
    self.stateful = False
    self._updates: list[Any] = []
    self._losses: list[Any] = []
    # In which graph losses and updates are, and what makes the losses in another one.
    self._graph: Optional[weakref.ref[Any]] = None
    self._regularized: list[tuple[str, Any, Callable[[Any], Any]]] = []

  @property
  def losses(self) -> list[Any]:
    """Losses of regularizers, as scalars."""
    return list(self._losses)

  @property
  def updates(self) -> list[Any]:
    """Operations that the program has to run with a training step; none if it is not trainable."""
    return list(self._updates) if self.trainable or self.stateful else []

  @property
  def activity_regularizer(self) -> Optional[Callable[[Any], Any]]:
    """Function from an output to a loss."""
    return self._activity_regularizer

  @property
  def makes_updates(self) -> bool:
    """Whether its updates are to be made: in a tf.function all that is made runs, collected or not."""
    return self.trainable or self.stateful or not v1.executing_eagerly_outside_functions()

  def add_loss(self, losses: Any, inputs: Any = None) -> None:
    """Adds losses, or functions that return one, to those of the layer and of the graph."""
    del inputs  # Only said from which inputs a loss comes.
    found = [loss() if callable(loss) else loss for loss in tf.nest.flatten(losses)]
    found = [loss for loss in found if loss is not None]
    self._losses.extend(found)
    graphs.collect(found, v1.GraphKeys.REGULARIZATION_LOSSES)

  def add_update(self, updates: Any, inputs: Any = None) -> None:
    """Adds operations, or functions that return one, that have to run with a training step."""
    del inputs
    for update in tf.nest.flatten(updates):
      made = update
      if callable(update) and not isinstance(update, tf.Tensor):
        if not self.makes_updates:
          continue
        made = update()
      graph = not tf.executing_eagerly()
      self._updates.append(getattr(made, "op", made) if graph else made)

  def _regularize(self, weights: list[tuple[str, Any, Callable[[Any], Any]]]) -> None:
    for name, part, regularizer in weights:
      with v1.name_scope(f"{name}/Regularizer"):
        loss = regularizer(part)
      if loss is not None:
        self.add_loss(loss)

  def _enter_graph(self) -> None:
    """Makes the losses of a layer that has variables again in each graph that it is called in.

    Of a tf.function there is a graph for each kind of arguments; TF1 has one in all.
    """
    around = graphs.around()
    if self._graph is not None and self._graph() in around:
      return
    known, self._graph = self._graph is not None, weakref.ref(around[0])
    if known:
      self._losses, self._updates = [], []
      self._regularize(self._regularized)

  def _regularize_activity(self, outputs: Any) -> None:
    if self._activity_regularizer is None:
      return
    with v1.name_scope("ActivityRegularizer"):
      for output in tf.nest.flatten(outputs):
        loss = tf.convert_to_tensor(self._activity_regularizer(output))
        self.add_loss(loss / tf.cast(tf.shape(output)[0], loss.dtype))
