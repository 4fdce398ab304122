"""What becomes of the units of one text, and what there is to say of it."""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Iterable, Mapping
from typing import Any, Optional

from migrator.analysis import units
from migrator.analysis.module import Module
from migrator.lint.finding import Finding
from migrator.rewrite import all_hooks, comparisons, hosted, imports, todo, unbound
from migrator.rewrite.apply import apply
from migrator.rewrite.options import Options
from migrator.rewrite.plan import Plan, Unsupported


@dataclasses.dataclass(frozen=True)
class UnitResult:
  """What became of one unit: `target` is "fit", "loop" or "hosted"; "" when it was left whole.

  `line` is one of `cell` in a notebook.
  """

  name: str
  kind: str
  flavour: str
  line: int
  target: str
  cell: Optional[int] = None

  def to_json(self) -> dict[str, Any]:
    return dataclasses.asdict(self)


@dataclasses.dataclass
class Decisions:
  """What is known of the units of a file, and grows until a plan holds.

  Attributes:
    refused: the units that stay, and why.
    hosted: the units whose model_fn stays as it is, and what kept it from being taken apart; None
      when that was not asked for.
    loops: the units with a model_fn that could not become a Keras model, and why.
    twins: the hook classes that stay beside their callbacks.
    obstacles: what keeps the file from being hosted.
  """

  refused: dict[units.Unit, Unsupported] = dataclasses.field(default_factory=dict)
  hosted: dict[units.Unit, Optional[Unsupported]] = dataclasses.field(default_factory=dict)
  loops: dict[units.Unit, Unsupported] = dataclasses.field(default_factory=dict)
  twins: set[ast.ClassDef] = dataclasses.field(default_factory=set)
  obstacles: list[Unsupported] = dataclasses.field(default_factory=list)

  def size(self) -> tuple[int, ...]:
    return len(self.refused), len(self.hosted), len(self.loops), len(self.twins)

  def target(self, unit: units.Unit, options: Options) -> str:
    """What a unit becomes, "" where it stays."""
    if unit in self.refused:
      return ""
    if unit in self.hosted:
      return "hosted"
    if unit.problems:
      return ""
    becomes_loop = unit.custom and (options.target != "fit" or unit in self.loops)
    return "loop" if options.target == "loop" or becomes_loop else "fit"


@dataclasses.dataclass
class Result:
  """The outcome for one text; `text` equals the input when nothing could be rewritten.

  `changed_names` are the module-level names that mean something else afterwards, or nothing;
  `changed_attributes` the attributes that no longer hold an estimator; `fault` what keeps the whole
  new text from being written.
  """

  text: str
  changed: bool
  units: list[UnitResult]
  findings: list[Finding]
  left: int = 0
  changed_names: frozenset[str] = frozenset()
  changed_attributes: frozenset[str] = frozenset()
  hooks: list[all_hooks.HookResult] = dataclasses.field(default_factory=list)
  fault: Optional[Unsupported] = None

  @property
  def complete(self) -> bool:
    """Whether nothing is left to a person."""
    return self.left == 0


def finish(
  module: Module,
  path: str,
  plan: Plan,
  found: list[units.Unit],
  options: Options,
  decided: Decisions,
) -> Result:
  """Applies the plan, marks what is left, and collects what there is to say."""
  results, left, hooks = [], [], all_hooks.results(plan)
  for unit in found:
    line, target = module.span(unit.node).line, decided.target(unit, options)
    results.append(UnitResult(unit.name, unit.kind, unit.flavour, line, target))
    if target == "hosted":
      hosted.report(plan, unit, decided.hosted[unit])
    elif target:
      _report_rewritten(plan, unit, options)
      if unit in decided.loops:
        hosted.report_loop(plan, unit, decided.loops[unit])
    else:
      left.append(unit)
  changed = bool(plan.statements or plan.expressions or plan.functions)
  if not changed:
    results = [r for r in results if (r.kind, r.target) != (units.MODULE, "hosted")]
  notes, plan.findings = (list(plan.findings) if changed else []), []
  hosted.report_obstacles(plan, decided.obstacles)
  for unit in left:
    hosted.report_left(plan, decided.hosted.get(unit))
  _report_left(plan, left, {**decided.refused, **plan.refused_hooks})
  reasons, text = list(plan.findings), module.text
  fault: Optional[Unsupported] = None
  if changed:
    try:
      text = applied(plan, module)
      if hosted.is_incomplete(text, path, results):
        what = "a removed name would stay beside the runtime's"
        raise Unsupported("EM220", module.tree.body[0], what=what)
      text = todo.mark(text, module, path, reasons)
      name = unbound.first(module, Module(text, path))
      if name is not None:
        node = plan.classes[0] if plan.classes else module.tree.body[0]
        what = f"the new code would read `{name}`, which nothing binds"
        raise Unsupported("EM220", node, what=what)
    except Unsupported as reason:
      fault = reason
      plan.report(reason.code, reason.node, **reason.values)
      reasons, notes, left, text = plan.findings, [], found, module.text
      results = [dataclasses.replace(r, target="") for r in results]
      hooks = [dataclasses.replace(h, callback="") for h in hooks]
  remaining = todo.remaining(module.text, text, path)
  if any(result.target == "hosted" for result in results):
    remaining = hosted.sift(remaining)
    notes += todo.faults(module.text, path)
  said = {(f.span.line, f.code) for f in reasons}
  remaining = [f for f in remaining if (f.span.line, f.code) not in said]
  findings = sorted({*notes, *reasons, *remaining}, key=Finding.sort_key)
  names: frozenset[str] = frozenset()
  attributes: frozenset[str] = frozenset()
  if text != module.text:
    gone = [unit for unit in found if unit not in left and unit not in decided.hosted]
    names = _changed_names(plan, gone)
    attributes = frozenset(name for unit in gone for name in unit.attributes)
  number = len(left) + len(remaining)
  changed = text != module.text
  return Result(text, changed, results, findings, number, names, attributes, hooks, fault)


def _changed_names(plan: Plan, gone: Iterable[units.Unit]) -> frozenset[str]:
  top = set(plan.module.tree.body)
  names = {c.name for c in plan.classes if c in top and c not in plan.twins}
  for unit in gone:
    if any(c.statement in top for c in unit.constructions):
      names.add(unit.name)
    if unit.functions:
      names.update(f.name for f in unit.functions if f in top)
  for statement, edit in plan.statements.items():
    if statement in top and edit.replacement == [] and isinstance(statement, ast.Assign):
      names.update(t.id for t in statement.targets if isinstance(t, ast.Name))
    if statement in top and edit.replacement and isinstance(statement, ast.FunctionDef):
      names.add(statement.name)  # a model_fn that was taken apart
  return frozenset(names)


def _report_left(plan: Plan, left: list[units.Unit], refused: Mapping[Any, Unsupported]) -> None:
  for unit in left:
    for problem in unit.problems:
      plan.report(problem.code, problem.node, **problem.values)
  for reason in [refused[unit] for unit in (*left, *plan.refused_hooks) if unit in refused]:
    plan.report(reason.code, reason.node, **reason.values)


def _report_rewritten(plan: Plan, unit: units.Unit, options: Options) -> None:
  if unit.flavour_reason and options.source_version is None:
    plan.report("EM213", unit.node, flavour=unit.flavour, reason=unit.flavour_reason)
  for call in unit.calls:
    trains = call.method in ("train", "train_and_evaluate")
    if trains and not (options.resume_data and options.target == "loop"):
      plan.report("EM210", call.call)
  for read in unit.shown:
    plan.report("EM282", read, name=plan.module.source(read))
  plan.report("EM112", unit.node)
  comparisons.report(plan)


def applied(plan: Plan, module: Module) -> str:
  """The text of a file with what is planned, its imports and what they leave unused."""
  if plan.tf_import:
    plan.needs(plan.tf_import)
  plan.drop_unread_imports()
  imports.add(plan)
  text = apply(plan)
  cleanup = Plan(Module(text, module.filename), plan.path)
  imports.remove_unused(cleanup, module)
  all_hooks.respell_kept(cleanup, plan)
  return apply(cleanup) if cleanup.statements or cleanup.expressions else text
