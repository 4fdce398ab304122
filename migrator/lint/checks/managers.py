"""Faults of tf.train.CheckpointManager."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Optional

from migrator.analysis.module import UNKNOWN, Module
from migrator.lint import values
from migrator.lint.checks import fits, keras_versions
from migrator.lint.checks.directories import Directories
from migrator.lint.checks.registry import Context, Report, check
from migrator.lint.checks.writers import MANAGER

_PARAMETERS = ("checkpoint", "directory", "max_to_keep")


@check(
  "EM507",
  "EM508",
  words=("CheckpointManager",),
  # A number of checkpoints that is no plain positive one, or what saves in the way of TF1.
  evidence=r"stimator|Saver|RunConfig|Classifier|Regressor|KMeans|Session|Supervisor"
  r"|max_to_keep\s*=(?!\s*[1-9]\d*\s*[,)])|CheckpointManager(?!\([^()]*max_to_keep\s*=)",
)
def managers(context: Context) -> Iterator[Report]:
  """CheckpointManagers that raise, or that work in a directory of TF1 checkpoints."""
  module = context.module
  directories = Directories(context)
  for call, _ in context.calls_of(MANAGER):
    found = values.arguments(module, call, _PARAMETERS)
    keep = found.get("max_to_keep")
    number = values.literal(module, keep)
    expected = keras_versions.is_expected_to_raise(module, call)
    if keep is not None and isinstance(number, (int, float)) and number <= 0 and not expected:
      fixed = "None" if isinstance(keep, (ast.Constant, ast.UnaryOp)) else None
      yield Report("EM507", module.span(keep), {"value": number}, fixed)
    directory = found.get("directory")
    owner = directories.owner_of(directory)
    if directory is not None and owner is not None:
      yield context.report("EM508", directory, what=owner[0], line=owner[1])


@check("EM519", words=("checkpoint_interval",), also=("CheckpointManager",))
def intervals(context: Context) -> Iterator[Report]:
  """`checkpoint_interval` where every `save()` checks it: the last step is not saved."""
  module = context.module
  for call, _ in context.calls_of(MANAGER):
    node = values.arguments(module, call, _PARAMETERS).get("checkpoint_interval")
    interval = values.literal(module, node)
    if node is None or interval in (None, 1):
      continue
    saves = _saves(module, call)
    if not saves or not all(_checks(module, save) for save in saves):
      continue
    shown = values.text(module, node) if interval is UNKNOWN else str(interval)
    yield context.report("EM519", saves[0], value=shown, line=module.span(call).line)


def _saves(module: Module, manager: ast.Call) -> list[ast.Call]:
  """The calls `save()` of a manager; none where it goes to another function or module."""
  variable = _variable(module, manager)
  if variable is None:
    return []
  text = ast.unparse(variable)
  found = []
  for node in fits.nodes(module, type(variable)):
    if ast.unparse(node) != text or not isinstance(node.ctx, ast.Load):  # type: ignore[attr-defined]
      continue
    parent = module.parents.get(node)
    if not isinstance(parent, ast.Attribute):
      if isinstance(parent, (ast.Call, ast.keyword, ast.Return, ast.Assign)):
        return []
      continue
    call = module.parents.get(parent)
    if parent.attr == "save" and isinstance(call, ast.Call):
      found.append(call)
  return found


def _variable(module: Module, manager: ast.Call) -> Optional[ast.expr]:
  """The name or `self.x` that a manager is assigned to, and nothing else is."""
  statement = module.parents.get(manager)
  if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
    return None
  target = statement.targets[0]
  if not isinstance(target, (ast.Name, ast.Attribute)):
    return None
  text = ast.unparse(target)
  stored = [n for n in fits.nodes(module, type(target)) if ast.unparse(n) == text]
  once = sum(not isinstance(n.ctx, ast.Load) for n in stored) == 1
  return target if once else None


def _checks(module: Module, save: ast.Call) -> bool:
  """Whether a `save()` certainly saves only when the interval is over."""
  found = values.arguments(module, save, ("checkpoint_number", "check_interval"))
  check_interval = found.get("check_interval")
  if check_interval is None:
    return found.complete
  return values.literal(module, check_interval) is True
