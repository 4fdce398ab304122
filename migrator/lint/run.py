"""Many files: examined in their order; what goes wrong with one costs no other."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Callable, NamedTuple, Optional

from migrator.lint import plain
from migrator.lint.cache import Cache, content_hash
from migrator.lint.examined import Examined
from migrator.lint.rule import RuleError
from migrator.source import walk

# Imported where they are used: a run in which no file has changed needs none of them.
if TYPE_CHECKING:
  from migrator.lint import pool

# Bytes to examine for which another process is worth its start, and the least of a chunk.
_WORTH = 1_000_000
_CHUNK = 100_000
# Python may crash on what is this large; only then it is examined in a process of its own.
_RISKY = 200_000
# What opening and closing a file costs, in bytes.
_PER_FILE = 1000


class Outcome(NamedTuple):
  """What became of one file.

  Attributes:
    path: the file as the user named it.
    examined: what lint knows of it; None when it could not be examined.
    problem: one line for stderr that names the file and says why it could not be examined:
      unreadable, vanished, a defect of ours. None when it could. With MIGRATOR_DEBUG in the
      environment, the traceback of a defect is before it.
  """

  path: str
  examined: Optional[Examined] = None
  problem: Optional[str] = None


def examine_all(
  files: Iterable[walk.SourceFile],
  *,
  jobs: Optional[int] = None,
  cache: Optional[Cache] = None,
  on_done: Optional[Callable[[int], None]] = None,
) -> Iterator[Outcome]:
  """Examines files, in parallel where that is faster.

  Args:
    files: what to examine. Those that the user did not name pass a cheap gate first.
    jobs: number of processes; None: as many as are of use; 1: only this one.
    cache: where to look first, and to keep what was found. It is saved at the end.
    on_done: called with the number of files that are done so far.

  Yields:
    One outcome for each file, always in the order of `files`.

  Raises:
    RuleError: a rule file is faulty.
    KeyboardInterrupt: no process is left behind.
  """
  run = _Run(list(files), cache)
  try:
    yield from run.outcomes(jobs, on_done)
  finally:
    run.end()


def examine_stdin(raw: bytes, name: str) -> Outcome:
  """Examines bytes that are in no file, as if a file of this name held them.

  Raises:
    RuleError: a rule file is faulty.
  """
  import io

  from migrator.lint import engine, large

  try:
    if large.is_too_large(name, len(raw)):
      return Outcome(name, large.examine_stream(io.BytesIO(raw), name, len(raw)))
    return Outcome(name, engine.examine_bytes(raw, name))
  except RuleError:
    raise
  except Exception as error:  # a defect of ours must not cost what the files say
    return Outcome(name, problem=_defect(error, name))


class _Run:
  """One call of `examine_all`: a file is a number."""

  def __init__(self, files: Sequence[walk.SourceFile], cache: Optional[Cache]):
    self._files = files
    self._cache = cache
    self._is_cached = False
    self._statuses: list[Optional[os.stat_result]] = []
    # Files that are not done, and outcomes of those that are done and have anything to say.
    self._left: set[int] = set()
    self._outcomes: dict[int, Outcome] = {}
    self._examine: Optional[Callable[[walk.SourceFile, int], Any]] = None

  def outcomes(
    self, jobs: Optional[int], on_done: Optional[Callable[[int], None]]
  ) -> Iterator[Outcome]:
    """Yields the outcomes in order."""
    self._look()
    following = 0
    for tasks, results in self._results(jobs):
      for task, result in results:
        self._take(task, result)
      self._left.difference_update(tasks)
      if on_done is not None:
        on_done(len(self._files) - len(self._left))
      while following < len(self._files) and following not in self._left:
        outcome = self._outcomes.pop(following, None)
        path = self._files[following].path
        yield Outcome(path, Examined(path)) if outcome is None else outcome
        following += 1

  def end(self) -> None:
    """Saves what was found, also by a run that was interrupted."""
    if self._cache is not None and self._is_cached:
      self._cache.save()

  def _look(self) -> None:
    """Takes what the cache knows."""
    for file in self._files:
      try:
        self._statuses.append(os.stat(file.path))
      except OSError:
        self._statuses.append(None)
    self._left.update(range(len(self._files)))
    size = sum(map(self._size, self._left))
    if self._cache is None or not self._cache.open(size):
      return
    self._is_cached = True
    for task, (file, status) in enumerate(zip(self._files, self._statuses)):
      known = None if status is None else self._cache.look(file.path, file.explicit, status)
      if known is not None:
        self._left.remove(task)
        if known.findings or known.directives:
          self._outcomes[task] = Outcome(file.path, known)

  def _size(self, task: int) -> int:
    status = self._statuses[task]
    return status.st_size if status is not None else 0

  def _results(self, jobs: Optional[int]) -> Iterator[pool.Done]:
    """Does what is left; the first and the last are for what is done already."""
    yield (), []
    if not self._left:
      return
    from migrator.lint import engine, rules

    del engine  # imported, and the rules loaded, once for all processes
    rules.load()
    tasks = sorted(self._left)
    chunks, count = self._plan(tasks, jobs)
    if count == 0:
      yield from (((task,), [(task, self._do(task))]) for task in tasks)
      return
    from migrator.lint import pool

    if pool.is_available():
      yield from pool.run(self._do, chunks, count)
    else:
      from migrator.lint import spawned

      sizes = [self._size(task) for task in range(len(self._files))]
      yield from spawned.run(self._files, sizes, chunks, count)

  def _plan(self, tasks: Sequence[int], jobs: Optional[int]) -> tuple[list[list[int]], int]:
    """Chunks of tasks, and how many processes; 0: do them in this one."""
    from migrator.lint import large

    sizes = [min(self._size(task), large.LIMIT) + _PER_FILE for task in tasks]
    total = sum(sizes)
    count = min(_cpus(), total // _WORTH) if jobs is None else jobs
    if count <= 1:
      count = int(jobs is None and hasattr(os, "fork") and max(sizes) > _RISKY)
    if not count:
      return [], 0
    from migrator.lint import pool

    least = _CHUNK if jobs is None else 1
    most = max(least, total // (16 * count), 2 * total // pool.MOST_CHUNKS)
    chunks: list[list[int]] = []
    room = 0
    for task, size in zip(tasks, sizes):
      if room <= 0:
        chunks.append([])
        room = most
      chunks[-1].append(task)
      room -= size
    return chunks, count

  def _do(self, task: int) -> Optional[list[Any]]:
    """Examines a file: what the cache needs and what was found, or a problem, as plain values."""
    if self._examine is None:
      is_cached = self._cache is not None and self._is_cached
      self._examine = examiner(self._cache.look_at if is_cached and self._cache else None)
    return self._examine(self._files[task], self._size(task))

  def _take(self, task: int, result: Any) -> None:
    """Turns the result of a task into an outcome, and keeps it."""
    file, status = self._files[task], self._statuses[task]
    if result is None:
      return
    if not isinstance(result, list):  # pool.Died
      problem = f"{file.path}: the process died while it examined this file; it was not checked."
      self._outcomes[task] = Outcome(file.path, problem=problem)
      return
    kind, text, values = result
    if kind == _FAULTY_RULE:
      raise RuleError(text)
    if kind == _PROBLEM:
      self._outcomes[task] = Outcome(file.path, problem=text)
      return
    if self._cache is not None and self._is_cached and status is not None:
      self._cache.keep(file.path, file.explicit, status, text, values)
    if values:
      self._outcomes[task] = Outcome(file.path, plain.load(values, file.path))


_PROBLEM, _FAULTY_RULE, _EXAMINED = "problem", "rule", "examined"
LookAt = Callable[[str, str, bool], Optional[Examined]]


def examiner(look_at: Optional[LookAt] = None) -> Callable[[walk.SourceFile, int], Any]:
  """A function that examines a file, given it and how many bytes it has.

  The function returns plain values: what it is, a text (a problem, or the hash of the content),
  what `plain.dump` makes; None when there is nothing to say and nothing to keep.

  Args:
    look_at: what the cache knows by hash of the content, path, and whether it was named.
  """
  from migrator.lint import engine, large

  def examine(file: walk.SourceFile, size: int) -> Optional[list[Any]]:
    path, explicit = file
    try:
      if large.is_too_large(path, size):
        return [_EXAMINED, "", plain.dump(large.examine(path, size))]
      raw = _read(path, size)
      digest = content_hash(raw, path) if look_at is not None else ""
      found = look_at(digest, path, explicit) if look_at is not None else None
      if found is None:
        found = engine.examine_bytes(raw, path, gate=not explicit)
      values = plain.dump(found)
      return [_EXAMINED, digest, values] if values or digest else None
    except OSError as error:
      return [_PROBLEM, f"{path}: {error.strerror or error}", None]
    except RuleError as error:
      return [_FAULTY_RULE, str(error), None]
    except Exception as error:  # a defect of ours in one file must not cost the others
      return [_PROBLEM, _defect(error, path), None]

  return examine


def _read(path: str, size: int) -> bytes:
  """The bytes of a file that has about this size: in half the time that `open` takes."""
  handle = os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0))
  try:
    raw = os.read(handle, size + 1)
    while len(raw) > size or (raw and len(raw) < size):  # it has changed, or is no plain file
      more = os.read(handle, 1 << 20)
      if not more:
        break
      raw += more
    return raw
  finally:
    os.close(handle)


def _defect(error: Exception, path: str) -> str:
  text = (
    f"{path}: internal error ({type(error).__name__}: {error}); the file was not checked. "
    "Please report it; MIGRATOR_DEBUG=1 shows where it happened."
  )
  if not os.environ.get("MIGRATOR_DEBUG"):
    return text
  import traceback

  return "".join(traceback.format_exception(type(error), error, error.__traceback__)) + text


def _cpus() -> int:
  if hasattr(os, "sched_getaffinity"):
    return len(os.sched_getaffinity(0))
  return os.cpu_count() or 1
