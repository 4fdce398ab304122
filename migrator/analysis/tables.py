"""The tables of names that stand beside this file."""

from __future__ import annotations

import os


def read(name: str) -> str:
  """The text of a table. Without pathlib, which takes 7 ms to import at each start."""
  folder = os.path.dirname(os.path.abspath(__file__))
  with open(os.path.join(folder, name), encoding="utf-8") as file:
    return file.read()
