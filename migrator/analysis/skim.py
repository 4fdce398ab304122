"""Where in a text something of interest can stand, told without parsing it.

What is found here is more than what the analysis finds, never less: names in strings and names
that another scope binds count too. Where that cannot be told cheaply the text is `odd`.
"""

from __future__ import annotations

import functools
import re
from typing import Optional

from migrator.analysis import imports, stars, symbols
from migrator.analysis.lexicon import COLD, HOT, WARM, Lexicon

# What may stand between the parts of a chain: `(tf)\n  .train`.
_GAP = r"[\s\\)]*"
_ATTRIBUTES = re.compile(rf"(?:{_GAP}\.[\s\\]*\w+)*")
_SPACE = re.compile(r"[\s\\)]+")
# A module that is handed on, and not only the head of a chain or a word of a sentence.
_CODE_BEFORE = re.compile(
  r"(?:[=(,\[{:]|\b(?:del|return|yield|else|in|and|or|if|not|is|global|nonlocal|lambda))[\s\\]*\Z"
)
_AFTER = r"[\s\\]*(?:[,)\]:;}#\n]|\Z|\b(?:if|else|or|and|for|is|in)\b)"
_CODE_AFTER = re.compile(_AFTER)
# "(tf)records".
_PROSE = re.compile(r"\)(?!(?:and|as|async|else|for|if|in|is|not|or)\b)\w")
_TARGETS = re.compile(
  r"\s*(?:(?:else|try|finally)\s*:|[^#\n\"']*;)?\s*([\w.,\s()\[\]*]*?\w[\s)\]]*)(?::[^=]*)?(?<![=!<>:])=(?!=)((?:[^=]|==)*)\Z"
)
_COMPARISON = re.compile(r"[=!<>]=")
_WALRUS = re.compile(r"(\w+)\s*:=\s*[(\s]*\Z")
_CLASS = re.compile(r"\s*class\s+(\w+)\s*[(\[]")
_CALL = re.compile(r"[\w\])]\s*\(|\[")


class Skim:
  """What a text may hold.

  Attributes:
    positions: of names that matter, in order.
    odd: a module of interest is used in a way that only the whole analysis follows.
    names: that stand for something of interest.
    imported: the names that the text binds to anything of the packages.
    imports_any: whether there is any of them.
  """

  def __init__(self, text: str, lexicon: Lexicon):
    self._text = text
    self._lexicon = lexicon
    self._found: set[int] = set()
    self.odd = False
    self.imports_any = False
    self.imported: set[str] = set()
    # Names of this text, and what they may stand for: None for a name that always matters.
    self._queue: list[tuple[str, Optional[str]]] = []
    self._known: set[tuple[str, Optional[str]]] = set()
    self._read_imports()
    self._read_stars()
    if lexicon.may_import(text) or ("\r" in text and "\r" in text.replace("\r\n", "")):
      self.odd = True  # Python takes a lone carriage return for the end of a line
    while self._queue:
      name, dotted = self._queue.pop()
      if dotted is None:
        self._read_hot(name)
      else:
        self._read_warm(name, dotted)
    self.positions = sorted(self._found)
    self.names = frozenset(name for name, _ in self._known)

  def _add(self, name: str, dotted: Optional[str]) -> None:
    # By path: `tf = tf.compat.v1` would find longer and longer names of the same.
    entry = (name, None if dotted is None else symbols.canonical(dotted).path)
    if entry not in self._known and (name, None) not in self._known:
      self._known.add(entry)
      self._queue.append((name, dotted))

  def _read_imports(self) -> None:
    judge = self._lexicon.judge
    for name, bound, target, position in imports.find(self._text, self._lexicon.stems):
      self.imports_any = True
      self.imported.add(name)
      judged = judge(target)
      if judged == HOT:
        self._found.add(position)
      if name == "*":
        self.odd = self.odd or judged != COLD
        continue
      judged = judge(bound)
      if judged == HOT:
        self._add(name, None)
      elif judged == WARM:
        self._add(name, bound)

  def _read_stars(self) -> None:
    """`from common import *` may bind `tf`, and nothing of the text says what `tf` is."""
    if "import *" in self._text and any(name + "." in self._text for name in stars.USUAL):
      bound = {name for name, _ in self._known}
      for name, dotted in stars.USUAL.items():
        if name not in bound:
          self.imports_any = True
          self._add(name, dotted)

  def _read_hot(self, name: str) -> None:
    """All places of a name that always matters."""
    for match in _bare(name).finditer(self._text):
      end = match.end()
      self._place(match.start(), _ATTRIBUTES.match(self._text, end).end(), None)  # type: ignore[union-attr]

  def _read_warm(self, name: str, dotted: str) -> None:
    """The chains that begin with a module, and the places where it is handed on."""
    text = self._text
    chain = _chain(name)
    hot: set[str] = set()
    warm: set[str] = set()
    cold = self._lexicon.cold_below(dotted)
    for rest in set(chain.findall(text)).difference(cold):
      judged = self._lexicon.judge(f"{dotted}.{_SPACE.sub('', rest)}")
      if judged == HOT:
        hot.add(rest)
      elif judged == WARM:
        warm.add(rest)
      else:
        cold.add(rest)
    if hot or warm:
      for match in chain.finditer(text):
        rest = match[1]
        if rest in hot:
          self._place(match.start(), match.end(), None)
        elif rest in warm:
          self._place(match.start(), match.end(), f"{dotted}.{_SPACE.sub('', rest)}")
    for match in _handed_on(name).finditer(text):
      self._place(match.start(), match.end(), dotted)

  def _place(self, begin: int, end: int, dotted: Optional[str]) -> None:
    """Notes a chain, and the names that may stand for it from there on.

    Args:
      begin, end: its place.
      dotted: the module that it means; None for something that matters.
    """
    text = self._text
    first = text.rfind("\n", 0, begin) + 1
    before = text[first:begin]
    if "#" in before and not _is_code(before):
      return
    if dotted is None:
      self._found.add(begin)
    follows = _CODE_AFTER.match(text, end)
    if follows is None:
      return  # a call, an operand, a word in a sentence
    before = self._statement(first, before)
    names = _assigned(before, follows[0].strip())
    for name in names:
      self._add(name, dotted)
    if names:
      return
    match = _CLASS.match(before)
    if match is not None:
      self._add(match[1], None)
    elif dotted is not None and _CODE_BEFORE.search(before) and not _PROSE.match(text, end):
      # Asked for a name, a module is not handed on.
      self.odd = self.odd or not before.endswith("hasattr(")

  def _statement(self, first: int, before: str) -> str:
    """The text from the begin of the statement to a place, as far as a few lines tell."""
    for _ in range(8):
      above = self._text[self._text.rfind("\n", 0, first - 1) + 1 : first] if first else ""
      code = above.split("#")[0].rstrip()
      opened = _depth(before) < 0 or not before.strip() or before.lstrip()[:2] in _CONNECTIVES
      if not code.endswith(("\\", "(", "=", "[")) and not (opened and code):
        break
      first -= len(above)
      before = code.rstrip("\\") + " " + before
      if _depth(code) > 0 or code.endswith("="):
        break
    return before


_CONNECTIVES = ("if", "el", "or", "an")


def _depth(text: str) -> int:
  return text.count("(") - text.count(")")


def _is_code(before: str) -> bool:
  """Whether what follows on a line with `#` may be no mere comment."""
  return "'" in before or '"' in before or "type:" in before


def _assigned(before: str, follows: str) -> list[str]:
  """The names, or last parts of names, that an assignment gives the value that comes next."""
  if "=" not in _COMPARISON.sub("", before):
    return []
  match = _WALRUS.search(before)
  if match is not None:
    return [match[1]]
  match = _TARGETS.match(before)
  if match is None:
    return []
  targets, value = match[1], match[2]
  if _CALL.search(value) or (_depth(value) > 1):
    return []  # an argument of a call
  if _depth(targets) or (follows[:1] in (",", ")") and _depth(value) < 1 and "," not in targets):
    return []  # a keyword of a call
  return re.findall(r"(\w+)[\s)\]]*(?:,|\Z)", targets)


@functools.lru_cache(maxsize=256)
def _chain(name: str) -> re.Pattern[str]:
  """`name.a.b`; the group is `a.b`. What precedes the name is tested last: that is faster."""
  head = re.escape(name)
  return re.compile(rf"{head}(?<!\w{head}){_GAP}\.[\s\\]*(\w+(?:{_GAP}\.[\s\\]*\w+)*)")


@functools.lru_cache(maxsize=256)
def _bare(name: str) -> re.Pattern[str]:
  """The name; not as a keyword of a call or the target of an assignment."""
  head = re.escape(name)
  return re.compile(rf"{head}(?!\w|\s*=[^=])(?<!\w{head})")


@functools.lru_cache(maxsize=256)
def _handed_on(name: str) -> re.Pattern[str]:
  """The name where it is not the head of a chain."""
  head = re.escape(name)
  return re.compile(rf"{head}(?={_AFTER})(?<!\w{head})")
