"""What a session unit restores, and the code that restores it in TF2."""

from __future__ import annotations

import ast
from typing import NamedTuple, Optional

from migrator.analysis import symbols
from migrator.analysis.module import Module
from migrator.lint import values
from migrator.lint.checks import reaching
from migrator.rewrite.sessions import found
from migrator.rewrite.sessions.text import source

_LATEST = ("tf.train.latest_checkpoint",)
_STATE = ("tf.train.get_checkpoint_state",)


class Restored(NamedTuple):
  """What `restore` is called with.

  Attributes:
    call: the call.
    node: the path.
    text: its source.
    directory: source of the directory whose newest checkpoint it is; "" for a path.
    guard: the `if` that asks whether there is a checkpoint, if there is one around.
  """

  call: ast.Call
  node: ast.expr
  text: str
  directory: str
  guard: Optional[ast.If]


def of(module: Module, call: ast.Call) -> Optional[Restored]:
  """What a `restore` call reads; None where the path is not there to be read."""
  node = values.arguments(module, call, found.RESTORE_PARAMETERS).get("save_path")
  if node is None:
    return None
  directory = _directory(module, node)
  guard = _guard(module, call, node) if directory else None
  return Restored(call, node, source(module, node), directory, guard)


def _guard(module: Module, call: ast.Call, path: ast.expr) -> Optional[ast.If]:
  """The outermost `if` around a call that only asks whether there is something to restore."""
  found_guard = None
  names = {n.id for n in ast.walk(path) if isinstance(n, ast.Name)}
  child: ast.AST = call
  for ancestor in module.ancestors(call):
    if isinstance(ancestor, (ast.FunctionDef, ast.For, ast.While)):
      break
    if isinstance(ancestor, ast.If) and child in ancestor.body:
      asked = {n.id for n in ast.walk(ancestor.test) if isinstance(n, ast.Name)}
      if asked & names and not _asks_more(module, ancestor.test, names):
        found_guard = ancestor
    child = ancestor
  return found_guard


def _asks_more(module: Module, test: ast.expr, names: set[str]) -> bool:
  """Whether a condition is about anything but the path, TensorFlow and the file system."""
  for node in ast.walk(test):
    if not isinstance(node, ast.Name) or node.id in names or node.id == "os":
      continue
    if not symbols.is_tensorflow(module.resolve(node)):
      return True
  return False


def _directory(module: Module, node: ast.expr) -> str:
  """The directory of `latest_checkpoint(x)` or of `get_checkpoint_state(x).model_checkpoint_path`."""
  if isinstance(node, ast.Attribute) and node.attr == "model_checkpoint_path":
    return _argument(module, node.value, _STATE)
  return _argument(module, node, _LATEST)


def _argument(module: Module, node: ast.expr, paths: tuple[str, ...]) -> str:
  value: Optional[ast.AST] = node
  if isinstance(node, ast.Name):
    value = reaching.last_value(module, node)
    if isinstance(value, ast.Attribute) and paths is _LATEST:
      return _directory(module, value)
  if not values.is_call_of(module, value, paths) or not isinstance(value, ast.Call):
    return ""
  found_arguments = values.arguments(module, value, ("checkpoint_dir",))
  directory = found_arguments.get("checkpoint_dir")
  return source(module, directory) if directory is not None else ""


def takes_averages(module: Module, saver: Optional[ast.Call]) -> bool:
  """Whether a Saver reads moving averages in place of the variables."""
  if saver is None:
    return False
  node = found.bind(module, saver, found.SAVER).get("var_list")
  found_values = [node, *(reaching.possible(module, node) if node is not None else ())]
  return any(
    isinstance(v, ast.Call)
    and isinstance(v.func, ast.Attribute)
    and v.func.attr == "variables_to_restore"
    for v in found_values
  )
