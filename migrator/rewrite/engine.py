"""Rewrites one source text: units -> plan -> edits -> check."""

from __future__ import annotations

import ast
import copy
from typing import Any, Optional

from migrator.analysis import facts, hosting, symbols, units
from migrator.analysis.module import Module
from migrator.rewrite import (
  all_hooks,
  columns,
  hook_notes,
  hosted,
  hyperparameters,
  libraries,
  model_fns,
  outcomes,
  tf1_names,
  tf2_faults,
  unit_checks,
  unit_network,
)
from migrator.rewrite.fit import FitTarget
from migrator.rewrite.loop import LoopTarget
from migrator.rewrite.options import Options
from migrator.rewrite.outcomes import Result, UnitResult
from migrator.rewrite.plan import Plan, Unsupported
from migrator.rewrite.stock import StockTarget
from migrator.rewrite.target import Target

__all__ = ("Options", "Result", "UnitResult", "rewrite")

# A class that a unit needs converted may turn out to need a twin, and a RunConfig to have
# another reader; each round settles at least one of them.
_ROUNDS = 20


def rewrite(text: str, path: str, options: Options = Options()) -> Result:  # noqa: B008
  """Rewrites the units of one text.

  Args:
    text: Python source.
    path: the file's name, for findings.
    options: how.

  Raises:
    SyntaxError: the text cannot be parsed.
  """
  module = Module(text, path)
  found = units.find_units(module, options.source_version)
  found += hosted.references(module, found)
  if path in options.library or (not found and libraries.holds_model_fn(module)):
    found += hosted.library(module)
  decided = outcomes.Decisions()
  for unit in found:
    if unit.custom and (options.hosted or unit.problems or not unit.constructions):
      asked = unit.problems and not options.hosted
      decided.hosted[unit] = hosted.problem(unit) if asked else None
  first: Optional[Result] = None
  while True:
    plan = _settled(module, path, found, options, decided)
    result = outcomes.finish(module, path, plan, found, options, decided)
    if result.fault is None or not _step_back(found, options, decided, result.fault):
      # What is said of a file that stays is what its first form failed of.
      return first if first is not None and result.fault is not None else result
    first = first or result


def _settled(module, path, found, options, decided: outcomes.Decisions) -> Plan:
  """The plan that changes nothing more of what is decided."""
  for _ in range(_ROUNDS):
    plan = _plan(module, path, found, options, decided)
    if plan is not None:
      return plan
  raise RuntimeError(f"{path}: the units of this file depend on each other in a circle")


def _step_back(
  found: list[units.Unit], options: Options, decided: outcomes.Decisions, fault: Unsupported
) -> bool:
  """Gives the model_fns whose new text cannot stand the next simpler form; says whether there is one."""
  custom = [u for u in found if u.custom and u not in decided.refused and u not in decided.hosted]
  custom = [u for u in custom if not u.problems]
  for unit in custom:
    as_model = options.target == "fit" and unit not in decided.loops
    forms = decided.loops if as_model else decided.hosted
    forms[unit] = fault
    if fault.code == "EM220":  # whose message says that the unit stays
      values = {"name": unit.name, "reason": fault.values["what"]}
      forms[unit] = Unsupported("EM244", unit.node, **values)
  decided.obstacles = []
  return bool(custom)


def _plan(module, path, found, options, decided: outcomes.Decisions) -> Optional[Plan]:
  """Plans all units that are not refused; None when that changed what is decided."""
  plan = Plan(module, path)
  plan.source_version = options.source_version or (
    2 if facts.written_for_tf1(module) is None else 1
  )
  plan.in_loop = options.target == "loop"
  spelled = tf1_names.plan_spellings(plan)
  respelled = [*spelled, *hyperparameters.plan_spellings(plan)]
  plan.twins = {c: plan.fresh(f"{c.name}Callback") for c in decided.twins}
  tf = plan.tf = _tf2_name(plan)
  before = decided.size()
  networks: list[unit_network.Network] = []
  written: list[tuple[units.Unit, unit_network.Network]] = []
  candidates = [
    u for u in found if u not in decided.refused and u not in decided.hosted and not u.problems
  ]
  hosts = [u for u in decided.hosted if u not in decided.refused]
  obstacles: list[Unsupported] = []
  if candidates and (hosts or any(unit.custom for unit in candidates)):
    # Before the units are written: what they move is spelled for TF2, too.
    obstacles = hosted.plan_names(plan, hosts, whole=False)
  plan.unit_calls = {call.call for unit in candidates for call in unit.calls}
  for unit in candidates:
    saved = _snapshot(plan)
    as_model = options.target == "fit" and unit not in decided.loops
    try:
      unit_checks.check(module, unit)
      plan.target = _target(plan, tf, unit, options, as_model)
      made = plan.target.write()
      networks += made
      written += [(unit, network) for network in made]
    except Unsupported as reason:
      _restore(plan, saved)
      if unit.custom and as_model:
        decided.loops[unit] = reason
      elif unit.custom:
        decided.hosted[unit] = reason
      else:
        decided.refused[unit] = reason
  if decided.size() != before:
    return None
  hook_notes.report_order(plan)
  if options.hooks == "all":
    keeps = bool(hosts) or hosting.is_hosted(module.text)
    all_hooks.convert(plan, tf, _snapshot, _restore, hosted=keeps)
  unit_checks.check_shared(plan, written, decided.refused, networks)
  decided.twins |= unit_checks.needed_twins(plan)
  if decided.size() != before:
    return None
  if hosts:
    if not candidates:
      for node in spelled:
        plan.expressions.pop(node, None)
      obstacles = hosted.plan_names(plan, hosts, whole=not plan.classes)
    obstacles = hosted.standing(plan, obstacles)
    if obstacles:
      decided.obstacles = obstacles
      for unit in hosts:
        decided.refused[unit] = hosted.refusal(plan, unit, obstacles)
      return None
  if not networks and not plan.classes and not hosts:
    # Nothing of the file moves to TF2: its other names stay as they are.
    for node in respelled:
      plan.expressions.pop(node, None)
  tf2_faults.plan_fixes(plan)
  _remove_unread(plan, networks)
  return plan


def _target(plan: Plan, tf: str, unit: units.Unit, options: Options, as_model: bool) -> Target:
  if unit.custom and as_model:
    return model_fns.fit_target(plan, tf, unit, options)
  if unit.custom:
    return model_fns.target(plan, tf, unit, options)
  if options.target == "loop":
    return LoopTarget(plan, tf, unit, options.exact, options.resume_data)
  return (StockTarget if options.stock else FitTarget)(plan, tf, unit, options.exact)


_EDITED = (
  "statements",
  "expressions",
  "arguments",
  "endings",
  "functions",
  "classes",
  "hook_names",
  "hook_uses",
  "hook_fetches",
  "hook_keys",
  "hook_helpers",
  "dataset_functions",
  "imports",
  "findings",
)


def _snapshot(plan: Plan) -> dict[str, Any]:
  saved = {name: copy.copy(getattr(plan, name)) for name in _EDITED}
  saved["statements"] = {s: copy.deepcopy(e) for s, e in plan.statements.items()}
  return saved


def _restore(plan: Plan, saved: dict[str, Any]) -> None:
  for name, value in saved.items():
    setattr(plan, name, value)


def _tf2_name(plan: Plan) -> str:
  """The name that means TF2 in the output; asks for an import when there is none."""
  for name, bindings in plan.module.root.bindings.items():
    for binding in bindings:
      symbol = symbols.canonical(binding.target) if binding.kind == "import" else None
      if symbol != symbols.Symbol("tf") or len(bindings) != 1:
        continue
      if not _for_type_checkers(plan.module, binding.node):
        return name
  name = plan.fresh("tf", "tf2", "tensorflow2")
  plan.tf_import = f"import tensorflow as {name}"
  return name


def _for_type_checkers(module: Module, node: ast.AST) -> bool:
  return any(
    isinstance(ancestor, ast.If) and "TYPE_CHECKING" in module.source(ancestor.test)
    for ancestor in module.ancestors(node)
  )


def _remove_unread(plan: Plan, networks: list[unit_network.Network]) -> None:
  """Removes assignments whose every reader is gone: RunConfigs, columns, optimizers."""
  explained = {id(name) for network in networks for name in network.columns.names}
  others = [name for network in networks for name in network.names]
  explained.update(id(name) for name in others)
  for name in others:
    _, bindings = plan.module.scope_of[name].lookup(name.id)
    if all(id(load) in explained for load in facts.loads(plan.module, name)):
      plan.remove(bindings[0].node, drop_comments=False)
  for network in networks:
    for statement in network.policy.statements:
      plan.remove(statement)
  columns.remove_unread(plan, [network.columns for network in networks])
