"""Writing a file so that it is never half written."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import tempfile
from typing import Optional


class WriteError(OSError):
  """A file cannot be written. The message names it and says why."""


def write(path: str, data: bytes) -> None:
  """Replaces the bytes of a file at once: a reader sees the old ones or the new ones.

  A symlink stays and its target is replaced. Permission bits are kept, owner and group
  where the system allows it.

  Args:
    path: an existing file.
    data: the new bytes.

  Raises:
    WriteError: the file or its folder cannot be written; the file is then as before.
  """
  target = os.path.realpath(path)
  try:
    status = os.stat(target)
    if not os.access(target, os.W_OK) or not status.st_mode & stat.S_IWUSR:
      raise WriteError(errno.EACCES, "the file is read-only", path)
    _replace(target, data, status)
  except WriteError:
    raise
  except OSError as error:
    reason = error.strerror or type(error).__name__
    raise WriteError(error.errno or errno.EIO, f"cannot write: {reason}", path) from error


def save(path: str, data: bytes, *, make_folder: bool = False) -> None:
  """Writes a file that may not exist yet: all of it or nothing.

  Its folder may be missing if `make_folder`.

  What is no regular file (a device, a pipe) is written to directly.

  Raises:
    WriteError: the file or its folder cannot be written; a file is then as before.
  """
  if os.path.isfile(path):
    write(path, data)
    return
  try:
    if os.path.exists(path):
      with open(path, "wb") as file:
        file.write(data)
    else:
      target = os.path.realpath(path)
      if make_folder:
        os.makedirs(os.path.dirname(target), exist_ok=True)
      _replace(target, data, None)
  except OSError as error:
    reason = error.strerror or type(error).__name__
    raise WriteError(error.errno or errno.EIO, f"cannot write: {reason}", path) from error


def _replace(target: str, data: bytes, status: Optional[os.stat_result]) -> None:
  # Beside the target: os.replace is atomic only within one file system.
  folder, name = os.path.split(target)
  handle, temporary = tempfile.mkstemp(prefix=f".{name[:100]}.", suffix=".tmp", dir=folder)
  try:
    with os.fdopen(handle, "wb") as file:
      file.write(data)
      file.flush()
      os.fsync(file.fileno())
    if status is None:
      os.chmod(temporary, 0o666 & ~_umask())  # as the system makes new files
    else:
      if hasattr(os, "chown"):
        with contextlib.suppress(PermissionError):
          os.chown(temporary, status.st_uid, status.st_gid)
      os.chmod(temporary, stat.S_IMODE(status.st_mode))
    os.replace(temporary, target)
  except BaseException:
    with contextlib.suppress(FileNotFoundError):
      os.unlink(temporary)
    raise


def _umask() -> int:
  mask = os.umask(0o022)  # there is no way to read it but to set it
  os.umask(mask)
  return mask
