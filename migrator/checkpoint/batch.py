"""Converts several checkpoints: the failure of one is reported, and the others are done."""

from __future__ import annotations

import dataclasses
import importlib
import importlib.util
import os
import time
import traceback
from collections.abc import Sequence
from typing import Any, Callable, Optional, Protocol

from migrator.checkpoint import convert, destination
from migrator.checkpoint.report import Report
from migrator.runtime import bundle, dialects, paths, state
from migrator.runtime.errors import CheckpointError

Say = Callable[[Sequence[str]], None]


class Progress(Protocol):
  """Shows how far the work is."""

  def expect(self, count: int) -> None: ...
  def advance(self, count: int) -> None: ...


@dataclasses.dataclass(frozen=True)
class Request:
  """What the command line asks for; see the options of `migrator convert`.

  Attributes:
    checkpoints: prefixes, directories or files.
    out: see `destination.destination`.
    format: None for the one that the ending of `out` tells.
    model: `pkg.module:factory`, or None.
  """

  checkpoints: Sequence[str]
  out: str
  format: Optional[str] = None
  model: Optional[str] = None
  map_file: Optional[str] = None
  scope: str = ""
  flavour: Optional[str] = None
  weights: Optional[str] = None
  allow_missing: Sequence[str] = ()
  suggest_map: Optional[str] = None
  dry_run: bool = False
  link: str = "auto"
  force: bool = False
  all: bool = False
  skip_strings: bool = False
  verify: str = "quick"


@dataclasses.dataclass
class Result:
  """What became of one checkpoint.

  Attributes:
    checkpoint: as it was asked for.
    report: None if it failed.
    error: None, or the message.
    trace: the traceback of the factory's error, if that is what failed.
  """

  checkpoint: str
  report: Optional[Report] = None
  error: Optional[str] = None
  trace: str = ""

  def to_dict(self) -> dict[str, Any]:
    """Returns the result as what JSON can hold."""
    result: dict[str, Any] = {"checkpoint": self.checkpoint, "error": self.error}
    if self.report is not None:
      result.update(self.report.to_dict())
    return result


def run(request: Request, say: Optional[Say], progress: Progress) -> list[Result]:
  """Does all that was asked for.

  Args:
    request: what was asked for.
    say: is given the lines of each report, as soon as there are any; None is silent.
    progress: is told how many bytes there are, and how many are done.

  Returns:
    One result for each checkpoint, by step.
  """
  say = say or (lambda lines: None)
  found: list[tuple[str, str]] = []
  results: list[Result] = []
  for path in request.checkpoints:
    try:
      found += [(path, prefix) for prefix in paths.prefixes(path, request.all)]
    except (CheckpointError, OSError) as error:
      results.append(Result(path, error=_message(error)))
  found = list({os.path.realpath(prefix): (path, prefix) for path, prefix in found}.values())
  format_ = request.format or destination.default_format(request.out)
  options = convert.Options(
    out=request.out,
    format=format_,
    link=request.link,
    force=request.force,
    verify=request.verify,
    skip_strings=request.skip_strings,
    several=len(found) > 1 or request.all or len(results) > 0,
  )
  seconds: dict[str, float] = {}
  if found and (request.model or format_ != "checkpoint"):
    begin = time.monotonic()
    fault = _import_tensorflow(request, format_)
    if fault:
      return [*results, *(Result(prefix, error=fault) for _, prefix in found)]
    seconds["import tensorflow"] = time.monotonic() - begin
  model = None
  if request.model and found:
    from migrator.checkpoint import planned

    try:
      model = planned.Model.make(request, format_, _flavour(found[0][1]))
    except CheckpointError as error:
      trace = "".join(traceback.format_exception(type(error), error, error.__traceback__))
      return [*results, Result(request.model, error=_message(error), trace=trace)]
    seconds["factory"] = model.seconds
  elif format_ in ("keras", "weights.h5") and found:
    fault = f"--format {format_} saves a Keras model: --model says which."
    return [*results, *(Result(prefix, error=fault) for _, prefix in found)]
  taken: dict[str, str] = {}
  for _, prefix in sorted(found, key=lambda item: state.step_of(item[1])):
    results.append(_one(prefix, request, options, model, say, progress, seconds, taken))
  return results


def _one(
  prefix: str,
  request: Request,
  options: convert.Options,
  model: Any,
  say: Say,
  progress: Progress,
  seconds: dict[str, float],
  taken: dict[str, str],
) -> Result:
  """Converts one checkpoint. `taken` holds the outputs of the others, with their sources."""
  try:
    if request.suggest_map:
      return Result(prefix, report=None, error=model.suggest(prefix, request.suggest_map, say))
    job = convert.plan(prefix, options, model.select if model else None, model)
    job.report.seconds = {**seconds, **job.report.seconds}
    other = taken.setdefault(os.path.realpath(job.where.path), prefix)
    if other != prefix:
      raise CheckpointError(
        f"{prefix} and {other} would both become {job.where.path}: convert them into two directories."
      )
    say(job.report.plan_lines())
    if request.dry_run:
      return Result(prefix, job.report)
    progress.expect(job.num_bytes * (1 if options.verify == "none" else 2))
    report = convert.run(job, options, progress.advance)
    say(report.result_lines())
    return Result(prefix, report)
  except bundle.DamagedIndexError as error:
    return Result(prefix, error=f"{prefix}.index {error}. The checkpoint is damaged.")
  except (CheckpointError, OSError) as error:
    return Result(prefix, error=_message(error))


def _flavour(prefix: str) -> str:
  """Returns the flavour of the Estimator that wrote a checkpoint; "v1" if it cannot be read."""
  try:
    index = bundle.read_index(prefix)
    return "v2" if dialects.describe(prefix, index).dialect_id == "v2" else "v1"
  except (bundle.DamagedIndexError, OSError):
    return "v1"  # Its own error comes when it is converted.


def _message(error: Exception) -> str:
  if isinstance(error, OSError) and error.filename:
    return f"{error.filename}: {error.strerror or error}"
  return str(error)


def _import_tensorflow(request: Request, format_: str) -> str:
  """Imports TensorFlow; returns what to say if that fails, else ""."""
  what = "--model" if request.model else f"--format {format_}"
  if importlib.util.find_spec("tensorflow") is None:
    return (
      f"{what} needs TensorFlow, which is not installed: pip install 'estimator-migrator[runtime]'."
    )
  try:
    importlib.import_module("tensorflow")
  except ImportError as error:
    return f"{what} needs TensorFlow, which is installed but cannot be imported: {error}."
  return ""
