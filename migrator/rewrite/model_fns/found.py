"""The model_fn of an Estimator, read and cut; the gate of what may be cut."""

from __future__ import annotations

import ast
from typing import Optional

from migrator.analysis import facts, units
from migrator.analysis.model_fns import calls
from migrator.analysis.model_fns.joint import JointSplitter
from migrator.analysis.model_fns.modes import (
  EVAL,
  MODES,
  PREDICT,
  TRAIN,
  Function,
  Unreadable,
  returns,
)
from migrator.analysis.model_fns.pieces import LOSSES, TRAINING, Split
from migrator.analysis.model_fns.split import Splitter
from migrator.rewrite.model_fns import gate, spelling
from migrator.rewrite.plan import Plan, Unsupported

_PARAMETERS = frozenset(("labels", "mode", "params", "config"))
_MODES = {
  "train": (TRAIN,),
  "evaluate": (EVAL,),
  "predict": (PREDICT,),
  "train_and_evaluate": (TRAIN, EVAL),
  "export_saved_model": (PREDICT,),
}


def split(plan: Plan, unit: units.Unit) -> Split:
  """Cuts the model_fn of a unit; plans what its expressions become.

  Raises:
    Unsupported: EM244, it stays as it is.
  """
  name = unit.name
  try:
    function = _function(plan, unit)
    name = function.node.name
    gate.check(plan, unit, function)
    spelled = dict(plan.expressions)
    replaced = spelling.plan_expressions(plan, function)
    result = _cut(function, _modes(plan, unit), replaced)
    if result.is_joint:
      _keep_losses(plan, spelled, replaced)
    gate.check_split(plan, unit, result)
    plan.expressions.update(dict.fromkeys(result.constants, TRAINING))
  except Unreadable as reason:
    raise Unsupported("EM244", reason.node, name=name, reason=reason.reason) from reason
  return result


def _cut(function: Function, needed: list[str], replaced) -> Split:
  """Cuts in all modes, or in those that the program needs where the others are not there."""
  first: Optional[Unreadable] = None
  # With the loss in the network where it cannot be apart.
  for splitter in (Splitter, JointSplitter):
    for modes in dict.fromkeys((MODES, tuple(needed))):
      for kept in dict.fromkeys((frozenset(), _noise(function))):
        function.kept = kept
        try:
          return splitter(function, modes, replaced).split()
        except Unreadable as reason:
          first = first or reason
  assert first is not None
  raise first


def _keep_losses(plan: Plan, spelled: dict[ast.AST, str], replaced: dict[ast.AST, str]) -> None:
  """In a network, collections of losses are there."""
  for node in (n for n, name in replaced.items() if name == LOSSES):
    del plan.expressions[node]
    if node in spelled:
      plan.expressions[node] = spelled[node]


def _noise(function: Function) -> frozenset[ast.If]:
  """What is done to the network in training only, or not in training, such as a dropout."""
  return frozenset(
    node
    for node in ast.walk(function.node)
    if isinstance(node, ast.If)
    and function.training_text(node.test, "training") is not None
    and not returns(node)
    and calls.only_noise(function.module, node)
    and not any(isinstance(inner, ast.Raise) for inner in ast.walk(node))
  )


def _modes(plan: Plan, unit: units.Unit) -> list[str]:
  """The modes in which the program calls the model_fn."""
  modes = {mode for call in unit.calls for mode in _MODES.get(call.method, ())}
  exporters = any(
    use.symbol.path.rpartition(".")[2].endswith("Exporter") for use in plan.module.uses()
  )
  if exporters:
    modes.add(PREDICT)
  if TRAIN not in modes:
    raise Unreadable(unit.node, "the file does not train it")
  return [mode for mode in (TRAIN, EVAL, PREDICT) if mode in modes]


def _function(plan: Plan, unit: units.Unit) -> Function:
  """The model_fn, which nothing else uses."""
  module = plan.module
  if unit.kind != "Estimator":
    raise Unreadable(unit.node, f"a {unit.kind} adds things of its own to the model_fn")
  if len(unit.constructions) != 1:
    raise Unreadable(unit.node, "the estimator is made at several places")
  call = unit.constructions[0].call
  argument = unit.constructions[0].arguments.get("model_fn")
  if argument is None:
    raise Unreadable(call, "its model_fn is not given by name")
  node = module.definition(argument.value)
  if not isinstance(argument.value, ast.Name) or not isinstance(node, ast.FunctionDef):
    raise Unreadable(argument.value, "its model_fn is no function that the file shows")
  arguments = node.args
  if node.decorator_list or arguments.vararg or arguments.kwarg or arguments.defaults:
    raise Unreadable(node, "its parameters are not those of a plain model_fn")
  if isinstance(module.parents[node], ast.ClassDef):
    raise Unreadable(node, "it is a method")
  if not isinstance(module.parents[node], (ast.Module, ast.FunctionDef)):
    raise Unreadable(node, "it is defined under a condition")
  function = Function(module, node)
  if set(function.parameters[1:]) - _PARAMETERS or "labels" not in function.parameters:
    raise Unreadable(node, "its parameters are not those of a plain model_fn")
  for load in facts.loads(module, argument.value):
    if load is not argument.value:
      raise Unreadable(load, f"`{node.name}` is also used in line {load.lineno}")
  scope = module.scope_of[call]
  if module.scope_of[node] not in scope.chain():
    raise Unreadable(node, "it is not visible where the estimator is made")
  return function
