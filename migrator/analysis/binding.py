"""What the statements of one scope bind."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from typing import Any, Optional

_REDIRECT = re.compile(r"(?:[\n;:][ \t]*)(?:global|nonlocal)[ \t\\]")


class Binding:
  """One place that gives a name a meaning.

  Attributes:
    name: the bound name.
    kind: "import", "assign", "def", "class", "param", "loop" or "other".
    node: the statement (or parameter) that binds.
    value: the bound expression, for a plain `name = value`; else None.
    target: dotted import target, for an import, for example "tensorflow.compat.v1".
    guarded: whether the binding stands under a condition (`if`, `try`, a loop).
  """

  __slots__ = ("guarded", "kind", "name", "node", "target", "value")

  def __init__(
    self,
    name: str,
    kind: str,
    node: ast.AST,
    value: Optional[ast.expr] = None,
    target: str = "",
    guarded: bool = False,
  ):
    self.name = name
    self.kind = kind
    self.node = node
    self.value = value
    self.target = target
    self.guarded = guarded


def redirects(text: str) -> bool:
  """Whether a text may have a `global` or `nonlocal` statement."""
  return ("global" in text or "nonlocal" in text) and _REDIRECT.search(text) is not None


class Names:
  """What one scope binds.

  Attributes:
    bindings: by name, in the order of the source.
    star_imports: the modules of `from module import *`.
    globals, nonlocals: names of these statements.
    inner: the functions and classes that stand in the scope.
  """

  def __init__(self) -> None:
    self.bindings: dict[str, list[Binding]] = {}
    self.star_imports: list[str] = []
    self.globals: list[str] = []
    self.nonlocals: list[str] = []
    self.inner: list[ast.AST] = []


def read(node: ast.AST, walrus: bool) -> Names:
  """Reads what a scope binds.

  Args:
    node: the module, class, function, lambda or comprehension.
    walrus: whether the source has `:=` anywhere.
  """
  reader = _Reader(walrus)
  if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
    reader.parameters(node.args)
  if isinstance(node, ast.Lambda):
    reader.expressions(node.body)
  elif isinstance(node, (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)):
    for generator in node.generators:
      reader.target(generator.target, "loop", generator)
  else:
    reader.body(node.body)  # type: ignore[attr-defined]
  return reader.names


class _Reader:
  """Reads statements in the order of the source."""

  def __init__(self, walrus: bool):
    self.names = Names()
    self._walrus = walrus
    self._guards = 0

  def bind(self, name: str, kind: str, node: ast.AST, value=None, target: str = "") -> None:
    found = Binding(name, kind, node, value, target, self._guards > 0)
    self.names.bindings.setdefault(name, []).append(found)

  def parameters(self, arguments: ast.arguments) -> None:
    for argument in arguments.posonlyargs + arguments.args + arguments.kwonlyargs:
      self.bind(argument.arg, "param", argument)
    for variadic in (arguments.vararg, arguments.kwarg):
      if variadic is not None:
        self.bind(variadic.arg, "param", variadic)

  def body(self, statements: Sequence[ast.stmt]) -> None:
    for statement in statements:
      if self._walrus:
        self.expressions(statement)
      read_statement = _READERS.get(type(statement))
      if read_statement is not None:
        read_statement(self, statement)

  def expressions(self, node: ast.AST) -> None:
    """Binds the `:=` of an expression, or of the head of a statement, in this scope."""
    stack = [node]
    while stack:
      current = stack.pop()
      if isinstance(current, ast.NamedExpr):
        self.target(current.target, "assign", current, current.value)
      for child in ast.iter_child_nodes(current):
        if isinstance(child, ast.Lambda):
          stack += child.args.defaults
          stack += [d for d in child.args.kw_defaults if d is not None]
        elif not isinstance(child, (ast.stmt, ast.ExceptHandler)) and not _is_case(child):
          stack.append(child)

  def target(self, target: ast.AST, kind: str, node: ast.AST, value: Any = None) -> None:
    """Binds the names of an assignment target."""
    if isinstance(target, ast.Name):
      self.bind(target.id, kind, node, value)
    elif isinstance(target, ast.Starred):
      self.target(target.value, "other", node)
    elif isinstance(target, (ast.Tuple, ast.List)):
      values: list[Optional[ast.expr]] = [None] * len(target.elts)
      if isinstance(value, (ast.Tuple, ast.List)) and len(value.elts) == len(values):
        values = list(value.elts)
      for element, element_value in zip(target.elts, values):
        unpacked = kind if element_value is not None or kind == "loop" else "other"
        self.target(element, unpacked, node, element_value)

  def read_import(self, node: ast.Import) -> None:
    for alias in node.names:
      if alias.asname:
        self.bind(alias.asname, "import", node, target=alias.name)
      else:
        # `import a.b` binds `a`.
        head = alias.name.partition(".")[0]
        self.bind(head, "import", node, target=head)

  def read_import_from(self, node: ast.ImportFrom) -> None:
    module = "." * node.level + (node.module or "")
    for alias in node.names:
      if alias.name == "*":
        self.names.star_imports.append(module)
      else:
        separator = "" if module.endswith(".") or not module else "."
        target = module + separator + alias.name
        self.bind(alias.asname or alias.name, "import", node, target=target)

  def read_assign(self, node: ast.Assign) -> None:
    for target in node.targets:
      self.target(target, "assign", node, node.value)

  def read_annotated(self, node: ast.AnnAssign) -> None:
    if node.value is not None:
      self.target(node.target, "assign", node, node.value)

  def read_augmented(self, node: ast.AugAssign) -> None:
    self.target(node.target, "other", node)

  def read_definition(self, node) -> None:
    self.bind(node.name, "class" if isinstance(node, ast.ClassDef) else "def", node)
    self.names.inner.append(node)

  def read_loop(self, node) -> None:
    self._guards += 1
    self.target(node.target, "loop", node)
    self.body(node.body)
    self.body(node.orelse)
    self._guards -= 1

  def read_guard(self, node) -> None:
    self._guards += 1
    self.body(node.body)
    self.body(node.orelse)
    self._guards -= 1

  def read_try(self, node) -> None:
    self._guards += 1
    self.body(node.body)
    for handler in node.handlers:
      if self._walrus and handler.type is not None:
        self.expressions(handler.type)
      if handler.name:
        self.bind(handler.name, "other", handler)
      self.body(handler.body)
    self.body(node.orelse)
    self.body(node.finalbody)
    self._guards -= 1

  def read_with(self, node) -> None:
    for item in node.items:
      if item.optional_vars is not None:
        self.target(item.optional_vars, "other", node)
    self.body(node.body)

  def read_match(self, node) -> None:
    self._guards += 1
    for case in node.cases:
      for part in ast.walk(case.pattern):
        name = getattr(part, "name", None) or getattr(part, "rest", None)
        if isinstance(name, str):
          self.bind(name, "other", part)
      if self._walrus and case.guard is not None:
        self.expressions(case.guard)
      self.body(case.body)
    self._guards -= 1

  def read_delete(self, node: ast.Delete) -> None:
    for target in node.targets:
      self.target(target, "other", node)

  def read_global(self, node: ast.Global) -> None:
    self.names.globals += node.names

  def read_nonlocal(self, node: ast.Nonlocal) -> None:
    self.names.nonlocals += node.names


def _is_case(node: ast.AST) -> bool:
  return type(node).__name__ == "match_case"  # ast has it from Python 3.10


_READERS: dict[type, Any] = {
  ast.Import: _Reader.read_import,
  ast.ImportFrom: _Reader.read_import_from,
  ast.Assign: _Reader.read_assign,
  ast.AnnAssign: _Reader.read_annotated,
  ast.AugAssign: _Reader.read_augmented,
  ast.FunctionDef: _Reader.read_definition,
  ast.AsyncFunctionDef: _Reader.read_definition,
  ast.ClassDef: _Reader.read_definition,
  ast.For: _Reader.read_loop,
  ast.AsyncFor: _Reader.read_loop,
  ast.If: _Reader.read_guard,
  ast.While: _Reader.read_guard,
  ast.Try: _Reader.read_try,
  ast.With: _Reader.read_with,
  ast.AsyncWith: _Reader.read_with,
  ast.Delete: _Reader.read_delete,
  ast.Global: _Reader.read_global,
  ast.Nonlocal: _Reader.read_nonlocal,
}
for _name, _function in (("TryStar", _Reader.read_try), ("Match", _Reader.read_match)):
  if hasattr(ast, _name):  # Python 3.11, 3.10
    _READERS[getattr(ast, _name)] = _function
