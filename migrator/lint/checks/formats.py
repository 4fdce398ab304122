"""TF1 checkpoints, which hold variables by name, given to loaders that want objects."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Optional

from migrator.analysis.module import Module
from migrator.lint import values
from migrator.lint.checks import directories, fits, keras_models, paths, reaching, writers
from migrator.lint.checks.directories import Directories
from migrator.lint.checks.registry import Context, Report, check

_VARIABLES = ("tf.Variable", "tf.get_variable")
_SCAFFOLD = "tf.train.Scaffold"
_TF1_NAME = re.compile(r"model\.ckpt-\d+")
_RESTORE = (
  "in Keras 3 nothing of it reaches a model, without an error, and in Keras 2 only what has the "
  "same names"
)
_LOAD_WEIGHTS = "raises AssertionError in Keras 2 and ValueError in Keras 3"


@check(
  "EM518",
  words=("Checkpoint(", ".load_weights("),
  also=("model.ckpt-", "stimator", "contrib", "Saver", "MonitoredTrainingSession", "Supervisor"),
)
def tf1_checkpoints(context: Context) -> Iterator[Report]:
  """`Checkpoint.restore`, `read` and `load_weights` of a checkpoint that TF1 wrote."""
  module = context.module
  for call in fits.method_calls(module, "restore", "read"):
    owner = call.func.value  # type: ignore[attr-defined]
    if not values.always_call_of(module, owner, (writers.CHECKPOINT,)):
      continue
    node = values.arguments(module, call, ("save_path",)).get("save_path")
    reason = tf1_reason(context, node) if node is not None else None
    if node is None or reason is None or _is_asserted(module, call):
      continue
    if not _holds_variables_only(module, owner):  # these are found by their names
      yield _report(context, call, node, reason, _RESTORE)
  for call in fits.method_calls(module, "load_weights"):
    node = values.arguments(module, call, ("filepath",)).get("filepath")
    reason = tf1_reason(context, node) if node is not None else None
    if node is None or reason is None:
      continue
    if keras_models.is_model(module, call.func.value):  # type: ignore[attr-defined]
      yield _report(context, call, node, reason, _LOAD_WEIGHTS)


def _report(
  context: Context, call: ast.Call, node: ast.expr, reason: str, consequence: str
) -> Report:
  function = call.func.attr  # type: ignore[attr-defined]
  if consequence is not _LOAD_WEIGHTS:
    function = f"Checkpoint.{function}"
  shown = values.text(context.module, node)
  return context.report(
    "EM518", node, shown=shown, reason=reason, function=function, consequence=consequence
  )


def _holds_variables_only(module: Module, node: ast.AST) -> bool:
  """Whether the Checkpoint of an expression is made of single variables."""
  for made in reaching.possible(module, node):
    arguments = [*made.args, *(k.value for k in made.keywords)]  # type: ignore[attr-defined]
    if not arguments or not all(_is_variable(module, a) for a in arguments):
      return False
  return True


def _is_variable(module: Module, node: ast.AST) -> bool:
  if isinstance(node, (ast.List, ast.Tuple)):
    return all(_is_variable(module, element) for element in node.elts)
  found = values.possible(module, node) or ()
  return any(values.is_call_of(module, value, _VARIABLES) for value in found)


def _is_asserted(module: Module, call: ast.Call) -> bool:
  """Whether the status of a restore is asked for more than silence."""
  parent = module.parents.get(call)
  if isinstance(parent, ast.Attribute):
    return parent.attr != "expect_partial"
  if isinstance(parent, ast.Assign) and isinstance(parent.targets[0], ast.Name):
    name = parent.targets[0]
    owner = module.scope_of[name].lookup(name.id)[0]
    return any(
      isinstance(node.value, ast.Name)
      and node.value.id == name.id
      and node.attr.startswith(("assert", "initialize", "run_restore"))
      and module.scope_of[node.value].lookup(name.id)[0] is owner
      for node in fits.nodes(module, ast.Attribute)
    )
  return isinstance(parent, (ast.Return, ast.Call, ast.keyword))


def tf1_reason(context: Context, node: ast.AST) -> Optional[str]:
  """Why a path is certainly a TF1 checkpoint, in words; None where it may be none."""
  module = context.module
  value = module.definition(node) or node
  if isinstance(value, ast.Call):
    return _of_call(context, value)
  place = paths.parts(module, node)
  if not place or len(place) < 2:
    return None
  owner = Directories(context).at(place[:-1])
  if owner is not None:
    return _unless_tf2(context, place[:-1], owner)
  named = _TF1_NAME.fullmatch(place[-1]) is not None
  if named and not _writes_such_names(context):
    return "has a name that an Estimator or a tf.train.Saver gives"
  return None


def _of_call(context: Context, call: ast.Call) -> Optional[str]:
  module, known = context.module, Directories(context)
  if call in list(directories.saves_of_savers(context)):
    return f"is what the Saver of line {module.span(call).line} writes"
  function = call.func
  if isinstance(function, ast.Attribute) and function.attr == "latest_checkpoint":
    line = known.line_of_estimator(function.value)
    if line is not None:
      return _unless_tf2(context, None, ("the Estimator", line))
  if values.is_call_of(module, call, ("tf.train.latest_checkpoint",)):
    node = values.arguments(module, call, ("checkpoint_dir",)).get("checkpoint_dir")
    owner = known.owner_of(node)
    if owner is not None:
      return _unless_tf2(context, paths.parts(module, node), owner)
  return None


def _unless_tf2(
  context: Context, place: Optional[paths.Parts], owner: directories.Owner
) -> Optional[str]:
  """The reason, unless the same file writes object-based checkpoints to the directory."""
  module = context.module
  for call, _ in context.calls_of(_SCAFFOLD):
    saver = values.arguments(module, call).get("saver")
    if saver is not None and not values.always_call_of(module, saver, ("tf.train.Saver",)):
      return None  # an Estimator saves what its Scaffold tells it to
  if any(w.directory == place and w.is_checkpoint for w in writers.writers(context)):
    return None
  return f"is what {owner[0]} of line {owner[1]} writes"


def _writes_such_names(context: Context) -> bool:
  """Whether TF2 code of this file may give its checkpoints the names of TF1."""
  if any(w.place[-1:] == ("model.ckpt",) for w in writers.writers(context)):
    return True
  calls = context.calls_of(writers.MANAGER)
  return any(k.arg in ("checkpoint_name", None) for call, _ in calls for k in call.keywords)
