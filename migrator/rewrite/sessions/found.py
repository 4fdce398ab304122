"""Session units: a Saver, monitored session or Supervisor with everything that touches it."""

from __future__ import annotations

import ast
import dataclasses
from typing import Any, Optional

from migrator.analysis.module import Module
from migrator.lint import values
from migrator.lint.checks import retention

SAVER = "tf.train.Saver"
META_GRAPH = "tf.train.import_meta_graph"
TRAINING_SESSION = "tf.train.MonitoredTrainingSession"
SINGULAR_SESSION = "tf.train.SingularMonitoredSession"
MONITORED_SESSION = "tf.train.MonitoredSession"
CHIEF_CREATOR = "tf.train.ChiefSessionCreator"
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
  MONITORED_SESSION: "session_creator hooks stop_grace_period_secs",
  CHIEF_CREATOR: "scaffold master config checkpoint_dir checkpoint_filename_with_path",
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
METHODS = ("save", "restore", *_RECOVERIES)
_SESSIONS = ("managed_session", "prepare_or_wait_for_session", "PrepareSession")
_SERVICES = ("start_standard_services", "StartStandardServices")


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
    elements: where each of these stands in a list, or is appended.
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
  elements: dict[ast.AST, ast.AST] = dataclasses.field(default_factory=dict)

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
    if node.func.attr in _SERVICES:
      return True  # Later, for example after something has been restored.
    if node.func.attr not in _SESSIONS or key_of(module, node.func.value) != supervisor.key:
      continue
    arguments = values.arguments(module, node, ("master", "config", "start_standard_services"))
    started.append(values.literal(module, arguments.get("start_standard_services")) is not False)
  return any(started) or not started


def saver_of_scaffold(module: Module, scaffold: Optional[ast.AST]) -> Optional[ast.Call]:
  """The Saver of a Scaffold, if that is certain."""
  call = known_call(module, scaffold, "tf.train.Scaffold")
  savers = retention.savers_of(module, call) if call is not None else []
  return savers[0] if len(savers) == 1 else None


def target_of(module: Module, call: ast.Call) -> Optional[ast.expr]:
  """The variable or attribute that a call is bound to."""
  parent = module.parents.get(call)
  if isinstance(parent, ast.Assign) and len(parent.targets) == 1:
    return parent.targets[0]
  if isinstance(parent, ast.AnnAssign):
    return parent.target
  if isinstance(parent, ast.withitem):
    return parent.optional_vars
  return None


def key_of(module: Module, target: ast.expr) -> Any:
  """What two expressions have in common that mean the same variable."""
  if isinstance(target, ast.Name):
    owner, _ = module.scope_of[target].lookup(target.id)
    return (owner, target.id)
  if isinstance(target, ast.Attribute):
    around = next((a for a in module.ancestors(target) if isinstance(a, ast.ClassDef)), None)
    return (around, ast.unparse(target))
  return ast.dump(target)
