"""Writes what an evaluation has given to its event file, as the Estimator did."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Optional

import numpy as np
import tensorflow as tf
from google.protobuf import message

v1 = tf.compat.v1


def write(directory: str, values: Mapping[str, Any], checkpoint: Optional[str]) -> None:
  """Writes the values of an evaluation.

  Args:
    directory: of the event file.
    values: name -> value, with `global_step`.
    checkpoint: what was evaluated; None for initial weights.
  """
  step = values["global_step"]
  shown = ", ".join(f"{k} = {v}" for k, v in sorted(values.items()) if not isinstance(v, bytes))
  v1.logging.info("Saving dict for global step %d: %s", step, shown)
  writer = v1.summary.FileWriterCache.get(directory)
  summary = v1.Summary()
  for name, value in values.items():
    if name != "global_step" and value is not None:
      _add(summary, name, value)
  writer.add_summary(summary, step)
  if checkpoint:
    v1.logging.info("Saving 'checkpoint_path' summary for global step %d: %s", step, checkpoint)
    path = v1.Summary()
    path.value.add(tag="checkpoint_path", tensor=tf.make_tensor_proto(checkpoint, tf.string))
    writer.add_summary(path, step)
  writer.flush()


def _add(summary: Any, name: str, value: Any) -> None:
  """Adds one value to a summary."""
  if isinstance(value, (float, np.float32)):
    summary.value.add(tag=name, simple_value=float(value))
  elif isinstance(value, (int, np.int32, np.int64)):
    summary.value.add(tag=name, simple_value=int(value))
  elif isinstance(value, bytes):
    # A merged summary, such as of images.
    try:
      inner = v1.Summary.FromString(value)
    except message.DecodeError:
      v1.logging.warning("Skipping summary for %s, cannot parse string to Summary.", name)
      return
    for place, part in enumerate(inner.value):
      part.tag = f"{name}/{place}"
    summary.value.extend(inner.value)
  elif isinstance(value, np.ndarray):
    summary.value.add(tag=name, node_name=name, tensor=tf.make_tensor_proto(value))
  else:
    v1.logging.warning(
      "Skipping summary for %s, must be a float, np.float32, np.int64, np.int32 or int or np.ndarray "
      "or a serialized string of Summary.",
      name,
    )
