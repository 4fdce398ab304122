"""Restores a checkpoint that a program names, whichever program wrote it."""

from __future__ import annotations

import os
from typing import Any, Optional

from migrator.runtime import dialects, named, state
from migrator.runtime.load import load_tf1_checkpoint


def checkpoint_at(checkpoint_path: Any, model_dir: Optional[str] = None) -> str:
  """Returns the prefix of a checkpoint that a program names.

  Args:
    checkpoint_path: a prefix. One in the Estimator's directory may have been written by the migrated program:
      then it lies in the sub-directory `tf2` of it.
    model_dir: the directory of which that is true; None for any.

  Raises:
    ValueError: with the Estimator's message, if there is no such checkpoint.
  """
  path = os.fspath(checkpoint_path)
  if state.exists(path):
    return path
  directory, name = os.path.split(path)
  moved = os.path.join(directory, state.NEW_DIRECTORY, name)
  searched = model_dir is None or os.path.abspath(directory) == os.path.abspath(model_dir)
  if searched and state.exists(moved):
    return moved
  raise ValueError(f"The passed save_path is not a valid checkpoint: {path}")


def is_ours(prefix: str) -> bool:
  """Returns whether a checkpoint was written by a migrated program."""
  return dialects.STAMP + dialects.VALUE in state.check_intact(prefix).entries


def restore_any(checkpoint: named.NamedCheckpoint, prefix: str) -> None:
  """Restores one of our checkpoints, or one of the Estimator's.

  Raises:
    CheckpointError: if it cannot be restored as a whole; nothing has been changed then.
  """
  if is_ours(prefix):
    checkpoint.restore(prefix)
  else:
    load_tf1_checkpoint(checkpoint, prefix)


def restore_newest(checkpoint: Any, prefix: str) -> None:
  """Restores the newest checkpoint of a migrated program into what it has now.

  A program that kept its model_fn before has written checkpoints by variable names.

  Args:
    checkpoint: a `tf.train.Checkpoint`.
    prefix: in its directory.

  Raises:
    CheckpointError: if a `NamedCheckpoint` cannot be restored as a whole; nothing has been changed then.
  """
  by_name = isinstance(checkpoint, named.NamedCheckpoint)
  if by_name and dialects.OBJECT_GRAPH not in state.check_intact(prefix).entries:
    named.check_not_overtaken(prefix)
    load_tf1_checkpoint(checkpoint, prefix)
  else:
    checkpoint.restore(prefix)
