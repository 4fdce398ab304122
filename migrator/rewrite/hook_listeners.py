"""CheckpointSaverListener classes -> listeners of the runtime's savers.

https://www.tensorflow.org/versions/r1.15/api_docs/python/tf/estimator/CheckpointSaverListener
"""

from __future__ import annotations

import ast

from migrator.analysis import facts
from migrator.rewrite import hook_notes, hook_values
from migrator.rewrite.hook_values import Values
from migrator.rewrite.plan import Plan, StatementEdit, Unsupported

_BASE = "tf.train.CheckpointSaverListener"
METHODS = ("before_save", "after_save", "end")
# What a listener may use as before.
_HARMLESS = (
  "tf.logging",
  "tf.get_logger",
  "tf.gfile",
  "tf.io.gfile",
  "tf.errors",
  "tf.flags",
  "tf.train.latest_checkpoint",
  "tf.train.get_checkpoint_state",
)


def convert_class(plan: Plan, node: ast.ClassDef) -> None:
  """Plans the conversion of a listener class (and of its base classes in the file).

  The methods keep their names. Instead of the session they get the model.

  Raises:
    Unsupported: EM302, naming what has no counterpart.
  """
  if node in plan.hook_uses:
    return
  plan.hook_uses[node] = ("listener",)
  if node not in plan.classes:
    plan.classes.append(node)
  for base in node.bases:
    _convert_base(plan, node, base)
  values = Values(plan.module, node, hook_values.family(plan.module, node))
  for inner in ast.walk(node):
    if isinstance(inner, ast.Name) and inner.id == node.name and node in plan.twins:
      plan.expressions[inner] = plan.twins[node]
  for method in node.body:
    if isinstance(method, ast.FunctionDef) and method.name in METHODS:
      _convert_method(plan, node, method, values)
  _remove_tensors(plan, node, values)
  _refuse_graph_names(plan, node)
  hook_notes.report(plan, node)


def _refuse(node: ast.AST, owner: ast.ClassDef, what: str) -> None:
  raise Unsupported("EM302", node, hook=owner.name, what=what)


def _convert_base(plan: Plan, node: ast.ClassDef, base: ast.expr) -> None:
  symbol = plan.module.resolve(base)
  definition = plan.module.definition(base)
  if symbol is not None and symbol.path == _BASE:
    plan.expressions[base] = f"{plan.runtime()}.CheckpointSaverListener"
  elif isinstance(definition, ast.ClassDef) and facts.hook_base(plan.module, definition):
    convert_class(plan, definition)
    if definition in plan.twins:
      plan.expressions[base] = plan.twins[definition]
  elif not (isinstance(base, ast.Name) and base.id == "object"):
    _refuse(base, node, f"derives from {plan.module.source(base)}")


def _convert_method(
  plan: Plan, node: ast.ClassDef, method: ast.FunctionDef, values: Values
) -> None:
  arguments = method.args
  names = [a.arg for a in arguments.posonlyargs + arguments.args]
  if (
    len(names) != 3
    or arguments.vararg
    or arguments.kwarg
    or arguments.kwonlyargs
    or arguments.defaults
    or method.decorator_list
  ):
    _refuse(method, node, f"{method.name} has unusual parameters")
  owner, session, step = names
  for inner in ast.walk(method):
    if isinstance(inner, ast.Name) and inner.id == session:
      _convert_session(plan, node, method, inner, step, values)
    elif isinstance(inner, ast.Name) and inner.id == "model" and session != "model":
      _refuse(inner, node, "reads a variable called model")
  plan.functions[method] = (method.name, f"{owner}, model, {step}")


def _convert_session(plan, node, method, name: ast.Name, step: str, values: Values) -> None:
  """The only thing that can be run in no session is reading the global step."""
  module = plan.module
  attribute = module.parents[name]
  call = module.parents.get(attribute)
  statement = module.statement(name)
  if isinstance(statement, ast.Delete) and len(method.body) > 1:
    deleted = [t.id for t in statement.targets if isinstance(t, ast.Name)]
    if deleted == [name.id]:
      plan.statement(statement).replacement = []
      return
  if isinstance(attribute, ast.Attribute) and attribute.attr == "run" and call is not None:
    assert isinstance(call, ast.Call)
    value = values.of(call.args[0]) if len(call.args) == 1 and not call.keywords else None
    if value is not None and value.kind in ("step", "stale step"):
      plan.expressions[call] = step
      return
  used = attribute if isinstance(attribute, ast.Attribute) else name
  _refuse(name, node, f"uses {module.source(used)} in {method.name}")


def _remove_tensors(plan: Plan, node: ast.ClassDef, values: Values) -> None:
  """Attributes that held the global step's tensor go."""
  for name in values.attributes():
    value = values.attribute(name)
    if value is None or value.kind not in ("step", "stale step", "named"):
      continue
    for statement in values.assignments(name):
      plan.statement(statement).replacement = []
    for inner in ast.walk(node):
      edited = any(a in plan.expressions for a in plan.module.ancestors(inner))
      if hook_values.reads(inner, name) and not edited:
        _refuse(inner, node, f"uses {plan.module.source(inner)}, a tensor")


def _refuse_graph_names(plan: Plan, node: ast.ClassDef) -> None:
  """A listener that asks the graph for something would silently get something else."""
  for use in plan.module.uses():
    ancestors = list(plan.module.ancestors(use.node))
    if node not in ancestors or use.node in node.bases:
      continue
    if isinstance(use.node, (ast.Import, ast.ImportFrom)) or use.symbol.path.startswith(_HARMLESS):
      continue
    edited = any(
      a in plan.expressions
      or (
        isinstance(a, ast.stmt) and plan.statements.get(a, StatementEdit()).replacement is not None
      )
      for a in ancestors
    )
    if not edited:
      _refuse(use.node, node, f"uses {use.symbol.path}")
