"""Estimators whose model_fn stays as it is: the runtime runs it in a graph.

What takes the place of the Estimator has its interface, so that nothing of the program has to be
followed: a file is hosted as a whole, by the names in it. Either each removed name of the file has
a counterpart, or the estimators of the file stay.
"""

from __future__ import annotations

import ast
import os
from collections.abc import Iterable, Sequence
from typing import Any, Optional

from migrator.analysis import facts, symbols, units
from migrator.analysis.module import Module
from migrator.lint import rules, wording
from migrator.lint.finding import Finding
from migrator.rewrite import driver_graphs, hosted_obstacles, replacements, todo
from migrator.rewrite.plan import Plan, Unsupported

# What lint says of names that a hosted file keeps, and of what is no other than before: the code
# still runs in a graph and a session.
_GRAPHS = ("EM1", "EM217", "EM3", "EM4", "EM602", "EM604")
_RUN_CONFIGS = ("tf.estimator.RunConfig", "tf.estimator.tpu.RunConfig", "tf.contrib.tpu.RunConfig")
_DISTRIBUTION = ("train_distribute", "eval_distribute", "experimental_distribute")
FORM = "keeps its model_fn, which runs in a graph"
_SAVER_HOOK = tuple(
  "checkpoint_dir save_secs save_steps saver checkpoint_basename scaffold listeners".split()
)


def references(module: Module, found: Iterable[units.Unit]) -> list[units.Unit]:
  """Units for classes of estimators that are named without being called there.

  That is `class Mine(tf.estimator.Estimator)`, and a class that is handed on.

  Args:
    module: the analysed file.
    found: the units that the file constructs.
  """
  constructed = {unit.node for unit in found}
  constructed |= {c.call for unit in found for c in unit.constructions}
  others = []
  for use in module.uses():
    kind = units.estimator_kind(use.symbol)
    parent = module.parents.get(use.node)
    if kind not in units.CUSTOM or isinstance(use.node, (ast.Import, ast.ImportFrom)):
      continue
    if isinstance(parent, ast.Call) and parent.func is use.node:
      continue
    if _is_hint(module, use.node) or _is_alias(module, use.node):
      continue
    assert kind is not None
    name = parent.name if isinstance(parent, ast.ClassDef) else kind
    others.append(units.Unit(name, kind, use.symbol, "v1", "", use.node))
  return others


def library(module: Module) -> list[units.Unit]:
  """The unit of a file that is rewritten for the programs that import it."""
  if not module.tree.body:
    return []
  name = os.path.splitext(os.path.basename(module.filename))[0]
  return [units.Unit(name, units.MODULE, symbols.Symbol("tf"), "v1", "", module.tree.body[0])]


def _is_hint(module: Module, node: ast.AST) -> bool:
  """Whether a node stands in an annotation, or in an `isinstance(x, ...)`."""
  child = node
  for parent in module.ancestors(node):
    if isinstance(parent, (ast.arg, ast.AnnAssign)) and parent.annotation is child:
      return True
    if isinstance(parent, (ast.FunctionDef, ast.AsyncFunctionDef)):
      return parent.returns is child
    if isinstance(parent, ast.Call):
      return isinstance(parent.func, ast.Name) and parent.func.id in ("isinstance", "issubclass")
    if isinstance(parent, ast.stmt):
      return False
    child = parent
  return False


def _is_alias(module: Module, node: ast.AST) -> bool:
  """Whether a node is a variable that holds the class, or the value of one."""
  parent = module.parents.get(node)
  return isinstance(node, ast.Name) or (isinstance(parent, ast.Assign) and parent.value is node)


def plan_names(plan: Plan, hosts: Sequence[units.Unit], *, whole: bool) -> list[Unsupported]:
  """Plans the names of a file, and returns what keeps it from being hosted.

  Args:
    plan: of the file.
    hosts: the units that are to be hosted; () where all are taken apart.
    whole: whether nothing but hosted code changes in the file.
  """
  obstacles = replacements.plan_file(plan, whole=whole)
  if hosts:
    obstacles += hosted_obstacles.find(plan)
    plan_saver_hooks(plan)
    if whole and any(unit.kind != units.MODULE for unit in hosts):
      driver_graphs.plan_switch(plan)
    report_file(plan)
  return obstacles


def standing(plan: Plan, obstacles: Iterable[Unsupported]) -> list[Unsupported]:
  """The obstacles that the edits of other units do not take out of the file."""
  replaced: set[ast.AST] = set(plan.expressions)
  replaced.update(s for s, edit in plan.statements.items() if edit.replacement is not None)
  return [
    obstacle
    for obstacle in obstacles
    if obstacle.node not in replaced
    and not any(ancestor in replaced for ancestor in plan.module.ancestors(obstacle.node))
  ]


def reason(plan: Plan, obstacles: Sequence[Unsupported]) -> str:
  """Why the estimators of a file stay, for a message."""
  line = min(plan.module.span(o.node).line for o in obstacles)
  more = f", and {len(obstacles) - 1} more," if len(obstacles) > 1 else ""
  return f"what stands in line {line}{more} cannot be carried over"


def refusal(plan: Plan, unit: units.Unit, obstacles: Sequence[Unsupported]) -> Unsupported:
  """Why an estimator, or a module without one, stays as it is."""
  what = "module" if unit.kind == units.MODULE else "estimator"
  values = {"what": what, "name": unit.name, "reason": reason(plan, obstacles)}
  return Unsupported("EM233", unit.node, **values)


def message(plan: Plan, refusal: Unsupported) -> str:
  """The message of a refusal, as a part of a sentence."""
  span = plan.module.span(refusal.node)
  values = _values(plan, refusal)
  if refusal.code in ("EM244", "EM255"):
    return f"{values['reason']} (line {span.line})"
  said = rules.finding(refusal.code, span, plan.path, **values).message.rstrip(".")
  return f"{said} ({refusal.code}, line {span.line})"


def _values(plan: Plan, refusal: Unsupported) -> dict[str, Any]:
  """What the message of a refusal needs: what it was given, and what is said of its symbol."""
  symbol = plan.module.resolve(refusal.node)
  values: dict[str, Any] = {"what": "", "name": plan.module.source(refusal.node)}
  if symbol is not None:
    values.update(name=symbol.path, module=symbol.path, public=wording.public(symbol))
    values.update(wording.of(symbol))
  elif "symbol" in refusal.values:  # of an import
    symbol = symbols.canonical(refusal.values["symbol"])
    values.update(module=symbol.path, public=wording.public(symbol), **wording.of(symbol))
  return {**values, **refusal.values}


def report_obstacles(plan: Plan, obstacles: Iterable[Unsupported]) -> None:
  """A finding for each use that keeps a file from being hosted."""
  for obstacle in obstacles:
    plan.report(obstacle.code, obstacle.node, **_values(plan, obstacle))


def report_left(plan: Plan, why: Optional[Unsupported]) -> None:
  """What kept a unit from being taken apart, where it cannot be hosted either."""
  if why is not None:
    plan.report(why.code, why.node, **_values(plan, why))


def problem(unit: units.Unit) -> Unsupported:
  """The first of a unit's problems, as what keeps it from being taken apart."""
  first = unit.problems[0]
  return Unsupported(first.code, first.node, **first.values)


def report(plan: Plan, unit: units.Unit, why: Optional[Unsupported]) -> None:
  """Notes of a unit that is hosted.

  Args:
    plan: of the file.
    unit: the estimator.
    why: what kept it from being taken apart; None when that was not asked for.
  """
  if why is not None:
    plan.report("EM234", unit.node, name=unit.name, form=FORM, reason=message(plan, why))
  for construction in unit.constructions:
    use_tpu = construction.arguments.get("use_tpu")
    known = plan.module.constant(use_tpu.value) if use_tpu is not None else True
    if construction.kind == "TPUEstimator" and known is not False:
      plan.report("EM236", construction.call, what="`use_tpu`")


def report_loop(plan: Plan, unit: units.Unit, why: Unsupported) -> None:
  """EM234 where Model.fit was asked for, and there is no such form."""
  said = message(plan, why)
  plan.report("EM234", unit.node, name=unit.name, form="becomes a loop", reason=said)


def is_incomplete(text: str, path: str, results: Iterable[Any]) -> bool:
  """Whether the text of a file with a hosted unit still has a removed name.

  Args:
    text: what the rewrite made of it.
    path: the file's name.
    results: of its units, with `target`.
  """
  if not any(result.target == "hosted" for result in results):
    return False
  module = Module(text, path)
  return any(todo.is_removed(module, use) for use in module.uses())


def report_file(plan: Plan) -> None:
  """EM236 where a hosted file asks for several workers or replicas."""
  module = plan.module
  for call, symbol in facts.calls(module):
    for keyword in call.keywords if symbol.path in _RUN_CONFIGS else ():
      if keyword.arg in _DISTRIBUTION and module.constant(keyword.value) is not None:
        plan.report("EM236", keyword.value, what=f"`{keyword.arg}`")
    if symbol.path == "tf.contrib.cloud.configure_gcs":
      plan.report("EM236", call, what="`tf.contrib.cloud.configure_gcs` stops the program here")
  for node in ast.walk(module.tree):
    if isinstance(node, ast.Constant) and node.value == "TF_CONFIG":
      plan.report("EM236", node, what="TF_CONFIG")


def plan_saver_hooks(plan: Plan) -> None:
  """Moves the directory of each CheckpointSaverHook to where a hosted program saves.

  Next to such a hook an Estimator has no saver of its own: the hook's checkpoints are the ones that
  it resumes from.
  """
  for call, symbol in facts.calls(plan.module):
    if symbol.path != "tf.train.CheckpointSaverHook":
      continue
    bound = facts.bind_arguments(call, ("checkpoint_dir",))
    if call.args[1:] or bound is None:
      bound = facts.bind_arguments(call, _SAVER_HOOK)
    given = bound.get("checkpoint_dir") if bound is not None else None
    if given is None:
      continue
    plan.needs("import os")
    text = f'os.path.join({plan.source(given.value)}, "tf2")'
    keyword = isinstance(given.node, ast.keyword)
    plan.arguments[given.node] = f"checkpoint_dir={text}" if keyword else text
    plan.report("EM238", call, directory=plan.module.source(given.value))


def sift(findings: Iterable[Finding]) -> list[Finding]:
  """What lint says of a hosted file that is left to a person."""
  return [finding for finding in findings if not finding.code.startswith(_GRAPHS)]
