"""Gets the data files of a checkpoint to another place: linked, or copied in the ranges that are needed."""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Iterator, Sequence
from typing import BinaryIO, Callable, Optional

Range = tuple[int, int]
"""Begin and end in a file, in bytes."""

_CHUNK = 2 << 20  # bytes, of one call of the system: still in the cache when they are compared
_BUFFER = 1 << 20  # bytes, where they have to go through memory
# Between two ranges so much is copied along: fewer calls, and no offset moves.
_GAP = 4096
# What says "not here" or "not these two", where the other way may work.
_UNSUPPORTED = frozenset(
  getattr(errno, name)
  for name in ("ENOSYS", "EINVAL", "EXDEV", "EOPNOTSUPP", "ENOTSUP", "EPERM", "EBADF", "ETXTBSY")
  if hasattr(errno, name)
)

Advance = Callable[[int], None]
Copied = Callable[[str, int, str, int, int], None]
"""Is told what has been copied: source file, offset in it, new file, offset in it, length."""


def link(pairs: Sequence[tuple[str, str]]) -> Optional[OSError]:
  """Makes hard links; all of them, or none.

  Args:
    pairs: existing file and new path of each.

  Returns:
    None, or why the file system refused. An absent source or a full disk is an error all the same.

  Raises:
    OSError: for anything but a file system that cannot link these files.
  """
  done = []
  try:
    for source, target in pairs:
      # A link to a symbolic link would be broken when the link moves.
      os.link(os.path.realpath(source), target)
      done.append(target)
  except OSError as error:
    for target in done:
      os.remove(target)
    if error.errno in _UNSUPPORTED or error.errno in (errno.EMLINK, errno.EACCES):
      return error
    raise
  return None


def merged(ranges: Sequence[Range]) -> list[Range]:
  """Returns the ranges in order, those that touch or nearly touch as one."""
  result: list[Range] = []
  for begin, end in sorted(ranges):
    if result and begin <= result[-1][1] + _GAP:
      result[-1] = (result[-1][0], max(result[-1][1], end))
    else:
      result.append((begin, end))
  return result


def moved(ranges: Sequence[Range]) -> Callable[[int], int]:
  """Returns the function from an offset of the source to that of the copy of these ranges."""
  shifts = []
  length = 0
  for begin, end in ranges:
    shifts.append((begin, end, length - begin))
    length += end - begin

  def offset(position: int) -> int:
    for begin, end, shift in shifts:
      if begin <= position <= end:
        return position + shift
    raise ValueError(f"no range has the offset {position}")

  return offset


def copy(
  source: str,
  target: str,
  ranges: Sequence[Range],
  advance: Advance,
  copied: Optional[Copied] = None,
) -> None:
  """Copies ranges of a file, one behind the other, within the system where it can.

  Args:
    source: the file.
    target: the new file.
    ranges: what to copy.
    advance: is told how many bytes more are done.
    copied: is told each time which bytes are there now.

  Raises:
    OSError: if the source ends before, or the system refuses; the target may be there in part.
  """
  there = position = 0

  def done(count: int) -> None:
    nonlocal there, position
    if copied is not None:
      copied(source, position, target, there, count)
    position += count
    there += count
    advance(count)

  with open(source, "rb", buffering=0) as reader, open(target, "xb", buffering=0) as writer:
    for begin, end in ranges:
      position = begin
      for way in (_by_range, _by_sendfile, _by_buffer):
        way(reader, writer, position, end, done)
        if position == end:
          break
      if position < end:
        raise OSError(errno.EIO, f"ends before the byte {end}", source)


def _by_range(reader: BinaryIO, writer: BinaryIO, position: int, end: int, done: Advance) -> None:
  """Copies with `copy_file_range`, as far as it comes."""
  if not hasattr(os, "copy_file_range"):
    return
  with _unless_unsupported():
    while position < end:
      count = os.copy_file_range(
        reader.fileno(), writer.fileno(), min(_CHUNK, end - position), position
      )
      if not count:
        break
      position += count
      done(count)


def _by_sendfile(
  reader: BinaryIO, writer: BinaryIO, position: int, end: int, done: Advance
) -> None:
  """Copies with `sendfile`, as far as it comes."""
  if not hasattr(os, "sendfile"):
    return
  with _unless_unsupported():
    while position < end:
      count = os.sendfile(writer.fileno(), reader.fileno(), position, min(_CHUNK, end - position))
      if not count:
        break
      position += count
      done(count)


def _by_buffer(reader: BinaryIO, writer: BinaryIO, position: int, end: int, done: Advance) -> None:
  """Copies through memory, as far as it comes."""
  view = memoryview(bytearray(min(_BUFFER, max(end - position, 1))))
  reader.seek(position)
  while position < end:
    count = reader.readinto(view[: min(len(view), end - position)])  # type: ignore[attr-defined]
    if not count:
      break
    write_all(writer, view[:count])
    position += count
    done(count)


@contextlib.contextmanager
def _unless_unsupported() -> Iterator[None]:
  """Lets an error pass that says that this way does not work here."""
  try:
    yield
  except OSError as error:
    if error.errno not in _UNSUPPORTED:
      raise


def write_all(writer: BinaryIO, data: memoryview) -> None:
  """Writes all of `data` to an unbuffered file, which may take less at a time."""
  while data:
    data = data[writer.write(data) :]
