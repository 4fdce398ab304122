"""Runs the legacy program and the migrated one in all the ways that are compared."""

from __future__ import annotations

import concurrent.futures
import dataclasses
import os
import re
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Callable, Optional

from migrator.verify.directories import (
  NEW_STATE,
  checkpoint_steps,
  file_hashes,
  start_from,
  state_steps,
)
from migrator.verify.runs import CannotRunError, Interpreter, Job, Run, Scratch, complete

_EVENTS = re.compile(r"(?:^|/)events\.out\.tfevents\.(\d+)\.")


def shares_event_file(name: str, started: int) -> bool:
  """Returns whether a file may be the event file of this process and of the one before it.

  An event file is called by the second in which it is made: a process that begins in that very second
  writes to the file of the one before. An older event file is one that must not change.

  Args:
    name: of the file.
    started: when the process began, in whole seconds since the epoch.
  """
  match = _EVENTS.search(name)
  return match is not None and int(match.group(1)) >= started


@dataclasses.dataclass(frozen=True)
class Outcome:
  """A run and the checkpoints that it left.

  Attributes:
    run: What the process did.
    on_disk: Steps of the checkpoint files.
    listed: Steps that the state file lists.
    changed: Names of files of the start directory that are different or gone; they must be none
      on the migrated side.
  """

  run: Run
  on_disk: list[int]
  listed: list[int]
  changed: list[str]


# A run that was killed, and the run after it. None as the first: the program never completed the
# step after which it was to be killed.
Kill = tuple[Optional[Outcome], Outcome]


@dataclasses.dataclass
class Side:
  """All runs of one program on one interpreter.

  Attributes:
    version: Of TensorFlow.
    fresh: Started with no model directory.
    started: Started from the legacy program's first checkpoint. None: it saves none.
    kills: By step after which it was killed.
  """

  version: str
  fresh: Outcome
  started: Optional[Outcome] = None
  kills: dict[int, Kill] = dataclasses.field(default_factory=dict)

  def changed(self) -> list[str]:
    """Returns the names of changed files of the start directory, over all runs."""
    outcomes = [self.started, *(outcome for kill in self.kills.values() for outcome in kill)]
    return sorted({name for outcome in outcomes if outcome for name in outcome.changed})


@dataclasses.dataclass(frozen=True)
class Program:
  """A program, its arguments and where it runs."""

  path: Path
  arguments: Sequence[str]
  interpreter: Interpreter
  workspace: Path  # one directory per scratch is made here
  legacy: bool

  def scratch(self, name: str) -> Scratch:
    return Scratch.create(self.workspace / name)

  def start(
    self,
    scratch: Scratch,
    kill_at: Optional[int] = None,
    keep_first: bool = False,
    model_dir: str = "",
    seed: Optional[int] = None,
  ) -> Outcome:
    """Starts the program and looks at its checkpoints afterwards.

    Args:
      scratch: Where it runs.
      kill_at: The step after which it is killed.
      keep_first: Whether to keep the files of the first saved checkpoint in `scratch.first`.
      model_dir: The model directory, relative to the scratch's, if it is known and exists.
      seed: Of the graphs of estimators that set none.

    Raises:
      CannotRunError: The program ended with an error.
    """
    job = Job(self.path, self.arguments, scratch, kill_at, seed, keep_first)
    before = file_hashes(scratch.cwd / model_dir) if model_dir else {}
    started = int(time.time())
    run = complete(self.interpreter.run(job), job)
    directory = scratch.cwd / (model_dir or self.relative_model_dir(run, scratch) or ".")
    after = file_hashes(directory) if before else {}
    changed = [name for name in before if after.get(name) != before[name]]
    changed = [name for name in changed if not shares_event_file(name, started)]
    state = directory if self.legacy else directory / NEW_STATE
    return Outcome(run, checkpoint_steps(state), state_steps(state), changed)

  def relative_model_dir(self, run: Run, scratch: Scratch) -> str:
    """Returns the model directory of a run, relative to the scratch's; "" if unknown."""
    return os.path.relpath(run.model_dir, scratch.cwd) if run.model_dir else ""

  def kill_and_restart(self, step: int, first: Path, model_dir: str) -> Kill:
    """Starts from a checkpoint, kills the program after a step and starts it again."""
    scratch = self.scratch(f"kill-{step}")
    start_from(first, scratch.cwd / model_dir)
    killed = self.start(scratch, kill_at=step, model_dir=model_dir)
    if not killed.run.killed:
      return None, killed
    return killed, self.start(scratch, model_dir=model_dir)


@dataclasses.dataclass
class Session:
  """The runs of one comparison.

  Attributes:
    legacy: The legacy program.
    migrated: The migrated program, once per interpreter.
    kill_at: Steps after which the programs are killed; None: one in the middle of the training.
    progress: Called with a line for each thing that is done.
  """

  legacy: Program
  migrated: Sequence[Program]
  kill_at: Optional[Sequence[int]]
  progress: Callable[[str], None]

  def run(self) -> tuple[Side, Optional[Outcome], list[Side]]:
    """Runs everything.

    Returns:
      A tuple (legacy side, second legacy run from the same checkpoint, migrated sides).

    Raises:
      CannotRunError: A program ended with an error, or trains nothing.
    """
    with concurrent.futures.ThreadPoolExecutor(max_workers=2) as pool:
      try:
        return self._run(pool)
      except BaseException:  # also Ctrl-C: the programs are in process groups of their own
        pool.shutdown(wait=False, cancel_futures=True)
        for program in (self.legacy, *self.migrated):
          program.interpreter.stop()
        raise

  def _run(self, pool: concurrent.futures.Executor) -> tuple[Side, Optional[Outcome], list[Side]]:
    legacy_scratch = self.legacy.scratch("fresh")
    first_legacy = pool.submit(self._fresh, self.legacy, legacy_scratch)
    fresh_scratches = [program.scratch("fresh") for program in self.migrated]
    fresh = [pool.submit(self._fresh, p, s) for p, s in zip(self.migrated, fresh_scratches)]
    outcome = first_legacy.result()
    if not outcome.run.losses:
      raise CannotRunError(f"{self.legacy.path} trained no step with these arguments")
    legacy = Side(outcome.run.tensorflow, outcome)
    sides = [Side(f.result().run.tensorflow, f.result()) for f in fresh]
    first = legacy_scratch.first
    if not first.is_dir():
      return legacy, None, sides

    steps = self.kill_at
    if steps is None:
      steps = [max(step for step, _ in outcome.run.losses) // 2]
    legacy.started = outcome
    legacy_dir = self.legacy.relative_model_dir(outcome.run, legacy_scratch)
    again = pool.submit(self._from_first, self.legacy, first, legacy_dir)
    started, kills = [], []
    for program, side, scratch in zip(
      [self.legacy, *self.migrated], [legacy, *sides], [legacy_scratch, *fresh_scratches]
    ):
      # A program that keeps no state still gets the legacy one's directory.
      model_dir = program.relative_model_dir(side.fresh.run, scratch) or legacy_dir
      if not program.legacy:
        started.append((side, pool.submit(self._from_first, program, first, model_dir)))
      for step in steps:
        kills.append((side, step, pool.submit(self._kill, program, step, first, model_dir)))
    for side, start in started:
      side.started = start.result()
    for side, step, kill in kills:
      side.kills[step] = kill.result()
    return legacy, again.result(), sides

  def _fresh(self, program: Program, scratch: Scratch) -> Outcome:
    outcome = program.start(scratch, keep_first=program.legacy)
    self._done(program, outcome, "from the beginning")
    return outcome

  def _from_first(self, program: Program, first: Path, model_dir: str) -> Outcome:
    scratch = program.scratch("from-first")
    start_from(first, scratch.cwd / model_dir)
    outcome = program.start(scratch, model_dir=model_dir)
    self._done(program, outcome, "from the legacy program's first checkpoint")
    return outcome

  def _kill(self, program: Program, step: int, first: Path, model_dir: str) -> Kill:
    outcomes = program.kill_and_restart(step, first, model_dir)
    self._done(program, outcomes[1], f"killed after step {step} and started again")
    return outcomes

  def _done(self, program: Program, outcome: Outcome, what: str) -> None:
    self.progress(f"{program.path.name} on TensorFlow {outcome.run.tensorflow}: {what}")
