"""Loads the weights alone, as a hook did that restored the trainable variables."""

from __future__ import annotations

import os
from typing import Any

import tensorflow as tf

from migrator.runtime import named, paths, steps
from migrator.runtime.errors import CheckpointError
from migrator.runtime.tf1_reader import Tf1Checkpoint


def load_weights(model: Any, path: str) -> None:
  """Loads the trainable weights of a model from a TF1 checkpoint, by their old names; no slots, no step.

  It stands for `Saver(tf.trainable_variables()).restore(session, path)` in a hook, at each start of a
  training, also of a resumed one.

  Args:
    model: a callback's `self.model`. Its names are those of its `named_checkpoint`, if it has one.
    path: a checkpoint prefix, a model directory (its newest checkpoint is taken), or one of the files.

  Raises:
    CheckpointError: if a weight is missing or of another shape; the message lists all of them. Nothing has
      been loaded then.
    ValueError: if the model is not built.
  """
  checkpoint = steps.checkpoint_of(model) or named.unregistered(model, None)
  prefix = paths.prefixes(os.fspath(path))[0]
  source = Tf1Checkpoint(prefix)
  faults = []
  for name in checkpoint.trainable:
    shape = tuple(checkpoint.by_name[name].shape)
    if name not in source.shapes:
      faults.append(f"{name}: not in the checkpoint, {list(shape)} in the model")
    elif tuple(source.shapes[name]) != shape:
      found = list(source.shapes[name])
      faults.append(f"{name}: {found} in the checkpoint, {list(shape)} in the model")
  if faults:
    raise CheckpointError(
      "\n".join(
        [
          f"{prefix} does not have the weights of {model.name}; nothing has been loaded.",
          *(f"  {fault}" for fault in faults),
          "Way out: runtime.load_tf1_checkpoint(model, path, name_map=...) with a map of the names.",
        ]
      )
    )
  values = {name: source.read([name]) for name in checkpoint.trainable}
  for name, value in values.items():
    checkpoint.by_name[name].assign(value)
  tf.get_logger().info("Restored %d weights from %s.", len(values), prefix)
