"""Output that is complete or absent: written beside its place, moved there at the end.

All is written to a hidden directory next to the output, under the final names, and read back there. Only
then is it moved, the index last; what was there before is put back if that fails.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Sequence
from types import TracebackType
from typing import Optional

from migrator.runtime.errors import CheckpointError


class Place:
  """A directory for output that is not complete yet; a context manager.

  Attributes:
    directory: where the output will be.
    scratch: where it is written until then; on the same file system.
  """

  def __init__(self, directory: str):
    """Takes the final directory, which may be absent."""
    self.directory = os.path.abspath(directory)
    self.scratch = ""
    self._made: list[str] = []

  def __enter__(self) -> Place:
    """Makes the directories.

    Raises:
      OSError: if they cannot be made or written to.
    """
    path = self.directory
    absent = []
    while not os.path.lexists(path):
      absent.append(path)
      path = os.path.dirname(path)
    try:
      for path in reversed(absent):
        os.mkdir(path)
        self._made.append(path)
      self.scratch = tempfile.mkdtemp(prefix=".migrator-", dir=self.directory)
    except OSError:
      self._remove_made()
      raise
    return self

  def __exit__(
    self,
    kind: Optional[type[BaseException]],
    error: Optional[BaseException],
    trace: Optional[TracebackType],
  ) -> None:
    """Removes what is left of the scratch directory; after an error also the directories made."""
    shutil.rmtree(self.scratch, ignore_errors=True)
    if kind is not None:
      self._remove_made()

  def _remove_made(self) -> None:
    for path in reversed(self._made):
      try:
        os.rmdir(path)
      except OSError:
        return  # Somebody has put something into it meanwhile.

  def commit(self, names: Sequence[str], replaced: Sequence[str] = ()) -> list[str]:
    """Moves files to their place, in this order.

    Args:
      names: of the files in `scratch`; the last one makes the output visible.
      replaced: paths of the old output, which go.

    Returns:
      The paths.

    Raises:
      OSError: if it cannot be done; then all is as it was before.
    """
    aside = [(old, os.path.join(self.scratch, f"old-{i}")) for i, old in enumerate(replaced)]
    moves = [(os.path.join(self.scratch, n), os.path.join(self.directory, n)) for n in names]
    try:
      for source, target in [*aside, *moves]:
        os.replace(source, target)
    except BaseException:
      # An interrupt may come at any point: the files tell how far it went.
      for source, target in reversed(moves):
        if not os.path.lexists(source) and os.path.lexists(target):
          os.remove(target)
      for old, away in reversed(aside):
        if os.path.lexists(away):
          os.replace(away, old)
      raise
    return [target for _, target in moves]


def check_free(paths: Sequence[str], force: bool) -> list[str]:
  """Returns those of the output paths that exist and may be replaced.

  Raises:
    CheckpointError: if one exists and `force` is not given.
  """
  existing = [path for path in paths if os.path.lexists(path)]
  if existing and not force:
    raise CheckpointError(f"{existing[0]} exists. Give another --out, or --force to replace it.")
  for path in existing:
    if os.path.isdir(path) and not os.path.islink(path):
      raise CheckpointError(f"{path} is a directory: give another --out.")
  return existing
