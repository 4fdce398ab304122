"""Reads a checkpoint back that was just written, and compares every tensor with its source bit for bit."""

from __future__ import annotations

import concurrent.futures
import dataclasses
import os
from collections.abc import Iterable
from typing import Callable, Optional

from migrator.checkpoint.checkpoint_format import LINKED, Written
from migrator.checkpoint.source import Source
from migrator.checkpoint.tensors import Tensor
from migrator.runtime import bundle, bundle_values
from migrator.runtime.bundle import Bounds, Entry
from migrator.runtime.errors import CheckpointError

_BUFFER = 256 << 10  # bytes: what two of them need stays near the processor
_THREADS = 2
_SHARE = 64 << 20  # bytes that one thread compares at a time


@dataclasses.dataclass
class Verified:
  """What the comparison covered.

  Attributes:
    tensors: how many tensors were compared.
    linked: bytes that are the source's own: the same file, the same place in it.
    compared: bytes that were read from both sides and are equal.
  """

  tensors: int = 0
  linked: int = 0
  compared: int = 0


class Comparer:
  """Compares what is copied with its source while the next bytes are on their way; a context manager."""

  def __init__(self) -> None:
    self._pool = concurrent.futures.ThreadPoolExecutor(1)  # The other core copies.
    self._files: dict[str, int] = {}
    self._futures: list[concurrent.futures.Future] = []
    self._ranges: dict[tuple[str, str], list[tuple[int, int, int]]] = {}

  def __enter__(self) -> Comparer:
    return self

  def __exit__(self, *error: object) -> None:
    for future in self._futures:
      future.cancel()
    self._pool.shutdown()
    for file in self._files.values():
      os.close(file)

  def submit(self, old: str, old_offset: int, new: str, new_offset: int, size: int) -> None:
    """Compares `size` bytes of two files, in the background."""
    for path in (old, new):
      if path not in self._files:
        self._files[path] = os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0))
    self._ranges.setdefault((old, new), []).append((old_offset, new_offset, size))
    self._futures.append(
      self._pool.submit(_equal, self._files[old], self._files[new], old_offset, new_offset, size)
    )

  def finish(self) -> None:
    """Waits for all comparisons.

    Raises:
      CheckpointError: if any bytes differ.
    """
    for future in self._futures:
      if not future.result():
        raise _different("the data that were copied")
    self._ranges = {pair: _joined(found) for pair, found in self._ranges.items()}

  def covers(self, old: str, old_offset: int, new: str, new_offset: int, size: int) -> bool:
    """Returns whether these bytes have been compared."""
    return any(
      a <= old_offset and old_offset + size <= a + length and old_offset - a == new_offset - b
      for a, b, length in self._ranges.get((old, new), ())
    )


def verify(
  source: Source,
  prefix: str,
  written: Written,
  full: bool,
  advance: Callable[[int], None],
  comparer: Optional[Comparer] = None,
) -> Verified:
  """Compares a checkpoint with its source.

  Args:
    source: what was converted.
    prefix: what was written.
    written: what it should hold.
    full: read the bytes also where the data file is the source's own.
    advance: is told how many bytes more are compared.
    comparer: what has compared bytes while they were copied.

  Raises:
    CheckpointError: if anything differs.
    OSError: if a file cannot be read.
  """
  result = Verified()
  if comparer is not None:
    comparer.finish()
  try:
    index = bundle.read_index(prefix)
  except bundle.DamagedIndexError as error:
    raise CheckpointError(f"The index just written {error}. Nothing was converted.") from error
  if set(index.entries) != set(written.tensors):
    raise _different("the list of its tensors")
  same_file = written.way == LINKED and _are_links(source, os.path.dirname(prefix), written)
  to_read: list[tuple[str, int, str, int, int]] = []
  for key, tensor in written.tensors.items():
    entry = index.entries[key]
    if (entry.dtype, entry.shape) != (tensor.dtype, tensor.shape):
      raise _different(tensor.name)
    result.tensors += 1
    if tensor.pieces:
      for (bounds, new), (wanted, old) in zip(_sorted(index.pieces(key)), _sorted(tensor.pieces)):
        same = (new.dtype, new.shape, new.size, new.crc32c) == (
          old.dtype,
          old.shape,
          old.size,
          old.crc32c,
        )
        if bounds != wanted or not same:
          raise _different(tensor.name)
        path = bundle.shard_path(prefix, new.shard, index.num_shards)
        if same_file and new.offset == old.offset:
          result.linked += new.size
          if not full:
            continue
        where = (source.shard(old.shard), old.offset, path, new.offset, new.size)
        if not full and comparer is not None and comparer.covers(*where):
          result.compared += new.size
          advance(new.size)
        else:
          to_read.append(where)
      if len(index.pieces(key)) != len(tensor.pieces):
        raise _different(tensor.name)
    elif tensor.data is not None:
      ((_, new),) = index.pieces(key)
      if bundle_values.read_checked(prefix, index, new) != tensor.data:
        raise _different(tensor.name)
      result.compared += new.size
      advance(new.size)
  result.compared += _compare_bytes(to_read, advance)
  result.compared += _compare_changed(prefix, written, advance)
  return result


def _different(what: str) -> CheckpointError:
  return CheckpointError(
    f"Reading back shows a difference in {what}: nothing was converted. The disk or the file "
    "system does not keep what is written to it, or the source has changed meanwhile."
  )


def _sorted(pieces: Iterable[tuple[Bounds, Entry]]) -> list[tuple[Bounds, Entry]]:
  return sorted(pieces, key=lambda piece: piece[0])


def _are_links(source: Source, directory: str, written: Written) -> bool:
  """Returns whether every data file is the source's own file."""
  return all(
    os.path.samefile(source.shard(shard), os.path.join(directory, name))
    for shard, name in written.data_of.items()
  )


def _compare_bytes(
  to_read: list[tuple[str, int, str, int, int]], advance: Callable[[int], None]
) -> int:
  """Compares ranges of files; returns how many bytes.

  Args:
    to_read: (source file, offset, new file, offset, size).
    advance: is told how many bytes more are compared.

  Raises:
    CheckpointError: if a byte differs.
  """
  total = 0
  for pair in sorted({(one[0], one[2]) for one in to_read}):
    with open(pair[0], "rb", buffering=0) as old, open(pair[1], "rb", buffering=0) as new:
      shares = _shares([(o, n, size) for a, o, b, n, size in to_read if (a, b) == pair])
      # Reading lets other threads run, and so does the comparison of the next one's bytes.
      with concurrent.futures.ThreadPoolExecutor(_THREADS) as pool:
        futures = [pool.submit(_equal, old.fileno(), new.fileno(), *share) for share in shares]
        try:
          for future, (_, _, size) in zip(futures, shares):
            if not future.result():
              raise _different(os.path.basename(pair[1]))
            advance(size)
            total += size
        finally:
          for future in futures:
            future.cancel()
  return total


def _shares(ranges: list[tuple[int, int, int]]) -> list[tuple[int, int, int]]:
  """Returns ranges (offset, offset, size), neighbours joined and long ones cut, for the threads."""
  return [
    (old + done, new + done, min(_SHARE, size - done))
    for old, new, size in _joined(ranges)
    for done in range(0, size, _SHARE)
  ]


def _joined(ranges: list[tuple[int, int, int]]) -> list[tuple[int, int, int]]:
  """Returns ranges (offset, offset, size) in order, those that touch as one."""
  joined: list[tuple[int, int, int]] = []
  for old, new, size in sorted(ranges):
    if joined:
      a, b, length = joined[-1]
      if old <= a + length and old - a == new - b:
        joined[-1] = (a, b, max(length, old - a + size))
        continue
    joined.append((old, new, size))
  return joined


def _equal(old: int, new: int, old_offset: int, new_offset: int, size: int) -> bool:
  """Returns whether two ranges of two open files hold the same bytes."""
  one, other = bytearray(_BUFFER), bytearray(_BUFFER)
  done = 0
  while done < size:
    length = min(_BUFFER, size - done)
    if length < _BUFFER:
      one, other = bytearray(length), bytearray(length)
    if not _fill(old, one, old_offset + done) or not _fill(new, other, new_offset + done):
      return False
    if one != other:
      return False
    done += length
  return True


def _fill(file: int, buffer: bytearray, offset: int) -> bool:
  """Reads until the buffer is full; False if the file ends before."""
  view = memoryview(buffer)
  done = 0
  while done < len(buffer):
    if hasattr(os, "preadv"):
      count = os.preadv(file, [view[done:]], offset + done)
    else:
      data = os.pread(file, len(buffer) - done, offset + done)
      count = len(data)
      view[done : done + count] = data
    if not count:
      return False
    done += count
  return True


def _compare_changed(prefix: str, written: Written, advance: Callable[[int], None]) -> int:
  """Compares the values that TensorFlow wrote with those computed again; returns how many bytes."""
  changed = {key: t for key, t in written.tensors.items() if t.compute is not None}
  if not changed:
    return 0
  import tensorflow as tf

  reader = tf.train.load_checkpoint(prefix)
  total = 0
  for key, tensor in changed.items():
    try:
      value = reader.get_tensor(key)  # Compares the checksum, too.
    except (tf.errors.OpError, RuntimeError) as error:
      raise _different(tensor.name) from error
    if not same_bits(value, tensor):
      raise _different(tensor.name)
    total += tensor.num_bytes
    advance(tensor.num_bytes)
  return total


def same_bits(value, tensor: Tensor) -> bool:
  """Returns whether an array is, bit for bit, the value of a tensor that is computed."""
  wanted = tensor.compute() if tensor.compute is not None else None
  if wanted is None or value.shape != wanted.shape:
    return False
  if tensor.dtype == "string":
    return bool((value == wanted).all())
  return value.tobytes() == wanted.tobytes()
