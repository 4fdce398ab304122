"""The base classes of a hook, and what of its body has to be plain."""

from __future__ import annotations

import ast
from collections.abc import Callable

from migrator.analysis import facts
from migrator.rewrite import hook_values
from migrator.rewrite.hook_class import BASES, EVENTS, METHODS, TAKEN, HookClass

# What a function reads that finds or replaces methods.
_NAMES_METHODS = {*METHODS, "__dict__", "getattr", "setattr", "vars", "type"}
# Decorators that do not care for the names of methods.
_DECORATORS = frozenset("dataclass estimator_export final keras_export tf_export".split())


def convert(hook: HookClass, convert_base: Callable[[ast.ClassDef], None]) -> None:
  """Plans the edits of the bases and checks the body.

  Args:
    hook: the class.
    convert_base: converts a base class of the file.

  Raises:
    Unsupported: EM302.
  """
  for base in hook.node.bases:
    _base(hook, base, convert_base)
  _check_body(hook)
  _base_calls(hook)


def _base(hook: HookClass, base: ast.expr, convert: Callable[[ast.ClassDef], None]) -> None:
  plan = hook.plan
  symbol = plan.module.resolve(base)
  definition = plan.module.definition(base)
  if symbol is not None and symbol.path == hook.symbol.path:
    own = BASES[symbol.path]
    callback = f"{plan.runtime()}.{own}" if own else f"{hook.tf}.keras.callbacks.Callback"
    plan.expressions[base] = callback
  elif isinstance(definition, ast.ClassDef) and facts.hook_base(plan.module, definition):
    convert(definition)
    if definition in plan.twins:
      plan.expressions[base] = plan.twins[definition]
  elif _is_object(base):
    pass
  elif not isinstance(definition, ast.ClassDef) or not all(map(_is_object, definition.bases)):
    hook.refuse(base, f"derives from {plan.module.source(base)}")
  else:
    names = plan.module.scopes[definition].bindings
    for name in (*METHODS, *TAKEN):
      if name in names:
        hook.refuse(base, f"gets {name} from {definition.name}")
    for inner in ast.walk(definition):
      if hook_values.is_own_attribute(inner) and inner.attr in TAKEN:  # type: ignore[attr-defined]
        hook.refuse(base, f"has the attribute {inner.attr} of {definition.name}")  # type: ignore[attr-defined]


def _is_object(base: ast.expr) -> bool:
  return isinstance(base, ast.Name) and base.id == "object"


def _base_calls(hook: HookClass) -> None:
  """`tf.train.SessionRunHook.__init__(self)` names the callback's class as well."""
  for inner in ast.walk(hook.node):
    if isinstance(inner, ast.Attribute) and inner.attr == "__init__":
      symbol = hook.plan.module.resolve(inner.value)
      if symbol is not None and symbol.path == hook.symbol.path:
        base = next((b for b in hook.node.bases if b in hook.plan.expressions), None)
        if base is not None:
          hook.plan.expressions[inner.value] = hook.plan.expressions[base]


def supers(hook: HookClass, method: ast.FunctionDef) -> None:
  """`super().begin()` in `begin`: the callback's method of the same place."""
  for inner in ast.walk(method):
    if not isinstance(inner, ast.Attribute) or inner.attr not in METHODS:
      continue
    call = hook.plan.module.parents[inner]
    statement = hook.plan.module.parents[call]
    calls = isinstance(call, ast.Call) and call.func is inner
    if not calls or inner.attr != method.name or not _is_super(inner.value):
      hook.refuse(inner, f"uses {hook.plan.module.source(inner)}")
    if not isinstance(statement, ast.Expr):
      hook.refuse(inner, f"uses what {hook.plan.module.source(call)} returns")
    if method.name == "begin" and hook.has("after_create_session"):
      hook.refuse(inner, "calls super().begin() and has after_create_session")
    if len(hook.family) == 1 and hook.symbol.path == "tf.train.SessionRunHook":
      hook.plan.statement(statement).replacement = []
      continue
    arguments = EVENTS[method.name][1].replace("=None", "")
    owner = hook.plan.source(inner.value)
    name = hook.event(method.name, hook.uses[0])
    hook.plan.statement(statement).replacement = [f"{owner}.{name}({arguments})"]


def _check_body(hook: HookClass) -> None:
  """Hook methods must be plain methods of the class, and only the session may call them."""
  plan, node = hook.plan, hook.node
  own = plan.module.scopes[node].bindings
  for name in TAKEN:
    if name in own:
      hook.refuse(node, f"has an attribute {name}")
  for name in METHODS:
    for binding in own.get(name, []):
      method = binding.node
      plain = isinstance(method, ast.FunctionDef) and not method.decorator_list
      if not plain or method not in node.body or len(own[name]) > 1:
        hook.refuse(method, f"defines {name} in another way")
  for inner in ast.walk(node):
    if isinstance(inner, ast.Attribute) and inner.attr in METHODS and not _is_super(inner.value):
      hook.refuse(inner, f"uses {plan.module.source(inner)}")
    if isinstance(inner, ast.Name) and inner.id == node.name and node in plan.twins:
      plan.expressions[inner] = plan.twins[node]
  _check_outside(hook)
  for method in hook.methods:
    if method.name in METHODS:
      _check_parameters(hook, method)
  both = hook.has("begin") and hook.has("after_create_session")
  inherits = any(hook_values.method(hook.family[1:], n) for n in ("begin", "after_create_session"))
  if inherits and (both or hook.has("begin") or hook.has("after_create_session")):
    inherited = {
      n for n in ("begin", "after_create_session") if hook_values.method(hook.family[1:], n)
    }
    own_names = {n for n in ("begin", "after_create_session") if hook.has(n)}
    if inherited != own_names:
      hook.refuse(node, "has begin, and after_create_session of its base class")


def _check_outside(hook: HookClass) -> None:
  """Nothing outside of the class may replace its methods, or look for them by their names."""
  plan, node = hook.plan, hook.node
  for inner in ast.walk(plan.module.tree):
    named = isinstance(inner, ast.Attribute) and inner.attr in METHODS
    if named and plan.module.definition(inner.value) is node:  # type: ignore[attr-defined]
      hook.refuse(inner, f"{plan.module.source(inner)} is used outside")
  for decorator in node.decorator_list:
    called = decorator.func if isinstance(decorator, ast.Call) else decorator
    name = plan.module.source(called)
    definition = plan.module.definition(called)
    plain = isinstance(definition, ast.FunctionDef) and not any(
      _NAMES_METHODS & {getattr(n, "attr", ""), getattr(n, "id", "")} for n in ast.walk(definition)
    )
    if not plain and name.rpartition(".")[2] not in _DECORATORS:
      hook.refuse(decorator, f"has the decorator {name}")


def _check_parameters(hook: HookClass, method: ast.FunctionDef) -> None:
  arguments = method.args
  names = [a.arg for a in arguments.posonlyargs + arguments.args]
  if not names or arguments.vararg or arguments.kwarg or arguments.kwonlyargs:
    hook.refuse(method, f"{method.name} has unusual parameters")
  if names[0] != "self":
    hook.refuse(method, f"calls its instance {names[0]} in {method.name}")
  if any(isinstance(n, ast.Name) and n.id == "logs" for n in ast.walk(method)):
    hook.refuse(method, "reads a variable called logs")


def _is_super(node: ast.expr) -> bool:
  return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "super"
