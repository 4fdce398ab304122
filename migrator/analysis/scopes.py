"""Scopes and bindings of one module: which definitions a name can mean.

The rules are those of the language reference, section "Naming and binding"
(https://docs.python.org/3/reference/executionmodel.html): class bodies are invisible to
the functions inside them, comprehensions have their own scope except for their first
iterable, `global` and `nonlocal` redirect a binding.
"""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Iterator
from typing import Optional

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


@dataclasses.dataclass(eq=False)
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

  name: str
  kind: str
  node: ast.AST
  value: Optional[ast.expr] = None
  target: str = ""
  guarded: bool = False


class Scope:
  """A module, class, function, lambda or comprehension with its bindings."""

  def __init__(self, node: ast.AST, parent: Optional[Scope]):
    self.node = node
    self.parent = parent
    self.bindings: dict[str, list[Binding]] = {}
    self.redirected: dict[str, Scope] = {}
    self.star_imports: list[str] = []

  @property
  def is_class(self) -> bool:
    return isinstance(self.node, ast.ClassDef)

  @property
  def is_module(self) -> bool:
    return isinstance(self.node, ast.Module)

  def module(self) -> Scope:
    scope = self
    while scope.parent is not None:
      scope = scope.parent
    return scope

  def bind(self, binding: Binding) -> None:
    owner = self.redirected.get(binding.name, self)
    owner.bindings.setdefault(binding.name, []).append(binding)

  def lookup(self, name: str) -> tuple[Optional[Scope], list[Binding]]:
    """Returns the scope that defines `name`, seen from here, and its bindings."""
    if name in self.redirected:
      owner = self.redirected[name]
      return owner, owner.bindings.get(name, [])
    scope: Optional[Scope] = self
    while scope is not None:
      if name in scope.bindings and (scope is self or not scope.is_class):
        return scope, scope.bindings[name]
      scope = scope.parent
    return None, []

  def chain(self) -> Iterator[Scope]:
    scope: Optional[Scope] = self
    while scope is not None:
      yield scope
      scope = scope.parent


class ScopeBuilder(ast.NodeVisitor):
  """Builds the scope tree; `scope_of` maps each Name, Attribute, Call, ... to its scope."""

  def __init__(self, tree: ast.Module):
    self.root = Scope(tree, None)
    self.scope_of: dict[ast.AST, Scope] = {}
    self.scopes: dict[ast.AST, Scope] = {tree: self.root}
    self.parents: dict[ast.AST, ast.AST] = {}
    self._scope = self.root
    self._guards = 0
    self.visit(tree)

  def visit(self, node: ast.AST) -> None:
    self.scope_of[node] = self._scope
    for child in ast.iter_child_nodes(node):
      self.parents[child] = node
    super().visit(node)

  def _adopt(self, node: ast.AST) -> None:
    """Notes the parent of the children of a node that is not visited as a whole."""
    self.scope_of[node] = self._scope
    for child in ast.iter_child_nodes(node):
      self.parents[child] = node

  def _bind(self, name: str, kind: str, node: ast.AST, **more) -> None:
    self._scope.bind(Binding(name, kind, node, guarded=self._guards > 0, **more))

  def _bind_target(self, target: ast.AST, kind: str, node: ast.AST, value=None) -> None:
    if isinstance(target, ast.Name):
      self._bind(target.id, kind, node, value=value)
    elif isinstance(target, ast.Starred):
      self._bind_target(target.value, "other", node)
    elif isinstance(target, (ast.Tuple, ast.List)):
      values: list[Optional[ast.expr]] = [None] * len(target.elts)
      if isinstance(value, (ast.Tuple, ast.List)) and len(value.elts) == len(values):
        values = list(value.elts)
      for element, element_value in zip(target.elts, values):
        unpacked = kind if element_value is not None or kind == "loop" else "other"
        self._bind_target(element, unpacked, node, element_value)

  def visit_Import(self, node: ast.Import) -> None:
    for alias in node.names:
      if alias.asname:
        self._bind(alias.asname, "import", node, target=alias.name)
      else:
        # `import a.b` binds `a`.
        self._bind(alias.name.split(".")[0], "import", node, target=alias.name.split(".")[0])

  def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
    module = "." * node.level + (node.module or "")
    for alias in node.names:
      if alias.name == "*":
        self._scope.star_imports.append(module)
      else:
        separator = "" if module.endswith(".") or not module else "."
        self._bind(
          alias.asname or alias.name, "import", node, target=module + separator + alias.name
        )

  def visit_Assign(self, node: ast.Assign) -> None:
    self.visit(node.value)
    for target in node.targets:
      self._bind_target(target, "assign", node, node.value)
      self.visit(target)

  def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
    self.visit(node.annotation)
    if node.value is not None:
      self.visit(node.value)
      self._bind_target(node.target, "assign", node, node.value)
    self.visit(node.target)

  def visit_AugAssign(self, node: ast.AugAssign) -> None:
    self._bind_target(node.target, "other", node)
    self.generic_visit(node)

  def visit_NamedExpr(self, node: ast.NamedExpr) -> None:
    scope = self._scope
    while isinstance(self._scope.node, _COMPREHENSIONS) and self._scope.parent:
      self._scope = self._scope.parent
    self._bind_target(node.target, "assign", node, node.value)
    self._scope = scope
    self.generic_visit(node)

  def _visit_loop(self, node) -> None:
    self.visit(node.iter)
    self._guards += 1
    self._bind_target(node.target, "loop", node)
    self.visit(node.target)
    for child in node.body + node.orelse:
      self.visit(child)
    self._guards -= 1

  visit_For = _visit_loop
  visit_AsyncFor = _visit_loop

  def _visit_guard(self, node) -> None:
    self._guards += 1
    self.generic_visit(node)
    self._guards -= 1

  visit_If = _visit_guard
  visit_While = _visit_guard
  visit_Try = _visit_guard
  visit_TryStar = _visit_guard
  visit_Match = _visit_guard

  def visit_With(self, node) -> None:
    for item in node.items:
      if item.optional_vars is not None:
        self._bind_target(item.optional_vars, "other", node)
    self.generic_visit(node)

  visit_AsyncWith = visit_With

  def visit_ExceptHandler(self, node: ast.ExceptHandler) -> None:
    if node.name:
      self._bind(node.name, "other", node)
    self.generic_visit(node)

  def visit_MatchAs(self, node) -> None:
    if node.name:
      self._bind(node.name, "other", node)
    self.generic_visit(node)

  def visit_MatchStar(self, node) -> None:
    if node.name:
      self._bind(node.name, "other", node)

  def visit_Delete(self, node: ast.Delete) -> None:
    for target in node.targets:
      self._bind_target(target, "other", node)
    self.generic_visit(node)

  def visit_Global(self, node: ast.Global) -> None:
    for name in node.names:
      self._scope.redirected[name] = self.root

  def visit_Nonlocal(self, node: ast.Nonlocal) -> None:
    for name in node.names:
      owner, _ = self._scope.parent.lookup(name) if self._scope.parent else (None, [])
      if owner is not None:
        self._scope.redirected[name] = owner

  def _enter(self, node: ast.AST) -> Scope:
    scope = Scope(node, self._scope)
    self.scopes[node] = scope
    return scope

  def _visit_function(self, node) -> None:
    arguments = node.args
    if not isinstance(node, ast.Lambda):
      self._bind(node.name, "def", node)
      for decorator in node.decorator_list:
        self.visit(decorator)
      if node.returns is not None:
        self.visit(node.returns)
    # `arguments` is not visited as a node: its parts belong to two scopes.
    self._adopt(arguments)
    parameters = arguments.posonlyargs + arguments.args + arguments.kwonlyargs
    variadic = [a for a in (arguments.vararg, arguments.kwarg) if a is not None]
    for expression in [*arguments.defaults, *arguments.kw_defaults]:
      if expression is not None:
        self.visit(expression)
    for parameter in parameters + variadic:
      self._adopt(parameter)
      if parameter.annotation is not None:
        self.visit(parameter.annotation)
    outer, guards = self._scope, self._guards
    self._scope, self._guards = self._enter(node), 0
    for parameter in parameters + variadic:
      self._bind(parameter.arg, "param", parameter)
    body = [node.body] if isinstance(node, ast.Lambda) else node.body
    self._predeclare(body)
    for child in body:
      self.visit(child)
    self._scope, self._guards = outer, guards

  visit_FunctionDef = _visit_function
  visit_AsyncFunctionDef = _visit_function
  visit_Lambda = _visit_function

  def _predeclare(self, body) -> None:
    """`global` may follow a use in the text of the function: read it first."""
    for statement in body:
      for node in ast.walk(statement) if isinstance(statement, ast.stmt) else ():
        if isinstance(node, ast.Global):
          self.visit_Global(node)

  def visit_ClassDef(self, node: ast.ClassDef) -> None:
    self._bind(node.name, "class", node)
    for child in [*node.decorator_list, *node.bases, *node.keywords]:
      self.visit(child)
    outer, guards = self._scope, self._guards
    self._scope, self._guards = self._enter(node), 0
    for child in node.body:
      self.visit(child)
    self._scope, self._guards = outer, guards

  def _visit_comprehension(self, node) -> None:
    # The first iterable is evaluated outside.
    self.visit(node.generators[0].iter)
    outer, guards = self._scope, self._guards
    self._scope, self._guards = self._enter(node), 0
    for i, generator in enumerate(node.generators):
      self._adopt(generator)
      if i:
        self.visit(generator.iter)
      self._bind_target(generator.target, "loop", generator)
      self.visit(generator.target)
      for condition in generator.ifs:
        self.visit(condition)
    for field in ("key", "value", "elt"):
      if hasattr(node, field):
        self.visit(getattr(node, field))
    self._scope, self._guards = outer, guards

  visit_ListComp = _visit_comprehension
  visit_SetComp = _visit_comprehension
  visit_DictComp = _visit_comprehension
  visit_GeneratorExp = _visit_comprehension
