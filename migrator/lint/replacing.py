"""From the template of a `[[match]]` to the place of the finding and its new text.

Where the new text cannot be told for certain (a comment would be lost, an argument comes from
`**options`), there is a finding without one.
"""

from __future__ import annotations

import ast
import io
import re
import string
import tokenize
from typing import Optional

from migrator.analysis.module import Module, Span
from migrator.lint.rule import Match

_TO_PARENTHESIS = re.compile(r"(?:\s|\\\n|#[^\n]*|\))*\(")


def place(
  module: Module,
  name: ast.AST,
  call: Optional[ast.Call],
  argument: Optional[ast.expr],
  match: Match,
  symbol: str,
) -> tuple[Span, Optional[str]]:
  """Where a finding stands, and what the text there becomes.

  Args:
    module: the module.
    name: the name or chain that means the symbol.
    call: the call of it, if it is called.
    argument: the argument that the match is about, if it is given.
    match: what fits.
    symbol: the canonical name.

  Returns:
    The span, and its new text or None.
  """
  keyword = _keyword(call, argument)
  direct = keyword is not None or (call is not None and argument in call.args)
  node: Optional[ast.AST] = name
  if match.at == "call":
    node = call
  elif match.at == "value":
    node = argument if direct else None
  elif match.at == "argument":
    node = (keyword or argument) if direct else None
  if node is None:  # it comes from `**options`: only the call can be shown
    return module.span(name), None
  span = module.span(node)
  if match.replacement is None:
    return span, None
  if match.at == "argument" and not match.replacement:
    return _without(module, call, keyword, span)
  return span, _fill(module, name, call, argument if direct else None, match, symbol)


def _keyword(call: Optional[ast.Call], argument: Optional[ast.expr]) -> Optional[ast.keyword]:
  """The `name=value` of a call that holds an argument."""
  keywords = call.keywords if call is not None else []
  return next((k for k in keywords if k.arg and k.value is argument), None)


def _fill(
  module: Module,
  name: ast.AST,
  call: Optional[ast.Call],
  argument: Optional[ast.expr],
  match: Match,
  symbol: str,
) -> Optional[str]:
  """The template with its placeholders filled; None where one has no text."""
  parts: list[str] = []
  for literal, field, wanted, _ in string.Formatter().parse(match.replacement or ""):
    if parts and not parts[-1]:  # no arguments: no comma behind them
      literal = re.sub(r"^,\s*", "", literal)
    parts.append(literal)
    if field is None:
      continue
    text: Optional[str] = None
    if field == "symbol":
      text = symbol
    elif field == "name":
      text = module.source(name)
    elif field == "module" and isinstance(name, ast.Attribute):
      text = module.source(name.value)
    elif field == "value":
      text = module.source(argument) if argument is not None else None
    elif field == "arguments" and call is not None:
      text = arguments_text(module, call)
    elif field == "argument":
      keywords = call.keywords if call is not None else []
      given = next((k.value for k in keywords if k.arg == wanted), None)
      text = module.source(given) if given is not None else None
    if text is None:
      return None
    parts.append(text)
  return "".join(parts)


def arguments_text(module: Module, call: ast.Call) -> Optional[str]:
  """What stands between the parentheses of a call, without a last comma.

  None where a comment stands behind the last argument: it would swallow what follows.
  """
  text = module.source(call)
  callee = module.source(call.func)
  # A parenthesised callee begins behind its parenthesis.
  opening = _TO_PARENTHESIS.match(text, text.find(callee) + len(callee))
  if opening is None:
    return None
  inside = text[opening.end() : -1]
  if "#" in inside and _comment_at_end(inside):
    return None
  inside = inside.strip()
  inside = inside[:-1].rstrip() if inside.endswith(",") else inside
  only = call.args[0] if len(call.args) == 1 and not call.keywords else None
  if isinstance(only, ast.GeneratorExp) and module.source(only) != inside:
    return f"({inside})"  # bare, it can be an only argument
  return inside


def _comment_at_end(inside: str) -> bool:
  """Whether a comment is the last of what stands in parentheses."""
  last = None
  skipped = (tokenize.NL, tokenize.NEWLINE, tokenize.ENDMARKER)
  for token in tokenize.generate_tokens(io.StringIO(f"({inside})").readline):
    if token.type not in skipped and token.string not in (")", ","):
      last = token.type
  return last == tokenize.COMMENT


def _without(
  module: Module, call: Optional[ast.Call], keyword: Optional[ast.keyword], span: Span
) -> tuple[Span, Optional[str]]:
  """The span of an argument with the comma that goes with it, and "".

  An argument given by position stays: those behind it would move.
  """
  if call is None or keyword is None:
    return span, None
  before = _text(module, Span(call.lineno, 0, span.line, span.column))
  stripped = before.rstrip()
  if stripped.endswith(","):
    if "#" in before[len(stripped) :]:
      return span, None
    line = span.line - before[len(stripped) :].count("\n")
    column = len(stripped.rpartition("\n")[2]) - 1
    return Span(line, column, span.end_line, span.end_column), ""
  if not stripped.endswith("("):  # a comment stands before it
    return span, None
  end = module.span(call)
  behind = _text(module, Span(span.end_line, span.end_column, end.end_line, end.end_column))
  comma = re.match(r"\s*,\s*(?=[^\s#])", behind)
  gone = comma[0] if comma else ""
  line = span.end_line + gone.count("\n")
  column = len(gone.rpartition("\n")[2]) + (0 if "\n" in gone else span.end_column)
  return Span(span.line, span.column, line, column), ""


def _text(module: Module, span: Span) -> str:
  """The text of a span."""
  lines = module.parser_lines[span.line - 1 : span.end_line]
  lines[-1] = lines[-1][: span.end_column]
  lines[0] = lines[0][span.column :]
  return "\n".join(lines)
