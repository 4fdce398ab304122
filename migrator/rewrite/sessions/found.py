"""Session units: a Saver, monitored session or Supervisor with everything that touches it."""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Iterator
from typing import Any, Optional

from migrator.analysis import facts
from migrator.analysis.module import Module
from migrator.lint import values
from migrator.lint.checks import estimators, retention

SAVER = "tf.train.Saver"
META_GRAPH = "tf.train.import_meta_graph"
TRAINING_SESSION = "tf.train.MonitoredTrainingSession"
SINGULAR_SESSION = "tf.train.SingularMonitoredSession"
SUPERVISOR = "tf.train.Supervisor"
SAVER_HOOK = "tf.train.CheckpointSaverHook"
STOP_HOOK = "tf.train.StopAtStepHook"
# The order of the parameters, from the API pages of TF 1.15 and 2.15:
# https://www.tensorflow.org/versions/r1.15/api_docs/python/tf/train/Saver
_PARAMETERS = {
  SAVER: """var_list reshape sharded max_to_keep keep_checkpoint_every_n_hours name
    restore_sequentially saver_def builder defer_build allow_empty write_version pad_step_number
    save_relative_paths filename""",
  META_GRAPH: "meta_graph_or_file clear_devices import_scope",
  TRAINING_SESSION: """master is_chief checkpoint_dir scaffold hooks chief_only_hooks
    save_checkpoint_secs save_summaries_steps save_summaries_secs config stop_grace_period_secs
    log_step_count_steps max_wait_secs save_checkpoint_steps summary_dir save_graph_def""",
  SINGULAR_SESSION: """hooks scaffold master config checkpoint_dir stop_grace_period_secs
    checkpoint_filename_with_path""",
  SUPERVISOR: """graph ready_op ready_for_local_init_op is_chief init_op init_feed_dict
    local_init_op logdir summary_op saver global_step save_summaries_secs save_model_secs
    recovery_wait_secs stop_grace_secs checkpoint_basename session_manager summary_writer
    init_fn local_init_run_options""",
  SAVER_HOOK: """checkpoint_dir save_secs save_steps saver checkpoint_basename scaffold listeners
    save_graph_def""",
  STOP_HOOK: "num_steps last_step",
  "tf.train.Scaffold": """init_op init_feed_dict init_fn ready_op ready_for_local_init_op
    local_init_op summary_op saver copy_from_scaffold local_init_feed_dict""",
}
SAVE_PARAMETERS = tuple(
  """sess save_path global_step latest_filename meta_graph_suffix write_meta_graph write_state
  strip_default_attrs save_debug_info""".split()
)
RESTORE_PARAMETERS = ("sess", "save_path")
_RECOVERIES = (
  "recover_last_checkpoints",
  "set_last_checkpoints",
  "set_last_checkpoints_with_time",
)
_METHODS = ("save", "restore", *_RECOVERIES)
_SESSIONS = ("managed_session", "prepare_or_wait_for_session", "PrepareSession")
_KINDS = (SAVER, META_GRAPH, TRAINING_SESSION, SINGULAR_SESSION, SUPERVISOR)


def bind(module: Module, call: ast.Call, path: str) -> values.Arguments:
  """The arguments of a call of one of the symbols above, by name."""
  return values.arguments(module, call, _PARAMETERS[path].split())


def known_call(module: Module, node: Optional[ast.AST], path: str) -> Optional[ast.Call]:
  """The call of a symbol that an expression stands for, if that is certain, or any of equal ones."""
  found = values.possible(module, node) if node is not None else None
  calls = [
    v for v in found or () if isinstance(v, ast.Call) and values.is_call_of(module, v, [path])
  ]
  same = len({ast.dump(c) for c in calls}) == 1
  return calls[0] if found and same and len(calls) == len(found) else None


@dataclasses.dataclass(eq=False)
class Unit:
  """One unit.

  Attributes:
    kind: the symbol of what makes it, for example "tf.train.Saver".
    call: what makes it.
    key: what is equal for all expressions that mean it.
    name: the variable that it is bound to; "" for none.
    arguments: of the call.
    others: calls that make the same variable on other paths of the program.
    saver: the Saver call that it is given or is, if that is known.
    uses: the calls of the Saver's methods, in the order of the source.
    hooks: what is in its lists of hooks: calls and other expressions.
  """

  kind: str
  call: ast.Call
  key: Any
  name: str
  arguments: values.Arguments
  others: list[ast.Call] = dataclasses.field(default_factory=list)
  saver: Optional[ast.Call] = None
  uses: list[ast.Call] = dataclasses.field(default_factory=list)
  hooks: list[ast.AST] = dataclasses.field(default_factory=list)

  def calls_of(self, method: str) -> list[ast.Call]:
    """The calls of one method of the Saver."""
    return [c for c in self.uses if isinstance(c.func, ast.Attribute) and c.func.attr == method]

  @property
  def calls(self) -> list[ast.Call]:
    """All calls that make it."""
    return [self.call, *self.others]

  @property
  def saves(self) -> list[ast.Call]:
    return self.calls_of("save")

  @property
  def restores(self) -> list[ast.Call]:
    return self.calls_of("restore")

  @property
  def recoveries(self) -> list[ast.Call]:
    """The calls with which a Saver hears of the checkpoints of an earlier process."""
    return [call for method in _RECOVERIES for call in self.calls_of(method)]


def starts_services(module: Module, supervisor: Unit) -> bool:
  """Whether a Supervisor's threads, which save and write summaries, run in any of its sessions."""
  started = []
  for node in module.scope_of:
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
      continue
    if node.func.attr not in _SESSIONS or _key(module, node.func.value) != supervisor.key:
      continue
    arguments = values.arguments(module, node, ("master", "config", "start_standard_services"))
    started.append(values.literal(module, arguments.get("start_standard_services")) is not False)
  return any(started) or not started


def find(module: Module) -> list[Unit]:
  """The units of a module, in the order of the source.

  A Saver that a monitored session, a Supervisor or an EstimatorSpec gets belongs to these.
  """
  units: dict[Any, Unit] = {}
  taken = _taken_savers(module)
  for call, symbol in facts.calls(module):
    if symbol.path not in _KINDS or call in taken:
      continue
    target = _target(module, call)
    key = _key(module, target) if target is not None else call
    if key in units and units[key].kind == symbol.path:
      units[key].others.append(call)
      continue
    name = module.source(target) if target is not None else ""
    units[key] = _make(module, call, key, symbol.path, name)
  _add_uses(module, units)
  return sorted(units.values(), key=lambda u: (u.call.lineno, u.call.col_offset))


def _make(module: Module, call: ast.Call, key: Any, path: str, name: str) -> Unit:
  unit = Unit(path, call, key, name, bind(module, call, path))
  if path == SAVER:
    unit.saver = call
  elif path == SUPERVISOR:
    unit.saver = known_call(module, unit.arguments.get("saver"), SAVER)
  elif path != META_GRAPH:
    unit.saver = saver_of_scaffold(module, unit.arguments.get("scaffold"))
    for key in ("hooks", "chief_only_hooks"):
      for element in estimators.elements(module, unit.arguments.get(key)):
        found = values.possible(module, element) or [element]
        unit.hooks += [f for f in found if f not in unit.hooks]
  return unit


def saver_of_scaffold(module: Module, scaffold: Optional[ast.AST]) -> Optional[ast.Call]:
  """The Saver of a Scaffold, if that is certain."""
  call = known_call(module, scaffold, "tf.train.Scaffold")
  savers = retention.savers_of(module, call) if call is not None else []
  return savers[0] if len(savers) == 1 else None


def _taken_savers(module: Module) -> set[ast.AST]:
  """Savers that a Scaffold, Supervisor or CheckpointSaverHook gets."""
  taken: set[ast.AST] = set()
  for call, symbol in facts.calls(module):
    if symbol.path in ("tf.train.Scaffold", SUPERVISOR, SAVER_HOOK):
      node = bind(module, call, symbol.path).get("saver")
      taken.update(values.possible(module, node) or () if node is not None else ())
  return taken


def _target(module: Module, call: ast.Call) -> Optional[ast.expr]:
  """The variable or attribute that a call is bound to."""
  parent = module.parents.get(call)
  if isinstance(parent, ast.Assign) and len(parent.targets) == 1:
    return parent.targets[0]
  if isinstance(parent, ast.AnnAssign):
    return parent.target
  if isinstance(parent, ast.withitem):
    return parent.optional_vars
  return None


def _key(module: Module, target: ast.expr) -> Any:
  """What two expressions have in common that mean the same variable."""
  if isinstance(target, ast.Name):
    owner, _ = module.scope_of[target].lookup(target.id)
    return (owner, target.id)
  if isinstance(target, ast.Attribute):
    around = next((a for a in module.ancestors(target) if isinstance(a, ast.ClassDef)), None)
    return (around, ast.unparse(target))
  return ast.dump(target)


def _add_uses(module: Module, units: dict[Any, Unit]) -> None:
  """Gives each call of a Saver's method to the unit whose Saver it is."""
  by_name: dict[str, list[Unit]] = {}
  for unit in units.values():
    by_name.setdefault(unit.name.rpartition(".")[2], []).append(unit)
  for node in list(module.scope_of):
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
      continue
    if node.func.attr not in _METHODS:
      continue
    receiver = node.func.value
    found = _receiver(module, receiver, units, by_name)
    if found is not None:
      found.uses.append(node)
  for unit in units.values():
    unit.uses.sort(key=lambda c: (c.lineno, c.col_offset))


def _receiver(
  module: Module, node: ast.expr, units: dict[Any, Unit], by_name: dict[str, list[Unit]]
) -> Optional[Unit]:
  if isinstance(node, ast.Call):
    return next((u for u in units.values() if node is u.call), None)
  if not isinstance(node, (ast.Name, ast.Attribute)):
    return None
  unit = units.get(_key(module, node))
  if unit is not None:
    return unit if unit.kind in (SAVER, META_GRAPH) else None
  if isinstance(node, ast.Attribute) and node.attr == "saver":
    owner = units.get(_key(module, node.value))
    if owner is not None and owner.kind == SUPERVISOR:
      return owner  # supervisor.saver.save(...)
  for candidate in _given_savers(module, units.values()):
    if candidate[0] == _key(module, node):
      return candidate[1]
  # A parameter or the attribute of another object: a Saver of this name, if there is one only.
  name = node.id if isinstance(node, ast.Name) else node.attr
  alike = [u for u in by_name.get(name, ()) if u.kind in (SAVER, META_GRAPH)]
  return alike[0] if len(alike) == 1 and not _is_bound(module, node) else None


def _given_savers(module: Module, units: Any) -> Iterator[tuple[Any, Unit]]:
  """The variables of the Savers that other units are given."""
  for unit in units:
    if unit.saver is not None and unit.saver is not unit.call:
      target = _target(module, unit.saver)
      if target is not None:
        yield _key(module, target), unit


def _is_bound(module: Module, node: ast.expr) -> bool:
  """Whether a name has a value of its own where it stands."""
  if not isinstance(node, ast.Name):
    return False
  _, bindings = module.scope_of[node].lookup(node.id)
  return any(b.kind != "param" for b in bindings)
