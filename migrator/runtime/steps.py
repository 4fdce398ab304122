"""What callbacks read of the training: the global step, and the values of a step by name."""

from __future__ import annotations

import weakref
from collections.abc import Mapping
from typing import Any, Optional

import numpy as np

GLOBAL_STEP = "global_step"

_checkpoints: weakref.WeakKeyDictionary[Any, Any] = weakref.WeakKeyDictionary()


def register(model: Any, checkpoint: Any) -> None:
  """Says which checkpoint has the steps of a model; a later one takes the place of an earlier.

  Args:
    model: a Keras model, or whatever else is the `model` of callbacks.
    checkpoint: a `NamedCheckpoint`.
  """
  _checkpoints[model] = checkpoint


def checkpoint_of(model: Any) -> Any:
  """Returns the `NamedCheckpoint` of a model, None if it has none."""
  return _checkpoints.get(model)


def counter(model: Any) -> Any:
  """Returns the variable that counts the steps of a model, None if no checkpoint of it has one."""
  checkpoint = checkpoint_of(model)
  return None if checkpoint is None else checkpoint.by_name[GLOBAL_STEP]


def global_step(model: Any) -> np.int64:
  """Returns the number of steps that a model has been trained.

  In `on_train_batch_begin` the step that begins is not counted yet, in `on_train_batch_end` it is. The
  `batch` of these methods is no substitute: it begins at 0 in each `fit`.

  Args:
    model: a model for which a `named_checkpoint` has been made, as `BackupAndRestore` does; else one
      with an optimizer, whose `iterations` count then.

  Raises:
    ValueError: if the model has neither.
  """
  step = counter(model)
  if step is None:
    step = getattr(getattr(model, "optimizer", None), "iterations", None)
  if step is None:
    raise ValueError(
      f"Nothing counts the steps of {getattr(model, 'name', model)}: make its checkpoint with "
      "runtime.named_checkpoint or runtime.BackupAndRestore, or compile it with an optimizer."
    )
  # A session gave int64, which divides by 0 without an error, and has a dtype.
  return np.int64(step.numpy())


def fetch(
  fetches: Any, model: Any, logs: Optional[Mapping[str, Any]], *, before_step: bool = False
) -> Any:
  """Returns the values of a step, in the structure in which a hook asked for them.

  It stands for `run_values.results` in a callback whose fetches are known only when it runs.

  Args:
    fetches: a leaf, or a dict, list, tuple or named tuple of leaves. A leaf is a key of `logs`, with or without a
      tensor's ":0"; "global_step"; a variable; a function without arguments.
    model: the callback's `self.model`.
    logs: what the callback's method got.
    before_step: whether "global_step" is the step before this one was counted, as TF 2's Estimator
      fetched it. TF 1.15 fetched the one after it.

  Raises:
    KeyError: if `logs` has no such key; the message names those that there are.
    TypeError: for another leaf, as a tensor of a graph.
  """
  if isinstance(fetches, Mapping):
    return {k: fetch(v, model, logs, before_step=before_step) for k, v in fetches.items()}
  if isinstance(fetches, (list, tuple)):
    values = [fetch(value, model, logs, before_step=before_step) for value in fetches]
    return type(fetches)(*values) if hasattr(fetches, "_fields") else type(fetches)(values)
  if fetches is None:
    return None
  if isinstance(fetches, str):
    return _named(fetches, model, logs or {}, before_step)
  if hasattr(fetches, "numpy") and hasattr(fetches, "assign"):
    return fetches.numpy()
  if callable(fetches):
    return fetches()
  raise TypeError(
    f"{fetches!r} cannot be fetched: give the key of a value in `logs`, a variable, or a function."
  )


def _named(name: str, model: Any, logs: Mapping[str, Any], before_step: bool) -> Any:
  """Returns the step, or the value of `logs` of that name."""
  key = name[:-2] if name.endswith(":0") else name
  if key in logs:
    return logs[key]
  if key == GLOBAL_STEP:
    return global_step(model) - (1 if before_step else 0)
  raise KeyError(f"{name!r} is no value of this step: there are {sorted([*logs, GLOBAL_STEP])}.")
