"""Tasks in several processes that are forks of this one.

Python's own pools take 50 ms to import and lose everything when a process dies. Here a fork finds
the tasks in its memory, takes numbers of chunks from one pipe and sends results through another;
when it dies, the task that it was at is named and the others go on.
"""

from __future__ import annotations

import contextlib
import gc
import marshal
import os
import signal
import struct
from collections.abc import Iterator, Sequence
from typing import Any, Callable

Work = Callable[[int], Any]
# Tasks that are done, and (task, result) of those whose result is not None.
Done = tuple[Sequence[int], list[tuple[int, Any]]]
# A pipe holds the numbers of so many chunks on every system before anyone reads them.
MOST_CHUNKS = 2000
_NUMBER = struct.Struct("<i")
_LENGTH = struct.Struct("<Q")
_NO_TASK = -1
_TRIES = 3
_LONGEST_WAIT = 1.0  # seconds


class Died:
  """The result of a task at which a process died: a crash of Python, or killed by the system."""


def is_available() -> bool:
  """Whether processes can be forked here."""
  return hasattr(os, "fork")


def run(work: Work, chunks: Sequence[Sequence[int]], jobs: int) -> Iterator[Done]:
  """Does all tasks, in forks of this process. Closing the iterator ends them.

  Args:
    work: does the task of a number; what it returns must be plain: numbers, strings, lists.
    chunks: numbers of tasks, at most MOST_CHUNKS; a chunk is done by one process.
    jobs: how many processes.

  Yields:
    The tasks of a chunk and their results, as chunks are done. The result is `Died` for a
    task at which a process died.

  Raises:
    RuntimeError: the processes die outside of tasks.
  """
  left = [list(chunk) for chunk in chunks]
  tries = 0
  while left:
    crew = _Crew(work, left, jobs)
    done = set()
    try:
      crew.start()
      for number, results in crew.results():
        done.add(number)
        yield left[number], results
    finally:
      crew.end()
    if crew.culprits:
      yield crew.culprits, [(task, Died()) for task in crew.culprits]
    else:
      tries += 1
    rest = [chunk for number, chunk in enumerate(left) if number not in done]
    left = [[task for task in chunk if task not in crew.culprits] for chunk in rest]
    left = [chunk for chunk in left if chunk]
    if left and tries == _TRIES:
      raise RuntimeError("the processes of the run are killed again and again")


class _Crew:
  """Some processes at work on the same chunks.

  Attributes:
    culprits: tasks at which one of them died.
  """

  def __init__(self, work: Work, chunks: Sequence[Sequence[int]], jobs: int):
    import mmap

    self.culprits: list[int] = []
    self._work = work
    self._chunks = chunks
    self._jobs = min(jobs, len(chunks))
    # Slot of each process -> the task that it is at; outlives the process.
    self._tasks = mmap.mmap(-1, _NUMBER.size * self._jobs)
    # Reading end of the pipe of each process -> its slot, its id, what was read so far.
    self._members: dict[int, tuple[int, int, bytearray]] = {}

  def start(self) -> None:
    """Starts the processes."""
    queue, feed = os.pipe()
    try:
      os.write(feed, b"".join(_NUMBER.pack(n) for n in range(len(self._chunks))))
    finally:
      os.close(feed)
    gc.freeze()  # else the collector of each fork copies all of our memory by touching it
    try:
      with _interrupts_wait():
        for slot in range(self._jobs):
          self._fork(slot, queue)
    finally:
      gc.unfreeze()
      os.close(queue)

  def _fork(self, slot: int, queue: int) -> None:
    self._set_task(slot, _NO_TASK)
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
      code = 1
      try:
        # Ctrl-C reaches every process of the terminal; the parent speaks for all.
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        # Only the parent may hold reading ends: when it is killed, writing fails and this ends.
        for inherited in (reader, *self._members):
          os.close(inherited)
        self._serve(slot, queue, writer)
        code = 0
      finally:
        os._exit(code)  # nothing of the parent's is flushed or cleaned up here
    os.close(writer)
    self._members[reader] = (slot, pid, bytearray())

  def _serve(self, slot: int, queue: int, writer: int) -> None:
    """The life of a process: a chunk after the other until there is none."""
    while data := os.read(queue, _NUMBER.size):
      number = _NUMBER.unpack(data)[0]
      results = []
      for task in self._chunks[number]:
        self._set_task(slot, task)
        result = self._work(task)
        if result is not None:
          results.append((task, result))
      self._set_task(slot, _NO_TASK)
      message = marshal.dumps((number, results))
      view = memoryview(_LENGTH.pack(len(message)) + message)
      while view:
        view = view[os.write(writer, view) :]

  def results(self) -> Iterator[tuple[int, list[tuple[int, Any]]]]:
    """Yields (number of the chunk, results) until all processes have ended."""
    import select

    while self._members:
      # Where another thread got the signal of an interrupt, only a return from here shows it.
      for reader in select.select(list(self._members), [], [], _LONGEST_WAIT)[0]:
        slot, pid, buffer = self._members[reader]
        data = os.read(reader, 1 << 20)
        if not data:
          os.close(reader)
          del self._members[reader]
          os.waitpid(pid, 0)
          task = _NUMBER.unpack_from(self._tasks, slot * _NUMBER.size)[0]
          if task != _NO_TASK:
            self.culprits.append(task)
        buffer += data
        yield from _messages(buffer)

  def end(self) -> None:
    """Ends the processes that are still there."""
    for reader, (_, pid, _) in self._members.items():
      os.close(reader)
      os.kill(pid, signal.SIGKILL)  # we have not waited for it: the id is still its own
      os.waitpid(pid, 0)
    self._members.clear()
    self._tasks.close()

  def _set_task(self, slot: int, task: int) -> None:
    _NUMBER.pack_into(self._tasks, slot * _NUMBER.size, task)


@contextlib.contextmanager
def _interrupts_wait() -> Iterator[None]:
  """Lets an interrupt wait for the end of the block.

  Python swallows what is raised while it runs its hooks around a fork. To block the signal is not
  enough: the system then gives it to another thread, and Python runs the handler in this one.
  """
  handler = signal.getsignal(signal.SIGINT)
  waiting: list[int] = []
  try:
    if callable(handler):
      signal.signal(signal.SIGINT, lambda number, frame: waiting.append(number))
  except ValueError:  # not in the main thread: nothing is raised here
    handler = None
  try:
    yield
  finally:
    if callable(handler):
      signal.signal(signal.SIGINT, handler)
      if waiting:
        handler(waiting[0], None)


def _messages(buffer: bytearray) -> Iterator[Any]:
  """Takes the complete messages out of a buffer."""
  while len(buffer) >= _LENGTH.size:
    end = _LENGTH.size + _LENGTH.unpack_from(buffer)[0]
    if len(buffer) < end:
      return
    yield marshal.loads(bytes(buffer[_LENGTH.size : end]))
    del buffer[:end]
