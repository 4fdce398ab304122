"""Where an estimator flows within one file: variables, functions, parameters and attributes.

A flow is closed in both directions. It holds everything that gets the estimator, and everything
else that may be in the same variable, parameter, attribute or result: several constructions that
meet somewhere are one flow.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from typing import NamedTuple, Optional

from migrator.analysis import facts, local_calls
from migrator.analysis.module import Module
from migrator.analysis.scopes import Scope

_ADD_METRICS = ("tf.estimator.add_metrics", "tf.contrib.estimator.add_metrics")
_OTHER_VALUE = "shares its variable with another value"


class AddedMetrics(NamedTuple):
  """A call of `tf.estimator.add_metrics(owner, function)`; its value is the estimator again."""

  call: ast.Call
  owner: ast.expr
  function: ast.expr


class Flow:
  """All that one estimator, or several that meet, flows through.

  Attributes:
    constructions: the constructor calls, in the order in which they were found.
    leaves: the reads of the estimator that do something else than hand it on within the file.
    added_metrics: the calls that give it more metrics.
    variables: the variables and parameters that hold it.
    functions: the functions that return it.
    attributes: the attributes that hold it, with the classes of each.
    escapes: (node, what) where something stands in the way of knowing all its uses.
    optional: whether one of its variables may also be None.

  Args:
    module: the analysed file.
    is_construction: whether a call constructs an estimator of a known class.
  """

  def __init__(self, module: Module, is_construction: Callable[[ast.Call], bool]):
    self.constructions: list[ast.Call] = []
    self.leaves: list[ast.expr] = []
    self.added_metrics: list[AddedMetrics] = []
    self.variables: dict[tuple[Scope, str], None] = {}
    self.functions: dict[ast.AST, None] = {}
    self.attributes: dict[tuple[frozenset[ast.ClassDef], str], None] = {}
    self.escapes: dict[ast.AST, str] = {}
    self.optional = False
    self._module = module
    self._is_construction = is_construction
    self._values: set[ast.AST] = set()
    self._pending: list[ast.expr] = []

  def trace(self, call: ast.Call) -> Flow:
    """Follows a construction to all that it reaches."""
    self._origin(call, _OTHER_VALUE)
    while self._pending:
      self._forward(self._pending.pop())
    return self

  # -- forward: what gets the value -----------------------------------------------

  def _add(self, node: ast.expr) -> None:
    if node not in self._values:
      self._values.add(node)
      self._pending.append(node)

  def _forward(self, node: ast.expr) -> None:
    parent = self._module.parents.get(node)
    if isinstance(parent, (ast.Assign, ast.AnnAssign)) and parent.value is node:
      targets = parent.targets if isinstance(parent, ast.Assign) else [parent.target]
      for target in targets:
        self._store(target)
    elif isinstance(parent, ast.NamedExpr):
      self._variable(parent.target)
      self._add(parent)
    elif isinstance(parent, ast.IfExp):
      if parent.test is not node:
        self._origin(parent, "is in a conditional expression with another value")
    elif isinstance(parent, ast.Return):
      self._returned(node)
    elif not (_is_test(node, parent) or self._added(node, parent) or self._argument(node, parent)):
      self.leaves.append(node)

  def _store(self, target: ast.expr) -> None:
    if isinstance(target, ast.Name):
      self._variable(target)
      return
    family = local_calls.own_classes(self._module, target)
    if family is None:
      self.escapes[target] = "is stored in an attribute or container"
    else:
      assert isinstance(target, ast.Attribute)
      self._attribute(family, target.attr)

  def _returned(self, node: ast.expr) -> None:
    function = self._module.scope_of[node].node
    if isinstance(function, ast.FunctionDef):
      self._function(function)
    else:
      self.escapes[node] = "is returned to a caller"

  def _added(self, node: ast.expr, parent: Optional[ast.AST]) -> bool:
    call = self._module.parents.get(parent) if isinstance(parent, ast.keyword) else parent
    added = _added_metrics(self._module, call)
    if added is None or added.owner is not node:
      return False
    if not _is_last_use(self._module, added):
      self.escapes[node] = "is used with and without added metrics"
    self.added_metrics.append(added)
    self._add(added.call)
    return True

  def _argument(self, node: ast.expr, parent: Optional[ast.AST]) -> bool:
    """Follows the value into a function of the file; whether it is handed to one."""
    call = self._module.parents.get(parent) if isinstance(parent, ast.keyword) else parent
    if not isinstance(call, ast.Call) or call.func is node:
      return False
    function = local_calls.called(self._module, call)
    if function is None:
      return False
    name = local_calls.parameter_of(self._module, call, function, node)
    if name is None:
      return False
    self._holder(self._module.scopes[function], name)
    return True

  # -- what holds the value ---------------------------------------------------------

  def _variable(self, name: ast.Name) -> None:
    scope, _ = self._module.scope_of[name].lookup(name.id)
    if scope is not None and scope.is_class:
      self.escapes[name] = "is a class attribute"
    elif scope is not None:
      self._holder(scope, name.id)

  def _holder(self, scope: Scope, name: str) -> None:
    if (scope, name) in self.variables:
      return
    self.variables[scope, name] = None
    for binding in scope.bindings.get(name, []):
      if binding.kind == "param":
        self._callers_of_parameter(scope.node, name)
      elif binding.kind == "assign" and binding.value is not None:
        self._origin(binding.value, _OTHER_VALUE, binding.node)
      else:
        self.escapes[binding.node] = _OTHER_VALUE
    for read in local_calls.reads(self._module, scope, name):
      self._add(read)

  def _callers_of_parameter(self, function: ast.AST, name: str) -> None:
    """Every caller of the function has to hand on an estimator, too."""
    what = "is a parameter of a function whose callers are not all known"
    if not isinstance(function, ast.FunctionDef) or name not in local_calls.parameters(function):
      self.escapes[function] = what
      return
    for call in self._calls(function, what):
      given = local_calls.given(self._module, call, function, name)
      if given is not None:
        self._origin(given, f"is handed to `{function.name}()`, which also gets other values")
      elif local_calls.default(function, name) is None:
        self.escapes[call] = what
    default = local_calls.default(function, name)
    if default is not None:
      self._origin(default, f"is handed to `{function.name}()`, which also gets other values")

  def _function(self, function: ast.FunctionDef) -> None:
    if function in self.functions:
      return
    self.functions[function] = None
    what = f"is returned by `{function.name}()`, whose callers are not all known"
    if local_calls.is_generator(self._module, function):
      self.escapes[function] = what
    for value in local_calls.returns(self._module, function):
      self._origin(value, f"is returned by `{function.name}()`, as are other values")
    calls = self._calls(function, what)
    if not calls and function not in self.escapes:
      self.escapes[function] = f"is returned by `{function.name}()`, which this file does not call"
    for call in calls:
      self._add(call)

  def _calls(self, function: ast.FunctionDef, what: str) -> list[ast.Call]:
    """The calls of a function; an escape where it is used in another way."""
    module = self._module
    if [d for d in function.decorator_list if not _is_named(d, "staticmethod")]:
      self.escapes[function] = what
    calls = []
    parent = module.parents[function]
    if isinstance(parent, ast.ClassDef):
      if function.name == "__init__":
        family = local_calls.family(module, parent)
        reads = [n for c in family for n in local_calls.reads_of(module, c)]
      else:
        reads = list(self._accesses(local_calls.family(module, parent), function.name))
    else:
      reads = local_calls.reads_of(module, function)
      if reads and module.definition(reads[0]) is not function:
        self.escapes[function] = what  # one of several definitions
    for read in reads:
      call = module.parents.get(read)
      if isinstance(call, ast.Call) and call.func is read:
        calls.append(call)
      elif not (isinstance(call, ast.ClassDef) and read in call.bases):
        self.escapes[read] = what
    return calls

  def _attribute(self, family: frozenset[ast.ClassDef], name: str) -> None:
    if (family, name) in self.attributes:
      return
    self.attributes[family, name] = None
    for cls in family:
      for binding in self._module.scopes[cls].bindings.get(name, []):
        if binding.value is None:
          self.escapes[binding.node] = _OTHER_VALUE
        else:
          self._origin(binding.value, _OTHER_VALUE, binding.node)
    for node in self._accesses(family, name):
      statement = self._module.parents.get(node)
      if isinstance(node.ctx, ast.Load):
        self._add(node)
      elif isinstance(statement, (ast.Assign, ast.AnnAssign)) and statement.value is not None:
        self._origin(statement.value, _OTHER_VALUE, statement)
      elif not isinstance(statement, ast.AnnAssign):
        self.escapes[node] = _OTHER_VALUE

  def _accesses(self, family: frozenset[ast.ClassDef], name: str) -> Iterator[ast.Attribute]:
    """Where an attribute or method of the classes is read or set in the file."""
    for node in list(self._module.scope_of):
      if isinstance(node, ast.Attribute) and node.attr == name:
        own = local_calls.own_classes(self._module, node)
        if own == family:
          yield node
        elif own is None and local_calls.may_be_instance(self._module, node.value):
          self.escapes[node] = f"may also be what `{self._module.source(node)}` means"

  # -- backward: what the value may be ------------------------------------------------

  def _origin(self, node: ast.expr, what: str, place: Optional[ast.AST] = None) -> None:
    """Takes what else meets the value into the flow; an escape where that is not known."""
    module = self._module
    if node in self._values:
      return
    if isinstance(node, ast.Constant) and node.value is None:
      self.optional = True
      return
    if isinstance(node, ast.IfExp):
      self._add(node)
      self._origin(node.body, what, place)
      self._origin(node.orelse, what, place)
      return
    if isinstance(node, ast.Name):
      _, bindings = module.scope_of[node].lookup(node.id)
      if any(b.kind in ("assign", "param") for b in bindings):
        self._add(node)
        self._variable(node)
        return
    if isinstance(node, ast.Attribute):
      family = local_calls.own_classes(module, node)
      if family is not None:
        self._add(node)
        self._attribute(family, node.attr)
        return
    if isinstance(node, ast.Call) and self._call_origin(node, what):
      return
    self.escapes[place or node] = what

  def _call_origin(self, node: ast.Call, what: str) -> bool:
    if self._is_construction(node):
      self.constructions.append(node)
      self._add(node)
      return True
    added = _added_metrics(self._module, node)
    if added is not None:
      self._origin(added.owner, what)
      return True
    function = local_calls.called(self._module, node)
    if function is None or function.name == "__init__":
      return False
    self._add(node)
    self._function(function)
    return True


# -- uses -------------------------------------------------------------------------------


def _is_test(node: ast.expr, parent: Optional[ast.AST]) -> bool:
  """Whether the value is only asked whether there is one."""
  if isinstance(parent, ast.Compare):
    operands = [parent.left, *parent.comparators]
    nones = [o for o in operands if isinstance(o, ast.Constant) and o.value is None]
    return len(operands) == 2 and len(nones) == 1 and isinstance(parent.ops[0], (ast.Is, ast.IsNot))
  if isinstance(parent, (ast.If, ast.While)):
    return parent.test is node
  return isinstance(parent, ast.UnaryOp) and isinstance(parent.op, ast.Not)


def _added_metrics(module: Module, call: Optional[ast.AST]) -> Optional[AddedMetrics]:
  if not isinstance(call, ast.Call):
    return None
  symbol = module.resolve(call.func)
  if symbol is None or symbol.path not in _ADD_METRICS:
    return None
  bound = facts.bind_arguments(call, ("estimator", "metric_fn"))
  if bound is None or set(bound) != {"estimator", "metric_fn"}:
    return None
  return AddedMetrics(call, bound["estimator"].value, bound["metric_fn"].value)


def _is_last_use(module: Module, added: AddedMetrics) -> bool:
  """Whether nothing uses the estimator without the metrics after they were added."""
  owner, parent = added.owner, module.parents[added.call]
  if not isinstance(owner, ast.Name):
    return isinstance(owner, ast.Call)
  targets = parent.targets if isinstance(parent, ast.Assign) else []
  if len(targets) == 1 and _is_named(targets[0], owner.id):
    return True
  scope, _ = module.scope_of[owner].lookup(owner.id)
  if isinstance(parent, ast.Return) and scope is module.scope_of[parent]:
    return True
  return len(facts.loads(module, owner)) == 1


def _is_named(node: ast.AST, name: str) -> bool:
  return isinstance(node, ast.Name) and node.id == name
