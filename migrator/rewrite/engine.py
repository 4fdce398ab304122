"""Rewrites one source text: units -> plan -> edits -> check."""

from __future__ import annotations

import ast
import copy
import dataclasses
from collections.abc import Iterable
from typing import Any, Optional

from migrator.analysis import facts, hosting, symbols, units
from migrator.analysis.module import Module
from migrator.lint import wording
from migrator.lint.finding import Finding
from migrator.rewrite import (
  all_hooks,
  canned,
  columns,
  hook_notes,
  hosted,
  hyperparameters,
  imports,
  libraries,
  model_fns,
  tf1_names,
  tf2_faults,
  todo,
  unbound,
)
from migrator.rewrite.apply import apply
from migrator.rewrite.fit import FitTarget
from migrator.rewrite.loop import LoopTarget
from migrator.rewrite.plan import Plan, Unsupported
from migrator.rewrite.stock import StockTarget
from migrator.rewrite.target import Target

# A class that a unit needs converted may turn out to need a twin, and a RunConfig to have
# another reader; each round settles at least one of them.
_ROUNDS = 20
_GRAPHS = ("tf.Graph", "tf.Session", "tf.InteractiveSession", "tf.train.Monitored")


@dataclasses.dataclass(frozen=True)
class Options:
  """How to rewrite.

  Attributes:
    target: "auto", "fit" or "loop".
    stock: whether to use Keras' own BackupAndRestore (target fit).
    exact: whether to use the runtime's exact optimizers everywhere.
    resume_data: whether the loop keeps the input position in the checkpoint.
    source_version: what plain `tf.estimator.X` means: 1, 2, or None to decide by the file.
    hooks: "used": a hook class is converted with the training that uses it; "all": every one that
      can be.
    hosted: whether each model_fn is run as it is, also one that could be taken apart.
    library: the paths of files that are rewritten for the programs that import them.
  """

  target: str = "auto"
  stock: bool = False
  exact: bool = False
  resume_data: bool = False
  source_version: Optional[int] = None
  hooks: str = "used"
  hosted: bool = False
  library: frozenset[str] = frozenset()


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
class _Decisions:
  """What is known of the units of a file, and grows until a plan holds.

  Attributes:
    refused: the units that stay, and why.
    hosted: the units whose model_fn stays as it is, and what kept it from being taken apart; None
      when that was not asked for.
    twins: the hook classes that stay beside their callbacks.
    obstacles: what keeps the file from being hosted.
  """

  refused: dict[units.Unit, Unsupported] = dataclasses.field(default_factory=dict)
  hosted: dict[units.Unit, Optional[Unsupported]] = dataclasses.field(default_factory=dict)
  twins: set[ast.ClassDef] = dataclasses.field(default_factory=set)
  obstacles: list[Unsupported] = dataclasses.field(default_factory=list)

  def size(self) -> tuple[int, ...]:
    return len(self.refused), len(self.hosted), len(self.twins)

  def target(self, unit: units.Unit, options: Options) -> str:
    """What a unit becomes, "" where it stays."""
    if unit in self.refused:
      return ""
    if unit in self.hosted:
      return "hosted"
    if unit.problems:
      return ""
    return "loop" if options.target == "loop" or unit.custom else "fit"


@dataclasses.dataclass
class Result:
  """The outcome for one text; `text` equals the input when nothing could be rewritten.

  `changed_names` are the module-level names that mean something else afterwards, or nothing;
  `changed_attributes` the attributes that no longer hold an estimator.
  """

  text: str
  changed: bool
  units: list[UnitResult]
  findings: list[Finding]
  left: int = 0
  changed_names: frozenset[str] = frozenset()
  changed_attributes: frozenset[str] = frozenset()
  hooks: list[all_hooks.HookResult] = dataclasses.field(default_factory=list)

  @property
  def complete(self) -> bool:
    """Whether nothing is left to a person."""
    return self.left == 0


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
  decided = _Decisions()
  for unit in found:
    if unit.custom and (options.hosted or unit.problems or not unit.constructions):
      asked = unit.problems and not options.hosted
      decided.hosted[unit] = hosted.problem(unit) if asked else None
  for _ in range(_ROUNDS):
    plan = _plan(module, path, found, options, decided)
    if plan is not None:
      break
  else:
    raise RuntimeError(f"{path}: the units of this file depend on each other in a circle")
  return _finish(module, path, plan, found, options, decided)


def _plan(module, path, found, options, decided: _Decisions) -> Optional[Plan]:
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
  networks: list[canned.Network] = []
  written: list[tuple[units.Unit, canned.Network]] = []
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
    try:
      _check_unit(module, unit)
      plan.target = _target(plan, tf, unit, options)
      made = plan.target.write()
      networks += made
      written += [(unit, network) for network in made]
    except Unsupported as reason:
      _restore(plan, saved)
      if unit.custom:
        decided.hosted[unit] = reason
      else:
        decided.refused[unit] = reason
  if decided.size() != before:
    return None
  hook_notes.report_order(plan)
  if options.hooks == "all":
    keeps = bool(hosts) or hosting.is_hosted(module.text)
    all_hooks.convert(plan, tf, _snapshot, _restore, hosted=keeps)
  _check_shared(plan, written, decided.refused, networks)
  decided.twins |= _needed_twins(plan)
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


_OTHER_KINDS = {"KMeans": "EM261"}


def _check_unit(module: Module, unit: units.Unit) -> None:
  if (unit.kind, unit.flavour) not in facts.PARAMETERS:
    code = _OTHER_KINDS.get(unit.kind, "EM223")
    code = "EM260" if unit.kind.startswith("BoostedTrees") else code
    raise Unsupported(code, unit.node, what=unit.kind, **wording.of(unit.symbol))
  for use in module.uses():
    name = use.symbol.path.rpartition(".")[2]
    if name in ("disable_v2_behavior", "disable_eager_execution"):
      raise Unsupported("EM217", use.node, symbol=wording.spelled(use.symbol))
  for construction in unit.constructions:
    for scope in module.scope_of[construction.call].chain():
      for name in ("functools", "itertools", "os", "tempfile"):
        if not scope.is_module and name in scope.bindings:
          what = f"`{name}` is a local name of the function"
          raise Unsupported("EM220", construction.call, what=what)
  calls = [c.call for c in unit.constructions] + [c.call for c in unit.calls]
  for call in calls:
    _check_context(module, call)
  for node in ast.walk(module.tree):
    if isinstance(node, ast.Constant) and node.value == "TF_CONFIG":
      raise Unsupported("EM107", node, what="TF_CONFIG")


def _check_context(module: Module, call: ast.Call) -> None:
  """A unit inside `with tf.Graph().as_default():` or a session would not run eagerly."""
  for ancestor in module.ancestors(call):
    if not isinstance(ancestor, (ast.With, ast.AsyncWith)):
      continue
    for item in ancestor.items:
      for node in ast.walk(item.context_expr):
        symbol = module.resolve(node) if isinstance(node, (ast.Attribute, ast.Name)) else None
        if symbol is not None and symbol.path.startswith(_GRAPHS):
          raise Unsupported("EM217", node, symbol=symbol.path)


def _target(plan: Plan, tf: str, unit: units.Unit, options: Options) -> Target:
  if unit.custom:
    return model_fns.target(plan, tf, unit, options)
  if options.target == "loop":
    return LoopTarget(plan, tf, unit, options.exact, options.resume_data)
  return (StockTarget if options.stock else FitTarget)(plan, tf, unit, options.exact)


_EDITED = (
  "statements",
  "expressions",
  "arguments",
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


def _check_shared(plan, written, refused, networks) -> None:
  """A RunConfig that something else reads keeps its units as they are."""
  names = {id(name) for network in networks for name in network.policy.names}
  for unit, network in written:
    for variable in network.policy.variables:
      for name in facts.loads(plan.module, variable):
        if id(name) not in names and unit not in refused:
          what = f"`{name.id}` is also read in line {name.lineno}; its RunConfig"
          refused[unit] = Unsupported("EM109", name, what=what)


def _needed_twins(plan: Plan) -> set[ast.ClassDef]:
  """Converted hook classes that something other than the rewritten units uses."""
  needed = set()
  explained = {id(n) for n in plan.hook_names}
  for node in plan.classes:
    bases = {id(b) for c in plan.classes for b in c.bases}
    for name in ast.walk(plan.module.tree):
      if (
        isinstance(name, ast.Name)
        and name.id == node.name
        and isinstance(name.ctx, ast.Load)
        and plan.module.definition(name) is node
        and id(name) not in explained | bases
        and not _inside(plan.module, name, node)
      ):
        needed.add(node)
  return needed


def _inside(module: Module, name: ast.AST, node: ast.AST) -> bool:
  return any(a is node for a in module.ancestors(name))


def _remove_unread(plan: Plan, networks: list[canned.Network]) -> None:
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


def _finish(module, path, plan, found, options, decided: _Decisions) -> Result:
  """Applies the plan, marks what is left, and collects what there is to say."""
  results, left, hooks = [], [], all_hooks.results(plan)
  for unit in found:
    line, target = module.span(unit.node).line, decided.target(unit, options)
    results.append(UnitResult(unit.name, unit.kind, unit.flavour, line, target))
    if target == "hosted":
      hosted.report(plan, unit, decided.hosted[unit])
    elif target:
      _report_rewritten(plan, unit, options)
      if unit.custom and options.target == "fit":
        hosted.report_loop(plan, unit)
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
  if changed:
    try:
      text = _apply(plan, module)
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
  return Result(text, text != module.text, results, findings, number, names, attributes, hooks)


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


def _report_left(plan: Plan, left: list[units.Unit], refused) -> None:
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


def _apply(plan: Plan, module: Module) -> str:
  if plan.tf_import:
    plan.needs(plan.tf_import)
  plan.drop_unread_runtime()
  imports.add(plan)
  text = apply(plan)
  cleanup = Plan(Module(text, module.filename), plan.path)
  imports.remove_unused(cleanup, module)
  all_hooks.respell_kept(cleanup, plan)
  return apply(cleanup) if cleanup.statements or cleanup.expressions else text
