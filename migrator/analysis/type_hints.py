"""TensorFlow's names in annotations that are strings, and in type comments."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from typing import Optional

from migrator.analysis import symbols
from migrator.analysis.module import Module, Use
from migrator.analysis.scopes import Scope
from migrator.analysis.span import Span

_COMMENT = re.compile(r"#\s*type:\s*(?!ignore\b)([^#]+)")
_STRING = re.compile(r"[A-Za-z_][\w.]*(?:\s*[\[\]|,]\s*[\w.]*)*\s*")
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def uses(module: Module) -> Iterator[Use]:
  """All names of TensorFlow in strings that are annotations and in type comments."""
  for node in list(module.nodes()):
    text = node.value if type(node) is ast.Constant else None
    if type(text) is str and "." in text and _STRING.fullmatch(text):
      yield from _in_string(module, node, text.strip())
  if "type:" in module.parsed and re.search(r"#\s*type:", module.parsed):
    yield from _in_comments(module)


def _is_annotation(module: Module, node: ast.AST) -> bool:
  child = node
  for parent in module.ancestors(node):
    if isinstance(parent, ast.arg):
      return True
    if isinstance(parent, ast.AnnAssign):
      return child is parent.annotation
    if isinstance(parent, _FUNCTIONS):
      return child is parent.returns
    if isinstance(parent, ast.Call):
      name = module.source(parent.func).rpartition(".")[2]
      return name == "cast" and bool(parent.args) and parent.args[0] is child
    if isinstance(parent, ast.Subscript):
      if child is parent.value or module.source(parent.value).endswith("Literal"):
        return False
    elif not isinstance(parent, (ast.Tuple, ast.List, ast.BinOp)) and not _is_index(parent):
      return False
    child = parent
  return False


def _is_index(node: ast.AST) -> bool:
  return type(node).__name__ == "Index"  # of Python 3.8 and older trees


def _in_string(module: Module, node: ast.AST, written: str) -> Iterator[Use]:
  if not _is_annotation(module, node):
    return
  scope = module.scope_of.get(node, module.root)
  for symbol, text in chains(module, written, scope, "eval"):
    span = module.span(node)
    at = module.source(node).find(text)
    if span.line == span.end_line and at >= 0:
      first = span.column + at
      span = Span(span.line, first, span.line, first + len(text))
    yield Use(symbol, node, span)


def _in_comments(module: Module) -> Iterator[Use]:
  hits = {}
  for number, line in enumerate(module.parser_lines, start=1):
    found = _COMMENT.search(line)
    if found and "." in found.group(1):
      hits[number] = found
  comments: Optional[set[tuple[int, int]]] = None
  for number, found in hits.items():
    text = found.group(1).strip()
    mode = "func_type" if re.match(r"\(.*\)\s*->", text) else "eval"
    scope = _scope_at(module, number)
    for symbol, chain in chains(module, text, scope, mode):
      if comments is None:
        comments = _comments(module.text)
      if (number, found.start()) not in comments:
        continue  # in a string
      column = found.start(1) + found.group(1).find(chain)
      span = Span(number, column, number, column + len(chain))
      line = module.parser_lines[number - 1]
      begin = len(line[:column].encode("utf-8"))
      node = ast.Constant(value=chain)
      node.lineno = node.end_lineno = number
      node.col_offset, node.end_col_offset = begin, begin + len(chain.encode("utf-8"))
      yield Use(symbol, node, span)


def chains(
  module: Module, text: str, scope: Scope, mode: str
) -> Iterator[tuple[symbols.Symbol, str]]:
  """The symbols of TensorFlow that a type names, and how it spells them.

  Args:
    module: the file.
    text: the type, as in a string or a comment.
    scope: where its names are looked up.
    mode: of `ast.parse`: "eval", or "func_type" for `(parameters) -> result`.
  """
  try:
    tree = ast.parse(text, mode=mode)
  except (SyntaxError, ValueError, MemoryError, RecursionError):
    return
  inner = {id(n.value) for n in ast.walk(tree) if isinstance(n, ast.Attribute)}
  for node in ast.walk(tree):
    if not isinstance(node, (ast.Name, ast.Attribute)) or id(node) in inner:
      continue
    parts = []
    root: ast.expr = node
    while isinstance(root, ast.Attribute):
      parts.append(root.attr)
      root = root.value
    if not isinstance(root, ast.Name):
      continue
    symbol = module.resolve_name(root.id, scope)
    if symbol is None or not symbols.is_tensorflow(symbol):
      continue
    for part in reversed(parts):
      symbol = symbol.attribute(part)
    yield symbol, ".".join([root.id, *reversed(parts)])


def _scope_at(module: Module, line: int) -> Scope:
  """The scope of the innermost function around a line."""
  best: Optional[ast.AST] = None
  for node in ast.walk(module.tree):
    if isinstance(node, _FUNCTIONS) and node.lineno < line <= (node.end_lineno or 0):
      best = node  # a walk meets inner functions after outer ones
  return module.root if best is None else module.scopes.get(best, module.root)


def _comments(text: str) -> set[tuple[int, int]]:
  """The places of all comments: 1-based line, 0-based column."""
  found = set()
  try:
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
      if token.type == tokenize.COMMENT:
        found.add(token.start)
        # `# a  # type: b` is one token.
        inner = _COMMENT.search(token.string)
        if inner:
          found.add((token.start[0], token.start[1] + inner.start()))
  except (tokenize.TokenError, SyntaxError):
    return found
  return found
