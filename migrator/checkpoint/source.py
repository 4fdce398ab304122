"""The checkpoint that is converted: its index, its data files, and their numbers."""

from __future__ import annotations

import dataclasses
import os

from migrator.runtime import bundle, files, state
from migrator.runtime.errors import CheckpointError


@dataclasses.dataclass(frozen=True)
class Source:
  """A checkpoint whose files are there in full length.

  Attributes:
    prefix: its path without suffix.
    index: what lies where.
  """

  prefix: str
  index: bundle.Index

  @classmethod
  def open(cls, prefix: str) -> Source:
    """Opens a checkpoint.

    Args:
      prefix: as `state.resolve` returns it.

    Raises:
      CheckpointError: if it is damaged, remote, or of a machine of the other byte order.
    """
    if files.is_remote(prefix):
      raise CheckpointError(
        f"{prefix} is remote: copy the checkpoint to a local directory to convert it."
      )
    index = state.check_intact(prefix)
    if not index.little_endian:
      raise CheckpointError(
        f"{prefix} was written on a big-endian machine, which is not supported."
      )
    return cls(prefix, index)

  @property
  def name(self) -> str:
    """The last part of the prefix, e.g. "model.ckpt-10"."""
    return os.path.basename(self.prefix)

  def shard(self, number: int) -> str:
    """Returns the path of a data file."""
    return bundle.shard_path(self.prefix, number, self.index.num_shards)
