"""Converts checkpoints: plans first, then writes, reads back, and only then shows the output."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import time
from collections.abc import Iterator
from typing import Any, Callable, Optional

from migrator.checkpoint import (
  checkpoint_format,
  destination,
  object_graph,
  placing,
  readback,
  safetensors_format,
  straight,
)
from migrator.checkpoint.destination import Destination
from migrator.checkpoint.report import Report
from migrator.checkpoint.source import Source
from migrator.checkpoint.tensors import Selection, Tensor
from migrator.runtime import bundle, dialects
from migrator.runtime.contents import Contents, Optimizer
from migrator.runtime.errors import CheckpointError

Advance = Callable[[int], None]


@dataclasses.dataclass(frozen=True)
class Options:
  """What the user asks for.

  Attributes:
    out: see `destination.destination`.
    format: one of `destination.SUFFIXES`.
    link: "auto", "hard" or "copy".
    force: replace an existing output.
    verify: "quick" (linked data count as equal), "full" or "none".
    skip_strings: leave strings out of a safetensors file.
    several: whether there are several sources.
  """

  out: str
  format: str = "checkpoint"
  link: str = "auto"
  force: bool = False
  verify: str = "quick"
  skip_strings: bool = False
  several: bool = False


@dataclasses.dataclass
class Job:
  """One conversion that has been planned, and can be done.

  Attributes:
    source: what is converted.
    selection: what the output consists of.
    where: the output.
    replaced: the files that it replaces.
    values: what is written, without what the format cannot hold.
    report: what there is to say; completed by `run`.
    model: what a Keras format is made of, see `planned.Model`; None for a straight conversion.
  """

  source: Source
  selection: Selection
  where: Destination
  replaced: list[str]
  values: list[Tensor]
  report: Report
  model: Any = None

  @property
  def num_bytes(self) -> int:
    """The length of what is written, for the progress bar."""
    return sum(tensor.num_bytes for tensor in self.values)


Selector = Callable[[Source, Contents], Selection]


def plan(
  prefix: str, options: Options, select: Optional[Selector] = None, model: Any = None
) -> Job:
  """Plans the conversion of one checkpoint; writes nothing.

  Args:
    prefix: of the checkpoint, as `state.resolve` returns it.
    options: what is asked for.
    select: decides what the output consists of; a straight conversion by default.
    model: see `Job`.

  Raises:
    CheckpointError: if it cannot be done.
  """
  begin = time.monotonic()
  source = Source.open(prefix)
  try:
    contents = dialects.describe(prefix, source.index)
  except bundle.DamagedIndexError as error:
    raise CheckpointError(f"{prefix}.index {error}.") from error
  if select is None and options.format == "checkpoint" and object_graph.KEY in source.index.entries:
    raise CheckpointError(
      f"{prefix} is an object-based checkpoint ({contents.dialect}) already: there is nothing to "
      "convert. --format safetensors takes the variables out of it."
    )
  selection = (select or straight.select)(source, contents)
  where = destination.destination(
    options.out, options.format, source, contents.step, options.several
  )
  replaced = placing.check_free(destination.existing_files(where, options.format), options.force)
  values = list(selection.values)
  skipped: list[str] = []
  if options.format == "safetensors":
    values, skipped = safetensors_format.representable(values, options.skip_strings)
  report = Report(
    source=prefix,
    dialect=contents.dialect,
    step=contents.step,
    optimizers=[_optimizer(optimizer) for optimizer in contents.optimizers.values()],
    format=options.format,
    out=where.path,
    variables=selection.variables,
    slots=sum(tensor.slot for tensor in values),
    others=len(selection.values) - selection.variables - sum(t.slot for t in selection.values),
    num_bytes=sum(tensor.num_bytes for tensor in values),
    renamed={t.name: t.keys for t in values if t.renamed and not t.slot},
    slots_renamed={t.name: t.keys for t in values if t.renamed and t.slot},
    changed={tensor.name: tensor.changes for tensor in values if tensor.changes},
    missing=list(selection.missing),
    unused=list(selection.unused),
    skipped=skipped,
    notes=[*contents.notes, *selection.notes],
    dry_run=True,
  )
  report.seconds["plan"] = time.monotonic() - begin
  return Job(source, selection, where, replaced, values, report, model)


def _optimizer(optimizer: Optimizer) -> str:
  """Returns e.g. "Adam (2 variables)"."""
  name = optimizer.kind
  if optimizer.name.rsplit("/", 1)[-1] != optimizer.kind:
    name += f" under the name {optimizer.name}"
  count = len(optimizer.variables)
  return f"{name} ({count} variable{'' if count == 1 else 's'})"


def run(job: Job, options: Options, advance: Advance) -> Report:
  """Does what was planned: the output is complete afterwards, or as it was before.

  Args:
    job: see `plan`.
    options: the same as for `plan`.
    advance: is told how many bytes more are written or compared.

  Returns:
    The report.

  Raises:
    CheckpointError: if something does not fit or cannot be written.
  """
  report = job.report
  report.dry_run = False
  try:
    with placing.Place(job.where.directory) as place:
      if options.format == "checkpoint":
        _write_checkpoint(job, options, place, advance)
      elif options.format == "safetensors":
        _write_safetensors(job, options, place, advance)
      else:
        _write_keras(job, options, place, advance)
  except OSError as error:
    what = error.strerror or str(error)
    # The place where it was being written tells the user nothing.
    raise CheckpointError(
      f"{job.where.path} cannot be written: {what}. Nothing of it has been left there."
    ) from error
  return report


def _write_checkpoint(job: Job, options: Options, place: placing.Place, advance: Advance) -> None:
  report = job.report
  assert job.selection.stamp is not None
  by_key = checkpoint_format.complete(job.values, job.selection.stamp)
  prefix = os.path.join(place.scratch, job.where.name)
  with readback.Comparer() as comparer:
    compare = comparer.submit if options.verify == "quick" else None
    with _timed(report, "write"):
      written = checkpoint_format.write(job.source, prefix, by_key, options.link, advance, compare)
    if options.verify != "none":
      with _timed(report, "read back"):
        full = options.verify == "full"
        found = readback.verify(job.source, prefix, written, full, advance, comparer)
      report.verified = dataclasses.asdict(found)
  report.way, report.reason = written.way or "written", written.reason
  report.shared, report.dead = written.shared, written.dead
  report.copied, report.new = written.copied, written.new
  state_path = os.path.join(place.directory, destination.STATE)
  if job.where.listed:
    text = destination.state_text(place.directory, job.where.name, report.step)
    with open(os.path.join(place.scratch, "state"), "w", encoding="utf-8") as file:
      file.write(text)
  report.files = place.commit(written.files, job.replaced)
  if job.where.listed:
    os.replace(os.path.join(place.scratch, "state"), state_path)
    report.state_file = state_path


def _write_safetensors(job: Job, options: Options, place: placing.Place, advance: Advance) -> None:
  from migrator.checkpoint import reading

  report = job.report
  reader = reading.Reader(job.source)
  metadata = {"format": "tf", "source": job.source.name, "dialect": report.dialect}
  if report.step is not None:
    metadata["step"] = str(report.step)
  path = os.path.join(place.scratch, job.where.name)
  report.way = "written"
  with _timed(report, "write"):
    report.new = safetensors_format.write(path, job.values, reader, metadata, advance)
  if options.verify != "none":
    with _timed(report, "read back"):
      compared = safetensors_format.verify(path, job.values, reader, advance)
    report.verified = {"tensors": len(job.values), "linked": 0, "compared": compared}
  report.files = place.commit([job.where.name], job.replaced)


def _write_keras(job: Job, options: Options, place: placing.Place, advance: Advance) -> None:
  report = job.report
  path = os.path.join(place.scratch, job.where.name)
  report.way = "written"
  with _timed(report, "write"):
    job.model.save(job.source.prefix, path, options.format)
  report.new = os.path.getsize(path)
  advance(job.num_bytes)
  if options.verify != "none":
    with _timed(report, "read back"):
      count, compared, notes = job.model.verify(job.source.prefix, path, options.format)
    report.verified = {"tensors": count, "linked": 0, "compared": compared}
    report.remarks += notes
    advance(job.num_bytes)
  if report.step is not None:
    report.remarks.append(
      f"A .{options.format} file has no global step: begin yours at {report.step}. The optimizer's "
      "iterations are in it."
    )
  report.files = place.commit([job.where.name], job.replaced)


@contextlib.contextmanager
def _timed(report: Report, what: str) -> Iterator[None]:
  begin = time.monotonic()
  yield
  report.seconds[what] = time.monotonic() - begin
