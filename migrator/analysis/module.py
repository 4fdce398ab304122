"""One parsed file: its tree, scopes, and what its names and expressions mean."""

from __future__ import annotations

import ast
import functools
import warnings
from collections.abc import Container, Iterable, Iterator, Mapping
from typing import Any, NamedTuple, Optional

from migrator.analysis import aliases, constants, places, symbols
from migrator.analysis.binding import Binding
from migrator.analysis.constants import UNKNOWN
from migrator.analysis.scopes import Scope, Scopes
from migrator.analysis.span import Span


class Use(NamedTuple):
  """A name or attribute chain that means a TensorFlow symbol.

  `certain` is False where the name may come from a star import.
  """

  symbol: symbols.Symbol
  node: ast.AST
  span: Span
  certain: bool = True


class Module:
  """The meaning of one source text.

  Attributes:
    text, filename: as given.
    parsed: the text of the tree.
    tree: the syntax tree.
    root: the scope of the module.
    parents: the node above a node; going through all of them is slow, asking for one is not.
    scope_of: the scope in which a node is evaluated; likewise.

  Args:
    text: the source.
    filename: for messages.
    shortened: what is parsed instead of the text: the same lines, without parts in which nothing
      of interest stands. None: the text.
    lines: the lines on which `uses` has to find what it finds; None: all.
    names: the names that can stand for what `uses` has to find, where no call imports a module;
      None: any.

  Raises:
    SyntaxError: the text is not valid Python for the running interpreter.
  """

  def __init__(
    self,
    text: str,
    filename: str = "<text>",
    *,
    shortened: Optional[str] = None,
    lines: Optional[Iterable[int]] = None,
    names: Optional[Container[str]] = None,
  ):
    self.text = text
    self.filename = filename
    self.parsed = parsed = text if shortened is None else shortened
    with warnings.catch_warnings():
      # "\d" in old code warns, and would raise under -W error.
      warnings.simplefilter("ignore")
      self.tree = ast.parse(parsed, filename)
    self._lines = lines
    self._names = names
    self._scopes = Scopes(self.tree, parsed)
    self._places = places.Places(self.tree, self._scopes)
    self.root = self._scopes.root
    self.parents = self._places.parents
    self.scope_of = self._places.scope_of
    self._resolved: dict[tuple[int, str], Optional[symbols.Symbol]] = {}
    # The same by the scope that looks, for names that mean the same at all places of it.
    self._everywhere: dict[tuple[Scope, str], Optional[symbols.Symbol]] = {}
    self._pending: set[int] = set()
    self.class_attributes: dict[ast.ClassDef, dict[str, list[ast.expr]]] = {}  # of `aliases`
    self.pending_attributes: set[str] = set()
    self.aliased_attributes: Optional[frozenset[str]] = None

  @functools.cached_property
  def lines(self) -> list[str]:
    """The lines of the text with their ends."""
    return self.text.splitlines(keepends=True)

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
    text = self.text
    if "\r" in text:
      text = text.replace("\r\n", "\n").replace("\r", "\n")
    return text.split("\n")

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

  @property
  def scopes(self) -> Mapping[ast.AST, Scope]:
    """All scopes by the nodes that open them."""
    self._places.all()
    return self._scopes.known

  def nodes(self) -> Iterable[ast.AST]:
    """The nodes of the statements that are of interest, in the order of the source."""
    return self._record.scope_of

  @property
  def _record(self) -> places.Record:
    return self._places.all() if self._lines is None else self._places.at(self._lines)

  def release(self) -> None:
    """Lets go of the syntax tree. The module holds it in cycles, and it is large."""
    self._places.release()
    self._scopes.release()

  def ancestors(self, node: ast.AST) -> Iterator[ast.AST]:
    parent = self.parents.get(node)
    while parent is not None:
      yield parent
      parent = self.parents.get(parent)

  def statement(self, node: ast.AST) -> ast.stmt:
    """The innermost statement that holds the node."""
    while not isinstance(node, ast.stmt):
      node = self.parents[node]
    return node

  # -- symbols ----------------------------------------------------------------

  def resolve(self, node: ast.AST) -> Optional[symbols.Symbol]:
    """The symbol that a Name or Attribute means, or None.

    Follows imports, `alias = tf.estimator`, also as an attribute of a class or behind a
    condition, and `importlib.import_module("...")`. A name with several meanings has the first
    TensorFlow one (`try: import` ... `except`), that of `compat.v1` where one of them is
    (`if tf.__version__ >= "2": tf = tf.compat.v1`).
    """
    if isinstance(node, ast.Attribute):
      base = self.resolve(node.value)
      return aliases.attribute(self, node) if base is None else base.attribute(node.attr)
    if isinstance(node, ast.Call):
      return aliases.call(self, node)
    if isinstance(node, (ast.IfExp, ast.BoolOp, ast.NamedExpr)):
      return aliases.choice(self, node)
    if not isinstance(node, ast.Name):
      return None
    here = self.scope_of.get(node, self.root)
    key = (here, node.id)
    if key in self._everywhere:
      return self._everywhere[key]
    scope, bindings = here.lookup(node.id)
    if len(bindings) > 1 and scope is here:
      seen = aliases.current(bindings, node)
      if len(seen) < len(bindings):
        return self._resolve_bindings(seen)
      return self.resolve_name(node.id, here)
    symbol = self.resolve_name(node.id, here)
    if not self._pending:
      self._everywhere[key] = symbol
    return symbol

  def resolve_name(self, name: str, here: Scope) -> Optional[symbols.Symbol]:
    """The symbol that a name means in a scope, or None; see `resolve`."""
    scope, bindings = here.lookup(name)
    key = (id(scope), name)
    if key not in self._resolved:
      self._resolved[key] = None  # while it is looked for: `a, b = b, a` ends here
      self._resolved[key] = self._resolve_bindings(aliases.final(bindings))
    return self._resolved[key]

  def _resolve_bindings(self, bindings: list[Binding]) -> Optional[symbols.Symbol]:
    # A name that a parameter, class or function also binds has its own meaning.
    if any(b.kind in ("param", "class", "def", "loop") for b in bindings):
      return None
    found = [self._resolve_binding(b) for b in bindings]
    for symbol in found:
      if symbol is not None and symbols.is_tensorflow(symbol):
        return next((s for s in found if s == symbol._replace(api="v1")), symbol)
    return next((s for s in found if s is not None), None)

  def _resolve_binding(self, binding: Binding) -> Optional[symbols.Symbol]:
    if binding.kind == "import":
      if binding.target.startswith("."):
        return None
      return symbols.canonical(binding.target)
    if binding.kind == "assign" and binding.value is not None:
      if id(binding) in self._pending:
        return None  # `tf = tf.compat.v1`: what `tf` was before
      self._pending.add(id(binding))
      try:
        return self.resolve(binding.value)
      finally:
        self._pending.discard(id(binding))
    return None

  def uses(self) -> Iterator[Use]:
    """All places that name a TensorFlow symbol, longest chain only, in source order.

    Import statements give one use per imported symbol, with the span of the alias.
    """
    return iter(self._uses)

  @functools.cached_property
  def _uses(self) -> list[Use]:
    found: list[Use] = []
    record, names = self._record, self._names
    parents = record.parents
    # A list: to resolve a name may record more nodes.
    for node in list(record.scope_of):
      kind = type(node)
      if kind is ast.Name:
        above = parents[node]
        is_head = type(above) is ast.Attribute
        # Also `self.est`, of a class with `est = tf.estimator`.
        if not (
          names is None
          or node.id in names  # type: ignore[attr-defined]
          or (is_head and above.attr in names)  # type: ignore[attr-defined]
        ):
          continue
        if type(node.ctx) is not ast.Load:  # type: ignore[attr-defined]
          continue
        symbol = self.resolve(node)
        if symbol is not None or is_head:
          found += self._chain_uses(node, symbol)
      elif kind is ast.Call:
        # With `names` nothing is imported by a call.
        called = ast.Name if self._names is not None else (ast.Name, ast.Attribute)
        if isinstance(node.func, called) and (  # type: ignore[attr-defined]
          self._names is None or _is_named(node.func, "getattr")  # type: ignore[attr-defined]
        ):
          found += self._chain_uses(node, aliases.call(self, node))  # type: ignore[arg-type]
      elif kind is ast.Import or kind is ast.ImportFrom:
        found += self._import_uses(node)
    return sorted(found, key=lambda u: (u.span.line, u.span.column))

  def may_mean(self, name: str) -> bool:
    """Whether a name can stand for what `uses` has to find; False is certain."""
    return self._names is None or name in self._names

  def _chain_uses(self, root: ast.AST, symbol: Optional[symbols.Symbol]) -> Iterator[Use]:
    """The use of the chain `root.x.y`, if it is one and nothing reports it as a part of more."""
    node, parent = root, self.parents[root]
    if symbol is None and isinstance(parent, ast.Attribute):
      symbol = aliases.attribute(self, parent)
      node, parent = parent, self.parents[parent]
    if symbol is None:
      return
    # tf.train.Saver.save = patched: what is loaded is tf.train.Saver.
    while isinstance(parent, ast.Attribute) and isinstance(parent.ctx, ast.Load):
      symbol = symbol.attribute(parent.attr)
      node, parent = parent, self.parents[parent]
    if not symbols.is_tensorflow(symbol):
      return
    if node is root and isinstance(root, ast.Call) and not _is_named(root.func, "getattr"):
      return  # import_module("tensorflow") alone: what is done with it counts
    if isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Load):
      return
    if (
      not isinstance(node, ast.Call)
      and isinstance(parent, ast.Call)
      and parent.args
      and parent.args[0] is node
      and aliases.call(self, parent) is not None
    ):
      return  # the first argument of a getattr: the call is the longer chain
    yield Use(symbol, node, self.span(node))

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
      return constants.compute(self, node)


def _is_named(node: ast.AST, name: str) -> bool:
  return isinstance(node, ast.Name) and node.id == name
