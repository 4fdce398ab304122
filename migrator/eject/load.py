"""Calls the function of the program that makes the model. Imports TensorFlow only when asked to."""

from __future__ import annotations

import importlib.util
from typing import Any

from migrator.checkpoint import template
from migrator.runtime.errors import CheckpointError

__all__ = ["CheckpointError", "load"]


def load(spec: str) -> Any:
  """Returns the Keras model that `pkg.module:factory` makes; the current directory is searched first.

  Raises:
    CheckpointError: with what is wrong: TensorFlow, the name, the function, or what it returns.
  """
  if importlib.util.find_spec("tensorflow") is None:
    raise CheckpointError(
      "eject needs TensorFlow, which is not installed: pip install 'estimator-migrator[runtime]'."
    )
  try:
    made = template.build(spec, lambda model, optimizer: None, with_values=True)
  except template.FactoryError as error:
    raise CheckpointError(str(error).replace("--model ", "", 1)) from error
  except ImportError as error:
    raise CheckpointError(
      f"eject needs TensorFlow, which is installed but cannot be imported: {error}."
    ) from error
  if made.model is None:
    raise CheckpointError(f"{spec}: the factory returned a checkpoint; it must return the model.")
  return made.model
