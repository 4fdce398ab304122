"""Finds the newest checkpoint of a directory, and says what is wrong when there is none to use.

A directory that holds checkpoints is never taken for a fresh start: a moved directory, a missing state
file or a damaged file ends in one clear error that names the way out.
"""

from __future__ import annotations

import logging
import os
import re
from typing import Optional

from migrator.runtime import bundle, bundle_values, files, foreign_files, state_file
from migrator.runtime.errors import CheckpointError

# TensorFlow's own, without its import.
_LOGGER = logging.getLogger("tensorflow")

STATE_FILES = ("checkpoint", "checkpoint.txt")
NEW_DIRECTORY = "tf2"
"""The sub-directory of a model directory that takes the new checkpoints."""

_DATA_SUFFIX = re.compile(r"\.data-\d{5}-of-\d{5}$")
_STEP_SUFFIX = re.compile(r"-(\d+)$")
# The directories of a path that a program on Windows wrote.
_BACKSLASHED = re.compile(r".*\\")


def exists(prefix: str) -> bool:
  """Returns whether there is a checkpoint `prefix`."""
  return files.exists(prefix + ".index")


def resolve(path: str) -> Optional[str]:
  """Returns the checkpoint prefix that `path` means.

  Args:
    path: a prefix (`.../model.ckpt-10`), its `.index` or one of its `.data` files, a model directory,
      or the `checkpoint` file in it.

  Returns:
    The prefix, or None for a directory that is absent or holds no checkpoint.

  Raises:
    CheckpointError: if the directory holds checkpoints but no usable state, or if there is no
      checkpoint of that prefix.
  """
  path = os.fspath(path)
  if files.isdir(path):
    return newest(path)
  if os.path.basename(path) in STATE_FILES and files.exists(path):
    return newest(os.path.dirname(path) or ".")
  prefix = _DATA_SUFFIX.sub("", path)
  if prefix.endswith(".index"):
    prefix = prefix[: -len(".index")]
  if exists(prefix):
    return prefix
  if prefix == path and files.exists(path):
    raise CheckpointError(f"{path} {foreign_files.description(path)}")
  directory = os.path.dirname(prefix) or "."
  others = all_prefixes(directory) if files.isdir(directory) else []
  # A name that looks like no checkpoint is a model directory that does not exist yet.
  stem = _STEP_SUFFIX.sub("", os.path.basename(prefix))
  stems = {_STEP_SUFFIX.sub("", os.path.basename(other)) for other in others}
  if prefix == path and ".ckpt" not in stem and stem not in stems:
    return None
  found = ", ".join(os.path.basename(p) for p in others) or "none"
  raise CheckpointError(
    f"There is no checkpoint {prefix}: {prefix}.index does not exist. "
    f"Checkpoints in {directory}: {found}."
  )


def newest(directory: str) -> Optional[str]:
  """Returns the prefix that the state file of `directory` calls the newest.

  Returns:
    The prefix, or None if there is no checkpoint in the directory.

  Raises:
    CheckpointError: if there are checkpoints, but the state file is missing, unreadable or names one
      that does not exist.
  """
  name = next((name for name in STATE_FILES if _is_file(os.path.join(directory, name))), None)
  if name is None:
    others = all_prefixes(directory)
    if not others:
      return None
    raise CheckpointError(
      f"{directory} holds checkpoints but no state file `checkpoint` that says which one is the "
      f"newest. This is not a fresh start. {_ways_out(directory, others)}"
    )
  state_path = os.path.join(directory, name)
  state = _read_state(directory, name)
  if state is None or not state.model_checkpoint_path:
    others = all_prefixes(directory)
    if not others:
      return None
    raise CheckpointError(f"{state_path} cannot be read. {_ways_out(directory, others)}")
  # A relative path is one within the directory; an absolute one stays.
  path = os.path.join(directory, state.model_checkpoint_path)
  if files.is_remote(state.model_checkpoint_path):
    path = state.model_checkpoint_path
  return _located(path, directory, state_path)


def _located(prefix: str, directory: str, state_path: str) -> str:
  """Returns `prefix`, or its namesake in `directory` when the directory was moved or copied."""
  local = _namesake(prefix, directory)
  outside = os.path.abspath(prefix) != os.path.abspath(local)
  if outside and "://" not in prefix and exists(local):
    _LOGGER.warning(
      "%s names %s, outside of the directory, which was moved or copied; using %s.",
      state_path,
      prefix,
      local,
    )
    return local
  if exists(prefix):
    return prefix
  raise CheckpointError(
    f"{state_path} calls {prefix} the newest checkpoint, but it does not exist. "
    f"{_ways_out(directory, all_prefixes(directory))}"
  )


def _ways_out(directory: str, prefixes: list[str]) -> str:
  """Returns the sentence that tells how to go on with one of `prefixes`."""
  if not prefixes:
    return f"There is no other checkpoint in {directory}: use another directory to start afresh."
  name = os.path.basename(prefixes[0])
  return (
    f"To go on from the highest step, write a file {os.path.join(directory, 'checkpoint')} with the "
    f'line model_checkpoint_path: "{name}"; to start afresh, use another directory.'
  )


def check_directory(model_dir: str) -> None:
  """Raises CheckpointError if a model directory is a file, or the directory of the new checkpoints."""
  if files.exists(model_dir) and not files.isdir(model_dir):
    raise CheckpointError(f"The model_dir {model_dir} is a file: name a directory.")
  parent, name = os.path.split(os.path.normpath(model_dir))
  if name == NEW_DIRECTORY and all_prefixes(model_dir):
    raise CheckpointError(
      f"{model_dir} holds the checkpoints of a migrated program: its model_dir is {parent or '.'}."
    )


def _is_file(path: str) -> bool:
  """Returns whether there is a file `path`; programs also call a directory `checkpoint`."""
  return files.exists(path) and not files.isdir(path)


def _read_state(directory: str, name: str = "checkpoint") -> Optional[state_file.State]:
  """Returns the state of a directory, None without one.

  Raises:
    CheckpointError: the state file is broken.
  """
  path = os.path.join(directory, name)
  if not _is_file(path):
    return None
  try:
    return state_file.parse(files.read(path))
  except ValueError as error:
    advice = _ways_out(directory, all_prefixes(directory))
    raise CheckpointError(f"{path} is broken: {error} {advice}") from error


def recorded(directory: str) -> list[str]:
  """Returns the prefixes listed in the state file, oldest first; only those that exist."""
  state = _read_state(directory)
  if state is None:
    return []
  local = (_namesake(path, directory) for path in state.all_model_checkpoint_paths)
  return [prefix for prefix in local if exists(prefix)]


def _namesake(path: str, directory: str) -> str:
  """Returns the checkpoint in `directory` that is called as `path` is, which may be one of Windows."""
  local = os.path.join(directory, os.path.basename(path))
  windows = os.path.join(directory, _BACKSLASHED.sub("", os.path.basename(path)))
  return windows if not exists(local) and exists(windows) else local


def all_prefixes(directory: str) -> list[str]:
  """Returns every checkpoint prefix in `directory`, highest step first."""
  # Not by a pattern: the directory's own name may hold characters that mean something in one.
  names = files.listdir(directory) if files.isdir(directory) else []
  prefixes = (n[: -len(".index")] for n in names if n.endswith(".index"))
  return sorted((os.path.join(directory, p) for p in prefixes), key=_name_step, reverse=True)


def files_of(prefix: str) -> list[str]:
  """Returns the paths of the files of a checkpoint, the index first."""
  directory, name = os.path.split(prefix)
  shards = re.compile(re.escape(name) + _DATA_SUFFIX.pattern)
  data = (n for n in sorted(files.listdir(directory or ".")) if shards.match(n))
  return [prefix + ".index", *(os.path.join(directory, n) for n in data)]


def _name_step(prefix: str) -> int:
  """Returns the step at the end of the name, or -1."""
  match = _STEP_SUFFIX.search(prefix)
  return int(match.group(1)) if match else -1


def step_of(prefix: str) -> int:
  """Returns the global step of a checkpoint, of either kind.

  The number in its name if it has none, or is damaged: a file that is not needed any more must not
  stop a program.
  """
  try:
    index = bundle.read_index(prefix)
    for key in ("global_step", "global_step/.ATTRIBUTES/VARIABLE_VALUE"):
      if key in index.entries:
        return int(bundle_values.read_scalar(prefix, index, key))
  except (bundle.DamagedIndexError, OSError, ValueError) as error:
    _LOGGER.warning("%s cannot be read (%s); its step is taken from its name.", prefix, error)
  return max(_name_step(prefix), 0)


def check_intact(prefix: str) -> bundle.Index:
  """Returns the index of the checkpoint, after having compared the sizes of its files.

  Raises:
    CheckpointError: in one line: the file, the size that it must have, the size that it has, and the
      next older intact checkpoint.
  """
  if any(character in prefix for character in "*?["):
    # It takes the path for a pattern, and finds nothing.
    raise CheckpointError(
      f"TensorFlow cannot read {prefix}: rename it so that it has no *, ? and [."
    )
  index, fault = _examine(prefix)
  if index is not None:
    return index
  directory = os.path.dirname(prefix) or "."
  step = _name_step(prefix)
  older = (p for p in all_prefixes(directory) if p != prefix and (step < 0 or _name_step(p) < step))
  intact = next((p for p in older if _examine(p)[0] is not None), None)
  if intact is None:
    advice = "There is no older intact checkpoint."
  else:
    advice = (
      f"The next older intact checkpoint is {intact}: to go on from it, make it the "
      f"model_checkpoint_path in {os.path.join(directory, 'checkpoint')}."
    )
  raise CheckpointError(f"{fault} The checkpoint is damaged. {advice}")


def _examine(prefix: str) -> tuple[Optional[bundle.Index], str]:
  """Returns the index, or None and the sentence that says which file is damaged."""
  try:
    index = bundle.read_index(prefix)
  except bundle.DamagedIndexError as e:
    return None, f"{prefix}.index {e}."
  for shard in range(index.num_shards):
    path = bundle.shard_path(prefix, shard, index.num_shards)
    expected = index.data_sizes.get(shard, 0)
    if not files.exists(path):
      return None, f"{path} does not exist, it should have {expected} bytes."
    size = files.size(path)
    if size < expected and files.is_lfs_pointer(files.read(path, 0, 64)):
      return None, f"{path} is a pointer of Git LFS: `git lfs pull` brings the file."
    if size < expected:
      return None, f"{path} should have {expected} bytes, it has {size}."
  return index, ""
