"""Faults around the restoring of tf.train.Checkpoint, and other readers of a model_dir."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Optional

from migrator.analysis.module import Module
from migrator.lint import values
from migrator.lint.checks import fits, keras_versions
from migrator.lint.checks.directories import Directories
from migrator.lint.checks.registry import Context, Report, check

_CHECKPOINT = ("tf.train.Checkpoint",)
_MANAGER = ("tf.train.CheckpointManager",)
_LATEST = ("tf.train.latest_checkpoint",)
_READERS = (
  "tf.contrib.training.checkpoints_iterator",
  "tf.train.NewCheckpointReader",
  "tf.train.checkpoints_iterator",
  "tf.train.get_checkpoint_state",
  "tf.train.latest_checkpoint",
  "tf.train.list_variables",
  "tf.train.load_checkpoint",
  "tf.train.load_variable",
)
# What the functions return that are taken for a restore.
_DROPPED = {
  "tf.train.NewCheckpointReader": "a reader",
  "tf.train.load_checkpoint": "a reader",
  "tf.train.load_variable": "the value of a variable",
}
_ASSERTION = ".assert_existing_objects_matched()"


@check("EM503", words=("load_checkpoint", "load_variable", "NewCheckpointReader"))
def dropped_reader(context: Context) -> Iterator[Report]:
  """`tf.train.load_checkpoint(path)` whose result nobody reads."""
  module = context.module
  for call, symbol in context.calls_of(*_DROPPED):
    if not _is_dropped(module, call) or _is_probe(module, call):
      continue
    argument = values.text(module, call.args[0]) if call.args else "path"
    name = _checkpoint_variable(module, call) or "tf.train.Checkpoint(model=model)"
    right = f"{name}.restore({argument}){_ASSERTION}"
    what = _DROPPED[symbol.path]
    yield context.report("EM503", call, symbol=symbol.path, what=what, right=right)


def _is_probe(module: Module, call: ast.Call) -> bool:
  """Whether a reader is opened to see whether that works: in a `try`, or in a test."""
  child: ast.AST = call
  for ancestor in module.ancestors(call):
    if isinstance(ancestor, ast.Try) and ancestor.handlers and child in ancestor.body:
      return True
    child = ancestor
  return keras_versions.is_expected_to_raise(module, call)


def _checkpoint_variable(module: Module, place: ast.AST) -> Optional[str]:
  """The one variable that holds a tf.train.Checkpoint where `place` stands, or None."""
  names = set()
  for scope in module.scope_of[place].chain():
    for name, bindings in scope.bindings.items():
      if bindings and all(
        b.kind == "assign" and values.is_call_of(module, b.value, _CHECKPOINT) for b in bindings
      ):
        names.add(name)
  return names.pop() if len(names) == 1 else None


@check(
  "EM506",
  words=("Checkpoint(", "restore_or_initialize"),
  also=(".restore(", ".read(", "restore_or_initialize"),
  evidence=r"(?<!Model)Checkpoint\(|restore_or_initialize",
)
def silent_restores(context: Context) -> Iterator[Report]:
  """`checkpoint.restore(path)` whose status nobody asks, and `restore_or_initialize()`."""
  module = context.module
  for call in fits.method_calls(module, "restore", "read"):
    owner = call.func.value  # type: ignore[attr-defined]
    if values.always_call_of(module, owner, _CHECKPOINT) and _is_dropped(module, call):
      yield _silent(context, call)
  for call in fits.method_calls(module, "restore_or_initialize"):
    owner = call.func.value  # type: ignore[attr-defined]
    managed = _managed(module, owner)
    if managed is None:
      continue
    latest = f"{values.text(module, owner)}.latest_checkpoint"
    right = f"if {latest}: {managed}.restore({latest}){_ASSERTION}"
    if _initializes(module, owner):
      right += "`, else call its `init_fn"  # the message has the outer backticks
    shown = values.text(module, call)
    yield Report("EM506", module.span(call), {"call": shown, "none": "", "right": right})


def _silent(context: Context, call: ast.Call) -> Report:
  """EM506 of a restore; an assertion would stop a first start, where the path is None."""
  module = context.module
  shown = values.text(module, call)
  if shown.endswith("..."):
    shown = f"{values.text(module, call.func)}(...)"
  path = values.arguments(module, call, ("save_path",)).get("save_path")
  right, none = f"{shown}{_ASSERTION}", ""
  fixed: Optional[str] = module.source(call) + _ASSERTION
  if path is not None and _may_be_none(module, path) and not _is_guarded(module, call, path):
    none = " and loads nothing when there is no checkpoint"
    right, fixed = f"if {values.text(module, path)}: {right}", None
  if not isinstance(module.parents.get(call), ast.Expr):
    fixed = None
  return Report("EM506", module.span(call), {"call": shown, "none": none, "right": right}, fixed)


def _may_be_none(module: Module, path: ast.expr) -> bool:
  """Whether a path is None as long as nothing was saved."""
  for value in values.possible(module, path) or (path,):
    if isinstance(value, ast.Attribute) and value.attr == "latest_checkpoint":
      return True
    if values.is_call_of(module, value, _LATEST):
      return True
  return False


def _is_guarded(module: Module, call: ast.Call, path: ast.expr) -> bool:
  """Whether a test of the path stands around the call, or leaves the function before it."""
  text = ast.unparse(path)
  child: ast.AST = call
  for ancestor in module.ancestors(call):
    if isinstance(ancestor, (ast.If, ast.IfExp, ast.While)) and text in ast.unparse(ancestor.test):
      return True
    for before in _before(ancestor, child):
      leaves = isinstance(before, ast.If) and isinstance(
        before.body[-1], (ast.Return, ast.Raise, ast.Continue, ast.Break)
      )
      if leaves and text in ast.unparse(before.test):  # type: ignore[attr-defined]
        return True
      if isinstance(before, ast.Assert) and text in ast.unparse(before.test):
        return True
      if _is_tested(before, text):
        return True
    if isinstance(ancestor, (ast.FunctionDef, ast.AsyncFunctionDef)):
      return False
    child = ancestor
  return False


def _is_tested(statement: ast.stmt, text: str) -> bool:
  """Whether a unit test asserts something about an expression: `self.assertIsNotNone(path)`."""
  call = statement.value if isinstance(statement, ast.Expr) else None
  if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
    return False
  if call.func.attr not in ("assertIsNotNone", "assertTrue", "assertNotEmpty"):
    return False
  return any(text in ast.unparse(argument) for argument in call.args)


def _before(block: ast.AST, statement: ast.AST) -> list[ast.stmt]:
  """The statements of the same block above a statement."""
  for field in ("body", "orelse", "finalbody"):
    statements = getattr(block, field, None)
    if isinstance(statements, list) and statement in statements:
      return statements[: statements.index(statement)]
  return []


def _managed(module: Module, manager: ast.expr) -> Optional[str]:
  """The text of the tf.train.Checkpoint of a manager, or None where it may be another object."""
  found = None
  for value in values.possible(module, manager) or ():
    if not isinstance(value, ast.Call) or not values.is_call_of(module, value, _MANAGER):
      return None
    node = values.arguments(module, value, ("checkpoint",)).get("checkpoint")
    if node is None or not values.always_call_of(module, node, _CHECKPOINT):
      return None
    found = values.text(module, node)
    if isinstance(node, ast.Call):
      found = f"{values.text(module, manager)}.checkpoint"
  return found


def _initializes(module: Module, manager: ast.expr) -> bool:
  """Whether a manager has an `init_fn`, which `restore_or_initialize` calls at a first start."""
  for value in values.possible(module, manager) or ():
    if isinstance(value, ast.Call):
      given = values.arguments(module, value, ()).get("init_fn")
      if given is not None and values.literal(module, given) is not None:
        return True
  return False


def _is_dropped(module: Module, node: ast.Call) -> bool:
  """Whether a call is a statement, or is bound to a name that is never read."""
  parent = module.parents.get(node)
  if isinstance(parent, ast.Expr):
    return True
  if not isinstance(parent, ast.Assign) or len(parent.targets) != 1:
    return False
  target = parent.targets[0]
  if not isinstance(target, ast.Name):
    return False
  owner, _ = module.scope_of[target].lookup(target.id)
  return not any(
    other.id == target.id
    and isinstance(other.ctx, ast.Load)
    and module.scope_of[other].lookup(other.id)[0] is owner
    for other in fits.nodes(module, ast.Name)
  )


@check("EM601", symbols=_READERS)
def readers(context: Context) -> Iterator[Report]:
  """Functions that read the directory of an Estimator of this file."""
  calls = list(context.calls_of(*_READERS))
  directories = Directories(context) if calls else None
  for call, symbol in calls:
    arguments = [*call.args, *(k.value for k in call.keywords)]
    line = directories.line_of(arguments[0] if arguments else None) if directories else None
    if line is not None:
      yield context.report("EM601", call, symbol=symbol.path, line=line)
