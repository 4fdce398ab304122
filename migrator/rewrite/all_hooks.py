"""Hook classes that no rewritten training of their file uses: `--hooks all`."""

from __future__ import annotations

import ast
import dataclasses
from typing import Any, Callable, Optional

from migrator.analysis import facts
from migrator.analysis.module import Module
from migrator.lint import rules
from migrator.lint.checks import hooks
from migrator.lint.checks.registry import Context
from migrator.rewrite import hook_classes, hook_uses, todo
from migrator.rewrite.plan import Plan, Unsupported


@dataclasses.dataclass(frozen=True)
class HookResult:
  """What became of one hook class: `callback` is the new class's name; "" when it was left.

  `line` is one of `cell` in a notebook.
  """

  name: str
  line: int
  callback: str
  cell: Optional[int] = None

  def to_json(self) -> dict[str, Any]:
    return dataclasses.asdict(self)


def find(module: Module) -> list[ast.ClassDef]:
  """The hook and listener classes of a file, in source order."""
  return [
    node
    for node in ast.walk(module.tree)
    if isinstance(node, ast.ClassDef) and facts.hook_base(module, node) is not None
  ]


def convert(
  plan: Plan,
  tf: str,
  save: Callable[[Plan], Any],
  restore: Callable[[Plan, Any], None],
  *,
  hosted: bool = False,
) -> None:
  """Plans the conversion of all hook classes that can be converted; notes why the others cannot.

  Args:
    plan: of the file, with its units planned.
    tf: the name under which the output knows TF2.
    save: returns the state of a plan.
    restore: sets it again.
    hosted: whether a model_fn of the file is run as it is: its hooks stay hooks.
  """
  known, plan.known_keys = plan.known_keys, None
  most = hooks.runs_in_a_loop(Context(plan.module, rules.load())) if find(plan.module) else 1
  for node in find(plan.module):
    has_twin = f"{node.name}Callback" in plan.module.scope_of[node].bindings
    if node in plan.hook_uses or has_twin or (hosted and _is_made(plan.module, node)):
      continue
    saved = save(plan)
    try:
      symbol = facts.hook_base(plan.module, node)
      assert symbol is not None
      if symbol.path == "tf.train.CheckpointSaverListener":
        hook_classes.convert_class(plan, tf, node, "listener")
        continue
      if most > 1 and hook_uses.is_in_session(plan.module, node):
        what = f"is called {most} times in each round of the loop around its session"
        raise Unsupported("EM302", node, hook=node.name, what=what)
      uses = hook_uses.uses(plan.module, node)
      for use in uses or ["train"]:
        hook_classes.convert_class(plan, tf, node, use)
      if not uses:
        plan.report("EM328", node, name=node.name)
    except Unsupported as reason:
      restore(plan, saved)
      plan.refused_hooks[node] = _of_class(node, reason)
  plan.known_keys = known


def _is_made(module: Module, node: ast.ClassDef) -> bool:
  """Whether the file uses a class, or one that derives from it, for more than as a base."""
  for name in ast.walk(module.tree):
    if not isinstance(name, ast.Name) or name.id != node.name:
      continue
    if module.definition(name) is not node or any(a is node for a in module.ancestors(name)):
      continue
    parent = module.parents.get(name)
    if not isinstance(parent, ast.ClassDef) or name not in parent.bases:
      return True
    if parent is not node and _is_made(module, parent):
      return True
  return False


def _of_class(node: ast.ClassDef, reason: Unsupported) -> Unsupported:
  """The reason why a class stays: its own, or that its base class does."""
  base = reason.values.get("hook", node.name)
  if base == node.name:
    return reason
  return Unsupported("EM302", node, hook=node.name, what=f"derives from {base}, which stays")


def respell_kept(cleanup: Plan, plan: Plan) -> None:
  """Spells TensorFlow's names in hook classes that stay as TF2 still has them.

  Without it a file with such a class would not even be imported.

  Args:
    cleanup: a plan of the file as it is after the other edits; gets the new ones.
    plan: those edits.
  """
  names = {node.name for node in plan.twins if node in plan.hook_uses}
  names |= {node.name for node in plan.refused_hooks}
  if not names or not plan.classes:
    return
  for use in cleanup.module.uses():
    path = use.symbol.path
    kept = any(
      isinstance(a, ast.ClassDef) and a.name in names for a in cleanup.module.ancestors(use.node)
    )
    if kept and path.startswith("tf.train.") and todo.is_removed(cleanup.module, use):
      cleanup.expressions[use.node] = f"{plan.tf}.compat.v1.{path[3:]}"


def results(plan: Plan) -> list[HookResult]:
  """What became of each hook class."""
  return [
    HookResult(
      node.name,
      plan.module.span(node).line,
      plan.twins.get(node, node.name) if node in plan.hook_uses else "",
    )
    for node in find(plan.module)
  ]
