"""The names of a callback's methods and attributes."""

from __future__ import annotations

import ast

from migrator.rewrite import hook_values
from migrator.rewrite.hook_class import EVENTS, METHODS, TAKEN, HookClass
from migrator.rewrite.plan import StatementEdit

# What looks at or changes directories.
_FILES = ("latest_checkpoint", "get_checkpoint_state", "rmtree", "listdir", "remove", "glob")


def name_methods(hook: HookClass) -> None:
  both = hook.has("begin") and hook.has("after_create_session")
  for method in hook.methods:
    if method.name not in METHODS:
      continue
    if _is_empty(hook, method):
      hook.plan.statements.setdefault(method, StatementEdit()).replacement = []
      continue
    if method.name == "begin" and both:
      continue
    parameters = EVENTS[method.name][1]
    if any(isinstance(n, ast.Name) and n.id == "batch" for n in ast.walk(method)):
      # Keras gives it by position.
      parameters = parameters.replace("batch,", "_batch,")
    if method.name == "before_run":
      hook.plan.report("EM306", method, name=hook.node.name)
    if method.name == "begin":
      _report_begin(hook, method)
    name = hook.event(method.name, hook.uses[0])
    hook.plan.functions[method] = (name, f"self, {parameters}")
    if method.returns is not None and hook.plan.module.source(method.returns) != "None":
      hook.plan.expressions[method.returns] = "None"
    if method.name == "after_create_session" and both:
      _call_begin(hook, method)


def _report_begin(hook: HookClass, method: ast.FunctionDef) -> None:
  """What a hook does before the first checkpoint of a session, its callback does after it."""
  for inner in ast.walk(method):
    if isinstance(inner, ast.Raise) and not hook.is_edited(inner):
      hook.plan.report("EM316", method, name=hook.node.name, what="can raise")
    elif isinstance(inner, ast.Attribute) and inner.attr in _FILES:
      what = f"calls {hook.plan.module.source(inner)}"
      hook.plan.report("EM316", method, name=hook.node.name, what=what)


def _call_begin(hook: HookClass, method: ast.FunctionDef) -> None:
  """A hook with both keeps `begin`, which the callback's `on_train_begin` calls first."""
  begin = next(m for m in hook.methods if m.name == "begin")
  if _is_empty(hook, begin):
    return
  body = [s for s in method.body if not hook_values.is_docstring(s)] or method.body
  before = hook.plan.statements.setdefault(body[0], StatementEdit()).before
  if "self.begin()" not in before:
    before.insert(0, "self.begin()")
  hook.plan.report("EM313", method, name=hook.node.name)


def _is_empty(hook: HookClass, method: ast.FunctionDef) -> bool:
  """Whether nothing of a method is left but its description."""
  removed = 0
  for statement in method.body:
    edit = hook.plan.statements.get(statement)
    if edit is not None and edit.replacement == [] and not edit.before:
      removed += 1
    elif not hook_values.is_docstring(statement):
      return False
  return removed > 0


def add_aliases(hook: HookClass) -> None:
  """`on_test_begin = on_train_begin` for a hook that is used in several ways."""
  if len(hook.uses) < 2:
    return
  lines = []
  for name in METHODS:
    for method in hook.methods:
      if method.name == name and method in hook.plan.functions:
        first, *others = (hook.event(name, use) for use in hook.uses)
        lines += [f"{other} = {first}" for other in others]
  hook.plan.statements.setdefault(hook.node.body[-1], StatementEdit()).after = lines


def rename_taken(hook: HookClass, method: ast.FunctionDef) -> None:
  positional = method.args.posonlyargs + method.args.args
  if not positional:
    return
  own = {n.attr for c in hook.family for n in ast.walk(c) if isinstance(n, ast.Attribute)}
  for inner in ast.walk(method):
    if (
      isinstance(inner, ast.Attribute)
      and inner.attr in TAKEN
      and isinstance(inner.value, ast.Name)
      and inner.value.id == positional[0].arg
    ):
      renamed = "hook_" + inner.attr.lstrip("_")
      while renamed in own:
        renamed += "_"
      hook.plan.expressions[inner] = f"{inner.value.id}.{renamed}"
      _refuse_by_name(hook, inner.attr)


def _refuse_by_name(hook: HookClass, taken: str) -> None:
  """An attribute that is renamed must not be read or set by its name as a text as well."""
  for inner in ast.walk(hook.node):
    if isinstance(inner, ast.Call) and isinstance(inner.func, ast.Name) and len(inner.args) > 1:
      by_name = inner.func.id in ("getattr", "setattr", "hasattr", "delattr")
      text = hook.plan.module.constant(inner.args[1])
      other = isinstance(text, str) and text != taken
      if by_name and not other and hook.plan.module.source(inner.args[0]) == "self":
        hook.refuse(inner, f"has an attribute {taken} and calls {inner.func.id}")
    elif isinstance(inner, ast.Attribute) and inner.attr == "__dict__":
      hook.refuse(inner, f"has an attribute {taken} and uses {hook.plan.module.source(inner)}")
