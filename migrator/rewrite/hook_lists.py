"""Lists of hooks, wherever a file builds them -> elements of `callbacks=`.

The code that builds a list stays as it is; only its elements change.

https://www.tensorflow.org/guide/migrate/sessionrunhook_callback
"""

from __future__ import annotations

import ast
from typing import Optional

from migrator.analysis import facts
from migrator.analysis.binding import Binding
from migrator.rewrite import (
  built_in_hooks,
  checkpoint_saver,
  emit,
  hook_classes,
  hook_flow,
  hook_none,
)
from migrator.rewrite.plan import Plan, Unsupported

_COPIES = frozenset(("list", "tuple"))


def callbacks(
  plan: Plan, tf: str, argument: Optional[facts.Argument], *, use: str = "train"
) -> list[str]:
  """Elements for a `callbacks=` list from a `hooks=` argument.

  The classes of the hooks are converted on the way.

  Args:
    plan: of the file.
    tf: the name under which the output knows TF2.
    argument: `hooks=` or `saving_listeners=`, if given.
    use: "train", "evaluate", "predict" or "listener": who calls the hooks.

  Raises:
    Unsupported: a list or hook that cannot be followed, a hook from another file, or one that does
      what has no counterpart.
  """
  if argument is None:
    return []
  node = argument.value
  if isinstance(node, ast.Constant) and node.value is None:
    return []
  follower = _Follower(plan, tf, use)
  follower.list(node)
  if isinstance(node, (ast.List, ast.Tuple)):
    return [emit.joined(plan.source(element)) for element in node.elts]
  text = plan.source(node)
  if hook_none.may_be_none(plan.module, node):
    return [f"*({plan.atom(node)} or [])"]
  return [f"*{text}" if isinstance(node, (ast.Name, ast.Attribute)) else f"*({text})"]


class _Follower:
  """Follows the hooks of one argument back to where they are made, and converts them.

  Args:
    plan: of the file.
    tf: the name under which the output knows TF2.
    use: who calls the hooks.
  """

  def __init__(self, plan: Plan, tf: str, use: str):
    self._plan = plan
    self._module = plan.module
    self._tf = tf
    self._use = use
    self._flow = hook_flow.Flow(plan)
    self._seen: set[object] = set()

  # -- lists --------------------------------------------------------------------

  def list(self, node: ast.AST) -> None:
    """Follows an expression that is a list of hooks, or None.

    Raises:
      Unsupported: EM304, an expression that cannot be followed, and what `callbacks` raises.
    """
    if isinstance(node, (ast.List, ast.Tuple, ast.Set)):
      for element in node.elts:
        if isinstance(element, ast.Starred):
          self.list(element.value)
        else:
          self.hook(element)
    elif isinstance(node, ast.IfExp):
      self.list(node.body)
      self.list(node.orelse)
    elif isinstance(node, ast.BoolOp) and isinstance(node.op, ast.Or):
      for value in node.values:
        self.list(value)
    elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
      self.list(node.left)
      self.list(node.right)
    elif isinstance(node, (ast.ListComp, ast.GeneratorExp)):
      self.hook(node.elt)
    elif isinstance(node, ast.Call):
      self._call(node)
    elif isinstance(node, ast.Name):
      self._variable(node, self.list)
    elif isinstance(node, ast.Attribute) and hook_flow.is_own(self._module, node):
      self._attribute(node, self.list)
    elif not isinstance(node, ast.Constant) or node.value is not None:
      raise self._lost(node)

  def _call(self, node: ast.Call) -> None:
    """`list(hooks)`, `hooks.copy()`, or a function of the file that makes a list."""
    function = node.func
    if self._is_copy(node):
      for argument in node.args:
        self.list(argument)
      return
    if isinstance(function, ast.Attribute) and function.attr == "copy" and not node.args:
      self.list(function.value)
      return
    self._returns(node, self.list)

  def _is_copy(self, node: ast.Call) -> bool:
    function = node.func
    if not isinstance(function, ast.Name) or function.id not in _COPIES:
      return False
    is_builtin = not self._module.scope_of[function].lookup(function.id)[1]
    return is_builtin and len(node.args) <= 1 and not node.keywords

  # -- hooks --------------------------------------------------------------------

  def hook(self, node: ast.AST) -> None:
    """Follows an expression that is one hook; raises as `list`."""
    if isinstance(node, ast.IfExp):
      self.hook(node.body)
      self.hook(node.orelse)
    elif isinstance(node, ast.Name):
      self._variable(node, self.hook)
    elif isinstance(node, ast.Attribute) and hook_flow.is_own(self._module, node):
      self._attribute(node, self.hook)
    elif isinstance(node, ast.Call):
      self._instance(node)
    else:
      raise self._lost(node)

  def _instance(self, call: ast.Call) -> None:
    """A call that makes a hook."""
    plan = self._plan
    symbol = plan.module.resolve(call.func)
    if symbol is not None:
      plan.unit_calls.add(call)  # an evaluator has hooks, and a saver listeners
    if checkpoint_saver.is_saver_hook(symbol):
      listeners = _Follower(plan, self._tf, "listener")
      checkpoint_saver.convert(plan, call, self._use, listeners.list)
      return
    if symbol is not None and symbol.path.startswith(("tf.", "tensorflow.")):
      of_evaluation = _Follower(plan, self._tf, "evaluate").list
      built_in_hooks.convert(plan, self._tf, call, self._use, of_evaluation)
      return
    definition = plan.module.definition(call.func)
    if not isinstance(definition, ast.ClassDef):
      self._returns(call, self.hook)
      return
    hook_classes.convert_class(plan, self._tf, definition, self._use)
    hook_classes.convert_call(plan, call, definition)
    plan.hook_names.append(call.func)
    if definition in plan.twins:
      plan.expressions[call.func] = plan.twins[definition]

  # -- names --------------------------------------------------------------------

  def _variable(self, name: ast.Name, follow) -> None:
    """All values of a variable, and what is put into the list that it holds."""
    owner, bindings = self._module.scope_of[name].lookup(name.id)
    if not bindings:
      raise self._lost(name)
    if not self._is_new((owner, name.id)):
      return
    self._flow.check_variable(name)
    for binding in bindings:
      self._binding(binding, name, follow)
    for load in facts.loads(self._module, name):
      self._put_into(load)

  def _binding(self, binding: Binding, name: ast.AST, follow) -> None:
    node = binding.node
    if binding.kind == "assign" and binding.value is not None:
      follow(binding.value)
    elif isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Add):
      self.list(node.value)
    elif isinstance(node, (ast.For, ast.comprehension)) and isinstance(node.target, ast.Name):
      self.list(node.iter)
    elif isinstance(node, ast.arg):
      self._parameter(node, name, follow)
    else:
      raise self._lost(name)

  def _put_into(self, load: ast.AST) -> None:
    """`hooks.append(x)`, `hooks.extend(x)` and `hooks.insert(i, x)`."""
    method = self._module.parents[load]
    if not isinstance(method, ast.Attribute) or method.attr not in hook_flow.ADDING:
      return
    call = self._module.parents[method]
    count = 2 if method.attr == "insert" else 1
    if not isinstance(call, ast.Call) or call.func is not method or call.keywords:
      raise self._lost(load)
    if len(call.args) != count or isinstance(call.args[-1], ast.Starred):
      raise self._lost(load)
    (self.list if method.attr == "extend" else self.hook)(call.args[-1])

  def _attribute(self, node: ast.Attribute, follow) -> None:
    """`self.hooks` of one class that nothing else has an attribute of that name."""
    owner = hook_flow.own_class(self._module, node)
    if not self._is_new((owner, node.attr)):
      return
    assigned = False
    for other in hook_flow.attributes(self._module, node.attr):
      if (
        not hook_flow.is_own(self._module, other)
        or hook_flow.own_class(self._module, other) is not owner
      ):
        raise self._lost(node)
      self._put_into(other)
      if isinstance(other.ctx, ast.Load):
        continue
      statement = self._module.parents[other]
      if isinstance(statement, (ast.Assign, ast.AnnAssign)) and statement.value is not None:
        follow(statement.value)
        assigned = True
      elif isinstance(statement, ast.AugAssign) and isinstance(statement.op, ast.Add):
        self.list(statement.value)
      else:
        raise self._lost(node)
    if not assigned:
      raise self._lost(node)
    self._flow.check_attribute(node)

  # -- functions ----------------------------------------------------------------

  def _returns(self, call: ast.Call, follow) -> None:
    """What a function of the file returns."""
    function = self._module.definition(call.func)
    if isinstance(call.func, ast.Attribute) and hook_flow.is_own(self._module, call.func):
      function = self._method(call.func)
    if not isinstance(function, ast.FunctionDef) or function.decorator_list:
      raise self._lost(call.func)
    if not self._is_new(function):
      return
    ends = [n for n in ast.walk(function) if isinstance(n, (ast.Return, ast.Yield, ast.YieldFrom))]
    ends = [n for n in ends if self._module.scope_of[n].node is function]
    if not ends or not all(isinstance(n, ast.Return) for n in ends):
      raise self._lost(call.func)
    self._flow.check_function(function, call.func)
    for statement in ends:
      if statement.value is not None:
        follow(statement.value)

  def _method(self, node: ast.Attribute) -> Optional[ast.AST]:
    """The method that `self.name` is, where no other class of the file has one of that name."""
    found = [
      n
      for n in ast.walk(self._module.tree)
      if isinstance(n, ast.FunctionDef) and n.name == node.attr
    ]
    owner = hook_flow.own_class(self._module, node)
    return found[0] if len(found) == 1 and owner is not None and found[0] in owner.body else None

  def _parameter(self, parameter: ast.arg, name: ast.AST, follow) -> None:
    """What the callers in the file give for a parameter, and its default."""
    arguments = self._module.parents[parameter]
    function = self._module.parents[arguments]
    if not isinstance(function, ast.FunctionDef) or self._module.scope_of[function].is_class:
      raise self._lost(name)
    if parameter in (arguments.vararg, arguments.kwarg):  # type: ignore[attr-defined]
      raise self._lost(name)
    default = hook_flow.default(function, parameter)
    if default is not None:
      follow(default)
    names = [a.arg for a in function.args.posonlyargs + function.args.args]
    given = default is not None
    for use in hook_flow.function_uses(self._module, function):
      call = self._module.parents[use]
      bound = None
      if isinstance(call, ast.Call) and call.func is use:
        bound = facts.bind_arguments(call, names)
      if bound is None:
        raise self._lost(name)
      if parameter.arg in bound:
        follow(bound[parameter.arg].value)
        given = True
    if not given:
      raise self._lost(name)
    if self._module.scope_of[function].is_module and not function.name.startswith("_"):
      self._plan.report("EM324", parameter, function=function.name, parameter=parameter.arg)

  def _is_new(self, key: object) -> bool:
    if key in self._seen:
      return False
    self._seen.add(key)
    return True

  def _lost(self, node: ast.AST) -> Unsupported:
    return Unsupported("EM304", node, name=self._module.source(node))
