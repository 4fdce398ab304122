"""Scopes and bindings of one module: which definitions a name can mean.

The rules are those of the language reference, section "Naming and binding"
(https://docs.python.org/3/reference/executionmodel.html): class bodies are invisible to
the functions inside them, comprehensions have their own scope except for their first
iterable, `global` and `nonlocal` redirect a binding.

The bindings of a scope are read when somebody first asks for them: most scopes of a file hold
nothing of interest, and nobody asks.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Optional

from migrator.analysis import binding

Binding = binding.Binding
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


class Scope:
  """A module, class, function, lambda or comprehension with its bindings.

  Attributes:
    node: what opens the scope.
    parent: the scope around it; None for the module.
  """

  def __init__(self, node: ast.AST, parent: Optional[Scope], program: Scopes):
    self.node = node
    self.parent = parent
    self._program = program
    self._names: Optional[binding.Names] = None

  @property
  def is_class(self) -> bool:
    return isinstance(self.node, ast.ClassDef)

  @property
  def is_module(self) -> bool:
    return isinstance(self.node, ast.Module)

  @property
  def names(self) -> binding.Names:
    """What the scope binds, redirects and imports by star."""
    names = self._names
    if names is None:
      names = self._program.read(self)
    return names

  @property
  def bindings(self) -> dict[str, list[Binding]]:
    """The bindings by name, each list in the order of the source."""
    return self.names.bindings

  @property
  def redirected(self) -> dict[str, Scope]:
    """The scopes that own the names of `global` and `nonlocal` statements."""
    return self._program.redirects(self)

  @property
  def star_imports(self) -> list[str]:
    return self.names.star_imports

  def module(self) -> Scope:
    scope = self
    while scope.parent is not None:
      scope = scope.parent
    return scope

  def lookup(self, name: str) -> tuple[Optional[Scope], list[Binding]]:
    """Returns the scope that defines `name`, seen from here, and its bindings."""
    if self._program.redirecting and name in self.redirected:
      owner = self.redirected[name]
      return owner, owner.bindings.get(name, [])
    scope: Optional[Scope] = self
    while scope is not None:
      found = (scope._names or scope.names).bindings
      if name in found and (scope is self or not scope.is_class):
        return scope, found[name]
      scope = scope.parent
    return None, []

  def chain(self) -> Iterator[Scope]:
    scope: Optional[Scope] = self
    while scope is not None:
      yield scope
      scope = scope.parent


class Scopes:
  """All scopes of a module.

  Args:
    tree: the module.
    text: its source; it tells what need not be looked for.

  Attributes:
    root: the scope of the module.
    known: the scopes that were entered so far, by what opens them.
  """

  def __init__(self, tree: ast.Module, text: str):
    self._walrus = ":=" in text
    # With `global` and `nonlocal`, what a scope binds depends on the scopes inside it.
    self.redirecting = binding.redirects(text)
    self._owners: Optional[dict[Scope, dict[str, Scope]]] = None
    self.known: dict[ast.AST, Scope] = {}
    self.root = self.enter(tree, None)

  def enter(self, node: ast.AST, parent: Optional[Scope]) -> Scope:
    """The scope that a node opens; always the same one."""
    scope = self.known.get(node)
    if scope is None:
      scope = self.known[node] = Scope(node, parent, self)
    return scope

  def release(self) -> None:
    """Forgets all scopes, which hold the tree and each other."""
    for scope in self.known.values():
      vars(scope).clear()
    self.known.clear()

  def read(self, scope: Scope) -> binding.Names:
    """Reads what a scope binds."""
    if self.redirecting:
      self._resolve_redirects()
      if scope._names is not None:
        return scope._names
    scope._names = binding.read(scope.node, self._walrus)
    return scope._names

  def redirects(self, scope: Scope) -> dict[str, Scope]:
    """The owners of the names that `global` and `nonlocal` redirect in a scope."""
    if not self.redirecting:
      return {}
    return self._resolve_redirects().get(scope, {})

  def _resolve_redirects(self) -> dict[Scope, dict[str, Scope]]:
    """Moves the bindings that `global` and `nonlocal` redirect to the scopes that own them."""
    if self._owners is None:
      self._owners = {}
      moved: list[list[Binding]] = []
      self._redirect(self.root, self._owners, moved)
      for bindings in moved:
        bindings.sort(key=lambda b: b.node.lineno)  # type: ignore[attr-defined]
    return self._owners

  def _redirect(self, scope: Scope, owners: dict, moved: list) -> None:
    scope._names = names = binding.read(scope.node, self._walrus)
    own: dict[str, Scope] = {}
    for name in names.globals:
      own[name] = self.root
    for name in names.nonlocals:
      owner, _ = scope.parent.lookup(name) if scope.parent else (None, [])
      if owner is not None:
        own[name] = owner
    if own:
      owners[scope] = own
      for name, owner in own.items():
        if owner is not scope and name in names.bindings:
          target = owner.bindings.setdefault(name, [])
          target += names.bindings.pop(name)
          moved.append(target)
    for node in names.inner:
      self._redirect(self.enter(node, scope), owners, moved)
