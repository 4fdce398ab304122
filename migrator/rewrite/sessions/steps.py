"""The saves of a Saver: where each writes, and which number it gives the checkpoint."""

from __future__ import annotations

import ast
import re
from typing import NamedTuple, Optional

from migrator.analysis.module import Module
from migrator.lint import values
from migrator.rewrite.sessions import found, places
from migrator.rewrite.sessions.found import Unit
from migrator.rewrite.sessions.text import source

_STEPS = (
  "tf.train.get_or_create_global_step",
  "tf.train.get_global_step",
  "tf.train.create_global_step",
  "tf.train.global_step",
)
_STEP_NAME = re.compile(r"(?i)(^|[._])global_?step(_?(val|value|np|tensor|op))?_?$")


class Saved(NamedTuple):
  """One `save` call.

  Attributes:
    call: the call.
    place: where it writes.
    node: the path.
    text: its source.
    number: source of the number in the name; "" for the global step, None for none.
    keeps_no_state: whether it leaves the `checkpoint` file alone.
  """

  call: ast.Call
  place: places.Place
  node: ast.expr
  text: str
  number: Optional[str]
  keeps_no_state: bool


def of(module: Module, unit: Unit, call: ast.Call) -> Optional[Saved]:
  """Reads a `save` call; None for one that has no path, which is another object's method."""
  arguments = values.arguments(module, call, found.SAVE_PARAMETERS)
  path = arguments.get("save_path")
  if path is None:
    return None
  text = source(module, path)
  place = places.of(module, path)
  if unit.kind == found.SUPERVISOR and text == f"{unit.name}.save_path":
    place = _of_supervisor(module, unit)
  number: Optional[str] = place.number or None
  given = arguments.get("global_step")
  if given is not None and not (isinstance(given, ast.Constant) and given.value is None):
    number = "" if is_step(module, given) else source(module, given)
  no_state = values.literal(module, arguments.get("write_state")) is False
  return Saved(call, place, path, text, number, no_state)


def _of_supervisor(module: Module, unit: Unit) -> places.Place:
  logdir, name = unit.arguments.get("logdir"), unit.arguments.get("checkpoint_basename")
  directory = source(module, logdir) if logdir is not None else "MODEL_DIR"
  return places.Place(directory, source(module, name) if name is not None else '"model.ckpt"')


def is_step(module: Module, node: ast.expr) -> bool:
  """Whether an expression is the global step of the graph, or its value."""
  if _is_step_call(module, node):
    return True
  if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
    if node.func.attr == "run":  # session.run(global_step)
      return len(node.args) == 1 and is_step(module, node.args[0])
    if node.func.attr in ("eval", "numpy"):
      return is_step(module, node.func.value)
  if isinstance(node, ast.Call) and ast.unparse(node.func) == "int" and len(node.args) == 1:
    return is_step(module, node.args[0])
  if not isinstance(node, (ast.Name, ast.Attribute)):
    return False
  if _counted_by_optimizer(module, node):
    return True
  if isinstance(node, ast.Attribute):
    return _STEP_NAME.search(node.attr) is not None
  _, bindings = module.scope_of[node].lookup(node.id)
  if any(b.kind == "loop" or isinstance(b.node, ast.AugAssign) for b in bindings):
    return False  # counted by the program itself
  for binding in bindings:
    if binding.value is not None and _is_step_call(module, binding.value):
      return True
    if isinstance(binding.node, ast.Assign):
      text = module.source(binding.node.value)
      if ".run(" in text and re.search(r"global_?step", text):
        return True
  return _STEP_NAME.search(node.id) is not None


def _counted_by_optimizer(module: Module, node: ast.expr) -> bool:
  """Whether an optimizer of the file gets the expression as its `global_step`."""
  text = ast.unparse(node)
  return any(
    isinstance(call, ast.Call)
    and isinstance(call.func, ast.Attribute)
    and call.func.attr in ("minimize", "apply_gradients")
    and any(k.arg == "global_step" and ast.unparse(k.value) == text for k in call.keywords)
    for call in module.scope_of
  )


def _is_step_call(module: Module, node: ast.AST) -> bool:
  if values.is_call_of(module, node, _STEPS):
    return True
  if not values.is_call_of(module, node, ("tf.Variable", "tf.get_variable")):
    return False
  assert isinstance(node, ast.Call)
  named = [node.args[0]] if node.args else []
  named += [k.value for k in node.keywords if k.arg == "name"]
  return any(isinstance(n, ast.Constant) and n.value == "global_step" for n in named)
