"""The comments of a module and what they stand beside."""

from __future__ import annotations

import ast
import io
import re
import tokenize

from migrator.analysis.module import Module

# What stands on a line of its own where a cell of a notebook begins; belongs to no statement.
CELL_MARKER = re.compile(r"# <migrator cell (\d+|end)>")


class Comments:
  """Finds the comments that belong to an argument or a statement."""

  def __init__(self, module: Module):
    self._module = module
    self._own_line: dict[int, str] = {}
    self._trailing: dict[int, tuple[int, str]] = {}
    reader = io.StringIO(module.text).readline
    for token in tokenize.generate_tokens(reader):
      if token.type != tokenize.COMMENT:
        continue
      if CELL_MARKER.fullmatch(token.string):
        continue
      line, column = token.start
      if token.line[:column].strip():
        self._trailing[line] = (column, token.string)
      else:
        self._own_line[line] = token.string

  def leading(self, node: ast.AST) -> list[str]:
    """Comments on lines of their own right above the node, if it begins its line."""
    span = self._module.span(node)
    text = self._module.parser_lines[span.line - 1]
    if text[: span.column].strip():
      return []
    found = []
    line = span.line - 1
    while line in self._own_line:
      found.append(self._own_line[line])
      line -= 1
    return found[::-1]

  def inside(self, node: ast.AST) -> list[str]:
    """All comments between the begin and the end of the node."""
    span = self._module.span(node)
    found = []
    for line in range(span.line, span.end_line + 1):
      comment = self._own_line.get(line) or self._trailing.get(line, (0, ""))[1]
      if comment and (line < span.end_line or line in self._own_line):
        found.append(comment)
    return found

  def trailing(self, node: ast.AST) -> str:
    """The comment behind the node on its last line, if nothing but punctuation is between."""
    span = self._module.span(node)
    column, comment = self._trailing.get(span.end_line, (0, ""))
    if not comment:
      return ""
    between = self._module.parser_lines[span.end_line - 1][span.end_column : column]
    return comment if not between.strip(" \t,)]}:") else ""
