"""What stands above a statement: blank lines, comments and the begin of a notebook's cell."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Optional, Union

import libcst as cst

from migrator.analysis.comments import CELL_MARKER
from migrator.rewrite.plan import StatementEdit

Statement = Union[cst.SimpleStatementLine, cst.BaseCompoundStatement]


def cells_above(node: Statement) -> tuple[list[cst.EmptyLine], Statement]:
  """Returns the lines down to the last begin of a cell, and the statement without them."""
  lines = list(node.leading_lines)
  count = len(lines)
  while count and not _begins_cell(lines[count - 1]):
    count -= 1
  return lines[:count], node.with_changes(leading_lines=lines[count:]) if count else node


def _begins_cell(line: cst.EmptyLine) -> bool:
  return line.comment is not None and CELL_MARKER.fullmatch(line.comment.value) is not None


def leading(edit: StatementEdit, new: Statement) -> list[cst.EmptyLine]:
  """Returns what stands above an edited statement: its own lines, and comments that would be lost."""
  lines = list(new.leading_lines)
  if edit.drop_comments:
    lines = _without_comments(lines)
  trailing = _trailing_comment(new)
  text = "\n".join([*edit.before, *(edit.replacement or []), *edit.after])
  comments = list(edit.comments)
  if edit.replacement is not None and trailing and trailing not in text:
    comments.append(trailing)
  return lines + [cst.EmptyLine(comment=cst.Comment(c)) for c in comments]


def left_behind(edit: StatementEdit, new: Statement) -> list[cst.EmptyLine]:
  """Returns the lines that a removed statement leaves above the next one."""
  if not edit.drop_comments:
    return leading(edit, new)
  comments = [cst.EmptyLine(comment=cst.Comment(c)) for c in edit.comments]
  return [*_without_comments(new.leading_lines), *comments]


def _without_comments(lines: Sequence[cst.EmptyLine]) -> list[cst.EmptyLine]:
  """Leading lines without the comments right above the statement; others are of no statement."""
  end = len(lines)
  while end and lines[end - 1].comment is not None:
    end -= 1
  return list(lines[:end])


def blank_lines(lines: Sequence[cst.EmptyLine]) -> list[cst.EmptyLine]:
  """Returns the blank lines before the first comment."""
  blanks = []
  for line in lines:
    if line.comment is not None:
      break
    blanks.append(line)
  return blanks


def _trailing_comment(node: Statement) -> Optional[str]:
  if isinstance(node, cst.SimpleStatementLine) and node.trailing_whitespace.comment:
    return node.trailing_whitespace.comment.value
  return None


def prepend(node: Statement, lines: Sequence[cst.EmptyLine]) -> Statement:
  """Returns a statement with lines above its own leading ones."""
  return node.with_changes(leading_lines=stacked(lines, node.leading_lines))


def stacked(above: Sequence[cst.EmptyLine], below: Sequence[cst.EmptyLine]) -> list[cst.EmptyLine]:
  """Returns lines above others; blank lines are not doubled."""
  blanks = len(blank_lines(below))
  if above and above[-1].comment is not None:
    # A comment stands directly above its statement, also above another one than before.
    return [*above, *below[blanks:]]
  kept = len(above) - min(len(blank_lines(above[::-1])), blanks)
  return [*above[:kept], *below]


def without_blanks(node: Statement, count: int) -> Statement:
  """Returns a statement with no more than so many blank lines above it."""
  own = list(node.leading_lines)
  blanks = blank_lines(own)
  return node.with_changes(leading_lines=[*blanks[:count], *own[len(blanks) :]])


def space_functions(body: list[Statement], generated: Sequence[int], count: int) -> None:
  """Gives generated functions and classes, and what follows them, their blank lines."""
  definitions = (cst.FunctionDef, cst.ClassDef)
  for i, statement in enumerate(body):
    if i == 0:
      continue
    is_new = i in generated and isinstance(statement, definitions)
    after_new = i - 1 in generated and isinstance(body[i - 1], definitions)
    if is_new or after_new:
      own = list(statement.leading_lines)
      comments = own[len(blank_lines(own)) :]
      blanks = [cst.EmptyLine(indent=False)] * count
      body[i] = statement.with_changes(leading_lines=[*blanks, *comments])
