"""Colors of a terminal, and whether to use them."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Optional


def wanted(is_terminal: bool, environment: Optional[Mapping[str, str]] = None) -> bool:
  """Whether to print colors.

  `NO_COLOR` that is not empty says no, else `FORCE_COLOR` that is neither empty nor 0 says yes;
  else a terminal gets them unless it is a dumb one.
  """
  variables = os.environ if environment is None else environment
  if variables.get("NO_COLOR"):
    return False
  if variables.get("FORCE_COLOR", "") not in ("", "0"):
    return True
  return is_terminal and variables.get("TERM") != "dumb"


class Palette:
  """Puts texts in colors, or leaves them as they are; true if it has colors."""

  def __init__(self, on: bool):
    self._on = on

  def __bool__(self) -> bool:
    return self._on

  def bold(self, text: str) -> str:
    return self._paint("1", text)

  def red(self, text: str) -> str:
    return self._paint("1;31", text)

  def blue(self, text: str) -> str:
    return self._paint("1;34", text)

  def cyan(self, text: str) -> str:
    return self._paint("36", text)

  def _paint(self, number: str, text: str) -> str:
    return f"\033[{number}m{text}\033[0m" if self._on and text else text
