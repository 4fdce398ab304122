"""Many files: examined in their order; what goes wrong with one costs no other."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator
from typing import Callable, Optional

from migrator.lint import cache as caches
from migrator.lint import engine
from migrator.lint.rules import RuleError
from migrator.source import walk


@dataclasses.dataclass(frozen=True)
class Outcome:
  """What became of one file.

  Attributes:
    path: the file as the user named it.
    examined: what lint knows of it; None when it could not be examined.
    problem: one line for stderr that names the file and says why it could not be examined:
      unreadable, vanished, a defect of ours. None when it could.
  """

  path: str
  examined: Optional[engine.Examined] = None
  problem: Optional[str] = None


def examine_all(
  files: Iterable[walk.SourceFile],
  *,
  jobs: Optional[int] = None,
  cache: Optional[caches.Cache] = None,
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
  for number, file in enumerate(files, start=1):
    yield _examine(file)
    if on_done is not None:
      on_done(number)


def _examine(file: walk.SourceFile) -> Outcome:
  try:
    return Outcome(file.path, engine.examine_file(file.path, gate=not file.explicit))
  except OSError as error:
    return Outcome(file.path, problem=f"{file.path}: {error.strerror or error}")
  except RuleError:
    raise
  except Exception as error:  # a defect of ours in one file must not cost the others
    problem = f"{file.path}: internal error ({type(error).__name__}: {error})"
    return Outcome(file.path, problem=problem)
