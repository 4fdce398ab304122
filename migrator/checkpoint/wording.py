"""Numbers as people read them, the same in every report."""

from __future__ import annotations


def size(number: int) -> str:
  """Returns bytes as people read them."""
  value = float(number)
  for unit in ("bytes", "KB", "MB", "GB"):
    if value < 1000 or unit == "GB":
      return plural(number, "byte") if unit == "bytes" else f"{value:.1f} {unit}"
    value /= 1000
  raise AssertionError


def plural(number: int, what: str) -> str:
  """Returns e.g. "1 slot" or "2 slots"."""
  return f"{number:,} {what}{'' if number == 1 else 's'}"
