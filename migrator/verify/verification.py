"""The comparison of two programs, from start to report."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Callable, Optional

from migrator.verify.compare import STOCK, Report, compare
from migrator.verify.runs import Interpreter
from migrator.verify.session import Program, Session


def verify(
  before: Path,
  after: Path,
  arguments: Sequence[str],
  workspace: Path,
  legacy_python: str,
  pythons: Sequence[str],
  kill_at: Optional[Sequence[int]] = None,
  tolerance: float = STOCK,
  steps: Optional[int] = None,
  timeout: float = 600,
  progress: Callable[[str], None] = lambda line: None,
) -> Report:
  """Runs both programs, unmodified, and compares them.

  Args:
    before: The legacy program.
    after: The migrated program.
    arguments: Program arguments of both; {model_dir} stands for a directory of verify's own.
    workspace: An empty directory in which the programs run.
    legacy_python: The interpreter of the legacy program.
    pythons: Interpreters of the migrated program.
    kill_at: Steps after which the programs are killed and started again; None: one in the middle.
    tolerance: Of losses, evaluations and predictions, relative.
    steps: Compare the losses of so many steps only; None: of all.
    timeout: Seconds after which a program is given up.
    progress: Called with a line for each thing that is done.

  Raises:
    CannotRunError: A program could not be run to its end.
  """
  legacy = Program(
    before, arguments, Interpreter(legacy_python, False, timeout), workspace / "legacy", True
  )
  migrated = [
    Program(after, arguments, Interpreter(python, True, timeout), workspace / f"migrated{i}", False)
    for i, python in enumerate(pythons, 1)
  ]
  session = Session(legacy, migrated, kill_at, progress)
  return compare(*session.run(), tolerance=tolerance, steps=steps)
