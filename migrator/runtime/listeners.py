"""Those who hear of each save of a training session."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from typing import Any, Optional

# TensorFlow's own, without its import.
_LOGGER = logging.getLogger("tensorflow")

NO_SAVER = (
  "There should be a CheckpointSaverHook to use saving_listeners. Please set one of the "
  "RunConfig.save_checkpoints_steps or RunConfig.save_checkpoints_secs."
)
"""The Estimator's words where nothing is saved of which listeners could hear."""

_NO_LISTENER = "saving_listeners must be a list of CheckpointSaverListener, given: {}"


class CheckpointSaverListener:
  """Base class of those who hear of each save; all methods may be left out.

  In a session, that is one training, the order is: `begin`; then for each checkpoint, also the one at
  the start and the one at the end, `before_save`, the file, `after_save`; then `end`, unless the
  training failed. Of several listeners each hears one event before the first hears the next.
  """

  def begin(self) -> None:
    """Called once, before the first save of a session."""

  def before_save(self, model: Any, global_step: int) -> None:
    """Called before a checkpoint is written.

    Args:
      model: the model that is trained.
      global_step: the step of the checkpoint.
    """

  def after_save(self, model: Any, global_step: int) -> Any:
    """Called when a checkpoint has been written, with the arguments of `before_save`.

    Returns:
      A true value to stop the training after this step; at the first and at the last save of a
      session nobody looks at it, as with the Estimator.
    """

  def end(self, model: Any, global_step: int) -> None:
    """Called once, after the last save of a session that did not fail."""


def checked(listeners: Optional[Iterable[Any]]) -> tuple[Any, ...]:
  """Returns the listeners, each once, in their order; None stands for none.

  Raises:
    TypeError: with the Estimator's message, for what is no listener.
  """
  found: list[Any] = []
  for listener in listeners or ():
    if not isinstance(listener, CheckpointSaverListener):
      raise TypeError(_NO_LISTENER.format(listener))
    if listener not in found:
      found.append(listener)
  return tuple(found)


class Session:
  """The listeners of one training.

  Args:
    model: what the listeners get, and whose `stop_training` they may set.
    listeners: in their order.
  """

  def __init__(self, model: Any = None, listeners: tuple[Any, ...] = ()):
    self._model = model
    self._listeners = listeners
    for listener in listeners:
      listener.begin()

  def before_save(self, step: int) -> None:
    """Tells all that a checkpoint will be written."""
    for listener in self._listeners:
      listener.before_save(self._model, step)

  def after_save(self, step: int, may_stop: bool) -> None:
    """Tells all that a checkpoint has been written; stops the training if one of them wants it.

    Args:
      step: of the checkpoint.
      may_stop: whether the answers are looked at.
    """
    # No generator: all of them hear of it, whatever the first one answers.
    asking = [x for x in self._listeners if x.after_save(self._model, step)]
    if asking and may_stop:
      _LOGGER.info("The training stops, as %s asked for after a save.", asking[0])
      self._model.stop_training = True

  def end(self, step: int) -> None:
    """Tells all that the training has ended."""
    for listener in self._listeners:
      listener.end(self._model, step)
