"""Shortens a text before it is parsed: parts in which nothing of interest stands become stubs.

A function or class at the left edge, or a method of a class that stays, becomes `def name(): pass`
or `class Name(Bases): pass` with as many lines as it had: what it binds, where everything else
stands, and what classes derive from, remain. Parsing is what takes the time, and most of the
lines of most files are in such parts.
"""

from __future__ import annotations

import ast
import bisect
import functools
import re
from collections.abc import Sequence
from typing import NamedTuple, Optional

from migrator.analysis import binding

# A line at the left edge that begins something; `)` at the left edge ends what is above.
_TOP = re.compile(r"\n[^\s#)\]}]")
_FUNCTION = re.compile(r"[ \t]*(?:async[ \t]+)?def[ \t]+(\w+)[ \t]*\(")
_CLASS = re.compile(r"class[ \t]+\w+[ \t]*(?:\([^()#'\"]*(?:\([^()#'\"]*\)[^()#'\"]*)*\))?[ \t]*:")
_FIRST_MEMBER = re.compile(r"^([ \t]+)(?:(?:async[ \t]+)?def[ \t]|@)", re.M)

_READ = re.compile(r"self[ \t]*\.[ \t]*(\w+)")
_ASSIGNED = re.compile(r"self[ \t]*\.[ \t]*(\w+)[^\n=]*=(?!=)")
_SPREAD = re.compile(r"\*\*[ \t]*(\w+)")


class Short(NamedTuple):
  """A shortened text.

  Attributes:
    text: with as many lines as the original.
    stubs: the lines on which its stubs stand.
  """

  text: str
  stubs: tuple[int, ...]

  def is_faithful(self, tree: ast.Module) -> bool:
    """Whether the stubs were parsed as statements: none of them stands inside a string."""
    lines = set()
    for node in tree.body:
      lines.add(node.lineno)
      if isinstance(node, ast.ClassDef):
        lines.update(member.lineno for member in node.body)
    return lines.issuperset(self.stubs)


class _Part(NamedTuple):
  begin: int
  end: int
  head: str  # of the stub that it may become; "" for a part that stays


def shorten(text: str, positions: Sequence[int]) -> Optional[Short]:
  """Shortens a text.

  Args:
    text: the source.
    positions: of what must stay, in order.

  Returns:
    None where nothing can be left out.
  """
  if "\f" in text or text.count("\r") != text.count("\r\n"):
    return None  # lines that begin or end in a way that only the parser counts
  dropped = _droppable(text, positions)
  if not dropped:
    return None
  spread = _SPREAD.findall(_without(text, dropped)) if "**" in text else ()
  if spread:
    # `f(**options)` depends on every place that may change the dict.
    changes = re.compile(rf"\b(?:{'|'.join(map(re.escape, set(spread)))})[ \t]*[\[.]")
    dropped = [p for p in dropped if not changes.search(text, p.begin, p.end)]
  return _build(text, dropped) if dropped else None


def _droppable(text: str, positions: Sequence[int]) -> list[_Part]:
  found: list[_Part] = []
  starts = [0, *(match.start() + 1 for match in _TOP.finditer(text))]
  starts.append(len(text))
  for begin, end in zip(starts, starts[1:]):
    kind = text[begin : begin + 5]
    if kind != "class" and not kind.startswith(("def ", "def\t", "async")):
      continue
    if not _any_between(positions, begin, end):
      part = _part(text, begin, end)
      if part is not None:
        found.append(part)
    elif kind == "class":
      found += _methods(text, begin, end, positions)
  return found


def _any_between(positions: Sequence[int], begin: int, end: int) -> bool:
  place = bisect.bisect_left(positions, begin)
  return place < len(positions) and positions[place] < end


def _part(text: str, begin: int, end: int) -> Optional[_Part]:
  """The part of a function or class, if a stub may stand for it."""
  match = _FUNCTION.match(text, begin, end)
  if match is not None:
    head = match[0] + "):"
  else:
    match = _CLASS.match(text, begin, end)
    if match is None:
      return None
    head = match[0]
  body = text[begin:end]
  # A string over several lines that begins or ends in between.
  if body.count('"""') % 2 or body.count("'''") % 2 or binding.redirects(body):
    return None
  return _Part(begin, end, head)


def _methods(text: str, begin: int, end: int, positions: Sequence[int]) -> list[_Part]:
  """The methods of a class that may be left out."""
  first = _FIRST_MEMBER.search(text, begin, end)
  if first is None:
    return []
  indent = first[1]
  starts = [match.start() + 1 for match in _members(len(indent)).finditer(text, begin, end)]
  starts.append(end)
  found = []
  for start, stop in zip(starts, starts[1:]):
    if not text.startswith(indent, start) or not _FUNCTION.match(text, start):
      continue
    part = None if _any_between(positions, start, stop) else _part(text, start, stop)
    if part is not None:
      found.append(part)
  return _independent(text, begin, end, found)


def _independent(text: str, begin: int, end: int, methods: list[_Part]) -> list[_Part]:
  """Those methods that assign no attribute which the rest of the class reads."""
  assigned = [(part, set(_ASSIGNED.findall(text, part.begin, part.end))) for part in methods]
  if not any(names for _, names in assigned):
    return methods
  kept = _without(text[begin:end], [_Part(p.begin - begin, p.end - begin, "") for p in methods])
  read = set(_READ.findall(kept))
  while True:
    more = [part for part, names in assigned if names & read]
    if not more:
      return [part for part, _ in assigned]
    assigned = [(part, names) for part, names in assigned if not names & read]
    for part in more:
      read.update(_READ.findall(text, part.begin, part.end))


@functools.lru_cache(maxsize=32)
def _members(width: int) -> re.Pattern[str]:
  """A line of a class that ends the method above it."""
  return re.compile(rf"\n[ \t]{{0,{width}}}[^\s#)\]}}]")


def _without(text: str, parts: Sequence[_Part]) -> str:
  kept = []
  place = 0
  for part in parts:
    kept.append(text[place : part.begin])
    place = part.end
  return "".join([*kept, text[place:]])


def _build(text: str, parts: Sequence[_Part]) -> Short:
  """The text with stubs in place of the parts."""
  found = []
  stubs = []
  place, line = 0, 1
  for part in parts:
    line += text.count("\n", place, part.begin)
    stubs.append(line)
    lines = text.count("\n", part.begin, part.end)
    rest = lines - part.head.count("\n")
    found += [text[place : part.begin], part.head, " pass", "\n" * rest]
    line += lines
    place = part.end
  found.append(text[place:])
  return Short("".join(found), tuple(stubs))
