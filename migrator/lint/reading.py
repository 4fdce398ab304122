"""From a text to what is analysed of it: nothing, the parts that matter, or all of it.

Most files of a tree say nothing that any rule is about, and most lines of the others do not. A
file that the user named is analysed whole, so that every syntax error in it is reported; of
files found in a folder only what can hold a finding is parsed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, Optional

from migrator.analysis.lexicon import Lexicon
from migrator.analysis.module import Module
from migrator.analysis.spelled import aliases
from migrator.analysis.words import Words
from migrator.lint import rules
from migrator.lint.checks import catalogue, registry
from migrator.source.document import Document

if TYPE_CHECKING:
  from migrator.analysis.skim import Skim


class Interest:
  """What the rules and checks are about.

  Attributes:
    lexicon: the dotted names.
  """

  def __init__(self, known: Mapping[str, Any]):
    checks = catalogue.load()
    listed = [symbol for rule in known.values() for symbol in rule.symbols]
    listed += [symbol for check in checks for symbol in check.symbols]
    self.lexicon = Lexicon(listed)
    self._words = Words(word for check in checks for word in check.words)
    self._declared = [rule for rule in known.values() if rule.match]
    self._checks = registry.checks(checks, rules.words())
    # What a star import binds need not be spelled out.
    stems = (*self.lexicon.stems, *rules.words(), "import *")
    self._stems = tuple(stem.encode() for stem in stems)
    self._known = known

  def is_of(self, known: Mapping[str, Any]) -> bool:
    """Whether these are still the rules in use."""
    return self._known is known

  def mentions(self, raw: bytes) -> bool:
    """Whether bytes can hold anything of interest. Cheap."""
    return any(stem in raw for stem in self._stems)

  def checks(
    self, text: str, *, imports_any: bool = True
  ) -> tuple[tuple[registry.Check, ...], bool]:
    """The checks that are to run on a text, and whether one of them needs all of it.

    Args:
      text: the source.
      imports_any: whether it imports anything of the packages of the lexicon.
    """
    found = self._words.in_text(text) if imports_any else frozenset()
    running = []
    whole = False
    for check in self._checks:
      if check.declared:
        wanted = any(rule.may_flag(text) for rule in self._declared)
      else:
        wanted = imports_any and (not check.words or not found.isdisjoint(check.words))
      if wanted and check.may_report(text):
        running.append(check)
        whole = whole or bool(check.words)
    return tuple(running), whole


_current: list[Interest] = []


def interest() -> Interest:
  """What the rules in use are about."""
  known = rules.load()
  if not _current or not _current[0].is_of(known):
    _current[:] = [Interest(known)]
  return _current[0]


class Reading(NamedTuple):
  """What is analysed of a text, and the checks that are to run on it."""

  module: Module
  checks: tuple[registry.Check, ...]


def whole(source: Document) -> Reading:
  """A document, all of it.

  Raises:
    SyntaxError, ValueError, RecursionError, MemoryError: it cannot be parsed.
  """
  module = Module(source.text, source.path)
  return Reading(module, interest().checks(source.text)[0])


def parts(source: Document) -> Optional[Reading]:
  """What can hold a finding in a document; None when nothing can.

  A part that holds none is not parsed, so that a syntax error in it stays unseen.

  Raises:
    SyntaxError, ValueError, RecursionError, MemoryError: it cannot be parsed.
  """
  from migrator.analysis.skim import Skim  # not for a file that is named

  text = source.text
  about = interest()
  skimmed = Skim(text, about.lexicon)
  checks, needs_all = about.checks(text, imports_any=skimmed.imports_any or skimmed.odd)
  if needs_all or skimmed.odd:
    names = None if skimmed.odd else aliases(text, skimmed.imported)
    return Reading(Module(text, source.path, names=names), checks)
  if not skimmed.positions:
    return None
  return Reading(_shortened(source, skimmed), checks)


def may_hide(source: Document, cell: str) -> bool:
  """Whether a cell of a notebook that cannot be parsed can hold a finding, as `parts` judges."""
  from migrator.analysis.skim import Skim

  about = interest()
  head = source.text + "\n"
  text = head + cell
  skimmed = Skim(text, about.lexicon)
  if skimmed.odd or any(position >= len(head) for position in skimmed.positions):
    return True
  checks, _ = about.checks(text, imports_any=skimmed.imports_any)
  return any(word in cell for entry in checks for word in entry.words)


def _shortened(source: Document, skimmed: Skim) -> Module:
  """The module of those parts of a document in which something of interest stands."""
  from migrator.analysis.elide import shorten

  text, names = source.text, skimmed.names
  lines = _lines(text, skimmed.positions)
  short = shorten(text, skimmed.positions)
  if short is not None:
    try:
      module = Module(text, source.path, shortened=short.text, lines=lines, names=names)
    except SyntaxError:
      pass  # in the parts or elsewhere: the whole will tell
    else:
      if short.is_faithful(module.tree):
        return module
  return Module(text, source.path, lines=lines, names=names)


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
