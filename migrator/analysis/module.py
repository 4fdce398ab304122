"""One parsed file: its tree, scopes, and what its names and expressions mean."""

from __future__ import annotations

import ast
import dataclasses
import functools
import warnings
from collections.abc import Iterator
from typing import Any, Optional

from migrator.analysis import scopes, symbols
from migrator.analysis.span import Span


class UnknownType:
  """The type of `UNKNOWN`: a value that only the running program has."""

  def __repr__(self) -> str:
    return "UNKNOWN"


UNKNOWN = UnknownType()


@dataclasses.dataclass(frozen=True)
class Use:
  """A name or attribute chain that means a TensorFlow symbol.

  `certain` is False where the name may come from a star import.
  """

  symbol: symbols.Symbol
  node: ast.AST
  span: Span
  certain: bool = True


class Module:
  """The meaning of one source text.

  Args:
    text: the source.
    filename: for messages.

  Raises:
    SyntaxError: the text is not valid Python for the running interpreter.
  """

  def __init__(self, text: str, filename: str = "<text>"):
    self.text = text
    self.filename = filename
    self.lines = text.splitlines(keepends=True)
    with warnings.catch_warnings():
      # "\d" in old code warns, and would raise under -W error.
      warnings.simplefilter("ignore")
      self.tree = ast.parse(text, filename)
    builder = scopes.ScopeBuilder(self.tree)
    self.root = builder.root
    self.scope_of = builder.scope_of
    self.scopes = builder.scopes
    self.parents = builder.parents
    self._resolved: dict[tuple[int, str], Optional[symbols.Symbol]] = {}

  # -- places -----------------------------------------------------------------

  def span(self, node: ast.AST) -> Span:
    """The place of a node, with columns in characters (`ast` counts UTF-8 bytes)."""
    start = self._characters(node.lineno, node.col_offset)  # type: ignore[attr-defined]
    end = self._characters(node.end_lineno, node.end_col_offset)  # type: ignore[attr-defined]
    return Span(node.lineno, start, node.end_lineno, end)  # type: ignore[attr-defined]

  def _characters(self, line: int, column: int) -> int:
    text = self.parser_lines[line - 1] if line <= len(self.parser_lines) else ""
    if text.isascii():
      return column
    return len(text.encode("utf-8")[:column].decode("utf-8", "replace"))

  @functools.cached_property
  def parser_lines(self) -> list[str]:
    """The lines as `ast` counts them, without their ends."""
    return self.text.replace("\r\n", "\n").replace("\r", "\n").split("\n")

  def source(self, node: ast.AST) -> str:
    """The source text of a node (empty for a node without a place)."""
    if not isinstance(node, (ast.expr, ast.stmt, ast.keyword, ast.arg)):
      return ""
    first, last = node.lineno - 1, (node.end_lineno or node.lineno) - 1
    lines = [line.encode("utf-8") for line in self.parser_lines[first : last + 1]]
    # The end first: begin and end may be on one line.
    lines[-1] = lines[-1][: node.end_col_offset]
    lines[0] = lines[0][node.col_offset :]
    return b"\n".join(lines).decode("utf-8")

  def ancestors(self, node: ast.AST) -> Iterator[ast.AST]:
    while node in self.parents:
      node = self.parents[node]
      yield node

  def statement(self, node: ast.AST) -> ast.stmt:
    """The innermost statement that holds the node."""
    while not isinstance(node, ast.stmt):
      node = self.parents[node]
    return node

  # -- symbols ----------------------------------------------------------------

  def resolve(self, node: ast.AST) -> Optional[symbols.Symbol]:
    """The symbol that a Name or Attribute means, or None.

    Follows imports, `alias = tf.estimator`, and `importlib.import_module("...")`. A name
    with several meanings has the first TensorFlow one (`try: import` ... `except`).
    """
    if isinstance(node, ast.Attribute):
      base = self.resolve(node.value)
      return None if base is None else base.attribute(node.attr)
    if isinstance(node, ast.Call):
      return self._resolve_call(node)
    if not isinstance(node, ast.Name):
      return None
    scope, bindings = self.scope_of.get(node, self.root).lookup(node.id)
    key = (id(scope), node.id)
    if key not in self._resolved:
      self._resolved[key] = None  # while it is looked for: `a, b = b, a` ends here
      self._resolved[key] = self._resolve_bindings(bindings)
    return self._resolved[key]

  def _resolve_bindings(self, bindings: list[scopes.Binding]) -> Optional[symbols.Symbol]:
    # A name that a parameter, class or function also binds has its own meaning.
    if any(b.kind in ("param", "class", "def", "loop") for b in bindings):
      return None
    found = [self._resolve_binding(b) for b in bindings]
    for symbol in found:
      if symbols.is_tensorflow(symbol):
        return symbol
    return next((s for s in found if s is not None), None)

  def _resolve_binding(self, binding: scopes.Binding) -> Optional[symbols.Symbol]:
    if binding.kind == "import":
      if binding.target.startswith("."):
        return None
      return symbols.canonical(binding.target)
    if binding.kind == "assign" and isinstance(binding.value, (ast.Name, ast.Attribute, ast.Call)):
      return self.resolve(binding.value)
    return None

  def _resolve_call(self, node: ast.Call) -> Optional[symbols.Symbol]:
    """`importlib.import_module("x")`, `__import__("x")` and `getattr(tf, "x")`."""
    name = node.func.id if isinstance(node.func, ast.Name) else ""
    literals = [a.value for a in node.args if isinstance(a, ast.Constant)]
    if name == "getattr" and len(node.args) >= 2 and len(literals) == 1:
      base = self.resolve(node.args[0])
      if base is not None and isinstance(literals[0], str) and literals[0].isidentifier():
        return base.attribute(literals[0])
    if len(node.args) == 1 and len(literals) == 1 and isinstance(literals[0], str):
      if name == "__import__":
        return symbols.canonical(literals[0])
      symbol = self.resolve(node.func)
      if symbol is not None and symbol.path == "importlib.import_module":
        return symbols.canonical(literals[0])
    return None

  def uses(self) -> Iterator[Use]:
    """All places that name a TensorFlow symbol, longest chain only, in source order.

    Import statements give one use per imported symbol, with the span of the alias.
    """
    return iter(self._uses)

  @functools.cached_property
  def _uses(self) -> list[Use]:
    found: list[Use] = []
    for node in self.scope_of:
      if isinstance(node, (ast.Import, ast.ImportFrom)):
        found += self._import_uses(node)
      elif isinstance(node, (ast.Name, ast.Attribute)):
        parent = self.parents.get(node)
        if isinstance(parent, ast.Attribute) or not isinstance(node.ctx, ast.Load):
          continue
        if (
          isinstance(parent, ast.Call)
          and parent.args
          and parent.args[0] is node
          and self._resolve_call(parent) is not None
        ):
          continue  # the first argument of a getattr: the call is the longer chain
        symbol = self.resolve(node)
        if symbol is not None and symbols.is_tensorflow(symbol):
          found.append(Use(symbol, node, self.span(node)))
      elif (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and not isinstance(self.parents.get(node), ast.Attribute)
      ):
        symbol = self._resolve_call(node)
        if node.func.id == "getattr" and symbol is not None and symbols.is_tensorflow(symbol):
          found.append(Use(symbol, node, self.span(node)))
    return sorted(found, key=lambda u: (u.span.line, u.span.column))

  def _import_uses(self, node) -> Iterator[Use]:
    for alias in node.names:
      target = alias.name
      if isinstance(node, ast.ImportFrom):
        if node.level:
          continue
        target = node.module or ""
        if alias.name != "*":
          target += "." + alias.name
      symbol = symbols.canonical(target)
      if symbols.is_tensorflow(symbol):
        place = alias if hasattr(alias, "lineno") else node  # no places before Python 3.10
        yield Use(symbol, node, self.span(place), certain=alias.name != "*")

  # -- values -----------------------------------------------------------------

  def definition(self, node: ast.AST) -> Optional[ast.AST]:
    """What a name is bound to when it is bound exactly once: an expression, a def or class.

    An expression that is no name is its own definition. None when it cannot be known.
    """
    seen = set()
    while isinstance(node, ast.Name):
      if id(node) in seen:
        return None
      seen.add(id(node))
      _, bindings = self.scope_of.get(node, self.root).lookup(node.id)
      if len(bindings) != 1:
        return None
      binding = bindings[0]
      if binding.kind in ("def", "class"):
        return binding.node
      if binding.kind != "assign" or binding.value is None:
        return None
      node = binding.value
    return node

  def constant(self, node: Optional[ast.AST]) -> Any:
    """The literal value of an expression, or UNKNOWN.

    Knows literals, containers of them, arithmetic of numbers, and names bound once to such
    at module or function level.
    """
    if node is None:
      return UNKNOWN
    node = self.definition(node)
    if node is None:
      return UNKNOWN
    try:
      return ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
      return self._compute(node)

  def _compute(self, node: ast.AST) -> Any:
    if isinstance(node, (ast.List, ast.Tuple)):
      values = [self.constant(e) for e in node.elts]
      if any(v is UNKNOWN for v in values):
        return UNKNOWN
      return values if isinstance(node, ast.List) else tuple(values)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "len":
      _, bindings = self.scope_of.get(node, self.root).lookup("len")
      value = self.constant(node.args[0]) if len(node.args) == 1 and not bindings else UNKNOWN
      return len(value) if isinstance(value, (list, tuple, dict, str, set)) else UNKNOWN
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
      value = self.constant(node.operand)
      return -value if isinstance(value, (int, float)) else UNKNOWN
    if isinstance(node, ast.BinOp):
      left, right = self.constant(node.left), self.constant(node.right)
      if not isinstance(left, (int, float)) or not isinstance(right, (int, float)):
        return UNKNOWN
      try:
        if isinstance(node.op, ast.Add):
          return left + right
        if isinstance(node.op, ast.Sub):
          return left - right
        if isinstance(node.op, ast.Mult):
          return left * right
        if isinstance(node.op, ast.Div):
          return left / right
        if isinstance(node.op, ast.FloorDiv):
          return left // right
      except ZeroDivisionError:
        return UNKNOWN
    return UNKNOWN
