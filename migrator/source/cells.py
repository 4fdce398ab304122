"""Where the sources of a notebook's cells stand in its JSON, so that only they are changed."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from json.decoder import scanstring  # type: ignore[attr-defined]
from typing import NamedTuple

_BLANKS = re.compile(r"[ \t\n\r]*")
# A character of a JSON string; two escapes for one beyond the 16-bit characters.
_CHARACTER = re.compile(
  r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\.|[^\\\"]"
)
_LINE = re.compile(r"(?:\r\n|\r|\n)")
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


class Source(NamedTuple):
  """The source of a cell: where the strings begin that are joined to it, at their quotes."""

  strings: tuple[int, ...]

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
      strings = _elements(text, source) if text[source] == "[" else (source,)
      found[number] = Source(tuple(start for start in strings if text[start] == '"'))
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
