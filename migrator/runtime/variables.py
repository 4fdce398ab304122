"""Reads variables by name from the newest checkpoint of a model directory, as an Estimator did."""

from __future__ import annotations

import os
from typing import Any, Optional

import tensorflow as tf

from migrator.runtime import dialects, named, state
from migrator.runtime.other_checkpoints import is_ours

# What our checkpoints hold besides the variables, which no Estimator's checkpoint of that name held.
_OURS = (named.STAMP, named.ITERATIONS, named.LEARNING_RATE)


def get_variable_names(model_dir: str) -> list[str]:
  """Returns the names of the variables in the newest checkpoint, sorted, as the Estimator did.

  Of a checkpoint that the migrated program wrote these are the weights, the slots and `global_step`.

  Args:
    model_dir: the Estimator's model directory; its sub-directory `tf2` comes first.

  Raises:
    ValueError: with the Estimator's message, if there is no checkpoint.
  """
  path = _newest(model_dir)
  names = [name for name, _ in tf.train.list_variables(path)]
  if not is_ours(path):
    return names
  values = (dialects.decoded(name) for name in names if name.endswith(dialects.VALUE))
  return sorted(name for name in values if not _is_ours_alone(name))


def get_variable_value(model_dir: str, name: str) -> Any:
  """Returns the value of a variable in the newest checkpoint, as a numpy array.

  Args:
    model_dir: the Estimator's model directory; its sub-directory `tf2` comes first.
    name: one of `get_variable_names(model_dir)`.

  Raises:
    ValueError: with the Estimator's message, if there is no checkpoint.
    NotFoundError: of TensorFlow, if it has no such variable.
  """
  path = _newest(model_dir)
  reader = tf.train.load_checkpoint(path)
  key: Optional[str] = name
  if is_ours(path):
    keys = (k for k in reader.get_variable_to_shape_map() if k.endswith(dialects.VALUE))
    key = {dialects.decoded(k): k for k in keys}.get(name)
  if key is None or not reader.has_tensor(key):
    raise tf.errors.NotFoundError(None, None, f"Key {name} not found in checkpoint")
  return reader.get_tensor(key)


def _newest(model_dir: str) -> str:
  """Returns the prefix of the newest checkpoint.

  Raises:
    ValueError: if there is none.
  """
  new = state.newest(os.path.join(model_dir, state.NEW_DIRECTORY))
  path = new or state.newest(os.fspath(model_dir))
  if path is None:
    raise ValueError(f"Could not find trained model in model_dir: {model_dir}.")
  return path


def _is_ours_alone(name: str) -> bool:
  """Returns whether a name of our checkpoints stands for no variable of the old program."""
  return name.startswith(_OURS) or name == "save_counter"
