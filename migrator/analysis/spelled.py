"""Which names of a text can stand for something that it imports, told without parsing it."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Optional

from migrator.analysis.lexicon import IMPORTING

_NAME = re.compile(r"[A-Za-z_]\w*")
_COMPARED = re.compile(r"[=!<>]=")
# Calls give objects, not the names of a package.
_CALL = re.compile(r"[ \t]*[\w.]+\(")
_WALRUS = re.compile(r"(\w+)\s*:=")
# Ways to bind names that are not told from lines.
_UNTOLD = (*IMPORTING, "import *")
_RECEIVERS = frozenset(("self", "cls"))


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
  if ":=" in text:
    names.update(_WALRUS.findall(text))
  assignments = []
  for line in text.splitlines():
    if "=" not in line:
      continue
    target, equals, value = line.partition("=")
    if value.startswith("=") or target.endswith(("!", "<", ">")):
      target, equals, value = _COMPARED.sub(" ", line).partition("=")
    if not equals or target.count("(") != target.count(")"):
      continue  # a condition, or a keyword of a call
    code = value.rstrip()
    if ";" in code or not code or code[-1] in "\\([,=":
      names.update(_NAME.findall(target))  # goes on elsewhere
      names.update(_NAME.findall(code) if ";" in code else ())
    elif "getattr" in code or not _CALL.match(code):
      bound, _, used = code.rpartition("=")  # `a = b = value`
      assignments.append((f"{target} {bound}", used))
  more = names - _RECEIVERS
  while more:
    added: set[str] = set()
    rest = []
    for assignment in assignments:
      used = assignment[1]
      likely = any(name in used for name in more)  # faster than to find all names
      if likely and not more.isdisjoint(_NAME.findall(used)):
        added.update(_NAME.findall(assignment[0]))
      else:
        rest.append(assignment)
    assignments = rest
    more = added - names - _RECEIVERS
    names |= more
  return frozenset(names)
