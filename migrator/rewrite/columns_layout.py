"""Lays out a long statement of nested calls and displays as `ruff format` does."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from typing import Union

from migrator.rewrite import emit

# Comments above and behind an element of a display, by its source.
_Comments = Mapping[str, tuple[Sequence[str], str]]


def statement(
  target: str, text: str, style: emit.Style, comments: Union[_Comments, None] = None
) -> list[str]:
  """Lines of `target = text`.

  Args:
    target: the variable.
    text: an expression on one line.
    style: of the place.
    comments: of elements of displays in it; they break the brackets around them.
  """
  return _lay_out(f"{target} = ", text, "", style, dict(comments or {}))


def _lay_out(prefix: str, text: str, suffix: str, style: emit.Style, comments: dict) -> list[str]:
  """Lines of an expression between what stands before and behind it on its line."""
  commented = [c for c in comments if c in text]
  if (len(prefix + text + suffix) <= style.width or "\n" in text) and not commented:
    return [prefix + text + suffix]
  node = ast.parse(text, mode="eval").body
  source = _Source(text)
  if isinstance(node, ast.Call) and (node.args or node.keywords):
    function = source.of(node.func)
    chained = isinstance(node.func, ast.Call) and (node.func.args or node.func.keywords)
    if len(prefix + function + "(") <= style.width or not chained:
      lines = [f"{prefix}{function}("]
    else:
      lines = _lay_out(prefix, function, "(", style, comments)
    arguments: list[tuple[str, str]] = [("", source.of(a)) for a in node.args]
    arguments += [(f"{k.arg}=" if k.arg else "**", source.of(k.value)) for k in node.keywords]
    joined = ", ".join(p + t for p, t in arguments)
    if len(lines) > 1 and len(f"{lines[-1]}{joined}){suffix}") <= style.width and not commented:
      return [*lines[:-1], f"{lines[-1]}{joined}){suffix}"]
    return [*lines, *_inside(arguments, style, comments, True), f"){suffix}"]
  if isinstance(node, ast.Subscript):
    inner = _inside([("", source.of(node.slice))], style, comments, True)
    return [f"{prefix}{source.of(node.value)}[", *inner, f"]{suffix}"]
  brackets = {ast.List: "[]", ast.Tuple: "()", ast.Set: "{}", ast.Dict: "{}"}.get(type(node))
  elements: list[tuple[str, str]] = []
  if isinstance(node, (ast.List, ast.Tuple, ast.Set)):
    elements = [("", source.of(e)) for e in node.elts]
  elif isinstance(node, ast.Dict) and None not in node.keys:
    pairs = zip(node.keys, node.values)
    elements = [(f"{source.of(k)}: ", source.of(v)) for k, v in pairs if k is not None]
  if brackets is None or not elements:
    return [prefix + text + suffix]
  inner = _inside(elements, style, comments, False)
  return [prefix + brackets[0], *inner, brackets[1] + suffix]


def _inside(
  items: Sequence[tuple[str, str]], style: emit.Style, comments: dict, is_call: bool
) -> list[str]:
  """Indented lines of what stands in brackets that are broken."""
  nested = style.nested()
  joined = ", ".join(prefix + text for prefix, text in items)
  if is_call and len(joined) <= nested.width and not any(c in joined for c in comments):
    return [style.indent + joined]
  lines: list[str] = []
  for prefix, text in items:
    comma = "" if is_call and len(items) == 1 else ","
    leading, trailing = comments.pop(text, ((), ""))
    lines += leading
    laid = _lay_out(prefix, text, comma, nested, comments)
    if trailing and len(laid[-1]) + 2 + len(trailing) <= nested.width:
      laid[-1] += "  " + trailing
    elif trailing:
      lines.append(trailing)
    lines += laid
  return [style.indent + line for line in lines]


class _Source:
  """The source of the nodes of an expression."""

  def __init__(self, text: str):
    self._encoded = text.encode("utf-8")

  def of(self, node: ast.expr) -> str:
    return self._encoded[node.col_offset : node.end_col_offset].decode("utf-8")
