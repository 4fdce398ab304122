"""Who calls the hooks of a class: training, evaluation or prediction.

https://www.tensorflow.org/versions/r1.15/api_docs/python/tf/estimator/EstimatorSpec
"""

from __future__ import annotations

import ast
from typing import Optional

from migrator.analysis import facts
from migrator.analysis.module import Module

_SESSIONS = (
  "tf.train.MonitoredTrainingSession",
  "tf.train.MonitoredSession",
  "tf.train.SingularMonitoredSession",
)
ORDER = ("train", "evaluate", "predict")
# Arguments of tf.estimator.EstimatorSpec.
_SPEC = {
  "training_hooks": "train",
  "training_chief_hooks": "train",
  "evaluation_hooks": "evaluate",
  "prediction_hooks": "predict",
}
# What has an argument `hooks=`, by the last part of its name, and where it stands by position.
_CALLERS = {
  "train": ("train", 1),
  "evaluate": ("evaluate", 2),
  "predict": ("predict", 2),
  "TrainSpec": ("train", 2),
  "EvalSpec": ("evaluate", 3),
  "MonitoredTrainingSession": ("train", 4),
}


def uses(module: Module, node: ast.ClassDef) -> list[str]:
  """Who gets hooks of a class in this file, as far as that is seen.

  Followed are literals, variables, `append`, `extend` and the calls above.
  """
  found: set[str] = set()
  for name in ast.walk(module.tree):
    if (
      isinstance(name, ast.Name)
      and name.id == node.name
      and isinstance(name.ctx, ast.Load)
      and module.definition(name) is node
    ):
      call = module.parents.get(name)
      if isinstance(call, ast.Call) and call.func is name:
        _follow(module, call, found, set())
  return [use for use in ORDER if use in found]


def is_in_session(module: Module, node: ast.ClassDef) -> bool:
  """Whether a file makes a monitored session and hooks of a class, which may be called by it."""
  makes = any(
    isinstance(n, ast.Call) and isinstance(n.func, ast.Name) and module.definition(n.func) is node
    for n in ast.walk(module.tree)
  )
  return makes and any(symbol.path in _SESSIONS for _, symbol in facts.calls(module))


def _follow(module: Module, node: ast.AST, found: set[str], seen: set[ast.AST]) -> None:
  """Adds who gets the value of an expression."""
  while node not in seen:
    seen.add(node)
    parent = module.parents.get(node)
    if isinstance(parent, (ast.List, ast.Tuple, ast.IfExp, ast.BinOp, ast.Starred, ast.BoolOp)):
      node = parent
      continue
    if isinstance(parent, ast.keyword):
      call = module.parents.get(parent)
      use = _caller(call, parent.arg, None)
    elif isinstance(parent, ast.Call) and node in parent.args:
      use = _caller(parent, None, parent.args.index(node))
      _follow_list(module, parent, found, seen)
    elif isinstance(parent, (ast.Assign, ast.AugAssign, ast.AnnAssign)):
      targets = parent.targets if isinstance(parent, ast.Assign) else [parent.target]
      for target in targets:
        _follow_variable(module, target, found, seen)
      return
    else:
      return
    if use is not None:
      found.add(use)
    return


def _caller(call: Optional[ast.AST], keyword: Optional[str], place: Optional[int]) -> Optional[str]:
  """Who calls the hooks that a call gets by keyword, or at a place."""
  if not isinstance(call, ast.Call):
    return None
  if keyword in _SPEC:
    return _SPEC[keyword]
  function = call.func
  name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
  use, position = _CALLERS.get(name, (None, -1))
  return use if keyword == "hooks" or place == position else None


def _follow_list(module: Module, call: ast.Call, found: set[str], seen: set[ast.AST]) -> None:
  """`hooks.append(hook)`: who gets `hooks`."""
  function = call.func
  if isinstance(function, ast.Attribute) and function.attr in ("append", "extend", "insert"):
    _follow_variable(module, function.value, found, seen)


def _follow_variable(module: Module, target: ast.AST, found: set[str], seen: set[ast.AST]) -> None:
  if isinstance(target, ast.Name):
    for load in facts.loads(module, target):
      _follow(module, load, found, seen)
