"""What was found in files before, so that a file that has not changed is not examined again."""

from __future__ import annotations

from typing import Optional

FOLDER = ".migrator_cache"


class Cache:
  """Findings of files by content, kept in one file.

  Nothing about it can fail a run: a cache that is damaged, of another version or cannot be
  written is the same as none.
  """

  def __init__(self, root: str, folder: Optional[str] = None):
    """The cache of a project.

    Args:
      root: the project's root: the folder of its pyproject.toml, else the current one.
      folder: where to keep it; None: $MIGRATOR_CACHE_DIR, else `.migrator_cache` in the root.
    """
    self.root = root
    self.folder = folder
