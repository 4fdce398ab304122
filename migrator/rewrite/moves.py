"""Whether an expression may be evaluated at another place of the program than its own."""

from __future__ import annotations

import ast
import builtins
from typing import Optional

from migrator.analysis import facts, symbols
from migrator.analysis.module import Module

# Functions and methods whose result depends on their arguments alone.
_PURE_BUILTINS = frozenset(
  """abs bool dict enumerate float frozenset getattr int isinstance len list max min range
  reversed round set sorted str sum tuple zip""".split()
)
_PURE_METHODS = frozenset(
  """copy format get items join keys lower lstrip replace rstrip split strip upper values
  astype reshape tolist""".split()
)
_PURE_PREFIXES = ("os.path.", "numpy.", "tf.", "math.")
_IMPURE_PREFIXES = ("numpy.random.", "tf.random.")
_CHANGING_METHODS = frozenset(
  """add append clear discard extend insert pop popitem remove reverse setdefault sort
  update""".split()
)


def obstacle(
  module: Module, node: ast.AST, place: ast.AST, own: Optional[str] = None
) -> Optional[str]:
  """Why `node` may not be evaluated where `place` stands, or None.

  It may when each of its names means the same single value there, nothing changes those values
  in place, and nothing in it has a side effect or another result the second time. Between two
  statements of one block only what stands between them counts. `own` is a loop variable that
  moves along.
  """
  if own is None and module.statement(node) is module.statement(place):
    return None
  return _unstable(module, node, place, own)


def repeat_obstacle(module: Module, node: ast.AST) -> Optional[str]:
  """Why a second evaluation of `node`, elsewhere in its scope, may give something else."""
  return _unstable(module, node, node, None)


def _unstable(module: Module, node: ast.AST, place: ast.AST, own: Optional[str]) -> Optional[str]:
  for inner in ast.walk(node):
    if isinstance(inner, (ast.NamedExpr, ast.Await, ast.Yield, ast.YieldFrom)):
      return f"`{module.source(inner)}` has a side effect"
    if isinstance(inner, ast.Call) and not is_pure(module, inner):
      return f"`{module.source(inner.func)}()` would be called again or later"
    if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Load) and inner.id != own:
      reason = name_obstacle(module, inner, node, place)
      if reason is not None:
        return reason
  return None


def name_obstacle(module: Module, name: ast.Name, node: ast.AST, place: ast.AST) -> Optional[str]:
  """Why a name of the expression `node` may mean something else at `place`, or None."""
  owner, bindings = module.scope_of[name].lookup(name.id)
  if is_own(module, name, node):
    return None
  if owner is None and hasattr(builtins, name.id):
    return None
  there, _ = module.scope_of[place].lookup(name.id)
  if there is not owner:
    return f"`{name.id}` means something else there"
  between = _between(module, node, place)
  if between is not None:
    nodes = [b.node for b in bindings if b.kind != "param"]
    if any(node is not None and _stands_in(module, node, between, owner) for node in nodes):
      return f"`{name.id}` gets another value before"
  elif len(bindings) > 1 or any(b.kind == "loop" for b in bindings):
    return f"`{name.id}` has more than one value"
  for load in facts.loads(module, name):
    if changes(module, load) and (
      between is None or _stands_in(module, load, between, module.scope_of[load])
    ):
      return f"`{name.id}` is changed in line {load.lineno}"
  return None


def is_own(module: Module, name: ast.Name, node: ast.AST) -> bool:
  """Whether a name is a variable of a comprehension or lambda in the expression `node`."""
  if name not in module.scope_of:
    return False  # of generated code
  owner, _ = module.scope_of[name].lookup(name.id)
  return owner is not None and _is_inside(module, owner.node, node)


def has_many_values(module: Module, name: ast.Name) -> bool:
  """Whether a variable is bound at several places, or by a loop."""
  _, bindings = module.scope_of[name].lookup(name.id)
  return len(bindings) != 1 or bindings[0].kind == "loop"


def is_read_late(module: Module, name: ast.Name, node: ast.AST) -> bool:
  """Whether a lambda in `node` reads the name, when it is called, as what it is by then."""
  inner: ast.AST = name
  for outer in (name, *module.ancestors(name)):
    if isinstance(outer, ast.Lambda) and outer.body is inner:
      return True
    if outer is node:
      break
    inner = outer
  return False


def _between(module: Module, node: ast.AST, place: ast.AST) -> Optional[list[ast.stmt]]:
  """The statements from that of `node` to that of `place` in one block; None across blocks.

  Code of other functions may run in between: the caller looks for it.
  """
  first, last = module.statement(node), module.statement(place)
  parent = module.parents[first]
  if parent is not module.parents[last] or first is last:
    return None
  for field in ("body", "orelse", "finalbody"):
    block = getattr(parent, field, None)
    if isinstance(block, list) and first in block and last in block:
      start, end = block.index(first), block.index(last)
      return block[start + 1 : end] if start < end else None
  return None


def _stands_in(module: Module, node: ast.AST, statements: list[ast.stmt], owner) -> bool:
  """Whether a binding or change stands in these statements, or in a function that may run there."""
  if node in statements or any(a in statements for a in module.ancestors(node)):
    return True
  function = module.scope_of[node]
  return getattr(function, "node", None) is not getattr(owner, "node", None) and not isinstance(
    node, (ast.FunctionDef, ast.ClassDef)
  )


def _is_inside(module: Module, inner: ast.AST, outer: ast.AST) -> bool:
  return inner is outer or any(a is outer for a in module.ancestors(inner))


def changes(module: Module, load: ast.Name) -> bool:
  """Whether this read of a variable is the begin of a change of its value."""
  parent = module.parents.get(load)
  if isinstance(parent, (ast.Subscript, ast.Attribute)) and parent.value is load:
    if not isinstance(parent.ctx, ast.Load):
      return True
    call = module.parents.get(parent)
    is_call = isinstance(call, ast.Call) and call.func is parent
    return is_call and isinstance(parent, ast.Attribute) and parent.attr in _CHANGING_METHODS
  return False


def is_pure(module: Module, call: ast.Call) -> bool:
  """Whether a call gives the same each time, as far as its name shows."""
  symbol = module.resolve(call.func)
  if symbol is not None:
    return symbols.is_tensorflow(symbol) or (
      symbol.path.startswith(_PURE_PREFIXES) and not symbol.path.startswith(_IMPURE_PREFIXES)
    )
  if isinstance(call.func, ast.Name):
    _, bindings = module.scope_of[call.func].lookup(call.func.id)
    return not bindings and call.func.id in _PURE_BUILTINS
  return isinstance(call.func, ast.Attribute) and call.func.attr in _PURE_METHODS


def is_plain(node: ast.AST) -> bool:
  """Whether an expression is made of names, attributes, literals and displays only."""
  allowed = (ast.Name, ast.Attribute, ast.Constant, ast.Dict, ast.Tuple, ast.List, ast.expr_context)
  return all(isinstance(inner, allowed) for inner in ast.walk(node))
