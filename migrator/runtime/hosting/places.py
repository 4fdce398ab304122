"""Where the checkpoints of a model directory are: the migrated program's in `tf2`, else the old program's."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from typing import Any, Callable, Optional

import tensorflow as tf

from migrator.runtime import named, other_checkpoints, state

_POLL_SECS = 1


def new_place(model_dir: str) -> str:
  """Returns the directory that takes the checkpoints of the migrated program."""
  return os.path.join(model_dir, state.NEW_DIRECTORY)


def newest(model_dir: str) -> Optional[str]:
  """Returns the checkpoint that a program goes on from, None for a fresh start.

  Raises:
    CheckpointError: if there are checkpoints, but none that is certain: see `state.newest`; or if the old
      program has gone on after the migrated one.
  """
  found = state.newest(new_place(model_dir))
  if found is None:
    return state.newest(model_dir)
  named.check_not_overtaken(found)
  return found


def given(checkpoint_path: Any, model_dir: str) -> str:
  """Returns the checkpoint that a program names; one of its model directory may lie in `tf2`.

  Raises:
    ValueError: if there is no such checkpoint.
  """
  return other_checkpoints.checkpoint_at(checkpoint_path, model_dir)


def latest_checkpoint(checkpoint_dir: Any, latest_filename: Optional[str] = None) -> Optional[str]:
  """Returns the newest checkpoint of a model directory, as `tf.train.latest_checkpoint` did.

  Args:
    checkpoint_dir: the directory; its sub-directory `tf2` comes first.
    latest_filename: the name of the state file, `checkpoint` by default.

  Returns:
    The prefix; None if there is none.

  Raises:
    CheckpointError: if the old program has gone on after the migrated one.
  """
  directory = os.fspath(checkpoint_dir)
  found = tf.train.latest_checkpoint(new_place(directory), latest_filename)
  if found is None:
    return tf.train.latest_checkpoint(directory, latest_filename)
  if latest_filename is None:
    named.check_not_overtaken(found)
  return found


def get_checkpoint_state(checkpoint_dir: Any, latest_filename: Optional[str] = None) -> Any:
  """Returns the `CheckpointState` of a model directory, as `tf.train.get_checkpoint_state` did.

  Args:
    checkpoint_dir: the directory; its sub-directory `tf2` comes first.
    latest_filename: the name of the state file, `checkpoint` by default.
  """
  directory = os.fspath(checkpoint_dir)
  found = tf.train.get_checkpoint_state(new_place(directory), latest_filename)
  return found or tf.train.get_checkpoint_state(directory, latest_filename)


def load_global_step(checkpoint_dir: Any) -> Any:
  """Returns the step of the newest checkpoint of a model directory, 0 without one.

  Programs took a private function of the Estimator's module for it.

  Args:
    checkpoint_dir: the directory; its sub-directory `tf2` comes first. None, of an estimator that has
      a temporary one, has no checkpoint.

  Raises:
    CheckpointError: if the old program has gone on after the migrated one.
  """
  found = None if checkpoint_dir is None else latest_checkpoint(checkpoint_dir)
  reader = None if found is None else tf.train.load_checkpoint(found)
  name = tf.compat.v1.GraphKeys.GLOBAL_STEP
  return reader.get_tensor(name) if reader is not None and reader.has_tensor(name) else 0


def checkpoints_iterator(
  checkpoint_dir: Any,
  min_interval_secs: float = 0,
  timeout: Optional[float] = None,
  timeout_fn: Optional[Callable[[], bool]] = None,
) -> Iterator[str]:
  """Yields each new checkpoint of a model directory, as `tf.train.checkpoints_iterator` did.

  Args:
    checkpoint_dir: the directory; its sub-directory `tf2` comes first.
    min_interval_secs: how much time passes at least between two of them.
    timeout: how many seconds to wait for the next one; None for ever.
    timeout_fn: called after that; says whether to stop.
  """
  path: Optional[str] = None
  while True:
    found = _next(checkpoint_dir, path, timeout)
    if found is None:
      if timeout_fn is None:
        tf.compat.v1.logging.info("Timed-out waiting for a checkpoint.")
        return
      if timeout_fn():
        return
      continue
    started = time.time()
    path = found
    yield path
    remaining = started + min_interval_secs - time.time()
    if remaining > 0:
      time.sleep(remaining)


def _next(checkpoint_dir: Any, last: Optional[str], timeout: Optional[float]) -> Optional[str]:
  """Waits for another checkpoint than the last one; None after the time."""
  end = None if timeout is None else time.time() + timeout
  while True:
    found = latest_checkpoint(checkpoint_dir)
    if found is not None and found != last:
      return found
    if end is not None and time.time() + _POLL_SECS > end:
      return None
    time.sleep(_POLL_SECS)
