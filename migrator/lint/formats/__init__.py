"""How findings are printed: one file per format, imported only when it is asked for."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import NamedTuple, Optional

from migrator.lint.finding import Finding

NAMES = ("text", "concise", "json", "github", "gitlab", "sarif", "junit")
WIDTH = 120


class Options(NamedTuple):
  """What a format may want to know besides the findings.

  Attributes:
    color: whether the reader is a terminal that shows colors.
    width: columns of the reader.
    root: folder to which the paths of machine formats are relative, where they are below it.
    problems: one line for each thing that could not be read at all.
  """

  color: bool = False
  width: int = WIDTH
  root: str = "."
  problems: Sequence[str] = ()


def render(name: str, findings: Sequence[Finding], options: Optional[Options] = None) -> str:
  """The findings in one of the formats `NAMES`, as one text that ends with a newline or is empty."""
  module = importlib.import_module(f"migrator.lint.formats.{name}")
  return module.render(findings, options or Options())
