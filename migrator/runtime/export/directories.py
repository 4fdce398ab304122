"""The directories of exports."""

from __future__ import annotations

import os
import time

import tensorflow as tf

_ATTEMPTS = 10


def new(base: str) -> str:
  """Returns the path of a directory that does not exist, named by the time.

  Raises:
    RuntimeError: with the Estimator's message.
  """
  for attempt in range(_ATTEMPTS):
    path = os.path.join(base, str(int(time.time())))
    if not tf.io.gfile.exists(path):
      return path
    time.sleep(1)
    tf.get_logger().warning(
      "Directory %s already exists; retrying (attempt %d/%d)", path, attempt + 1, _ATTEMPTS
    )
  raise RuntimeError(f"Failed to obtain a unique export directory name after {_ATTEMPTS} attempts.")


def temporary(directory: str) -> str:
  """Returns where an export is written before it gets its name: servers look at numbers only."""
  parent, name = os.path.split(directory)
  return os.path.join(parent, f"temp-{name}")


def copy_extra(directory: str, assets: dict) -> None:
  """Copies files to `assets.extra`."""
  for relative, source in assets.items():
    target = os.path.join(directory, "assets.extra", os.fspath(relative))
    tf.io.gfile.makedirs(os.path.dirname(target))
    tf.io.gfile.copy(source, target)
