"""Trainings that nothing ends."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Optional

from migrator.analysis.module import Module
from migrator.lint import values
from migrator.lint.checks import estimators, retention
from migrator.lint.checks.estimators import Training
from migrator.lint.checks.registry import Context, Report, check

_QUEUES = ("tf.estimator.inputs.numpy_input_fn", "tf.estimator.inputs.pandas_input_fn")
_QUEUE_PARAMETERS = ("x", "y", "batch_size", "num_epochs")


@check(
  "EM242",
  words=estimators.TRAIN_WORDS,
  also=estimators.TRAINERS,
  evidence=estimators.TRAINING,
)
def endless_trainings(context: Context) -> Iterator[Report]:
  """Trainings without a number of steps on an input without an end."""
  module = context.module
  for training in estimators.trainings(context):
    if training.name == "fit" or not _is_unlimited(module, training):
      continue
    source = training.arguments.get("input_fn")
    repeat = _endless_input(module, source) if source is not None else None
    if repeat is not None:
      missing = "`max_steps`" if training.name == "TrainSpec" else "neither `steps` nor `max_steps`"
      has = "has no" if training.name == "TrainSpec" else "has"
      yield context.report(
        "EM242",
        training.call,
        name=training.name,
        missing=f"{has} {missing}",
        line=module.span(repeat).line,
      )


def _is_unlimited(module: Module, training: Training) -> bool:
  """Whether neither a number nor a hook can end the training."""
  found = training.arguments
  given = (found.get(n) for n in ("steps", "max_steps", "hooks", "saving_listeners"))
  return found.complete and all(n is None or values.literal(module, n) is None for n in given)


def _endless_input(module: Module, node: ast.AST) -> Optional[ast.AST]:
  """What makes an input function endless, where that is certain."""
  found = values.possible(module, node) or []
  if len(found) != 1:
    return None
  value = found[0]
  if isinstance(value, ast.Lambda) and isinstance(value.body, ast.Call):
    return _endless_input(module, value.body.func)
  if isinstance(value, ast.Call):
    if values.is_call_of(module, value, _QUEUES):
      epochs = values.arguments(module, value, _QUEUE_PARAMETERS).get("num_epochs")
      none = epochs is not None and values.literal(module, epochs) is None
      return value if none else None
    symbol = module.resolve(value.func)
    if symbol is not None and symbol.path == "functools.partial" and value.args:
      return _endless_input(module, value.args[0])
    return None
  return _endless_repeat(module, value) if isinstance(value, ast.FunctionDef) else None


def _endless_repeat(module: Module, function: ast.FunctionDef) -> Optional[ast.Call]:
  """The `dataset.repeat()` of a function in training, unless something cuts it off."""
  repeat: Optional[ast.Call] = None
  for node in estimators.own_nodes(function):
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
      continue
    if node.func.attr == "take":
      return None
    if node.func.attr != "repeat" or not _is_endless(module, node):
      continue
    if _is_certain(module, node, function):
      repeat = node
  return repeat


def _is_endless(module: Module, repeat: ast.Call) -> bool:
  found = values.arguments(module, repeat, ("count",))
  count = found.get("count")
  if count is None:
    return found.complete
  return values.literal(module, count) in (None, -1)


def _is_certain(module: Module, node: ast.AST, function: ast.FunctionDef) -> bool:
  """Whether a place is reached whenever a training calls the function."""
  child = node
  for ancestor in module.ancestors(node):
    if ancestor is function:
      return True
    if isinstance(ancestor, (ast.If, ast.IfExp)):
      body = ancestor.body if isinstance(ancestor.body, list) else [ancestor.body]
      if retention.says_training(ancestor.test) is not (child in body):
        return False
    elif isinstance(ancestor, (ast.Try, ast.For, ast.While)):
      return False
    child = ancestor
  return False
