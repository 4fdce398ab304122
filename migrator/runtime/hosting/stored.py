"""What a `ModelFn` has in its directory."""

from __future__ import annotations

import os
from typing import Any, Optional

import tensorflow as tf

from migrator.runtime import state, variables
from migrator.runtime.hosting import places

v1 = tf.compat.v1


class Stored:
  """The methods of `ModelFn` that look into its directory."""

  _model_dir: str

  def latest_checkpoint(self) -> Optional[str]:
    """Returns the newest checkpoint, None if there is none."""
    return places.latest_checkpoint(self._model_dir)

  def get_variable_names(self) -> list[str]:
    """Returns the names of the variables in the newest checkpoint.

    Raises:
      ValueError: with the Estimator's message, if there is none.
    """
    return variables.get_variable_names(self._model_dir)

  def get_variable_value(self, name: str) -> Any:
    """Returns the value of a variable in the newest checkpoint, a numpy array.

    Raises:
      ValueError: with the Estimator's message, if there is none.
    """
    return variables.get_variable_value(self._model_dir, name)

  def eval_dir(self, name: Optional[str] = None) -> str:
    """Returns the directory of the events of an evaluation."""
    return os.path.join(self._model_dir, f"eval_{name}" if name else "eval")

  def _checkpoint(self, checkpoint_path: Any, purpose: str) -> Optional[str]:
    """Returns the checkpoint that is meant, None for initial values."""
    if checkpoint_path:
      return places.given(checkpoint_path, self._model_dir)
    found = places.newest(self._model_dir)
    if found is None:
      v1.logging.info(
        "Could not find trained model in model_dir: %s, running initialization to %s.",
        self._model_dir,
        purpose,
      )
    return found

  def _saved_step(self) -> int:
    """Returns the step of the newest checkpoint, 0 without one."""
    newest = places.newest(self._model_dir)
    return 0 if newest is None else state.step_of(newest)
