"""Starts programs under the observer, and reads what they left behind."""

from __future__ import annotations

import dataclasses
import functools
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Optional

OBSERVER = Path(__file__).with_name("observer.py")
PACKAGE = Path(__file__).resolve().parent.parent
LAST_LINES = 15


class CannotRunError(Exception):
  """A program could not be run to its end; the message says which and why."""


@dataclasses.dataclass(frozen=True)
class Run:
  """What one process did.

  Attributes:
    returncode: Exit code; negative: the signal that ended the process.
    events: The record, see observer.py.
    output: What the program wrote to stdout.
    errors: What it wrote to stderr.
  """

  returncode: int
  events: list[dict[str, Any]]
  output: str
  errors: str

  def _all(self, event: str, key: str) -> list[Any]:
    return [entry[key] for entry in self.events if entry["event"] == event]

  @property
  def killed(self) -> bool:
    return bool(self._all("kill", "step"))

  @property
  def tensorflow(self) -> str:
    """The version of TensorFlow, or "" if the program did not import it."""
    return (self._all("tensorflow", "version") or [""])[0]

  @property
  def saved_steps(self) -> list[int]:
    """Steps of the saved checkpoints, in order."""
    return self._all("save", "step")

  @property
  def resumed_at(self) -> list[int]:
    """The step at which each training of the process began."""
    return self._all("begin", "step")

  @property
  def losses(self) -> list[tuple[int, float]]:
    """(global step, the step's own loss), in order."""
    return [(e["step"], e["loss"]) for e in self.events if e["event"] == "loss"]

  @property
  def evaluations(self) -> list[dict[str, Any]]:
    """What each evaluate() returned: {key: [dtype, value]}."""
    return self._all("evaluate", "values")

  @property
  def predictions(self) -> list[dict[str, Any]]:
    """The rows that the program took from predict(): {key: [dtype, value]}."""
    return self._all("predict", "row")

  @property
  def model_dir(self) -> Optional[str]:
    """Where it trained; None if that is unknown.

    Raises:
      CannotRunError: The program trains in several directories.
    """
    found = sorted({e["model_dir"] for e in self.events if e.get("model_dir")})
    if len(found) > 1:
      raise CannotRunError(
        "the program trains in several model directories, verify compares one: " + ", ".join(found)
      )
    return found[0] if found else None

  def last_lines(self) -> str:
    lines = [line for line in self.errors.splitlines() if line.strip()]
    return "\n".join(lines[-LAST_LINES:])


@dataclasses.dataclass(frozen=True)
class Scratch:
  """A directory of its own for a program that is started once or, after a kill, again."""

  directory: Path

  @classmethod
  def create(cls, directory: Path) -> Scratch:
    """Makes the directory; it must not exist."""
    directory.mkdir(parents=True)
    scratch = cls(directory.resolve())
    scratch.cwd.mkdir()
    return scratch

  @property
  def cwd(self) -> Path:
    """The program's working directory."""
    return self.directory / "cwd"

  @property
  def first(self) -> Path:
    """Where the files of the first saved checkpoint are kept."""
    return self.directory / "first"

  def next_record(self) -> Path:
    return self.directory / f"record{len(list(self.directory.glob('record*.jsonl'))) + 1}.jsonl"

  def arguments(self, arguments: Sequence[str]) -> list[str]:
    """Fills in {model_dir}."""
    return [a.replace("{model_dir}", str(self.cwd / "model_dir")) for a in arguments]


@dataclasses.dataclass(frozen=True)
class Job:
  """What an interpreter has to do: the observer's arguments."""

  program: Path
  arguments: Sequence[str]
  scratch: Scratch
  kill_at: Optional[int] = None
  seed: Optional[int] = None
  keep_first: bool = False

  def observer_arguments(self, record: Path) -> list[str]:
    command = ["--record", str(record)]
    if self.kill_at is not None:
      command += ["--kill-at", str(self.kill_at)]
    if self.seed is not None:
      command += ["--seed", str(self.seed)]
    if self.keep_first:
      command += ["--keep-first", str(self.scratch.first)]
    return [*command, str(self.program.resolve()), *self.scratch.arguments(self.arguments)]


class Interpreter:
  """A Python with TensorFlow in which programs are run, each in a process of its own.

  Args:
    python: Path of the interpreter.
    runtime: Whether programs may import migrator from here (legacy ones need not).
    timeout: Seconds after which a program is given up.
  """

  def __init__(self, python: str, runtime: bool = True, timeout: float = 600):
    self.python = python
    self.runtime = runtime
    self.timeout = timeout
    self._running: set[subprocess.Popen[str]] = set()

  def variables(self, scratch: Scratch) -> dict[str, str]:
    """Returns the process environment of a program."""
    variables = dict(os.environ, PYTHONUNBUFFERED="1")
    variables.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
    variables.pop("PYTHONPATH", None)
    if self.runtime:
      variables["PYTHONPATH"] = str(link_package(scratch.directory / "path"))
    return variables

  def run(self, job: Job) -> Run:
    """Runs a program to its end.

    Raises:
      CannotRunError: The interpreter cannot be started, or the time is over.
    """
    record = job.scratch.next_record()
    record.touch()
    command = [self.python, str(OBSERVER), *job.observer_arguments(record)]
    try:
      process = subprocess.Popen(
        command,
        cwd=job.scratch.cwd,
        env=self.variables(job.scratch),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        start_new_session=True,
      )
    except OSError as error:
      raise CannotRunError(f"cannot start {self.python}: {error.strerror}") from error
    self._running.add(process)
    try:
      output, errors = process.communicate(timeout=self.timeout)
    except subprocess.TimeoutExpired as error:
      _kill_group(process.pid)
      process.communicate()
      raise CannotRunError(
        f"{job.program} ran longer than {self.timeout:g} seconds (--timeout)"
      ) from error
    finally:
      self._running.discard(process)
    return Run(process.returncode, read_record(record), output, errors)

  def stop(self) -> None:
    """Kills the programs that are running."""
    for process in list(self._running):
      _kill_group(process.pid)


def _kill_group(pid: int) -> None:
  if sys.platform == "win32":
    os.kill(pid, signal.SIGTERM)
  else:
    os.killpg(pid, signal.SIGKILL)


def read_record(record: Path) -> list[dict[str, Any]]:
  """Reads a record; a kill may have cut its last line."""
  lines = record.read_text(encoding="utf-8").splitlines(keepends=True)
  return [json.loads(line) for line in lines if line.endswith("\n")]


def link_package(directory: Path) -> Path:
  """Makes a directory with nothing but this package in it, for PYTHONPATH.

  The whole site-packages of this interpreter would hide the other interpreter's own.
  """
  link = directory / PACKAGE.name
  if not link.exists():
    directory.mkdir(parents=True, exist_ok=True)
    try:
      link.symlink_to(PACKAGE, target_is_directory=True)
    except OSError:  # Windows without the right to make links
      shutil.copytree(PACKAGE, link)
  return directory


def complete(run: Run, job: Job) -> Run:
  """Returns the run.

  Raises:
    CannotRunError: The program ended with an error; the message carries its last lines.
  """
  if run.returncode and not run.killed:
    raise CannotRunError(f"{job.program} exited with {run.returncode}:\n{run.last_lines()}")
  return run


@functools.cache
def default_python(name: str, start: Path) -> Optional[str]:
  """Finds an environment of the test command, upwards from a directory.

  Args:
    name: "tf2.15" or "tf2.21".
    start: Where to begin.
  """
  scripts = "Scripts" if os.name == "nt" else "bin"
  for directory in [start, *start.parents]:
    python = directory / ".venvs" / name / scripts / "python"
    if python.exists():
      return str(python)
  return None
