"""The few file operations that finding and reading a checkpoint needs, for local and remote paths.

Local files go without TensorFlow, so that looking at a checkpoint neither needs it nor waits for its
import; paths such as `gs://bucket/model` go through `tf.io.gfile`.
"""

from __future__ import annotations

import os
import shutil
from typing import Any


def is_remote(path: str) -> bool:
  """Returns whether `path` lies in a file system that only TensorFlow knows."""
  return "://" in path


def _gfile() -> Any:
  import tensorflow as tf

  return tf.io.gfile


def exists(path: str) -> bool:
  """Returns whether there is a file or directory `path`."""
  return _gfile().exists(path) if is_remote(path) else os.path.exists(path)


def isdir(path: str) -> bool:
  """Returns whether `path` is a directory."""
  return _gfile().isdir(path) if is_remote(path) else os.path.isdir(path)


def listdir(path: str) -> list[str]:
  """Returns the names in a directory, without a slash at the end."""
  if is_remote(path):
    return [name.rstrip("/") for name in _gfile().listdir(path)]
  return os.listdir(path)


def is_lfs_pointer(data: bytes) -> bool:
  """Returns whether a file that begins with `data` is what Git LFS leaves in place of the file."""
  return data.startswith(b"version https://git-lfs.github.com/spec/")


def size(path: str) -> int:
  """Returns the size of a file in bytes."""
  return _gfile().stat(path).length if is_remote(path) else os.path.getsize(path)


def read(path: str, offset: int = 0, length: int = -1) -> bytes:
  """Returns `length` bytes of a file from `offset` on; all of them by default.

  Raises:
    OSError: if a local file cannot be read.
    tf.errors.OpError: if a remote one cannot.
  """
  with _gfile().GFile(path, "rb") if is_remote(path) else open(path, "rb") as file:
    if offset:
      file.seek(offset)
    return file.read(length)


def makedirs(path: str) -> None:
  """Makes a directory and those above it, unless they exist."""
  if is_remote(path):
    _gfile().makedirs(path)
  else:
    os.makedirs(path, exist_ok=True)


def rename(source: str, target: str) -> None:
  """Renames a file; an existing `target` is replaced, at once where the file system can."""
  if is_remote(source):
    _gfile().rename(source, target, overwrite=True)
  else:
    os.replace(source, target)


def remove(path: str) -> None:
  """Deletes a file."""
  if is_remote(path):
    _gfile().remove(path)
  else:
    os.remove(path)


def remove_tree(path: str) -> None:
  """Deletes a directory with all that is in it."""
  if is_remote(path):
    _gfile().rmtree(path)
  else:
    shutil.rmtree(path)
