"""A progress bar on stderr, for work that takes longer than a second."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator
from typing import TypeVar

_PATIENCE = 1.0
_INTERVAL = 0.1
_WIDTH = 30

Item = TypeVar("Item")


def progress(items: Iterable[Item], total: int, label: str) -> Iterator[Item]:
  """Yields the items; shows how many are done if stderr is a terminal and it takes long.

  Args:
    items: what to go through.
    total: how many there are.
    label: stands before the bar.
  """
  if not sys.stderr.isatty():
    yield from items
    return
  begin = shown = time.monotonic()
  visible = False
  try:
    for done, item in enumerate(items):
      now = time.monotonic()
      if now - begin > _PATIENCE and now - shown > _INTERVAL:
        filled = _WIDTH * done // max(total, 1)
        bar = "#" * filled + "-" * (_WIDTH - filled)
        sys.stderr.write(f"\r{label} [{bar}] {done}/{total}")
        sys.stderr.flush()
        visible, shown = True, now
      yield item
  finally:
    if visible:
      sys.stderr.write("\r\033[K")
      sys.stderr.flush()
