"""From a text to what is analysed of it: nothing, the parts that matter, or all of it.

Most files of a tree say nothing that any rule is about, and most lines of the others do not. A
file that the user named is analysed whole, so that every syntax error in it is reported; of
files found in a folder only what can hold a finding is parsed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Optional

from migrator.analysis.elide import shorten
from migrator.analysis.lexicon import Lexicon
from migrator.analysis.module import Module
from migrator.analysis.skim import Skim
from migrator.analysis.words import Words
from migrator.lint import rules
from migrator.lint.checks import registry
from migrator.source.document import Document


class Interest:
  """What the rules and checks are about.

  Attributes:
    lexicon: the dotted names.
    words: a text that names a package of the lexicon and has one of these is analysed whole.
    declared: any text that has one of these is analysed whole.
  """

  def __init__(self, known: Mapping[str, Any]):
    checks = registry.CHECKS.values()
    listed = [symbol for rule in known.values() for symbol in rule.symbols]
    listed += [symbol for check in checks for symbol in check.symbols]
    self.lexicon = Lexicon(listed)
    self.words = Words(word for check in checks for word in check.words)
    self.declared = rules.words()
    self._stems = tuple(s.encode() for s in (*self.lexicon.stems, *self.declared))
    self._basis = (known, len(checks))

  def is_of(self, known: Mapping[str, Any]) -> bool:
    """Whether these are still the rules in use."""
    return self._basis[0] is known and self._basis[1] == len(registry.CHECKS)

  def mentions(self, raw: bytes) -> bool:
    """Whether bytes can hold anything of interest. Cheap."""
    return any(stem in raw for stem in self._stems)


_current: list[Interest] = []


def interest() -> Interest:
  """What the rules in use are about."""
  known = rules.load()
  if not _current or not _current[0].is_of(known):
    _current[:] = [Interest(known)]
  return _current[0]


def whole(source: Document) -> Module:
  """A document, all of it.

  Raises:
    SyntaxError, ValueError, RecursionError, MemoryError: it cannot be parsed.
  """
  return Module(source.text, source.path)


def parts(source: Document) -> Optional[Module]:
  """What can hold a finding in a document; None when nothing can.

  A part that holds none is not parsed, so that a syntax error in it stays unseen.

  Raises:
    SyntaxError, ValueError, RecursionError, MemoryError: it cannot be parsed.
  """
  text = source.text
  about = interest()
  if any(word in text for word in about.declared):
    return whole(source)
  skimmed = Skim(text, about.lexicon)
  if not skimmed.names_any:
    return None
  if skimmed.odd or about.words.any_in(text):
    return whole(source)
  if not skimmed.positions:
    return None
  lines = _lines(text, skimmed.positions)
  short = shorten(text, skimmed.positions)
  if short is not None:
    try:
      module = Module(text, source.path, shortened=short.text, lines=lines)
    except SyntaxError:
      pass  # of the parts or of the whole: the whole will tell
    else:
      if short.is_faithful(module.tree):
        return module
  return Module(text, source.path, lines=lines)


def _lines(text: str, positions: list[int]) -> list[int]:
  """The lines of positions, as the parser counts them."""
  if "\r" in text:
    ends = [text[:position].replace("\r\n", "\n").replace("\r", "\n") for position in positions]
    return [end.count("\n") + 1 for end in ends]
  lines = []
  line, place = 1, 0
  for position in positions:
    line += text.count("\n", place, position)
    place = position
    lines.append(line)
  return lines
