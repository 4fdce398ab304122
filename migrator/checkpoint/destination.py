"""Where the output goes: the meaning of --out, and the state file of its directory."""

from __future__ import annotations

import dataclasses
import os
import re
import time
from typing import Optional

from migrator.checkpoint.source import Source
from migrator.runtime import state, state_file
from migrator.runtime.errors import CheckpointError

SUFFIXES = {
  "checkpoint": "",
  "safetensors": ".safetensors",
  "keras": ".keras",
  "weights.h5": ".weights.h5",
}
STATE = state.STATE_FILES[0]
_TIMES = re.compile(rb"^all_model_checkpoint_timestamps: *([\d.eE+]+)", re.M)
_PRESERVED = re.compile(rb"^last_preserved_timestamp: *([\d.eE+]+)", re.M)


@dataclasses.dataclass(frozen=True)
class Destination:
  """Where one checkpoint goes.

  Attributes:
    path: of the file, or the prefix of a checkpoint.
    listed: whether the directory's state file is to name it.
  """

  path: str
  listed: bool

  @property
  def directory(self) -> str:
    """Where its files are."""
    return os.path.dirname(os.path.abspath(self.path))

  @property
  def name(self) -> str:
    """The last part of its path."""
    return os.path.basename(self.path)


def default_format(out: str) -> str:
  """Returns the format that the ending of `out` tells, "checkpoint" if it tells none."""
  for name, suffix in SUFFIXES.items():
    if suffix and out.endswith(suffix):
      return name
  return "checkpoint"


def destination(
  out: str, format_: str, source: Source, step: Optional[int], several: bool
) -> Destination:
  """Returns where one checkpoint goes.

  Args:
    out: an existing directory or a path with a slash at the end: the output gets a name in it. Else
      the path of the file, or the prefix of the checkpoint.
    format_: one of SUFFIXES.
    source: what is converted.
    step: its step, which becomes part of the name.
    several: whether others go to the same place; `out` is a directory then.

  Raises:
    CheckpointError: if the output would be its own source, lie among TF1 checkpoints, or has an
      ending that does not go with the format.
  """
  suffix = SUFFIXES[format_]
  inside = several or os.path.isdir(out) or out.endswith((os.sep, "/"))
  if several and os.path.lexists(out) and not os.path.isdir(out):
    raise CheckpointError(f"{out} is a file: several checkpoints need a directory.")
  path = out
  if inside:
    name = source.name if step is None else f"model.ckpt-{step}"
    path = os.path.join(out, name + suffix)
  elif not out.endswith(suffix):
    raise CheckpointError(f"Keras and others know the format by its ending: name it {out}{suffix}.")
  if not os.path.basename(path):
    raise CheckpointError("--out is empty.")
  if any(character in os.path.abspath(path) for character in "*?[") and format_ == "checkpoint":
    raise CheckpointError(
      f"TensorFlow cannot read {path}: give an --out that has no *, ? and [ in its path."
    )
  directory = os.path.dirname(os.path.abspath(path))
  if format_ == "checkpoint":
    source_directory = os.path.dirname(os.path.abspath(source.prefix))
    if inside and os.path.realpath(directory) == os.path.realpath(source_directory):
      raise CheckpointError(
        f"{out} holds the source, whose state file the old program needs. Give another directory: "
        f"a migrated program looks for its checkpoints in {os.path.join(out, state.NEW_DIRECTORY)}."
      )
    if os.path.realpath(path) == os.path.realpath(source.prefix):
      raise CheckpointError(f"{path} is the source itself, which is never written to.")
  return Destination(path, listed=inside and format_ == "checkpoint")


def existing_files(where: Destination, format_: str) -> list[str]:
  """Returns the paths of what is there already and would be replaced."""
  if format_ != "checkpoint":
    return [where.path] if os.path.lexists(where.path) else []
  if not os.path.isdir(where.directory):
    return []
  prefix = os.path.join(where.directory, where.name)
  files = state.files_of(prefix)
  return [path for path in files if os.path.lexists(path)]


def state_text(directory: str, name: str, step: Optional[int]) -> str:
  """Returns the state file of `directory` after the checkpoint `name` has come to it.

  What it listed before stays; the newest is the one with the highest step.

  Raises:
    CheckpointError: if the state file that is there cannot be read.
  """
  path = os.path.join(directory, STATE)
  listed: list[tuple[str, float]] = []
  newest = ""
  preserved = time.time() - 1
  if os.path.exists(path):
    with open(path, "rb") as file:
      text = file.read()
    try:
      old = state_file.parse(text)
    except ValueError as error:
      raise CheckpointError(f"{path} is broken: {error} Repair or remove it.") from error
    newest = old.model_checkpoint_path
    times = [float(number) for number in _TIMES.findall(text)]
    paths = old.all_model_checkpoint_paths
    if len(times) != len(paths):
      times = [_saved(os.path.join(directory, p)) for p in paths]
    listed = [entry for entry in zip(paths, times) if os.path.basename(entry[0]) != name]
    preserved = float((_PRESERVED.findall(text) or [0])[-1])
  # Before those of later steps, so that the oldest comes first.
  place = len([p for p, _ in listed if _step(p) <= (step or 0)])
  listed.insert(place, (name, time.time()))
  if not newest or os.path.basename(newest) == name or _step(newest) <= (step or 0):
    newest = name
  lines = [f'model_checkpoint_path: "{_escaped(newest)}"']
  lines += [f'all_model_checkpoint_paths: "{_escaped(p)}"' for p, _ in listed]
  # tf.train.CheckpointManager needs the times to count these among its own.
  lines += [f"all_model_checkpoint_timestamps: {saved!r}" for _, saved in listed]
  if preserved:
    lines.append(f"last_preserved_timestamp: {preserved!r}")
  return "\n".join(lines) + "\n"


def _saved(prefix: str) -> float:
  """Returns when a checkpoint was written."""
  try:
    return os.path.getmtime(prefix + ".index")
  except OSError:
    return time.time()


def _step(path: str) -> int:
  match = re.search(r"-(\d+)$", path)
  return int(match.group(1)) if match else -1


def _escaped(path: str) -> str:
  return path.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
