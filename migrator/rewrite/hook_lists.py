"""Lists of hooks at their places of use -> elements of `callbacks=`.

https://www.tensorflow.org/guide/migrate/sessionrunhook_callback
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Optional

from migrator.analysis import facts
from migrator.rewrite import built_in_hooks, hook_classes
from migrator.rewrite.plan import Plan, Unsupported


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
    Unsupported: a hook that is built in, from another file, or does what has no counterpart.
  """
  if argument is None:
    return []
  node = argument.value
  if isinstance(node, ast.Constant) and node.value is None:
    return []
  for instance in _instances(plan, node):
    _convert_instance(plan, tf, instance, use)
  if isinstance(node, (ast.List, ast.Tuple)):
    return [plan.source(element) for element in node.elts]
  text = plan.source(node)
  return [f"*{text}" if isinstance(node, (ast.Name, ast.Attribute)) else f"*({text})"]


def _instances(plan: Plan, node: ast.AST) -> Iterator[ast.AST]:
  """The expressions that can be elements of a list of hooks."""
  if isinstance(node, (ast.List, ast.Tuple)):
    for element in node.elts:
      yield element.value if isinstance(element, ast.Starred) else element
  elif isinstance(node, ast.IfExp):
    yield from _instances(plan, node.body)
    yield from _instances(plan, node.orelse)
  elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
    yield from _instances(plan, node.left)
    yield from _instances(plan, node.right)
  elif isinstance(node, ast.Name):
    _check_readers(plan, node)
    definition = plan.module.definition(node)
    if not isinstance(definition, (ast.List, ast.Tuple, ast.IfExp, ast.BinOp)):
      raise Unsupported("EM304", node, name=node.id)
    yield from _instances(plan, definition)
    yield from _appended(plan, node)
  else:
    raise Unsupported("EM304", node, name=plan.module.source(node))


def _appended(plan: Plan, node: ast.Name) -> Iterator[ast.AST]:
  appends = facts.appends(plan.module, node)
  if appends is None:
    raise Unsupported("EM304", node, name=node.id)
  for call in appends:
    yield call.args[0]


def _check_readers(plan: Plan, node: ast.Name) -> None:
  """A hook, or list of hooks, that another estimator uses too cannot become a callback."""
  for load in facts.loads(plan.module, node):
    for ancestor in plan.module.ancestors(load):
      if isinstance(ancestor, ast.stmt):
        break
      if not isinstance(ancestor, ast.Call) or ancestor in plan.unit_calls:
        continue
      function = ancestor.func
      name = function.attr if isinstance(function, ast.Attribute) else ""
      if name in ("train", "evaluate", "predict") or name.endswith("Spec"):
        raise Unsupported("EM304", load, name=load.id)
    parent = plan.module.parents.get(load)
    if isinstance(parent, ast.Attribute) and (
      parent.attr in hook_classes.METHODS or parent.attr in hook_classes.TAKEN
    ):
      raise Unsupported("EM302", parent, hook=load.id, what=f"{parent.attr} is used outside")


def _convert_instance(plan: Plan, tf: str, node: ast.AST, use: str) -> None:
  if isinstance(node, ast.Name):
    _check_readers(plan, node)
  call = plan.module.definition(node)
  if not isinstance(call, ast.Call):
    raise Unsupported("EM304", node, name=plan.module.source(node))
  symbol = plan.module.resolve(call.func)
  if symbol is not None and symbol.path.startswith("tf."):
    built_in_hooks.convert(plan, tf, call, use)
    return
  definition = plan.module.definition(call.func)
  if not isinstance(definition, ast.ClassDef):
    raise Unsupported("EM304", node, name=plan.module.source(call.func))
  hook_classes.convert_class(plan, tf, definition, use)
  hook_classes.convert_call(plan, call, definition)
  plan.hook_names.append(call.func)
  if definition in plan.twins:
    plan.expressions[call.func] = plan.twins[definition]
