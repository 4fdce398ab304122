"""Which names of a text can stand for something that it imports, told without parsing it."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Optional

# Targets and value of an assignment; calls give objects, not the names of a package.
_ASSIGNMENT = re.compile(
  r"^[ \t]*([^\n=#\"'(]*?[\w\])])[ \t]*(?::[^=\n]*)?=(?!=)(?![ \t]*[\w.]+\()([^\n]*)", re.M
)
_NAME = re.compile(r"[A-Za-z_]\w*")
# Ways to bind names that are not told from lines.
_UNTOLD = (":=", "import_", "importorskip", "getattr", "import *")


def aliases(text: str, imported: Collection[str]) -> Optional[frozenset[str]]:
  """The imported names, and those to which the text may assign one of them.

  Args:
    text: the source.
    imported: the names that its imports of the packages of interest bind.

  Returns:
    At least all of them; None when that cannot be told.
  """
  if any(word in text for word in _UNTOLD):
    return None
  names = set(imported)
  pairs = []
  for targets, value in _ASSIGNMENT.findall(text):
    code = value.rstrip()
    bound = [name for name in _NAME.findall(targets) if name not in ("self", "cls")]
    if ";" in code or code.endswith(("\\", "(", "[", ",", "=")) or not code:
      names.update(bound)  # goes on elsewhere
      names.update(_NAME.findall(code) if ";" in code else ())
    else:
      bound += _NAME.findall(code.rpartition("=")[0])  # `a = b = value`
      pairs.append((bound, _NAME.findall(code)))
  while True:
    more = {b for bound, used in pairs if not names.isdisjoint(used) for b in bound} - names
    if not more:
      return frozenset(names)
    names |= more
