"""The user's statements as lines of new functions."""

from __future__ import annotations

import ast
from typing import Optional

from migrator.analysis.model_fns.modes import Leaf
from migrator.analysis.model_fns.pieces import TRAINING, Piece
from migrator.rewrite import emit
from migrator.rewrite.plan import Plan, Unsupported


def function(
  plan: Plan, head: str, piece: Piece, result: Optional[str], prefix: list[str], style: emit.Style
) -> list[str]:
  """Lines of a function.

  Args:
    plan: of the file.
    head: `def name(parameters):`.
    piece: what it does.
    result: what it returns; None: the piece's own result.
    prefix: lines that stand first.
    style: of the function.
  """
  leaves = read_leaves(piece)
  last = leaves[-1].node if leaves else None
  returned: list[str] = []
  name = result
  if piece.result is not None and isinstance(piece.result.node, ast.Name):
    name = piece.result.node.id
  is_last = (
    isinstance(last, ast.Assign)
    and len(last.targets) == 1
    and isinstance(last.targets[0], ast.Name)
    and last.targets[0].id == name
    and not leaves[-1].withs
    and not plan.comments.trailing(last)
    and "\\\n" not in plan.module.source(last.value)
  )
  if is_last:
    assert isinstance(last, ast.Assign)
    comments = plan.comments.leading(last)
    returned = [*comments, *_returned(plan, last.value, style)]
    leaves = leaves[:-1]
  elif piece.result is not None:
    returned = _returned(plan, piece.result.node, style)
  else:
    returned = [f"return {result}"]
  body = [*prefix, *statements(plan, leaves, style)]
  if is_last and body and _is_apart(plan, last):
    body.append("")
  # Long lines of the user's stay as they are.
  return [head, *[emit.indented(line, style) for line in [*body, *returned]]]


def read_leaves(piece: Piece) -> list[Leaf]:
  """The statements, without those that only give `training` another name: it is read in their place."""
  replaced = piece.flow.replaced
  return [
    leaf
    for leaf in piece.leaves
    if not isinstance(leaf.node, ast.Assign)
    or isinstance(leaf.node.value, ast.Constant)
    or replaced.get(leaf.node.value) != TRAINING
  ]


def _returned(plan: Plan, node: ast.expr, style: emit.Style) -> list[str]:
  """`return` and an expression, which may have stood behind `name =` or in a call."""
  text = plan.source(node)
  lines = text.split("\n")
  inner = style.nested()
  if len(lines) == 1:
    return emit.statement(f"return {text}", inner)
  joined = emit.joined(text)
  if "\n" not in joined and len(joined) + 7 <= inner.width:
    return [f"return {joined}"]
  closed = lines[0].rstrip()[-1:] in ("(", "[", "{") or isinstance(
    node, (ast.Dict, ast.List, ast.Tuple, ast.Call, ast.Set)
  )
  if closed:
    return [f"return {lines[0]}", *lines[1:]]
  return ["return (", *[style.indent + line.strip() for line in lines], ")"]


def statements(plan: Plan, leaves: list[Leaf], style: emit.Style, depth: int = 0) -> list[str]:
  """Lines of statements, each with its comments, within the `with` statements around them."""
  lines: list[str] = []
  index = 0
  while index < len(leaves):
    leaf = leaves[index]
    around = leaf.withs[depth] if len(leaf.withs) > depth else None
    node = around or leaf.node
    if lines and _is_apart(plan, node):
      lines.append("")
    lines += plan.comments.leading(node)
    if around is None:
      lines += _statement(plan, leaf.node)
      index += 1
      continue
    end = index
    while end < len(leaves) and leaves[end].withs[depth : depth + 1] == (around,):
      end += 1
    lines += _head(plan, around)
    inner = statements(plan, leaves[index:end], style, depth + 1)
    lines += [emit.indented(line, style) for line in inner]
    index = end
  return lines


def _is_apart(plan: Plan, node: Optional[ast.AST]) -> bool:
  """Whether a blank line stands above a statement and its comments."""
  assert isinstance(node, ast.stmt)
  line = node.lineno - len(plan.comments.leading(node))
  return line >= 2 and not plan.module.parser_lines[line - 2].strip()


def _statement(plan: Plan, node: ast.stmt) -> list[str]:
  module = plan.module
  first = module.parser_lines[node.lineno - 1]
  if first[: module.span(node).column].strip() or _shares_end(plan, node):
    raise Unsupported("EM220", node, what="statements that share a line")
  if getattr(node, "decorator_list", None):
    raise Unsupported("EM220", node, what="a decorated function in a model_fn")
  lines = _dedented(plan, node, plan.with_edits(node))
  trailing = plan.comments.trailing(node)
  if trailing:
    lines[-1] += f"  {trailing}"
  return lines


def _shares_end(plan: Plan, node: ast.stmt) -> bool:
  span = plan.module.span(node)
  rest = plan.module.parser_lines[span.end_line - 1][span.end_column :].strip()
  return bool(rest) and not rest.startswith("#")


def _head(plan: Plan, node: ast.With) -> list[str]:
  """The lines of `with ...:`."""
  items = ", ".join(plan.source(item.context_expr) for item in node.items)
  return f"with {items}:".split("\n")


def _dedented(plan: Plan, node: ast.stmt, text: str) -> list[str]:
  """Lines as of a statement in the first column.

  Raises:
    Unsupported: EM220, a string over several lines, which would be another one.
  """
  column = node.col_offset
  lines = text.split("\n")
  for inner in ast.walk(node):
    is_string = isinstance(inner, ast.JoinedStr) or (
      isinstance(inner, ast.Constant) and isinstance(inner.value, (str, bytes))
    )
    if is_string and inner.end_lineno > inner.lineno:  # type: ignore[attr-defined]
      raise Unsupported("EM220", inner, what="a string over several lines in a model_fn")
  result = [lines[0]]
  for line in lines[1:]:
    result.append(line[column:] if not line[:column].strip() else line.lstrip())
  return result


def expression(plan: Plan, node: ast.expr) -> str:
  """The source of an expression, its lines in the columns that they have from that of its first line."""
  first = plan.module.parser_lines[node.lineno - 1]
  more = len(first) - len(first.lstrip()) - plan.module.statement(node).col_offset
  return emit.dedent(plan.source(node), more)
