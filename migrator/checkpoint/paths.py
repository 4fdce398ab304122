"""Which checkpoints a path of the command line means, and what it is instead if it is none."""

from __future__ import annotations

import contextlib
import logging
import os
import re
from collections.abc import Iterator

from migrator.runtime import bundle, files, state, wire
from migrator.runtime.errors import CheckpointError

# TensorFlow's own, without its import.
_LOGGER = logging.getLogger("tensorflow")

_NEAR = 5  # Names in a message.
_NUMBERS = re.compile(r"\d+")
_V1 = (
  "is a checkpoint of Saver's V1 format (one file, no .index), which is not read: restore it with "
  "tf.compat.v1.train.Saver and save it again, which writes V2."
)
# How a file begins -> what it is.
_BEGINNINGS = {
  b"\x89HDF\r\n\x1a\n": "is an HDF5 file, as Keras writes it, not a checkpoint.",
  b"PK\x03\x04": "is a zip archive, as .keras and .npz files are, not a checkpoint.",
}
_ENDINGS = {
  ".pb": "is a graph, not a checkpoint: the variables of a SavedModel are in variables/variables.",
  ".pbtxt": "is a graph in text form, not a checkpoint: name the directory that it is in.",
  ".tflite": "is a TensorFlow Lite model, not a checkpoint.",
  ".safetensors": "is a safetensors file, not a checkpoint.",
}


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
        raise CheckpointError(f"{path} {_instead(path)}")
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
    raise CheckpointError(f"There is no checkpoint in {path}.{_hint(path)}")
  if every:
    return found[::-1]
  states = [os.path.join(path, name) for name in state.STATE_FILES]
  if any(files.exists(name) and not files.isdir(name) for name in states):
    newest = state.newest(path)
    return [newest] if newest is not None else found[:1]
  if len(found) > 1:
    _LOGGER.warning("%s has no state file `checkpoint`; using the highest step.", path)
  return found[:1]


def _hint(directory: str) -> str:
  """Returns what else there is in a directory without checkpoints, "" if nothing is known of it."""
  names = sorted(files.listdir(directory))
  if any(name in ("saved_model.pb", "saved_model.pbtxt") for name in names):
    inside = os.path.join(directory, "variables", "variables")
    return f" It is a SavedModel; its variables are in {inside}."
  paths = [os.path.join(directory, name) for name in names]
  if not files.is_remote(directory):
    for path in paths:
      if os.path.isfile(path) and "ckpt" in os.path.basename(path) and _is_v1(path):
        return f" {path} {_V1}"
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
    return f", nor any other in {directory}.{_hint(directory)}"
  wanted = os.path.basename(path)
  steps = _NUMBERS.findall(wanted)
  step = int(steps[-1]) if steps else -1

  def distance(name: str) -> tuple[float, int]:
    numbers = _NUMBERS.findall(name)
    one, two = (_NUMBERS.sub("#", text) for text in (wanted, name))
    alike = difflib.SequenceMatcher(None, one, two).ratio()
    return -alike, abs(int(numbers[-1]) - step) if numbers else 0

  return f". Checkpoints in {directory}: {_listed(sorted(names, key=distance))}."


def _listed(names: list[str]) -> str:
  """Returns some names, and how many more there are."""
  more = f" and {len(names) - _NEAR} more" if len(names) > _NEAR else ""
  return ", ".join(names[:_NEAR]) + more


def _instead(path: str) -> str:
  """Returns what a file is that is no part of a checkpoint: the sentence without its subject."""
  if not files.size(path):
    return "is empty (0 bytes), not a checkpoint."
  for ending, sentence in _ENDINGS.items():
    if path.endswith(ending):
      return sentence
  name = os.path.basename(path)
  if name.endswith(".meta"):
    return f"is the graph of a checkpoint whose {name[: -len('.meta')]}.index does not exist."
  if name.startswith("events.out.tfevents."):
    return "holds summaries, not a checkpoint: name the directory of the checkpoints."
  if _is_table(path):
    if _is_v1(path):
      return _V1
    return "is the index of a checkpoint under another name: its name has to end in .index."
  begin = files.read(path, 0, 8)
  for magic, sentence in _BEGINNINGS.items():
    if begin.startswith(magic):
      return sentence
  return "is not a checkpoint, which is named without .index or .data-00000-of-00001."


def _is_table(path: str) -> bool:
  """Returns whether a file ends as tables in LevelDB's format do: an index, or a V1 checkpoint."""
  size = files.size(path)
  end = files.read(path, size - 8, 8) if size >= bundle.FOOTER_SIZE else b""
  return end == bundle.MAGIC.to_bytes(8, "little")


def _is_v1(path: str) -> bool:
  """Returns whether a file is a checkpoint of V1 format.

  The first key of both formats is "". Of V1 its value is a `SavedTensorSlices`, whose first field is
  a message (tensorflow/core/util/saved_tensor_slice.proto); of an index it is a `BundleHeaderProto`,
  whose first field is a number.
  """
  if path.endswith(".index") or not _is_table(path):
    return False
  begin = files.read(path, 0, 16)
  _, position = wire.varint(begin, 2)
  return begin[:2] == b"\0\0" and begin[position] == 0x0A
