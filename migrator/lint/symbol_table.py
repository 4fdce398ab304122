"""Which rule a symbol belongs to."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Optional

from migrator.lint.rule import Rule


class SymbolTable:
  """Which rule a symbol belongs to: the exact name wins, else the longest wildcard."""

  def __init__(self, rules: Mapping[str, Rule]):
    self._exact: dict[str, str] = {}
    self._below: dict[str, str] = {}
    self._known: dict[str, Optional[str]] = {}
    for rule in rules.values():
      for symbol in rule.symbols:
        if symbol.endswith(".*"):
          self._below[symbol[:-2]] = rule.code
        else:
          self._exact[symbol] = rule.code

  def code(self, path: str) -> Optional[str]:
    """The code of the rule for a canonical name, or None."""
    if path not in self._known:
      self._known[path] = self._code(path)
    return self._known[path]

  def _code(self, path: str) -> Optional[str]:
    if path in self._exact:
      return self._exact[path]
    # tf.train.Saver.restore is a use of tf.train.Saver.
    head = path
    while "." in head:
      head = head.rpartition(".")[0]
      if head in self._below:
        return self._below[head]
      if head in self._exact and head.rpartition(".")[2][:1].isupper():
        return self._exact[head]
    return None


@functools.lru_cache(maxsize=8)
def _table(rules: tuple[Rule, ...]) -> SymbolTable:
  return SymbolTable({rule.code: rule for rule in rules})


_last: tuple[Optional[Mapping[str, Rule]], Optional[SymbolTable]] = (None, None)


def of(rules: Mapping[str, Rule]) -> SymbolTable:
  """The table of some rules; made once for each mapping in use."""
  global _last
  known, table = _last
  if known is not rules or table is None:
    table = _table(tuple(rules.values()))
    _last = (rules, table)
  return table
