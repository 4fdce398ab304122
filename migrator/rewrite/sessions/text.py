"""The layout of code that is shown."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable

WIDTH = 96


def comments(texts: Iterable[str]) -> list[str]:
  """Comment lines; a text that begins with "- " is an item of a list."""
  lines = []
  for text in texts:
    first, rest = ("#   ", "#     ") if text.startswith("- ") else ("# ", "#   ")
    lines += textwrap.wrap(
      text,
      WIDTH,
      initial_indent=first,
      subsequent_indent=rest,
      break_long_words=False,
      break_on_hyphens=False,
    )
  return lines
