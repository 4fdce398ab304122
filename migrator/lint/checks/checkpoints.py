"""Faults around tf.train.Checkpoint and CheckpointManager, and other users of a model_dir."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Optional

from migrator.analysis import units
from migrator.analysis.module import UNKNOWN, Module
from migrator.lint import values
from migrator.lint.checks.registry import Context, Report, check
from migrator.lint.checks.run_config import RUN_CONFIGS

_CHECKPOINT = ("tf.train.Checkpoint",)
_MANAGER = "tf.train.CheckpointManager"
_READERS = (
  "tf.train.NewCheckpointReader",
  "tf.train.checkpoints_iterator",
  "tf.train.get_checkpoint_state",
  "tf.train.latest_checkpoint",
  "tf.train.list_variables",
  "tf.train.load_checkpoint",
  "tf.train.load_variable",
)
_MODEL_DIR_POSITION = {"Estimator": 1, "DNNClassifier": 2, "DNNRegressor": 2}


@check("EM503", words=("load_checkpoint",))
def dropped_reader(context: Context) -> Iterator[Report]:
  """`tf.train.load_checkpoint(path)` whose result nobody reads."""
  module = context.module
  for call, _ in context.calls_of("tf.train.load_checkpoint"):
    if not _is_dropped(module, call):
      continue
    argument = values.text(module, call.args[0]) if call.args else "path"
    name = _checkpoint_variable(module, call) or "tf.train.Checkpoint(model=model)"
    right = f"{name}.restore({argument}).assert_existing_objects_matched()"
    yield context.report("EM503", call, right=right)


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


@check("EM506", words=("train.Checkpoint", "Checkpoint("))
def dropped_status(context: Context) -> Iterator[Report]:
  """`checkpoint.restore(path)` whose status nobody asks."""
  module = context.module
  for node in module.scope_of:
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
      continue
    if node.func.attr not in ("restore", "read"):
      continue
    if not _is_dropped(module, node):
      continue
    if values.always_call_of(module, node.func.value, _CHECKPOINT):
      shown = values.text(module, node)
      if shown.endswith("..."):
        shown = f"{values.text(module, node.func)}(...)"
      yield Report("EM506", module.span(node), {"call": shown})


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
    isinstance(other, ast.Name)
    and other.id == target.id
    and isinstance(other.ctx, ast.Load)
    and scope.lookup(other.id)[0] is owner
    for other, scope in module.scope_of.items()
  )


@check("EM507", "EM508", words=("CheckpointManager",))
def managers(context: Context) -> Iterator[Report]:
  """CheckpointManagers that raise, or that work in an Estimator's directory."""
  module = context.module
  directories = _Directories(context)
  for call, _ in context.calls_of(_MANAGER):
    found = values.arguments(module, call, ("checkpoint", "directory", "max_to_keep"))
    keep = found.get("max_to_keep")
    number = values.literal(module, keep)
    if keep is not None and isinstance(number, (int, float)) and number <= 0:
      yield context.report("EM507", keep, value=number)
    directory = found.get("directory")
    line = directories.line_of(directory)
    if directory is not None and line is not None:
      yield context.report("EM508", directory, line=line)


@check("EM601", symbols=_READERS)
def readers(context: Context) -> Iterator[Report]:
  """Functions that read the directory of an Estimator of this file."""
  directories = _Directories(context)
  for call, symbol in context.calls_of(*_READERS):
    arguments = [*call.args, *(k.value for k in call.keywords)]
    line = directories.line_of(arguments[0] if arguments else None)
    if line is not None:
      yield context.report("EM601", call, symbol=symbol.path, line=line)


class _Directories:
  """The model_dir expressions of the estimators of a module."""

  def __init__(self, context: Context):
    self._module = context.module
    self._lines: dict[str, int] = {}
    for call, symbol in context.calls:
      kind = units.estimator_kind(symbol)
      if kind is None and symbol.path not in RUN_CONFIGS:
        continue
      node = self._model_dir(call, kind)
      if node is not None and values.literal(self._module, node) is not None:
        for key in self._keys(node):
          self._lines.setdefault(key, self._module.span(call).line)

  def _model_dir(self, call: ast.Call, kind: Optional[str]) -> Optional[ast.expr]:
    position = _MODEL_DIR_POSITION.get(kind or "", 0)
    if position and len(call.args) > position:
      return call.args[position]
    return values.arguments(self._module, call).get("model_dir")

  def _keys(self, node: ast.AST) -> Iterator[str]:
    """Texts by which two expressions are the same directory."""
    value = self._module.constant(node)
    if value is not UNKNOWN:
      yield repr(str(value).rstrip("/"))
      return
    yield self._key(node)
    definition = self._module.definition(node)
    if definition is not None and not isinstance(definition, ast.Call):
      yield self._key(definition)

  def _key(self, node: ast.AST) -> str:
    """The expression, and what its names belong to: `self.path` differs between classes."""
    owners = []
    for part in ast.walk(node):
      if isinstance(part, ast.Name):
        owner: Optional[ast.AST] = None
        if part.id == "self":
          classes = (a for a in self._module.ancestors(part) if isinstance(a, ast.ClassDef))
          owner = next(classes, None)
        else:
          scope, _ = self._module.scope_of[part].lookup(part.id)
          owner = scope.node if scope is not None else None
        owners.append(str(id(owner)))
    return " ".join([ast.dump(node), *owners])

  def line_of(self, node: Optional[ast.AST]) -> Optional[int]:
    """The line of the estimator whose directory an expression is, or None."""
    if node is None:
      return None
    if isinstance(node, ast.Attribute) and node.attr == "model_dir":
      line = self._line_of_estimator(node.value)
      if line is not None:
        return line
    return next((self._lines[k] for k in self._keys(node) if k in self._lines), None)

  def _line_of_estimator(self, node: ast.AST) -> Optional[int]:
    """The line of the first estimator call that a name can stand for, or None."""
    for value in values.possible(self._module, node) or ():
      symbol = self._module.resolve(value.func) if isinstance(value, ast.Call) else None
      if symbol is not None and units.estimator_kind(symbol) is not None:
        return self._module.span(value).line
    return None
