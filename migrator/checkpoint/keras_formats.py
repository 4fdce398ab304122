"""Writes `.keras` and `.weights.h5` files: what Keras itself saves of a model that holds the values."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Callable

import numpy as np

from migrator.checkpoint.template import Template
from migrator.runtime.errors import CheckpointError


def save(model: Any, path: str, format_: str) -> None:
  """Saves a model.

  Args:
    model: holds the values.
    path: of the new file, with the ending of its format.
    format_: "keras" or "weights.h5".

  Raises:
    OSError: if it cannot be written.
    CheckpointError: if Keras cannot save this model.
  """
  try:
    if format_ == "keras":
      model.save(path)
    else:
      model.save_weights(path)
  except OSError:
    raise
  except Exception as error:
    raise CheckpointError(
      f"Keras cannot save the model {model.name} as .{format_}: {type(error).__name__}: {error}"
    ) from error


def verify(
  path: str,
  format_: str,
  wanted: Iterable[tuple[str, Any]],
  fresh: Template,
  wrap: Callable[[Any, Any], Any],
) -> tuple[int, int, list[str]]:
  """Loads the file and compares every variable with the source's value, bit for bit.

  Args:
    path: the file.
    format_: "keras" or "weights.h5".
    wanted: names, with the values that came from the source.
    fresh: what the factory makes anew, with initial values.
    wrap: makes a `NamedCheckpoint` of a model and its optimizer.

  Returns:
    The number of tensors, that of their bytes, and sentences for the report.

  Raises:
    CheckpointError: if anything differs.
  """
  import tensorflow as tf

  notes = []
  checkpoint = fresh.checkpoint
  loaded = None
  if format_ == "keras":
    try:
      loaded = tf.keras.models.load_model(path)
    except Exception as error:
      reason = (str(error).splitlines() or [""])[0]
      notes.append(
        f"tf.keras.models.load_model needs help with this file ({type(error).__name__}: {reason}): "
        "give it `custom_objects`, or use load_weights, with which it was read back."
      )
  if loaded is None:
    fresh.model.load_weights(path)
  elif getattr(loaded, "optimizer", None) is not None or fresh.optimizer is None:
    checkpoint = wrap(loaded, getattr(loaded, "optimizer", None))
  without_optimizer = (
    fresh.optimizer is not None and getattr(fresh.model, "optimizer", None) is None
  )
  if without_optimizer:
    notes.append("The model is not compiled: Keras saves no optimizer with it.")
    checkpoint = wrap(loaded or fresh.model, None)
  found = checkpoint.by_name
  count = total = 0
  for name, value in wanted:
    if without_optimizer and name not in found:
      continue
    value = np.asarray(value)
    saved = found[name].numpy() if name in found else None
    if saved is None or saved.dtype != value.dtype or saved.shape != value.shape:
      raise CheckpointError(
        f"Reading back shows that Keras did not save {name}: nothing was written. "
        "--format checkpoint keeps it."
      )
    if saved.tobytes() != value.tobytes():
      raise CheckpointError(
        f"Reading back shows a difference in {name}: nothing was written. --format checkpoint keeps it."
      )
    count += 1
    total += value.nbytes
  return count, total, notes
