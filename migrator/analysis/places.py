"""Where the nodes of a module stand: their parents and scopes.

Recording them for every node costs more than parsing. Most files matter at a few lines only, so
the statements of those lines are recorded first, and others when somebody asks for their nodes.
"""

from __future__ import annotations

import ast
import bisect
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Optional, TypeVar

from migrator.analysis import scopes

_Value = TypeVar("_Value")
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


# The fields of the types of nodes that hold nodes to record; filled as types are met.
_FIELDS: dict[type, tuple[str, ...]] = {}
_PLAIN_FIELDS = ("ctx", "op", "ops", "id", "attr", "arg", "kind", "type_comment")


# Where the nodes of the most frequent expressions are, and nothing else.
_PARTS: dict[type, tuple[str, ...]] = {
  ast.Call: ("func", "args", "keywords"),
  ast.keyword: ("value",),
  ast.BinOp: ("left", "right"),
  ast.BoolOp: ("values",),
  ast.UnaryOp: ("operand",),
  ast.Compare: ("left", "comparators"),
  ast.Subscript: ("value", "slice"),
  ast.Tuple: ("elts",),
  ast.List: ("elts",),
  ast.Dict: ("keys", "values"),
  ast.IfExp: ("test", "body", "orelse"),
  ast.JoinedStr: ("values",),
  ast.FormattedValue: ("value", "format_spec"),
  ast.Starred: ("value",),
  ast.Slice: ("lower", "upper", "step"),
}


def _children(node: ast.AST) -> list[ast.AST]:
  """The nodes in a node, without operators and contexts; faster than `ast.iter_child_nodes`."""
  kind = type(node)
  fields = _FIELDS.get(kind)
  if fields is None:
    fields = _FIELDS[kind] = tuple(f for f in kind._fields if f not in _PLAIN_FIELDS)
  found = []
  for field in fields:
    value = getattr(node, field, None)
    if type(value) is list:
      found += [item for item in value if isinstance(item, ast.AST)]
    elif isinstance(value, ast.AST):
      found.append(value)
  return found


class Record:
  """The parents and scopes of nodes, in the order of the source.

  Attributes:
    parents: by node; operators and contexts (`ast.Load`) have none.
    scope_of: by node.
  """

  def __init__(self, found: scopes.Scopes):
    self._scopes = found
    self.parents: dict[ast.AST, ast.AST] = {}
    self.scope_of: dict[ast.AST, scopes.Scope] = {}

  def block(
    self,
    statements: Iterable[ast.stmt],
    parent: ast.AST,
    scope: scopes.Scope,
    lines: Optional[Sequence[int]] = None,
  ) -> None:
    """Records the statements of a block that stand on one of the lines (None: on any), in order."""
    for statement in statements:
      if lines is not None:
        first = statement.lineno
        decorators = getattr(statement, "decorator_list", None)
        if decorators:
          first = min(first, decorators[0].lineno)
        place = bisect.bisect_left(lines, first)
        if place == len(lines):
          return  # as what follows
        if lines[place] > (statement.end_lineno or first):
          continue
      if statement not in self.parents:
        self.parents[statement] = parent
        self.scope_of[statement] = scope
        self._head(statement, scope)
      self._bodies(statement, scope, lines)

  def _bodies(self, node: ast.AST, scope: scopes.Scope, lines: Optional[Sequence[int]]) -> None:
    """Records the blocks of a compound statement, a handler or a case."""
    if isinstance(node, (*_FUNCTIONS, ast.ClassDef)):
      self.block(node.body, node, self._scopes.enter(node, scope), lines)
      return
    for field in ("body", "handlers", "cases", "orelse", "finalbody"):
      for child in getattr(node, field, ()):
        if isinstance(child, ast.stmt):
          self.block((child,), node, scope, lines)
        else:
          self._bodies(child, scope, lines)

  def _head(self, statement: ast.AST, scope: scopes.Scope) -> None:
    """Records a statement without the statements in it."""
    if isinstance(statement, _FUNCTIONS):
      parts = [*statement.decorator_list, *getattr(statement, "type_params", ())]
      if statement.returns is not None:
        parts.append(statement.returns)
      for part in parts:
        self._tree(part, statement, scope)
      self._arguments(statement.args, statement, scope)
      return
    for child in _children(statement):
      if isinstance(child, ast.stmt):
        continue
      if isinstance(child, ast.ExceptHandler) or type(child).__name__ == "match_case":
        self.parents[child] = statement
        self.scope_of[child] = scope
        self._head(child, scope)
      else:
        self._tree(child, statement, scope)

  def _arguments(self, node: ast.arguments, parent: ast.AST, scope: scopes.Scope) -> None:
    """Records parameters: they, their defaults and annotations belong to the scope outside."""
    self.parents[node] = parent
    self.scope_of[node] = scope
    for child in ast.iter_child_nodes(node):
      self._tree(child, node, scope)

  def _tree(self, top: ast.AST, above: ast.AST, around: scopes.Scope) -> None:
    """Records an expression with all that is in it."""
    parents, scope_of = self.parents, self.scope_of
    stack = [(top, above, around)]
    while stack:
      node, parent, scope = stack.pop()
      parents[node] = parent
      scope_of[node] = scope
      kind = type(node)
      if kind is ast.Name or kind is ast.Constant:
        continue
      if kind is ast.Attribute:
        stack.append((node.value, node, scope))  # type: ignore[attr-defined]
        continue
      fields = _PARTS.get(kind)
      if fields is not None:
        for field in reversed(fields):
          value = getattr(node, field)
          if value.__class__ is list:
            stack += [(child, node, scope) for child in reversed(value) if child is not None]
          elif value is not None:
            stack.append((value, node, scope))
      elif kind is ast.Lambda:
        inner = self._scopes.enter(node, scope)
        self._arguments(node.args, node, scope)  # type: ignore[attr-defined]
        stack.append((node.body, node, inner))  # type: ignore[attr-defined]
      elif kind in scopes.COMPREHENSIONS:
        self._comprehension(node, scope)
      else:
        stack += [(child, node, scope) for child in _children(node)[::-1]]

  def _comprehension(self, node, scope: scopes.Scope) -> None:
    inner = self._scopes.enter(node, scope)
    for i, generator in enumerate(node.generators):
      # The first iterable is evaluated outside.
      self._tree(generator.iter, generator, inner if i else scope)
      self.parents[generator] = node
      self.scope_of[generator] = inner
      for part in (generator.target, *generator.ifs):
        self._tree(part, generator, inner)
    for field in ("key", "value", "elt"):
      if hasattr(node, field):
        self._tree(getattr(node, field), node, inner)


class Places:
  """The parents and scopes of the nodes of a module, recorded when they are asked for.

  Args:
    tree: the module.
    found: its scopes.
  """

  def __init__(self, tree: ast.Module, found: scopes.Scopes):
    self._tree = tree
    self._scopes = found
    self._some = Record(found)
    self._some.scope_of[tree] = found.root
    self._lines: set[int] = set()  # whose statements it has
    self._all: Optional[Record] = None
    self.parents: _Lazy[ast.AST] = _Lazy(self, "parents")
    self.scope_of: _Lazy[scopes.Scope] = _Lazy(self, "scope_of")
    self._show(self._some)

  def _show(self, record: Record) -> None:
    """Lets the mappings look into a record first."""
    self.parents.found = record.parents
    self.scope_of.found = record.scope_of

  def at(self, lines: Iterable[int]) -> Record:
    """The record of at least the statements that stand on these lines."""
    if self._all is not None:
      return self._all
    more = sorted(set(lines) - self._lines)
    if more:
      self._lines.update(more)
      self._some.block(self._tree.body, self._tree, self._scopes.root, more)
    return self._some

  def all(self) -> Record:
    """The record of all nodes, each statement before what is in it."""
    if self._all is None:
      record = Record(self._scopes)
      record.scope_of[self._tree] = self._scopes.root
      record.block(self._tree.body, self._tree, self._scopes.root)
      self._all = record
      self._show(record)
    return self._all

  def release(self) -> None:
    """Forgets all nodes; nothing can be asked afterwards."""
    self._some = Record(self._scopes)
    self._all = None
    self._show(self._some)
    self._tree = ast.Module([], [])

  def of(self, node: ast.AST) -> Record:
    """The record that has the node, if it is a node of the module."""
    if self._all is not None:
      return self._all
    if node is self._tree or node in self._some.parents:
      return self._some
    line = getattr(node, "lineno", None)
    return self.all() if line is None else self.at((line,))


class _Lazy(Mapping[ast.AST, _Value]):
  """A mapping of a record that is complete only once somebody goes through it."""

  def __init__(self, places: Places, name: str):
    self._places = places
    self._name = name
    self.found: dict[ast.AST, _Value] = {}  # of the present record

  def get(self, node, default=None):
    value = self.found.get(node)
    if value is not None:
      return value
    return getattr(self._places.of(node), self._name).get(node, default)

  def __getitem__(self, node: ast.AST) -> _Value:
    value = self.found.get(node)
    if value is not None:
      return value
    return getattr(self._places.of(node), self._name)[node]

  def __contains__(self, node: object) -> bool:
    return isinstance(node, ast.AST) and self.get(node) is not None

  def __iter__(self) -> Iterator[ast.AST]:
    return iter(getattr(self._places.all(), self._name))

  def __len__(self) -> int:
    return len(getattr(self._places.all(), self._name))
