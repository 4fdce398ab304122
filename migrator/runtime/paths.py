"""Which checkpoints a path of the command line means, and what it is instead if it is none."""

from __future__ import annotations

import contextlib
import logging
import os
import re
from collections.abc import Iterator

from migrator.runtime import files, foreign_files, state
from migrator.runtime.errors import CheckpointError

# TensorFlow's own, without its import.
_LOGGER = logging.getLogger("tensorflow")

_NEAR = 5  # Names in a message.
_NUMBERS = re.compile(r"\d+")


def prefixes(path: str, every: bool = False) -> list[str]:
  """Returns the checkpoints that `path` means.

  For looking once, so a directory without a state file is no error: its highest step is taken, with a
  warning.

  Args:
    path: a prefix, a model directory, or one of the files of a checkpoint, also its `.meta`.
    every: whether all checkpoints of a directory are meant, lowest step first.

  Raises:
    CheckpointError: if there is none; the message says what is there instead.
    OSError: if a file cannot be read.
  """
  with readable(path):
    if files.isdir(path):
      return _in_directory(path, every)
    if path.endswith(".meta") and state.exists(path[: -len(".meta")]):
      return [path[: -len(".meta")]]
    if state.exists(path):
      return [path]
    if files.exists(path):
      prefix = None
      if path.endswith(".index") or ".data-" in path or os.path.basename(path) in state.STATE_FILES:
        prefix = state.resolve(path)
      if prefix is None:
        raise CheckpointError(f"{path} {foreign_files.description(path)}")
      return [prefix]
    raise CheckpointError(f"There is no checkpoint {path}{_near(path)}")


@contextlib.contextmanager
def readable(path: str) -> Iterator[None]:
  """Turns what TensorFlow says of a remote path into a CheckpointError.

  Raises:
    CheckpointError: if a remote path cannot be read, or there is no TensorFlow to read it.
  """
  if not files.is_remote(path):
    yield
    return
  try:
    import tensorflow as tf
  except ImportError:
    raise CheckpointError(
      f"{path} is remote, which needs TensorFlow: pip install tensorflow."
    ) from None
  try:
    yield
  except tf.errors.OpError as error:
    raise CheckpointError(f"{path} cannot be read: {error.message}") from error


def _in_directory(path: str, every: bool) -> list[str]:
  """Returns the newest checkpoint of a directory, or all."""
  found = state.all_prefixes(path)
  if not found:
    raise CheckpointError(f"There is no checkpoint in {_called(path)}.{_hint(path)}")
  if every:
    return found[::-1]
  states = [os.path.join(path, name) for name in state.STATE_FILES]
  if any(files.exists(name) and not files.isdir(name) for name in states):
    newest = state.newest(path)
    return [newest] if newest is not None else found[:1]
  if len(found) > 1:
    _LOGGER.warning("%s has no state file `checkpoint`; using the highest step.", path)
  return found[:1]


def _called(directory: str) -> str:
  """Returns the name of a directory as it stands in a sentence."""
  return "this directory" if os.path.normpath(directory) == "." else directory


def _hint(directory: str) -> str:
  """Returns what else there is in a directory without checkpoints, "" if nothing is known of it."""
  names = sorted(files.listdir(directory))
  if any(name in ("saved_model.pb", "saved_model.pbtxt") for name in names):
    inside = os.path.join(directory, "variables", "variables")
    return f" It is a SavedModel; its variables are in {inside}."
  paths = [os.path.join(directory, name) for name in names]
  if not files.is_remote(directory):
    for path in paths:
      if os.path.isfile(path) and "ckpt" in os.path.basename(path) and foreign_files.is_v1(path):
        return f" {path} {foreign_files.V1}"
  below = [path for path in paths if files.isdir(path) and state.all_prefixes(path)]
  return f" There are some in {_listed(below)}." if below else ""


def _near(path: str) -> str:
  """Returns the end of the sentence on a path that does not exist: what there is beside it."""
  import difflib

  directory = os.path.dirname(path) or "."
  if not files.isdir(directory):
    return f": there is no directory {directory}."
  names = [os.path.basename(prefix) for prefix in state.all_prefixes(directory)]
  if not names:
    return f", nor any other in {_called(directory)}.{_hint(directory)}"
  wanted = os.path.basename(path)
  steps = _NUMBERS.findall(wanted)
  step = int(steps[-1]) if steps else -1

  def distance(name: str) -> tuple[float, int]:
    numbers = _NUMBERS.findall(name)
    one, two = (_NUMBERS.sub("#", text) for text in (wanted, name))
    alike = difflib.SequenceMatcher(None, one, two).ratio()
    return -alike, abs(int(numbers[-1]) - step) if numbers else 0

  return f". Checkpoints in {_called(directory)}: {_listed(sorted(names, key=distance))}."


def _listed(names: list[str]) -> str:
  """Returns some names, and how many more there are."""
  more = f" and {len(names) - _NEAR} more" if len(names) > _NEAR else ""
  return ", ".join(names[:_NEAR]) + more
