"""Saves at its place among the callbacks, in place of BackupAndRestore."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any, Optional

import tensorflow as tf

from migrator.runtime import listeners as heard
from migrator.runtime import steps
from migrator.runtime.manager import CheckpointManager, manager_of
from migrator.runtime.policy import Number, Timer


class CheckpointSaver(tf.keras.callbacks.Callback):
  """Decides when a training saves; for `tf.train.CheckpointSaverHook`.

  It stands after `BackupAndRestore` in the callbacks of `fit`, or in those of a loop with a
  `CheckpointManager`, which save nothing by themselves then: as with an Estimator the cadence of the
  configuration is not looked at, `keep_checkpoint_max` is. It saves when training starts, every N steps or
  seconds after the last time, and when it ends; after the callbacks that stand before it, and before
  those that follow.
  """

  def __init__(
    self,
    checkpoint_dir: str,
    save_secs: Optional[Number] = None,
    save_steps: Optional[Number] = None,
    checkpoint_basename: str = "model.ckpt",
    listeners: Optional[Iterable[Any]] = None,
  ):
    """Makes the callback.

    Args:
      checkpoint_dir: the model directory of the `BackupAndRestore` or `CheckpointManager`.
      save_secs: save after this many seconds.
      save_steps: save after this many steps; 0 means each, other than in RunConfig.
      checkpoint_basename: what the files begin with.
      listeners: `runtime.CheckpointSaverListener`s, which hear of each save before those of the training.

    Raises:
      ValueError: unless exactly one of the cadences is given.
      TypeError: for what is no CheckpointSaverListener.
    """
    super().__init__()
    if save_secs is None and save_steps is None:
      raise ValueError("Either every_secs or every_steps should be provided.")
    if save_secs is not None and save_steps is not None:
      raise ValueError("Can not provide both every_secs and every_steps.")
    self._directory = os.fspath(checkpoint_dir)
    self._steps, self._secs = save_steps, save_secs
    if (save_secs if save_steps is None else save_steps) <= 0:  # type: ignore[operator]
      self._steps, self._secs = 1, None
    self._timer = Timer(self._steps, self._secs)
    self._name = checkpoint_basename
    self._listeners = list(heard.checked(listeners))
    self._manager: CheckpointManager

  def add_listeners(self, listeners: Iterable[Any]) -> None:
    """Adds those that it does not have yet, for good."""
    self._listeners += [x for x in listeners if x not in self._listeners]

  def set_model(self, model: Any) -> None:
    """Takes the saves of the next training over.

    Raises:
      ValueError: if nothing saves the model, or somewhere else than this callback was told.
    """
    super().set_model(model)
    manager = manager_of(steps.counter(model))
    if manager is None:
      raise ValueError(
        "CheckpointSaver needs a runtime.BackupAndRestore before it in the callbacks, or a "
        "runtime.CheckpointManager in the loop: they know what to save."
      )
    place = os.path.dirname(os.path.abspath(manager.directory))
    if os.path.abspath(self._directory) != place:
      raise ValueError(
        f"CheckpointSaver was made for {self._directory}, but {model.name} is saved in {place}. An "
        "Estimator left its model directory without checkpoints then; give both the same."
      )
    self._manager = manager
    manager.leave_to(self)

  def on_train_begin(self, logs: Optional[dict] = None) -> None:
    """Saves the first step of the session."""
    self._session = heard.Session(self.model, tuple(self._listeners))
    self._save(may_stop=False)

  def on_train_batch_end(self, batch: int, logs: Optional[dict] = None) -> None:
    """Saves, if it is time."""
    if self._timer.due(steps.global_step(self.model)):
      self._save(may_stop=True)

  def on_train_end(self, logs: Optional[dict] = None) -> None:
    """Saves the last step, unless that has been done."""
    step = steps.global_step(self.model)
    if self._timer.last_step != step:
      self._save(may_stop=False)
    self._session.end(step)

  def _save(self, may_stop: bool) -> None:
    step = steps.global_step(self.model)
    self._timer.mark(step)
    self._manager.write(step, self._session, may_stop=may_stop, name=self._name)
