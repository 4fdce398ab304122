"""Looks at model directories, and prepares them."""

from __future__ import annotations

import hashlib
import re
import shutil
from pathlib import Path

INDEX_FILE = re.compile(r"model\.ckpt-(\d+)\.index$")
STATE_FILE = "checkpoint"
NEW_STATE = "tf2"  # sub-directory of a model directory that holds a migrated program's checkpoints


def start_from(checkpoint: Path, model_dir: Path) -> None:
  """Lets a model directory begin with a copy of the one checkpoint in another directory."""
  model_dir.mkdir(parents=True, exist_ok=True)
  for path in checkpoint.iterdir():
    shutil.copy2(path, model_dir)
  (name,) = {path.name[: -len(".index")] for path in checkpoint.glob("*.index")}
  text = f'model_checkpoint_path: "{name}"\nall_model_checkpoint_paths: "{name}"\n'
  (model_dir / STATE_FILE).write_text(text)


def checkpoint_steps(directory: Path) -> list[int]:
  """Returns the steps of the model.ckpt-N files in a directory, in ascending order."""
  if not directory.is_dir():
    return []
  matches = [INDEX_FILE.match(path.name) for path in directory.iterdir()]
  return sorted(int(match.group(1)) for match in matches if match)


def state_steps(directory: Path) -> list[int]:
  """Returns the steps that a directory's `checkpoint` file lists, oldest first."""
  path = directory / STATE_FILE
  if not path.exists():
    return []
  found = re.findall(r'^all_model_checkpoint_paths: ".*?-(\d+)"$', path.read_text(), re.MULTILINE)
  return [int(step) for step in found]


def file_hashes(directory: Path) -> dict[str, str]:
  """Returns the SHA-256 of each file directly in a directory, by name."""
  return {
    path.name: hashlib.sha256(path.read_bytes()).hexdigest()
    for path in sorted(directory.iterdir())
    if path.is_file()
  }
