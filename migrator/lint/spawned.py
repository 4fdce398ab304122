"""The tasks of a run in several new processes, where none can be forked (Windows)."""

from __future__ import annotations

import concurrent.futures
import multiprocessing
from collections.abc import Iterator, Sequence
from concurrent.futures.process import BrokenProcessPool
from typing import Any

from migrator.lint import pool, rules
from migrator.source import walk

# More is an error on Windows.
_MOST_PROCESSES = 60
_Files = Sequence[tuple[int, walk.SourceFile, int]]


def run(
  files: Sequence[walk.SourceFile],
  sizes: Sequence[int],
  chunks: Sequence[Sequence[int]],
  jobs: int,
) -> Iterator[pool.Done]:
  """Examines files; see `pool.run`. Closing the iterator ends the processes.

  Args:
    files: all files.
    sizes: of the files, in bytes.
    chunks: numbers of files; a chunk is done by one process.
    jobs: how many processes.
  """
  left = [list(chunk) for chunk in chunks]
  while left:
    broken = []
    for number, done in _round(files, sizes, left, min(jobs, _MOST_PROCESSES)):
      if done is None:
        broken.append(left[number])
      else:
        yield left[number], done
    # Which process died is not known, so what was not done is done again, file by file: one
    # process for each, until it is clear which one it was.
    left = []
    for chunk in broken:
      for task in chunk:
        for _, done in _round(files, sizes, [[task]], 1):
          yield [task], [(task, pool.Died())] if done is None else done


def _round(
  files: Sequence[walk.SourceFile],
  sizes: Sequence[int],
  chunks: Sequence[Sequence[int]],
  jobs: int,
) -> Iterator[tuple[int, Any]]:
  """Yields (number of the chunk, results), None for those whose process died."""
  executor = concurrent.futures.ProcessPoolExecutor(
    jobs,
    multiprocessing.get_context("spawn"),
    initializer=rules.use,
    initargs=(rules.plugins(),),
  )
  try:
    tasks = [[(task, files[task], sizes[task]) for task in chunk] for chunk in chunks]
    futures = {executor.submit(_examine, found): i for i, found in enumerate(tasks)}
    for future in concurrent.futures.as_completed(futures):
      try:
        yield futures[future], future.result()
      except BrokenProcessPool:
        yield futures[future], None
  finally:
    executor.shutdown(cancel_futures=True)


def _examine(tasks: _Files) -> list[tuple[int, Any]]:
  from migrator.lint import run as runs

  examine = runs.examiner()
  done = ((task, examine(file, size)) for task, file, size in tasks)
  return [(task, result) for task, result in done if result is not None]
