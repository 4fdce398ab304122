"""Begins with the values of another checkpoint, in the graph of a model_fn."""

from __future__ import annotations

import os
from typing import Any, Optional

import tensorflow as tf

from migrator.runtime import files, named, other_checkpoints, state
from migrator.runtime.errors import CheckpointError
from migrator.runtime.warm_start import WarmStartSettings

v1 = tf.compat.v1


def settings_of(warm_start_from: Any) -> Optional[Any]:
  """Returns the settings that a path means, or those that are given.

  Raises:
    ValueError: with the Estimator's message, for anything else.
  """
  if warm_start_from is None:
    return None
  if isinstance(warm_start_from, bytes):
    warm_start_from = warm_start_from.decode()
  if isinstance(warm_start_from, (str, os.PathLike)):
    path = os.fspath(warm_start_from)
    variables = os.path.join(path, "variables", "variables")
    return WarmStartSettings(variables if files.exists(variables + ".index") else path)
  if hasattr(warm_start_from, "ckpt_to_initialize_from"):
    return warm_start_from
  raise ValueError(
    f"warm_start_from must be a string or a WarmStartSettings, instead got {type(warm_start_from)}"
  )


def warm_start(settings: Any) -> None:
  """Lets the variables of the current graph begin with the values of a checkpoint.

  Args:
    settings: of `settings_of`; of a directory, the checkpoints of the migrated program come first.

  Raises:
    CheckpointError: if the checkpoint is one by object names.
    ValueError: of TensorFlow, for what it cannot find in the checkpoint.
  """
  v1.logging.info("Warm-starting with WarmStartSettings: %s", settings)
  vocabularies = {
    name: v1.train.VocabInfo(
      new_vocab=info.new_vocab,
      new_vocab_size=info.new_vocab_size,
      num_oov_buckets=info.num_oov_buckets,
      old_vocab=info.old_vocab,
      old_vocab_size=info.old_vocab_size,
      backup_initializer=info.backup_initializer,
      axis=info.axis,
    )
    for name, info in (settings.var_name_to_vocab_info or {}).items()
  }
  v1.train.warm_start(
    _source(settings.ckpt_to_initialize_from),
    settings.vars_to_warm_start,
    vocabularies,
    dict(settings.var_name_to_prev_var_name or {}),
  )


def _source(path: Any) -> str:
  """Returns the checkpoint that is meant."""
  path = os.fspath(path)
  if not files.isdir(path):
    return path
  found = state.newest(os.path.join(path, state.NEW_DIRECTORY))
  if found is None:
    return path
  named.check_not_overtaken(found)
  if other_checkpoints.is_ours(found):
    raise CheckpointError(
      f"{found} was written by a migrated program that trains without a model_fn, and cannot be warm-started "
      "from here: name a checkpoint of the old program, or of a program with runtime.ModelFn."
    )
  return found
