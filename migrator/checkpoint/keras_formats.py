"""Writes `.keras` and `.weights.h5` files: what Keras itself saves of a model that holds the values."""

from __future__ import annotations

from typing import Any, Callable

import numpy as np

from migrator.runtime.errors import CheckpointError

GLOBAL_STEP = "global_step"
_NOT_IN_KERAS = (GLOBAL_STEP,)


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
  wanted: dict[str, Any],
  fresh: Any,
  wrap: Callable[[Any, Any], Any],
) -> tuple[int, int, list[str]]:
  """Loads the file and compares every variable with the source's value, bit for bit.

  Args:
    path: the file.
    format_: "keras" or "weights.h5".
    wanted: name -> the value that came from the source.
    fresh: another model of the factory, with initial values.
    wrap: makes a `NamedCheckpoint` of a model and its optimizer.

  Returns:
    The number of tensors, that of their bytes, and sentences for the report.

  Raises:
    CheckpointError: if anything differs.
  """
  import tensorflow as tf

  notes = []
  loaded = fresh
  if format_ == "keras":
    try:
      loaded = tf.keras.models.load_model(path)
    except Exception as error:
      notes.append(
        f"tf.keras.models.load_model needs help with this file ({type(error).__name__}: "
        f"{str(error).splitlines()[0]}): give it `custom_objects`, or use load_weights, with which it "
        "was read back."
      )
      fresh.load_weights(path)
  else:
    fresh.load_weights(path)
  found = {
    n: v.numpy() for n, v in wrap(loaded, getattr(loaded, "optimizer", None)).by_name.items()
  }
  count = total = 0
  for name, value in wanted.items():
    if name in _NOT_IN_KERAS:
      continue
    value = np.asarray(value)
    if name not in found or found[name].dtype != value.dtype or found[name].shape != value.shape:
      raise CheckpointError(
        f"Reading back shows that Keras did not save {name}: nothing was written. "
        "--format checkpoint keeps it."
      )
    if found[name].tobytes() != value.tobytes():
      raise CheckpointError(
        f"Reading back shows a difference in {name}: nothing was written. --format checkpoint keeps it."
      )
    count += 1
    total += value.nbytes
  return count, total, notes
