"""How the lines of a Python text belong together, and where comments can stand."""

from __future__ import annotations

import io
import tokenize
import warnings
from collections.abc import Iterator, Sequence
from typing import NamedTuple

_STRING_ENDS = {"FSTRING_START": "FSTRING_END", "TSTRING_START": "TSTRING_END"}
_OUTSIDE = (tokenize.NL, tokenize.COMMENT, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER)


class Comment(NamedTuple):
  """A comment and what it belongs to: rows and columns as the tokenizer counts them.

  Attributes:
    row: 1-based line in the text.
    column: 0-based column in characters.
    text: the comment, with its `#`.
    first: the first row whose findings a noqa comment here counts for.
    raises: it stands in a `raise` statement.
    alone: nothing but blanks stands before it.
  """

  row: int
  column: int
  text: str
  first: int
  raises: bool
  alone: bool


class Layout(NamedTuple):
  """How the lines of a text belong together.

  Attributes:
    comments: all comments, in order.
    joined: rows behind which no comment can stand: they end inside a string, or with a
      backslash.
    statements: first and last row of each logical line (of a compound statement: its header).
  """

  comments: list[Comment]
  joined: set[int]
  statements: list[tuple[int, int]]


def layout(text: str) -> Layout:
  """The layout of a Python text whose lines end with "\\n"."""
  found = Layout([], set(), [])
  pending: list[tokenize.TokenInfo] = []
  start, leader = 0, ""  # row and first word of the logical line; 0: outside of any
  opened: list[int] = []  # rows of f-strings that are not closed yet
  previous = (1, "")  # row where the last token ended, and its kind
  for token in _tokens(text):
    kind = tokenize.tok_name[token.type]
    row, end = token.start[0], token.end[0]
    if previous[1] not in ("NEWLINE", "NL", "COMMENT", "INDENT", "DEDENT", ""):
      found.joined.update(range(previous[0], row))  # a backslash, or blanks after one
    if kind == "STRING":
      found.joined.update(range(row, end))
    elif kind in _STRING_ENDS:
      opened.append(row)
    elif kind in _STRING_ENDS.values() and opened:
      found.joined.update(range(opened.pop(), end))
    previous = (end, kind)
    if token.type == tokenize.COMMENT:
      pending.append(token)
    if not start and token.type not in (*_OUTSIDE, tokenize.NEWLINE):
      start, leader = row, token.string
    if token.type == tokenize.NEWLINE and start:
      found.statements.append((start, row))
      found.comments.extend(_comments(pending, start, row, leader, found.joined))
      pending.clear()
      start = 0
    elif not start:
      found.comments.extend(_comments(pending, 0, 0, "", found.joined))
      pending.clear()
  found.comments.extend(_comments(pending, 0, 0, "", found.joined))
  return found


def _tokens(text: str) -> Iterator[tokenize.TokenInfo]:
  with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    try:
      yield from tokenize.generate_tokens(io.StringIO(text).readline)
    except (tokenize.TokenError, SyntaxError):
      return  # Python parsed what its tokenizer does not read: the comments so far count


def _comments(
  tokens: Sequence[tokenize.TokenInfo], start: int, last: int, leader: str, joined: set[int]
) -> Iterator[Comment]:
  for token in tokens:
    row, column = token.start
    first = row
    if row == last:
      first = start
    while first - 1 in joined:
      first -= 1
    alone = not token.line[:column].strip() and row - 1 not in joined
    yield Comment(row, column, token.string, first, leader == "raise", alone)
