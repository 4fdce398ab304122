"""What a model_fn, and the functions that it calls, change besides variables of their own.

A model_fn ran once for each graph. Its pieces run once for each trace, and each of them for itself: what
one changes in place, the others do not see; what lasts longer than a call is changed again and again.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from typing import Optional

from migrator.analysis.binding import Binding
from migrator.analysis.model_fns.flow import CHANGING
from migrator.analysis.model_fns.modes import Function, Unreadable
from migrator.analysis.module import Module

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_OUTER = (ast.Global, ast.Nonlocal, ast.Yield, ast.YieldFrom, ast.Await, ast.NamedExpr, ast.Delete)
# Methods of variables; of those in the graph of a Network each is run, fetched or not.
_ASSIGNING = frozenset(
  """assign assign_add assign_sub batch_scatter_update scatter_add scatter_div scatter_max scatter_min
  scatter_mul scatter_nd_add scatter_nd_sub scatter_nd_update scatter_sub scatter_update""".split()
)
_ALIASES = (ast.Name, ast.Attribute, ast.Subscript, ast.IfExp, ast.BoolOp, ast.Starred)


def check(module: Module, function: Function, codes: Iterable[ast.AST]) -> None:
  """Checks that nothing but what a function has made itself is changed.

  Args:
    module: the analysed file.
    function: the model_fn.
    codes: the model_fn, and the functions and classes that it may call.

  Raises:
    Unreadable: with the place.
  """
  changed: set[str] = set()
  for code in codes:
    for node in ast.walk(code):
      if isinstance(node, _OUTER):
        raise Unreadable(node, "it binds variables outside of itself")
      if isinstance(node, ast.Attribute) and node.attr in _ASSIGNING:
        called = module.parents[node]
        if isinstance(called, ast.Call) and called.func is node and module.resolve(node) is None:
          raise Unreadable(node, f"it assigns to variables by itself (`{module.source(node)}`)")
      root = _changed(node)
      if root is not None:
        _check_change(module, function, node, root)
        if module.scope_of[root] is function.scope:
          changed.add(root.id)
  for node in ast.walk(function.node):
    for name in _aliased(node):
      if name.id in changed and module.scope_of[name] is function.scope:
        raise Unreadable(name, f"`{name.id}` is changed, and has another name, too")


def _changed(node: ast.AST) -> Optional[ast.Name]:
  """The variable whose value an expression changes in place, or a part of it."""
  if isinstance(node, (ast.Subscript, ast.Attribute)) and not isinstance(node.ctx, ast.Load):
    inner: ast.AST = node.value
  elif (
    isinstance(node, ast.Call)
    and isinstance(node.func, ast.Attribute)
    and node.func.attr in CHANGING
  ):
    inner = node.func.value
  else:
    return None
  while isinstance(inner, (ast.Subscript, ast.Attribute)):
    inner = inner.value
  return inner if isinstance(inner, ast.Name) else None


def _check_change(module: Module, function: Function, node: ast.AST, root: ast.Name) -> None:
  """Raises unless a change is one of what the function around it has made itself."""
  if module.resolve(root) is not None:  # as `tf.summary.merge.update`, none of a value.
    return
  scope, bindings = module.scope_of[root].lookup(root.id)
  own = next((a for a in module.ancestors(root) if isinstance(a, _FUNCTIONS)), None)
  shown = module.source(node).partition("\n")[0]
  if own is None or scope is not module.scopes.get(own):
    raise Unreadable(node, f"`{shown}` changes what is made outside of its function")
  if own is not function.node:
    is_method = isinstance(module.parents[own], ast.ClassDef)
    if any(b.kind == "param" for b in bindings) and not (is_method and root.id == "self"):
      raise Unreadable(node, f"`{shown}` changes what its function was given")
    return
  part = node.func if isinstance(node, ast.Call) else node
  if getattr(part, "value", None) is not root:
    raise Unreadable(node, f"`{shown}` changes a part of `{root.id}`")
  if root.id in (function.features, "labels") and all(b.kind == "param" for b in bindings):
    return
  if not bindings or not all(_is_new(b) for b in bindings):
    what = "it changes `params`" if root.id == "params" else f"`{shown}` changes `{root.id}`"
    raise Unreadable(node, what)


def _is_new(binding: Binding) -> bool:
  """Whether a variable gets a value that nothing else has."""
  if isinstance(binding.node, ast.AugAssign):
    return True
  return (
    binding.kind == "assign"
    and binding.value is not None
    and not isinstance(binding.value, _ALIASES)
  )


def _aliased(node: ast.AST) -> Iterator[ast.Name]:
  """The variables whose values get another name by a statement."""
  if not isinstance(node, (ast.Assign, ast.AnnAssign)) or node.value is None:
    return
  values = [node.value]
  for value in values:
    if isinstance(value, (ast.Tuple, ast.List)):
      values += value.elts
    elif isinstance(value, ast.IfExp):
      values += [value.body, value.orelse]
    elif isinstance(value, ast.BoolOp):
      values += value.values
    elif isinstance(value, ast.Name):
      yield value
