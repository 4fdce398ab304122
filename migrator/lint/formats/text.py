"""The finding's line, and below it the source with the place marked."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence

from migrator.lint import rules
from migrator.lint.finding import Finding
from migrator.lint.formats import Options
from migrator.lint.formats.colors import Palette
from migrator.lint.formats.concise import headline

_TAB = 4
_CUT = "..."
_LEAST = 40
_REACH = 5


def render(findings: Sequence[Finding], options: Options) -> str:
  """Each finding as in `concise`, then its line of source and carets under the place.

  Below the first finding of each rule it says what to write instead.
  """
  palette = Palette(options.color)
  parts: list[str] = []
  advised: set[str] = set()
  for finding in findings:
    parts.append(headline(finding, palette))
    parts += _snippet(finding, options.width, palette, advised)
    parts.append("")
  return "".join(part + "\n" for part in parts)


def _snippet(finding: Finding, width: int, palette: Palette, advised: set[str]) -> Iterator[str]:
  if not finding.source.strip():
    return
  span = finding.span
  several = span.end_line > span.line
  end = len(finding.source.rstrip()) if several else span.end_column
  number = str(span.line)
  room = max(width - len(number) - len(" | "), _LEAST)
  line, before, count = excerpt(finding.source, span.column, end, room)
  margin = " " * len(number)
  more = f" ... to line {span.end_line}" if several else ""
  bar = palette.blue("|")
  yield f"{margin} {bar}"
  yield f"{palette.blue(number)} {bar} {line}"
  yield f"{margin} {bar} {' ' * before}{palette.red('^' * count + more)}"
  if finding.replacement is not None:
    first, _, others = finding.replacement.partition("\n")
    yield f"{margin} {palette.blue('=')} becomes: {_printable(first)}{' ' + _CUT if others else ''}"
  elif finding.code not in advised:
    advised.add(finding.code)
    advice = rules.load()[finding.code].became
    if advice:
      yield f"{margin} {palette.blue('=')} instead: {_printable(' '.join(advice.split()))}"


def excerpt(source: str, start: int, end: int, room: int) -> tuple[str, int, int]:
  """What to show of a line of source.

  Tabs become spaces, wide characters count two columns, and of a line that is too long the part
  around the place stays.

  Args:
    source: the line.
    start, end: the place in it, in characters, the end exclusive.
    room: how many columns there are.

  Returns:
    The text, the columns before the place, and the columns of the place, at least 1.
  """
  whole = source.rstrip()
  # Of a generated line with thousands of findings only what may be shown is looked at.
  skipped = max(start - _REACH * room, 0)
  near = whole[skipped : start + _REACH * room]
  start, end = start - skipped, end - skipped
  shown = [_printable(character) for character in near]
  start = min(start, len(shown))
  end = max(min(end, len(shown)), start)
  widths, column = [], 0
  for index, character in enumerate(near):
    if character == "\t":
      shown[index] = " " * (_TAB - column % _TAB)
    widths.append(_columns(shown[index]))
    column += widths[-1]
  first, last = _window(widths, start, end, room)
  head = _CUT if first or skipped else ""
  tail = _CUT if skipped + last < len(whole) else ""
  text = head + "".join(shown[first:last]) + tail
  before = len(head) + sum(widths[first:start])
  return text, before, max(sum(widths[start : min(end, last)]), 1)


def _window(widths: Sequence[int], start: int, end: int, room: int) -> tuple[int, int]:
  """The characters to show: as many as fit, the beginning of the place always among them."""
  if sum(widths) <= room:
    return 0, len(widths)
  room -= len(_CUT)
  if sum(widths[:end]) <= room:
    first = last = used = 0
  else:
    room -= len(_CUT)
    first = last = min(start, len(widths) - 1)
    used = 0
  while last < end and used + widths[last] <= room:
    used += widths[last]
    last += 1
  # What is left goes to both sides, and what one side does not need to the other.
  grown = True
  while grown:
    grown = False
    if first and used + widths[first - 1] <= room:
      first -= 1
      used += widths[first]
      grown = True
    if last < len(widths) and used + widths[last] <= room:
      used += widths[last]
      last += 1
      grown = True
  return first, last


def _printable(text: str) -> str:
  """The text without characters that move a terminal's cursor."""
  if text.isprintable() or text == "\t":
    return text
  return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def _columns(text: str) -> int:
  """How many columns of a terminal a text takes."""
  if text.isascii():
    return len(text)
  return sum(
    0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1
    for c in text
  )
