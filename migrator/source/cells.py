"""Where the sources of a notebook's cells stand in its JSON, so that only they are changed."""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from json.decoder import scanstring  # type: ignore[attr-defined]
from typing import NamedTuple

_BLANKS = re.compile(r"[ \t\n\r]*")
# A character of a JSON string; two escapes for one beyond the 16-bit characters.
_CHARACTER = re.compile(
  r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\.|[^\\\"]"
)
_LINE = re.compile(r"(?:\r\n|\r|\n)")
# An escape for a character beyond ASCII.
_ESCAPE = re.compile(r"(?<!\\)(?:\\\\)*\\u(?!00[0-7])")
_DECODER = json.JSONDecoder()


class Insertion(NamedTuple):
  """Text to put into a cell: 1-based cell among all cells and line, 0-based column."""

  cell: int
  line: int
  column: int
  text: str


def insert(text: str, insertions: Iterable[Insertion]) -> str:
  """The JSON of a notebook with texts put into its cells; all else stays as it is.

  Args:
    text: the JSON, which `notebook.read` can read.
    insertions: the texts; none may hold line ends.

  Raises:
    KeyError: there is no such cell, or it has no source.
    IndexError: the cell has no such line.
  """
  places = sources(text)
  edits = []
  for insertion in insertions:
    offset = places[insertion.cell].offset(text, insertion.line, insertion.column)
    edits.append((offset, json.dumps(insertion.text, ensure_ascii=False)[1:-1]))
  for offset, new in sorted(edits, reverse=True):
    text = text[:offset] + new + text[offset:]
  return text


def replace(text: str, new: Mapping[int, str]) -> str:
  """The JSON of a notebook with other sources of some cells; all else stays as it is.

  Lines that a cell has before and after keep their bytes. Others are written in the style of the
  file: beyond ASCII as escapes where it has such, a list of lines or one string.

  Args:
    text: the JSON, which `notebook.read` can read.
    new: the new source by the 1-based number of the cell among all cells.

  Raises:
    KeyError: there is no such cell, or it has no source.
    ValueError: a source is a list of something else than strings.
  """
  places = sources(text)
  ascii_only = text.isascii() and _ESCAPE.search(text) is not None
  edits = []
  for number, value in new.items():
    source = places[number]
    old = source.lines(text)
    lines, origins = _encoded(old, value, ascii_only)
    first, last = source.strings[0], scanstring(text, source.strings[-1] + 1)[1]
    if not source.listed:
      edits.append((first + 1, last - 1, "".join(lines)))
    elif lines:
      between = source.separators(text)
      default = between[0] if between else _separator(text, places)
      if len(old) != len(source.strings):
        between = []  # they do not stand between lines
      joined = "".join(
        f'"{line}"' + (between[origin] if 0 <= origin < len(between) else default)
        for line, origin in zip(lines[:-1], origins)
      )
      edits.append((first, last, f'{joined}"{lines[-1]}"'))
    else:
      edits.append((text.rindex("[", 0, first) + 1, text.index("]", last), ""))
  for start, end, value in sorted(edits, reverse=True):
    text = text[:start] + value + text[end:]
  return text


class _Line(NamedTuple):
  """A line of a source: what it says and how that is written, without and with its end."""

  value: str
  end: str
  raw: str
  raw_end: str


def _encoded(old: Sequence[_Line], value: str, ascii_only: bool) -> tuple[list[str], Sequence[int]]:
  """The lines of a new source as JSON writes them, and which of the old ones they are, or -1."""

  def encode(part: str) -> str:
    return json.dumps(part, ensure_ascii=ascii_only)[1:-1]

  new = _split(value)
  known, wanted = [line.value for line in old], [line for line, _ in new]
  raw = [encode(line) + encode(end) for line, end in new]
  origins = [-1] * len(raw)
  matcher = difflib.SequenceMatcher(None, known, wanted, autojunk=False)
  for a, b, size in matcher.get_matching_blocks():
    for i in range(size):
      line, end = old[a + i], new[b + i][1]
      raw[b + i] = line.raw + (line.raw_end if end == line.end else encode(end))
      origins[b + i] = a + i
  return raw, origins


def _split(value: str) -> list[tuple[str, str]]:
  """The lines of a text, each with its end."""
  found, start = [], 0
  for match in _LINE.finditer(value):
    found.append((value[start : match.start()], match[0]))
    start = match.end()
  return [*found, (value[start:], "")] if start < len(value) else found


def _separator(text: str, places: Mapping[int, Source]) -> str:
  """What stands between the lines of sources, for one that has a single line."""
  found = (source.separators(text)[:1] for source in places.values() if source.listed)
  return next(filter(None, found), [", " if '": ' in text else ","])[0]


class Source(NamedTuple):
  """The source of a cell.

  Attributes:
    strings: where the strings begin that are joined to it, at their quotes.
    listed: whether they are the elements of a list.
  """

  strings: tuple[int, ...]
  listed: bool = False

  def separators(self, text: str) -> list[str]:
    """What stands between each two of the strings.

    Raises:
      ValueError: another element stands between two of the strings.
    """
    found = []
    for start, following in zip(self.strings, self.strings[1:]):
      found.append(text[scanstring(text, start + 1)[1] : following])
      if found[-1].strip(" \t\n\r") != ",":
        raise ValueError("the source of a cell holds something else than strings")
    return found

  def lines(self, text: str) -> list[_Line]:
    """The lines of the source."""
    value, raw = "", []
    for start in self.strings:
      piece, end = scanstring(text, start + 1)
      value += piece
      raw += [match[0] for match in _characters(text, start + 1, end - 1)]
    found, start = [], 0
    for line, end in _split(value):
      middle, after = start + len(line), start + len(line) + len(end)
      found.append(_Line(line, end, "".join(raw[start:middle]), "".join(raw[middle:after])))
      start = after
    return found

  def offset(self, text: str, line: int, column: int) -> int:
    """Where a place of the source stands in the JSON; at the end of a line: before its end.

    Raises:
      IndexError: there is no such line.
    """
    value, offsets = "", []
    for start in self.strings:
      piece, end = scanstring(text, start + 1)
      value += piece
      offsets += [match.start() for match in _characters(text, start + 1, end - 1)]
      closing = end - 1
    offsets.append(closing)
    starts = [0, *(match.end() for match in _LINE.finditer(value))]
    return offsets[starts[line - 1] + column]


def sources(text: str) -> Mapping[int, Source]:
  """The sources of all cells, by 1-based number, in the JSON of a notebook."""
  top = dict(_members(text, _BLANKS.match(text).end()))  # type: ignore[union-attr]
  lists = []
  if text[top.get("cells", 0)] == "[":
    lists = [top["cells"]]
  elif "worksheets" in top:  # nbformat 3
    sheets = (dict(_members(text, place)) for place in _elements(text, top["worksheets"]))
    lists = [sheet["cells"] for sheet in sheets if "cells" in sheet]
  found = {}
  cells = (place for start in lists for place in _elements(text, start))
  for number, place in enumerate(cells, start=1):
    members = dict(_members(text, place)) if text[place] == "{" else {}
    source = members.get("source", members.get("input"))
    if source is not None:
      listed = text[source] == "["
      strings = _elements(text, source) if listed else (source,)
      found[number] = Source(tuple(start for start in strings if text[start] == '"'), listed)
  return {number: source for number, source in found.items() if source.strings}


def _characters(text: str, start: int, end: int) -> Iterator[re.Match]:
  return _CHARACTER.finditer(text, start, end)


def _members(text: str, start: int) -> Iterator[tuple[str, int]]:
  """Key and place of the value of each member of the object at a place."""
  index = _next(text, start + 1)
  while text[index] != "}":
    key, index = scanstring(text, index + 1)
    value = _next(text, _next(text, index) + 1)
    yield key, value
    index = _behind(text, value)


def _elements(text: str, start: int) -> Iterator[int]:
  """The place of each element of the array at a place."""
  index = _next(text, start + 1)
  while text[index] != "]":
    yield index
    index = _behind(text, index)


def _behind(text: str, start: int) -> int:
  """Where the next member or element begins, or the closing bracket stands."""
  index = _next(text, _DECODER.raw_decode(text, start)[1])
  return _next(text, index + 1) if text[index] == "," else index


def _next(text: str, index: int) -> int:
  match = _BLANKS.match(text, index)
  return match.end() if match else index
