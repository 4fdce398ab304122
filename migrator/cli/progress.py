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


class Bytes:
  """A bar of bytes, for work that says itself how far it is; does nothing unless stderr is a terminal."""

  def __init__(self, label: str):
    self._label = label
    self._total = self._done = 0
    self._begin = self._shown = time.monotonic()
    self._visible = False

  def expect(self, count: int) -> None:
    """So many more bytes are to be done."""
    self._total += count

  def advance(self, count: int) -> None:
    """So many more bytes are done."""
    self._done += count
    now = time.monotonic()
    if not sys.stderr.isatty() or now - self._begin < _PATIENCE or now - self._shown < _INTERVAL:
      return
    filled = min(_WIDTH * self._done // max(self._total, 1), _WIDTH)
    bar = "#" * filled + "-" * (_WIDTH - filled)
    sys.stderr.write(f"\r{self._label} [{bar}] {self._done / 1e6:,.0f}/{self._total / 1e6:,.0f} MB")
    sys.stderr.flush()
    self._visible, self._shown = True, now

  def close(self) -> None:
    """Takes the bar away."""
    if self._visible:
      sys.stderr.write("\r\033[K")
      sys.stderr.flush()
      self._visible = False
