"""Calls of the functions and methods of the same file, and the attributes of its classes."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Optional, Union

from migrator.analysis.module import Module
from migrator.analysis.scopes import Scope

# -- classes ------------------------------------------------------------------------


def own_classes(module: Module, node: ast.AST) -> Optional[frozenset[ast.ClassDef]]:
  """The classes of the file whose attribute `x.name` is: `self.name`, or of an instance."""
  if not isinstance(node, ast.Attribute) or not isinstance(node.value, ast.Name):
    return None
  scope, bindings = module.scope_of[node.value].lookup(node.value.id)
  if scope is None or len(bindings) != 1:
    return None
  cls = module.parents.get(scope.node)
  if bindings[0].kind == "param" and isinstance(cls, ast.ClassDef):
    function = scope.node
    assert isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef))
    first = (function.args.posonlyargs + function.args.args)[:1]
    is_self = first and first[0] is bindings[0].node and not function.decorator_list
    return family(module, cls) if is_self else None
  made = module.definition(node.value)
  cls = module.definition(made.func) if isinstance(made, ast.Call) else None
  return family(module, cls) if isinstance(cls, ast.ClassDef) else None


def family(module: Module, cls: ast.ClassDef) -> frozenset[ast.ClassDef]:
  """The classes of the file that inherit from each other and this one."""
  classes = [node for node in module.scopes if isinstance(node, ast.ClassDef)]
  bases = {c: [module.definition(b) for b in c.bases] for c in classes}
  found = {cls}
  size = 0
  while size != len(found):
    size = len(found)
    found |= {b for c in found for b in bases[c] if isinstance(b, ast.ClassDef)}
    found |= {c for c in classes if any(b in found for b in bases[c])}
  return frozenset(found)


def may_be_instance(module: Module, base: ast.expr) -> bool:
  """Whether an expression of unknown kind may be an object of a class of the file."""
  if module.resolve(base) is not None:
    return False
  if isinstance(base, ast.Name):
    scope, bindings = module.scope_of[base].lookup(base.id)
    if not bindings or any(b.kind == "import" for b in bindings):
      return False
    if is_other_self(module, scope, bindings):
      return False
  made = module.definition(base)
  if isinstance(made, ast.Call):
    return called(module, made) is not None
  return True


def is_other_self(module: Module, scope: Optional[Scope], bindings: list) -> bool:
  node = scope.node if scope is not None else None
  if not isinstance(node, ast.FunctionDef) or bindings[0].kind != "param":
    return False
  first = (node.args.posonlyargs + node.args.args)[:1]
  return isinstance(module.parents.get(node), ast.ClassDef) and first == [bindings[0].node]


# -- functions ------------------------------------------------------------------------


def called(module: Module, call: ast.Call) -> Optional[ast.FunctionDef]:
  """The function of the file that a call runs: its own, `__init__`, or a method."""
  definition = module.definition(call.func) if isinstance(call.func, ast.Name) else None
  if isinstance(definition, ast.FunctionDef):
    return definition
  if isinstance(definition, ast.ClassDef):
    return method(module, frozenset((definition,)), "__init__")
  classes = own_classes(module, call.func)
  if classes is not None:
    assert isinstance(call.func, ast.Attribute)
    return method(module, classes, call.func.attr)
  return None


def method(
  module: Module, classes: frozenset[ast.ClassDef], name: str
) -> Optional[ast.FunctionDef]:
  """The one method of that name that the classes define, or None."""
  found = [b for cls in classes for b in module.scopes[cls].bindings.get(name, [])]
  if len(found) != 1 or not isinstance(found[0].node, ast.FunctionDef):
    return None
  return found[0].node


def reads(module: Module, scope: Scope, name: str) -> list[ast.expr]:
  """The reads of a name that a scope binds, in the order of the source."""
  found: list[ast.expr] = [
    node
    for node, seen in list(module.scope_of.items())
    if isinstance(node, ast.Name)
    and node.id == name
    and isinstance(node.ctx, ast.Load)
    and seen.lookup(name)[0] is scope
  ]
  return sorted(found, key=lambda n: (n.lineno, n.col_offset))


def reads_of(module: Module, definition: Union[ast.FunctionDef, ast.ClassDef]) -> list[ast.expr]:
  """The reads of a function's or class's name."""
  owner, _ = module.scope_of[definition].lookup(definition.name)
  return reads(module, owner, definition.name) if owner is not None else []


def parameters(function: ast.FunctionDef) -> list[str]:
  """The names of the parameters that take one argument."""
  arguments = function.args
  return [a.arg for a in arguments.posonlyargs + arguments.args + arguments.kwonlyargs]


def positional(module: Module, function: ast.FunctionDef) -> list[str]:
  """The parameters that positional arguments of a call fill."""
  names = [a.arg for a in function.args.posonlyargs + function.args.args]
  is_method = isinstance(module.parents[function], ast.ClassDef) and not function.decorator_list
  return names[1:] if is_method else names


def given(module, call: ast.Call, function: ast.FunctionDef, name: str) -> Optional[ast.expr]:
  """What a call gives a parameter, if that can be seen; None where it gives nothing."""
  if any(isinstance(a, ast.Starred) for a in call.args):
    return None
  bound = dict(zip(positional(module, function), call.args))
  bound.update({k.arg: k.value for k in call.keywords if k.arg is not None})
  return bound.get(name)


def parameter_of(module, call: ast.Call, function, node: ast.expr) -> Optional[str]:
  """The parameter that an argument of a call fills, or None."""
  for name in parameters(function):
    if given(module, call, function, name) is node:
      return name
  return None


def default(function: ast.FunctionDef, name: str) -> Optional[ast.expr]:
  """The default of a parameter, or None."""
  arguments = function.args
  positional = arguments.posonlyargs + arguments.args
  pairs = list(zip(reversed(positional), reversed(arguments.defaults)))
  pairs += [(a, d) for a, d in zip(arguments.kwonlyargs, arguments.kw_defaults) if d is not None]
  return next((default for argument, default in pairs if argument.arg == name), None)


def own_nodes(module: Module, function: ast.FunctionDef) -> Iterator[ast.AST]:
  """The nodes of a function that are not those of a function inside it."""
  for node in ast.walk(function):
    scope = module.scope_of.get(node)
    if scope is not None and scope.node is function:
      yield node


def returns(module: Module, function: ast.FunctionDef) -> list[ast.expr]:
  """The values that a function returns."""
  nodes = own_nodes(module, function)
  return [n.value for n in nodes if isinstance(n, ast.Return) and n.value is not None]


def is_generator(module: Module, function: ast.FunctionDef) -> bool:
  """Whether a function yields."""
  return any(isinstance(n, (ast.Yield, ast.YieldFrom)) for n in own_nodes(module, function))
