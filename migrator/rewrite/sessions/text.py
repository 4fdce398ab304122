"""The layout of code that is shown."""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Iterable, Sequence

from migrator.analysis.module import Module

WIDTH = 96
LINE = 100
_MOST_LINES = 6


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


def source(module: Module, node: ast.AST) -> str:
  """The source of an expression on one line, without comments."""
  text = module.source(node)
  return text if "\n" not in text else ast.unparse(node)


def spell(lines: Sequence[int]) -> str:
  """Lines in words: "line 3", "lines 3, 5, 8"."""
  ordered = sorted(set(lines))
  shown = ", ".join(str(n) for n in ordered[:_MOST_LINES])
  more = len(ordered) - _MOST_LINES
  rest = f" and {more} more" if more > 0 else ""
  return f"line{'' if len(ordered) == 1 else 's'} {shown}{rest}"


def excerpt(module: Module, node: ast.AST, limit: int = 60) -> str:
  """The source of an expression on one line, cut where it is long."""
  text = " ".join(source(module, node).split())
  return text if len(text) <= limit else text[: limit - 3] + "..."


def with_comment(code: str, comment: str) -> list[str]:
  """A line of code and its comment, which stands above where both are too long for one line."""
  line = f"{code}  # {comment}"
  return [line] if len(line) <= LINE else [f"# {comment[0].upper()}{comment[1:]}:", code]
