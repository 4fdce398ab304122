"""Where something stands in a text; apart, so that a finding needs no analysis to be read."""

from __future__ import annotations

from typing import NamedTuple


class Span(NamedTuple):  # made in a fifth of the time of a dataclass, at each start
  """Where something stands: 1-based lines, 0-based columns counted in characters."""

  line: int
  column: int
  end_line: int
  end_column: int
