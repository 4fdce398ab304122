"""Where a hook, or a list of hooks, goes in a file.

A hook becomes a callback for all who get it. So each place that reads it must be one that is rewritten
too, or one that does not care what it is.
"""

from __future__ import annotations

import ast
import builtins
from typing import Optional

from migrator.analysis import facts
from migrator.analysis.module import Module
from migrator.rewrite import hook_classes
from migrator.rewrite.plan import Plan, Unsupported

# Methods of a list that put something into it.
ADDING = frozenset(("append", "extend", "insert"))
# Methods of a list that give it, or an element.
_GIVES = frozenset(("copy", "pop"))
# Functions that give what they get, or a part of it.
_PASSES_ON = frozenset(("enumerate", "filter", "iter", "list", "next", "reversed", "tuple", "zip"))
_CONTAINERS = (
  ast.BoolOp,
  ast.IfExp,
  ast.List,
  ast.ListComp,
  ast.GeneratorExp,
  ast.NamedExpr,
  ast.Set,
  ast.Starred,
  ast.Tuple,
  ast.keyword,
)
_LOGS = ("tf.logging.", "tf.print", "tf.get_logger", "logging.", "absl.logging.", "pprint.")


class Flow:
  """Follows hooks to the places that get them.

  Args:
    plan: of the file; `plan.unit_calls` are the calls whose hooks are followed: of estimators that
      are rewritten, and of hooks that call hooks or listeners.
  """

  def __init__(self, plan: Plan):
    self._plan = plan
    self._module = plan.module
    self._seen: set[object] = set()

  def check_variable(self, name: ast.Name) -> None:
    """Follows all reads of a variable that holds a hook or a list of hooks.

    Raises:
      Unsupported: EM304 where a hook leaves what is rewritten, EM302 where a method that only a
        session calls is called.
    """
    owner, _ = self._module.scope_of[name].lookup(name.id)
    if self._is_new((owner, name.id)):
      for load in facts.loads(self._module, name):
        self._check(load, load)

  def check_attribute(self, node: ast.Attribute) -> None:
    """Follows all reads of `self.name`; raises as `check_variable`."""
    if self._is_new(("attribute", node.attr)):
      for other in attributes(self._module, node.attr):
        if isinstance(other.ctx, ast.Load):
          self._check(other, other)

  def check_function(self, function: ast.FunctionDef, node: ast.AST) -> None:
    """Follows what a function of the file returns; raises as `check_variable`."""
    if not self._is_new(function):
      return
    for use in function_uses(self._module, function):
      call = self._module.parents[use]
      if not isinstance(call, ast.Call) or call.func is not use:
        raise Unsupported("EM304", node, name=function.name)
      self._check(call, call)

  def _is_new(self, key: object) -> bool:
    if key in self._seen:
      return False
    self._seen.add(key)
    return True

  def _check(self, node: ast.AST, shown: ast.AST) -> None:
    """Follows the value of one expression; `shown` is the place for a message."""
    parent = self._module.parents[node]
    while isinstance(parent, _CONTAINERS) or (
      isinstance(parent, ast.BinOp) and isinstance(parent.op, ast.Add)
    ):
      if isinstance(parent, ast.IfExp) and parent.test is node:
        return
      if isinstance(parent, ast.NamedExpr):
        self.check_variable(parent.target)
      node, parent = parent, self._module.parents[parent]
    if isinstance(parent, ast.Subscript) and parent.value is node:
      if isinstance(parent.ctx, ast.Load):
        self._check(parent, shown)
      elif isinstance(parent.ctx, ast.Store):
        raise self._lost(shown)
    elif isinstance(parent, ast.Attribute):
      self._check_member(parent, shown)
    elif isinstance(parent, ast.Call):
      self._check_argument(parent, node, shown)
    elif isinstance(parent, (ast.Assign, ast.AnnAssign, ast.AugAssign)):
      self._check_targets(parent, shown)
    elif isinstance(parent, ast.Return):
      self._check_return(parent, shown)
    elif isinstance(parent, (ast.For, ast.comprehension)) and parent.iter is node:
      self._check_target(parent.target, shown)
    elif isinstance(parent, ast.arguments):
      self._check_default(parent, node, shown)
    elif not isinstance(
      parent,
      (ast.Expr, ast.If, ast.While, ast.Assert, ast.Compare, ast.UnaryOp, ast.BinOp,
       ast.FormattedValue, ast.comprehension),
    ):  # fmt: skip
      raise self._lost(shown)

  def _lost(self, node: ast.AST) -> Unsupported:
    return Unsupported("EM304", node, name=self._module.source(node))

  def _check_member(self, node: ast.Attribute, shown: ast.AST) -> None:
    """A method or attribute of a hook, or a method of a list."""
    if node.attr in hook_classes.METHODS or node.attr in hook_classes.TAKEN:
      what = f"{node.attr} is used outside"
      raise Unsupported("EM302", node, hook=self._module.source(shown), what=what)
    call = self._module.parents[node]
    if isinstance(call, ast.Call) and call.func is node and node.attr in _GIVES:
      self._check(call, shown)

  def _check_argument(self, call: ast.Call, node: ast.AST, shown: ast.AST) -> None:
    """What a call gets."""
    if call in self._plan.unit_calls:
      return
    function = call.func
    if isinstance(function, ast.Attribute) and function.attr in ADDING:
      self._check_receiver(function.value, shown)
      return
    symbol = self._module.resolve(function)
    if symbol is not None and symbol.path.startswith(_LOGS):
      return
    if isinstance(function, ast.Name):
      _, bindings = self._module.scope_of[function].lookup(function.id)
      if not bindings and hasattr(builtins, function.id):
        if function.id in _PASSES_ON:
          self._check(call, shown)
        return
      definition = self._module.definition(function)
      if isinstance(definition, ast.FunctionDef):
        parameter = _parameter_of(definition, call, node)
        if parameter is not None:
          self._check_parameter(definition, parameter)
          return
    raise self._lost(shown)

  def _check_receiver(self, node: ast.AST, shown: ast.AST) -> None:
    """The list that something is put into."""
    if isinstance(node, ast.Name):
      self.check_variable(node)
    elif is_own(self._module, node):
      assert isinstance(node, ast.Attribute)
      self.check_attribute(node)
    else:
      raise self._lost(shown)

  def _check_targets(self, statement, shown: ast.AST) -> None:
    targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
    for target in targets:
      self._check_target(target, shown)

  def _check_target(self, target: ast.AST, shown: ast.AST) -> None:
    if isinstance(target, (ast.Tuple, ast.List)):
      for element in target.elts:
        self._check_target(element, shown)
    elif isinstance(target, ast.Starred):
      self._check_target(target.value, shown)
    else:
      self._check_receiver(target, shown)

  def _check_return(self, statement: ast.Return, shown: ast.AST) -> None:
    function = self._module.scope_of[statement].node
    if not isinstance(function, ast.FunctionDef):
      raise self._lost(shown)
    self.check_function(function, shown)

  def _check_default(self, arguments: ast.arguments, node: ast.AST, shown: ast.AST) -> None:
    function = self._module.parents[arguments]
    if not isinstance(function, ast.FunctionDef):
      raise self._lost(shown)
    parameters = arguments.posonlyargs + arguments.args + arguments.kwonlyargs
    parameter = next(p for p in parameters if default(function, p) is node)
    self._check_parameter(function, parameter.arg)

  def _check_parameter(self, function: ast.FunctionDef, parameter: str) -> None:
    scope = self._module.scopes[function]
    if self._is_new((scope, parameter)):
      names = [n for n in ast.walk(function) if isinstance(n, ast.Name) and n.id == parameter]
      for name in names:
        owner, _ = self._module.scope_of[name].lookup(parameter)
        if owner is scope and isinstance(name.ctx, ast.Load):
          self._check(name, name)


def is_own(module: Module, node: ast.AST) -> bool:
  """Whether a node is `self.name` in a method of a class."""
  if not isinstance(node, ast.Attribute) or not isinstance(node.value, ast.Name):
    return False
  scope = module.scope_of[node]
  while scope.parent is not None and not scope.parent.is_class:
    scope = scope.parent
  method = scope.node
  if scope.parent is None or not isinstance(method, ast.FunctionDef):
    return False
  parameters = method.args.posonlyargs + method.args.args
  return bool(parameters) and parameters[0].arg == node.value.id


def own_class(module: Module, node: ast.AST) -> Optional[ast.ClassDef]:
  """The innermost class around a node."""
  return next((a for a in module.ancestors(node) if isinstance(a, ast.ClassDef)), None)


def attributes(module: Module, name: str) -> list[ast.Attribute]:
  """All places of a file that read or bind an attribute of this name, of whatever object."""
  nodes = ast.walk(module.tree)
  return [node for node in nodes if isinstance(node, ast.Attribute) and node.attr == name]


def function_uses(module: Module, function: ast.FunctionDef) -> list[ast.expr]:
  """All places of a file that read a function by its name, or as a method of whatever object."""
  scope = module.scope_of[function]
  if scope.is_class:
    return list(attributes(module, function.name))
  return [
    node
    for node in ast.walk(module.tree)
    if isinstance(node, ast.Name)
    and node.id == function.name
    and isinstance(node.ctx, ast.Load)
    and module.definition(node) is function
  ]


def _parameter_of(function: ast.FunctionDef, call: ast.Call, node: ast.AST) -> Optional[str]:
  """The parameter that gets an argument of a call."""
  names = [a.arg for a in function.args.posonlyargs + function.args.args]
  bound = facts.bind_arguments(call, names)
  if bound is None:
    return None
  found = next((a.name for a in bound.values() if node in (a.value, a.node)), None)
  return found if found in {*names, *(a.arg for a in function.args.kwonlyargs)} else None


def default(function: ast.FunctionDef, parameter: ast.arg) -> Optional[ast.expr]:
  """The default of a parameter, or None."""
  arguments = function.args
  positional = arguments.posonlyargs + arguments.args
  found = dict(zip(positional[::-1], arguments.defaults[::-1]))
  found.update((a, d) for a, d in zip(arguments.kwonlyargs, arguments.kw_defaults) if d is not None)
  return found.get(parameter)
