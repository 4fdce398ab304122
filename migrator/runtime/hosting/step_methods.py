"""The methods of a `ModelFn` that train step by step."""

from __future__ import annotations

import os
from typing import Any, Optional

from migrator.runtime import state
from migrator.runtime.hosting.modes import ModeKeys
from migrator.runtime.hosting.stepping import Stepper


class Steps:
  """A training whose batches the caller gives, one by one; a part of `ModelFn`."""

  _stepper: Optional[Stepper] = None
  _model_dir: str
  config: Any
  _begin_training: Any
  _call_model_fn: Any
  _training_session: Any
  _saved_step: Any

  def train_step(self, features: Any, labels: Any = None) -> Any:
    """Trains one step in a session that stays open until `close()`.

    The first call opens it: it restores, and saves as `train` does.

    Args:
      features: arrays or tensors, or a structure of them. The first dimension may differ between calls.
      labels: the same, or None.

    Returns:
      The loss, a numpy scalar.
    """
    if self._stepper is None:
      self._stepper = Stepper((features, labels), self._open)
    return self._stepper.step((features, labels))

  @property
  def global_step(self) -> int:
    """The global step: of the session of `train_step`, else of the newest checkpoint, else 0."""
    return self._saved_step() if self._stepper is None else self._stepper.global_step()

  def save(self) -> str:
    """Saves the session of `train_step` now; returns the path.

    Raises:
      RuntimeError: if there is no such session.
    """
    if self._stepper is None:
      raise RuntimeError("There is nothing to save: save() belongs to train_step().")
    return self._stepper.save(os.path.join(self._model_dir, "model.ckpt"))

  def close(self) -> None:
    """Ends the session of `train_step`, which saves its last step."""
    stepper, self._stepper = self._stepper, None
    if stepper is not None:
      stepper.close()

  def __enter__(self) -> Any:
    return self

  def __exit__(self, *unused_error: Any) -> None:
    self.close()

  def _open(self, features: Any, labels: Any) -> tuple[Any, Any]:
    """Opens the session of `train_step` in the current graph."""
    state.check_directory(self._model_dir)
    self._begin_training()
    spec = self._call_model_fn(features, labels, ModeKeys.TRAIN, self.config)
    return spec, self._training_session(spec, [], [])
