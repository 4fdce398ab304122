"""CheckpointSaverHook among the hooks of a training -> `runtime.CheckpointSaver`.

An Estimator with such a hook makes no saver of its own: the hook's cadence counts, not RunConfig's, and
it saves at its place among the hooks, with the Saver that the Estimator makes by RunConfig's rules.

https://www.tensorflow.org/versions/r1.15/api_docs/python/tf/train/CheckpointSaverHook
"""

from __future__ import annotations

import ast
import os
from typing import Any, Callable, Optional

from migrator.analysis import facts, symbols
from migrator.analysis.module import UNKNOWN
from migrator.rewrite import moves
from migrator.rewrite.plan import Plan, Unsupported

_PARAMETERS = tuple(
  """checkpoint_dir save_secs save_steps saver checkpoint_basename scaffold listeners
  save_graph_def""".split()
)
# Without meaning where there is no graph, or None anyway.
_DROPPED = ("saver", "scaffold", "save_graph_def")
_SYMBOL = "tf.train.CheckpointSaverHook"


def is_saver_hook(symbol: Optional[symbols.Symbol]) -> bool:
  """Whether a symbol is `tf.train.CheckpointSaverHook`."""
  return symbol is not None and symbol.path == _SYMBOL


def in_use(plan: Plan) -> bool:
  """Whether the file makes a CheckpointSaverHook."""
  return any(is_saver_hook(symbol) for _, symbol in facts.calls(plan.module))


def convert(plan: Plan, call: ast.Call, use: str, of_listeners: Callable[[ast.expr], Any]) -> None:
  """Plans the replacement of a call that makes a CheckpointSaverHook.

  Args:
    plan: of the file; `plan.target` is the unit in whose list the hook is.
    call: the call.
    use: "train", "evaluate", "predict" or "listener": who calls the hook.
    of_listeners: follows and converts a list of listeners.

  Raises:
    Unsupported: EM322 for a hook that no training calls, EM330 for one that cannot save as it did, EM102
      for one with two cadences.
  """
  if use != "train":
    raise Unsupported("EM322", call, name="CheckpointSaverHook", method=use)
  arguments = facts.bind_arguments(call, _PARAMETERS)
  if arguments is None or set(arguments) - set(_PARAMETERS):
    raise _refused(call, "its arguments are not all shown here")
  if "checkpoint_dir" not in arguments:
    raise _refused(call, "it has no checkpoint_dir")
  _check_arguments(plan, call, arguments)
  _check_directory(plan, arguments["checkpoint_dir"].value)
  if "listeners" in arguments:
    of_listeners(arguments["listeners"].value)
  name = f"{plan.runtime()}.CheckpointSaver"
  if not any(n in arguments for n in _DROPPED) and _keeps_positions(call):
    plan.expressions[call.func] = name
    return
  kept = [a for a in arguments.values() if a.name not in _DROPPED]
  items = [f"{a.name}={plan.source(a.value)}" for a in kept]
  plan.keep_comments(call)
  plan.expressions[call] = f"{name}({', '.join(items)})"


def _keeps_positions(call: ast.Call) -> bool:
  """Whether each positional argument is at the same place in the callback."""
  return len(call.args) <= _PARAMETERS.index("saver")


def _refused(node: ast.AST, what: str) -> Unsupported:
  return Unsupported("EM330", node, what=what)


def _check_arguments(plan: Plan, call: ast.Call, arguments: dict[str, facts.Argument]) -> None:
  constant = plan.module.constant
  known = {name: constant(argument.value) for name, argument in arguments.items()}
  for name in ("saver", "scaffold"):
    if known.get(name) is not None:
      what = f"its `{name}=` is not of the graph that the Estimator makes, and saves none of its variables"
      raise _refused(arguments[name].node, what)
  cadences = [known.get(name) for name in ("save_secs", "save_steps")]
  if cadences == [None, None]:
    raise _refused(call, "without save_secs and save_steps it raises an error")
  if None not in cadences and UNKNOWN not in cadences:
    names = {"steps": "save_steps", "seconds": "save_secs"}
    raise Unsupported("EM102", call, who="CheckpointSaverHook", **names)
  base = known.get("checkpoint_basename", "model.ckpt")
  if not isinstance(base, str) or not base or os.path.basename(base) != base:
    raise _refused(
      arguments["checkpoint_basename"].node,
      "its checkpoint_basename is not known to be a file's name",
    )


def _check_directory(plan: Plan, node: ast.expr) -> None:
  """The hook must save to the model directory: the callback has no other place.

  Raises:
    Unsupported: EM330, if the file shows that the directories differ.
  """
  target = plan.target
  if target is None or node in target.unit.model_dir_reads:
    return
  constant = plan.module.constant
  for construction, directory in target.directories:
    if directory is None:
      what = "it saves to a directory of its own, the Estimator to a temporary one"
      raise _refused(node, what)
    mine, theirs = constant(node), constant(directory)
    if isinstance(mine, str) and isinstance(theirs, str):
      if os.path.normpath(mine) != os.path.normpath(theirs):
        what = f"it saves to {mine!r}, and nothing to the model_dir {theirs!r}"
        raise _refused(node, what)
    elif not _is_same(plan, node, directory, construction):
      shown = plan.module.source(directory)
      plan.report("EM331", node, directory=plan.module.source(node), model_dir=shown)


def _is_same(plan: Plan, node: ast.expr, directory: ast.expr, construction: ast.Call) -> bool:
  """Whether two expressions are certainly one directory."""
  module = plan.module
  definition = module.definition(node)
  if definition is not None and definition is module.definition(directory):
    return True
  if ast.dump(node) != ast.dump(directory):
    return False
  return moves.obstacle(module, node, construction) is None
