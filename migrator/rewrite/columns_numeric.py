"""Numeric columns of a DNN -> Keras inputs; a loop over their names stays a loop.

The Estimator's input layer is the concatenation of the flattened columns in the order of
their names, whatever the order of the list
(https://www.tensorflow.org/versions/r1.15/api_docs/python/tf/feature_column/input_layer).
"""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Iterable
from typing import Optional

from migrator.analysis import aliases, facts
from migrator.rewrite import emit, moves
from migrator.rewrite.plan import Plan, Unsupported


@dataclasses.dataclass
class Column:
  """One `numeric_column`: expressions of its key and shape, and how many dimensions it has."""

  key: str
  shape: str
  rank: int
  item: emit.Item
  known_key: Optional[str] = None


@dataclasses.dataclass
class Columns:
  """The columns of one estimator.

  Attributes:
    columns: one by one, in source order; or exactly one column made for each `target in iterable`.
    each: ("target", "iterable") of the comprehension, else None.
    keys: the features that the columns read; None where only the running program knows.
    statements: assignments and loops that only serve to build the list.
    names: the reads of those assignments that this use explains.
    expressions: the parts of the user's code that go into the new function.
    comments: comments above the statement that assigned the list.
  """

  columns: list[Column]
  each: Optional[tuple[str, str]] = None
  keys: Optional[frozenset[str]] = None
  statements: list[ast.stmt] = dataclasses.field(default_factory=list)
  names: list[ast.Name] = dataclasses.field(default_factory=list)
  expressions: list[ast.expr] = dataclasses.field(default_factory=list)
  comments: tuple[str, ...] = ()


def read_columns(plan: Plan, argument: facts.Argument, place: ast.AST) -> Columns:
  """Reads `feature_columns=` for a function that stands at `place`.

  Raises:
    Unsupported: EM207, a column or a way of building the list that is not carried over.
  """
  found = Columns([])
  _read_list(plan, argument.value, found, place)
  for expression in found.expressions:
    own = found.each[0] if found.each else None
    reason = moves.obstacle(plan.module, expression, place, own)
    if reason is not None:
      raise Unsupported("EM207", expression, column=reason)
  if not found.columns:
    raise Unsupported("EM207", argument.value, column="an empty list")
  if not found.each:
    known = [c.known_key for c in found.columns]
    found.keys = None if None in known else frozenset(k for k in known if k is not None)
  return found


def _read_list(plan: Plan, node: ast.expr, found: Columns, place: ast.AST) -> None:
  """Adds the columns of a list display, a sum of lists, a comprehension, or a name of one."""
  definition = _follow(plan, node, found)
  if isinstance(definition, (ast.List, ast.Tuple, ast.Set)):
    named = (found.names[-1], found.statements[-1]) if isinstance(node, ast.Name) else None
    for element in definition.elts:
      found.columns.append(_column(plan, element, found))
    if named is not None and isinstance(definition, ast.List):
      _read_appends(plan, found, place, *named)
  elif isinstance(definition, ast.BinOp) and isinstance(definition.op, ast.Add):
    _read_list(plan, definition.left, found, place)
    _read_list(plan, definition.right, found, place)
    if found.each:
      raise Unsupported("EM207", node, column="a sum with a list that is not written out")
  elif isinstance(definition, ast.ListComp):
    _read_comprehension(plan, definition, found)
    if isinstance(node, ast.Name) and facts.appends(plan.module, found.names[-1]) != []:
      raise Unsupported("EM207", node, column="a comprehension and more")
  else:
    raise Unsupported("EM207", node, column=plan.module.source(node))


def _follow(plan: Plan, node: ast.AST, found: Columns) -> Optional[ast.AST]:
  """The definition of a name, noting the statement that can go when nobody else reads it."""
  while isinstance(node, ast.Name):
    _, bindings = plan.module.scope_of[node].lookup(node.id)
    if len(bindings) != 1 or bindings[0].kind != "assign" or bindings[0].value is None:
      return None
    statement = bindings[0].node
    if not isinstance(statement, ast.Assign) or statement.value is not bindings[0].value:
      return None
    if not found.statements:
      found.comments = tuple(plan.comments.leading(statement))
    found.statements.append(statement)
    found.names.append(node)
    node = bindings[0].value
  return node


def _column(plan: Plan, element: ast.AST, found: Columns) -> Column:
  """Reads one column; notes its expressions and, for a name, the statement that made it."""
  comments = (plan.comments.leading(element), plan.comments.trailing(element))
  call = _follow(plan, element, Columns([]) if isinstance(element, ast.Call) else found)
  symbol = plan.module.resolve(call.func) if isinstance(call, ast.Call) else None
  if (
    not isinstance(call, ast.Call)
    or symbol is None
    or symbol.path != "tf.feature_column.numeric_column"
    or not aliases.is_certain(plan.module, call.func)
  ):
    name = symbol.path if symbol is not None else plan.module.source(element)
    raise Unsupported("EM207", element, column=name)
  bound = facts.bind_arguments(call, facts.NUMERIC_COLUMN_PARAMETERS)
  if bound is None or "key" not in bound:
    raise Unsupported("EM207", element, column="numeric_column with *args or **kwargs")
  for name in ("normalizer_fn", "default_value"):
    value = bound.get(name)
    if value is not None and plan.module.constant(value.value) is not None:
      raise Unsupported("EM207", value.node, column=f"numeric_column with {name}")
  shape, rank = "[1]", 1
  if "shape" in bound:
    shape, rank = _shape(plan, bound["shape"].value)
  found.expressions.append(bound["key"].value)
  if "shape" in bound:
    found.expressions.append(bound["shape"].value)
  key = plan.module.constant(bound["key"].value)
  text = plan.source(bound["key"].value)
  if isinstance(bound["key"].value, ast.Constant) and isinstance(key, str):
    text = emit.string(key)
  known_key = key if isinstance(key, str) else None
  return Column(text, shape, rank, emit.Item("", *comments), known_key)


def _shape(plan: Plan, node: ast.expr) -> tuple[str, int]:
  value = plan.module.constant(node)
  if isinstance(value, int):
    return f"[{plan.source(node)}]", 1
  if value in ((), []):
    return "[1]", 1  # a scalar
  if isinstance(value, (list, tuple)) and all(isinstance(v, int) for v in value):
    return plan.source(node), len(value)
  raise Unsupported("EM207", node, column="numeric_column whose shape is not in the file")


def _read_comprehension(plan: Plan, node: ast.ListComp, found: Columns) -> None:
  generator = node.generators[0]
  if len(node.generators) != 1 or generator.ifs or not isinstance(generator.target, ast.Name):
    raise Unsupported("EM207", node, column="a comprehension with conditions")
  found.columns.append(_column(plan, node.elt, found))
  _set_each(plan, found, generator.target.id, generator.iter)


def _set_each(plan: Plan, found: Columns, target: str, iterable: ast.expr) -> None:
  found.each = (target, plan.source(iterable))
  found.expressions.append(iterable)
  values = plan.module.constant(iterable)
  if found.columns[0].key == target and isinstance(values, (list, tuple)):
    found.keys = frozenset(v for v in values if isinstance(v, str))


def _read_appends(
  plan: Plan, found: Columns, place: ast.AST, first: ast.Name, made: ast.stmt
) -> None:
  """`columns.append(...)` in the block of the list, or one loop that appends to an empty one."""
  appends = facts.appends(plan.module, first)
  if appends is None:
    raise Unsupported("EM207", first, column="a list changed by other means than append")
  for call in appends:
    statement = plan.module.statement(call)
    if statement.lineno > plan.module.statement(place).lineno:
      raise Unsupported("EM207", call, column="a list that grows after it was used")
    if not isinstance(statement, ast.Expr) or statement.value is not call:
      raise Unsupported("EM207", call, column="a list built inside an expression")
    parent = plan.module.parents[statement]
    if isinstance(parent, ast.For):
      if found.columns or len(parent.body) != 1 or parent.orelse:
        raise Unsupported("EM207", parent, column="a list built by a loop and more")
      if not isinstance(parent.target, ast.Name):
        raise Unsupported("EM207", parent, column="a list built by a loop over pairs")
      statement = parent
    if found.each or not _same_block(plan, statement, made):
      raise Unsupported("EM207", statement, column="a list built under a condition")
    found.columns.append(_column(plan, call.args[0], found))
    if isinstance(parent, ast.For):
      assert isinstance(parent.target, ast.Name)
      _set_each(plan, found, parent.target.id, parent.iter)
    found.statements.append(statement)
    assert isinstance(call.func, ast.Attribute) and isinstance(call.func.value, ast.Name)
    found.names.append(call.func.value)


def _same_block(plan: Plan, one: ast.stmt, other: ast.stmt) -> bool:
  return plan.module.parents[one] is plan.module.parents[other]


def input_lines(tf: str, found: Columns, style: emit.Style) -> list[str]:
  """Statements that define `inputs`, a dict of Keras inputs."""
  if found.each:
    return _each_lines(tf, found, style)
  items = [
    emit.Item(
      f"{c.key}: {_input(tf, c, [c.known_key or ''])}",
      c.item.leading,
      c.item.trailing,
    )
    for c in found.columns
  ]
  return emit.bracketed("inputs = {", items, "}", style)


def dense_lines(tf: str, found: Columns, style: emit.Style) -> list[str]:
  """Statements that define `net`, float32 [batch, n]."""
  columns = found.columns
  if len(columns) == 1 and not found.each:
    column = columns[0]
    layer = f"{tf}.keras.layers.Flatten()(inputs[{column.key}])"
    return [f"net = {layer if column.rank > 1 else f'inputs[{column.key}]'}"]
  return _concatenation(tf, any(c.rank > 1 for c in columns), style)


def _input(tf: str, column: Column, keys: Iterable[str]) -> str:
  """One Keras input, named by its feature unless Keras 3 refuses the name: it takes no slash."""
  name = "" if any("/" in key for key in keys) else f", name={column.key}"
  return f"{tf}.keras.Input({column.shape}{name})"


def _each_lines(tf: str, found: Columns, style: emit.Style) -> list[str]:
  column, (target, iterable) = found.columns[0], found.each or ("", "")
  inputs = _input(tf, column, found.keys or ())
  lines = [f"inputs = {{{column.key}: {inputs} for {target} in {iterable}}}"]
  if len(lines[0]) > style.width:
    body = [f"{column.key}: {inputs}", f"for {target} in {iterable}"]
    joined = style.indent + " ".join(body)
    inner = [joined] if len(joined) <= style.width else [style.indent + b for b in body]
    lines = ["inputs = {", *inner, "}"]
  return lines


def _concatenation(tf: str, flatten: bool, style: emit.Style) -> list[str]:
  element = "inputs[name]"
  if flatten:
    element = f"{tf}.keras.layers.Flatten()({element})"
  comprehension = f"[{element} for name in sorted(inputs)]"
  head = f"net = {tf}.keras.layers.Concatenate()("
  if len(head + comprehension) < style.width:
    return [head + comprehension + ")"]
  return [head, style.indent + comprehension, ")"]
