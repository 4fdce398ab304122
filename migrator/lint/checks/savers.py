"""Savers of TF1: which of two decides, what MonitoredTrainingSession saves, what a Saver keeps."""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Iterator
from typing import Any, Optional

from migrator.analysis.module import UNKNOWN, Module
from migrator.lint import values
from migrator.lint.checks import estimators, policy
from migrator.lint.checks.registry import Context, Report, check

_SESSION = "tf.train.MonitoredTrainingSession"
_SESSION_PARAMETERS = tuple(
  """master is_chief checkpoint_dir scaffold hooks chief_only_hooks save_checkpoint_secs
  save_summaries_steps save_summaries_secs config stop_grace_period_secs log_step_count_steps
  max_wait_secs save_checkpoint_steps summary_dir save_graph_def""".split()
)
_HOOK = "tf.train.CheckpointSaverHook"
_HOOK_PARAMETERS = tuple(
  """checkpoint_dir save_secs save_steps saver checkpoint_basename scaffold listeners
  save_graph_def""".split()
)
_SAVER = "tf.train.Saver"
_SAVER_PARAMETERS = ("var_list", "reshape", "sharded", "max_to_keep")
_SCAFFOLD = "tf.train.Scaffold"
_SCAFFOLD_PARAMETERS = tuple(
  """init_op init_feed_dict init_fn ready_op ready_for_local_init_op local_init_op summary_op
  saver copy_from_scaffold local_init_feed_dict""".split()
)
SPECS = (
  "tf.estimator.EstimatorSpec",
  "tf.estimator.tpu.TPUEstimatorSpec",
  "tf.contrib.tpu.TPUEstimatorSpec",
)
_WORDS = ("MonitoredTrainingSession", "CheckpointSaverHook")
_UNSET = object()


@dataclasses.dataclass(frozen=True)
class _Cadence:
  """What a hook or a session saves: numbers, UNKNOWN, None for off, or _UNSET."""

  module: Module
  found: values.Arguments
  steps_name: str
  seconds_name: str

  def _value(self, name: str) -> Any:
    node = self.found.get(name)
    return _UNSET if node is None else values.literal(self.module, node)

  @property
  def steps(self) -> Any:
    return self._value(self.steps_name)

  @property
  def seconds(self) -> Any:
    return self._value(self.seconds_name)

  @property
  def conflicts(self) -> bool:
    """Whether both are certainly set."""
    return all(isinstance(v, (int, float)) and v > 0 for v in (self.steps, self.seconds))

  def describe(self) -> Optional[str]:
    """In words, or None for one that saves nothing or cannot be read."""
    if self.conflicts or not self.found.complete:
      return None
    for name, value, unit in (
      (self.steps_name, self.steps, "step"),
      (self.seconds_name, self.seconds, "second"),
    ):
      if value is UNKNOWN:
        return f"every `{values.text(self.module, self.found.nodes[name])}` {unit}s"
      if isinstance(value, (int, float)) and value > 0:
        return f"every {unit}" if value == 1 else f"every {value} {unit}s"
    if self.steps is _UNSET and self.seconds is _UNSET:
      return f"every {policy.DEFAULT_SECONDS} seconds (the default)"
    return None


def _session(module: Module, call: ast.Call) -> _Cadence:
  found = values.arguments(module, call, _SESSION_PARAMETERS)
  return _Cadence(module, found, "save_checkpoint_steps", "save_checkpoint_secs")


def _hook(module: Module, call: ast.Call) -> _Cadence:
  found = values.arguments(module, call, _HOOK_PARAMETERS)
  return _Cadence(module, found, "save_steps", "save_secs")


def _directory(module: Module, cadence: _Cadence) -> Optional[ast.expr]:
  """The directory it saves to; None where it has none."""
  node = cadence.found.get("checkpoint_dir")
  return None if values.literal(module, node) is None else node


@check("EM102", "EM415", words=_WORDS)
def cadences(context: Context) -> Iterator[Report]:
  """What each MonitoredTrainingSession saves; both cadences of one, or of a hook."""
  module = context.module
  for call, symbol in context.calls_of(_SESSION, _HOOK):
    session = symbol.path == _SESSION
    cadence = _session(module, call) if session else _hook(module, call)
    if cadence.conflicts:
      name = symbol.path.rpartition(".")[2]
      names = {"steps": cadence.steps_name, "seconds": cadence.seconds_name}
      yield context.report("EM102", call, who=name, **names)
    elif session and cadence.found.complete and _directory(module, cadence) is not None:
      every = cadence.describe()
      asked = "no checkpoint at all"
      if every is not None:
        keep = _keep_of_scaffold(module, cadence.found.get("scaffold"))
        asked = f"a checkpoint {every} and at the first and last step, {keep}"
      yield context.report("EM415", call, policy=asked)


def _keep_of_scaffold(module: Module, scaffold: Optional[ast.expr]) -> str:
  """Which checkpoints stay, in words, under the Saver of a Scaffold."""
  if scaffold is None or values.literal(module, scaffold) is None:
    return "the newest 5 kept"
  savers = [s for call in _calls(module, scaffold) for s in _savers_of(module, call)]
  if len(savers) != 1:
    return "kept as the Saver of its Scaffold does"
  keep = _keep(module, savers[0])
  return "all of them kept" if keep in ("0", "None") else f"the newest {keep} kept"


def _calls(module: Module, node: Optional[ast.AST]) -> list[ast.Call]:
  found = values.possible(module, node) if node is not None else None
  return [v for v in found or () if isinstance(v, ast.Call)]


def _savers_of(module: Module, scaffold: ast.Call) -> list[ast.Call]:
  """The Saver calls that a Scaffold call can get."""
  if not values.is_call_of(module, scaffold, (_SCAFFOLD,)):
    return []
  saver = values.arguments(module, scaffold, _SCAFFOLD_PARAMETERS).get("saver")
  return [c for c in _calls(module, saver) if values.is_call_of(module, c, (_SAVER,))]


def _keep(module: Module, saver: ast.Call) -> str:
  """The `max_to_keep` of a Saver call: a number, or its source."""
  found = values.arguments(module, saver, _SAVER_PARAMETERS)
  node = found.get("max_to_keep")
  if node is None:
    return "5" if found.complete else "?"
  value = values.literal(module, node)
  return f"`{values.text(module, node)}`" if value is UNKNOWN else repr(value)


@check("EM410", words=("CheckpointSaverHook",))
def two_savers(context: Context) -> Iterator[Report]:
  """A CheckpointSaverHook beside the saver that a session or an Estimator has anyway."""
  module = context.module
  hooks = [call for call, _ in context.calls_of(_HOOK)]
  if not hooks:
    return
  reported = set()
  for session, _ in context.calls_of(_SESSION):
    other = _session(module, session)
    given = _hooks_in(module, other.found, ("hooks", "chief_only_hooks"))
    for hook in (h for h in hooks if h in given):
      what = _beside_session(module, _hook(module, hook), other)
      if what is not None and hook not in reported:
        reported.add(hook)
        yield context.report("EM410", hook, what=what)
  for found, makers, place in _estimator_hooks(context):
    given = _hooks_in(module, found, ("hooks", "training_hooks", "training_chief_hooks"))
    for hook in (h for h in hooks if h in given and h not in reported):
      what = _instead_of_estimators(context, _hook(module, hook), makers, place)
      if what is not None:
        reported.add(hook)
        yield context.report("EM410", hook, what=what)


def _hooks_in(module: Module, found: values.Arguments, names: tuple[str, ...]) -> set[ast.AST]:
  """What the lists of hooks among the arguments of a call can hold."""
  given: set[ast.AST] = set()
  for name in names:
    for element in estimators.elements(module, found.get(name)):
      given.update(values.possible(module, element) or ())
  return given


def _beside_session(module: Module, hook: _Cadence, other: _Cadence) -> Optional[str]:
  """What goes wrong when a session saves to the directory of a hook, or None."""
  mine, theirs = _directory(module, hook), _directory(module, other)
  if mine is None or theirs is None or other.describe() is None:
    return None
  if not estimators.keys(module, mine) & estimators.keys(module, theirs):
    return None
  return (
    f"this hook saves {hook.describe() or 'too'}, and MonitoredTrainingSession "
    f"{other.describe()} to the same directory; each deletes by its own list"
  )


def _estimator_hooks(
  context: Context,
) -> Iterator[tuple[values.Arguments, tuple[ast.Call, ...], str]]:
  """Calls that give hooks to an Estimator: arguments, what made it if known, whose place."""
  for call, symbol in context.calls_of(*SPECS):
    tpu = symbol.path.endswith(".TPUEstimatorSpec")
    place = "the Estimator's, or on a TPU stands beside it" if tpu else "the Estimator's"
    yield values.arguments(context.module, call), (), place
  for training in estimators.trainings(context):
    yield training.arguments, training.makers, "the Estimator's"


def _instead_of_estimators(
  context: Context, hook: _Cadence, makers: tuple[ast.Call, ...], place: str
) -> Optional[str]:
  """What an Estimator does with a hook that saves, or None where it saves nothing itself."""
  module = context.module
  asked = [estimators.policy_of(context, maker) for maker in makers]
  if not asked:
    asked += [policy.read(module, c) for c, _ in context.calls_of(*policy.RUN_CONFIGS)]
  known = asked[0] if len(asked) == 1 else None
  if known is not None and known.saves_nothing:
    return None  # switched off in favour of the hook
  what = f"this hook saves {hook.describe() or 'by itself'} and takes the place of {place}"
  if known is not None and known.complete and not known.conflicts:
    return f"{what}, which asks for {known.describe().partition(' and ')[0]}"
  return f"{what}, so that the cadence of RunConfig is not looked at"


@check("EM411", words=("Scaffold", "GraphKeys.SAVERS"), also=("Saver(",))
def keeping_savers(context: Context) -> Iterator[Report]:
  """A Saver of a model_fn, whose `max_to_keep` decides instead of RunConfig's."""
  module = context.module
  savers = []
  for call, _ in context.calls_of(_SCAFFOLD):
    savers += _savers_of(module, call)
  for call, _ in context.calls_of("tf.add_to_collection"):
    found = values.arguments(module, call, ("name", "value"))
    name = found.get("name")
    symbol = module.resolve(name) if name is not None else None
    if symbol is not None and symbol.path == "tf.GraphKeys.SAVERS":
      added = _calls(module, found.get("value"))
      savers += [c for c in added if values.is_call_of(module, c, (_SAVER,))]
  configs = [policy.read(module, c) for c, _ in context.calls_of(*policy.RUN_CONFIGS)]
  for saver in dict.fromkeys(savers):
    keep = _keep(module, saver)
    if keep == "?" or not _is_trained(context, saver):
      continue
    known = configs[0] if len(configs) == 1 and configs[0].complete else None
    if known is not None and known.spell("keep_checkpoint_max") == keep:
      continue
    theirs = "keep_checkpoint_max"
    if known is not None:
      theirs += f"={known.spell('keep_checkpoint_max')}"
    shown = f"{keep} (all)" if keep in ("0", "None") else keep
    yield context.report("EM411", saver, keep=shown, theirs=theirs)


def _is_trained(context: Context, saver: ast.Call) -> bool:
  """Whether a Saver is made for a training by an Estimator."""
  module = context.module
  functions = [a for a in module.ancestors(saver) if isinstance(a, ast.FunctionDef)]
  if not functions:
    return False
  within = set(ast.walk(functions[-1]))
  if not any(call in within for call, _ in context.calls_of(*SPECS)):
    return False
  child: ast.AST = saver
  for ancestor in module.ancestors(saver):
    if isinstance(ancestor, ast.If) and child in ancestor.body and _evaluates(ancestor.test):
      return False
    child = ancestor
  return True


def _evaluates(test: ast.expr) -> bool:
  """Whether a condition says that the mode is not TRAIN."""
  if not isinstance(test, ast.Compare) or len(test.ops) != 1:
    return False
  words = {n.attr for n in ast.walk(test) if isinstance(n, ast.Attribute)}
  words |= {str(n.value).upper() for n in ast.walk(test) if isinstance(n, ast.Constant)}
  if isinstance(test.ops[0], (ast.NotEq, ast.IsNot)):
    return "TRAIN" in words
  if isinstance(test.ops[0], (ast.Eq, ast.Is)):
    return bool(words & {"EVAL", "PREDICT", "INFER"})
  return False


@check("EM414")
def keep_all(context: Context) -> Iterator[Report]:
  """A Saver that deletes nothing."""
  module = context.module
  for call, _ in context.calls_of(_SAVER):
    keep = values.arguments(module, call, _SAVER_PARAMETERS).get("max_to_keep")
    if keep is not None and values.literal(module, keep) in (0, None):
      yield context.report("EM414", keep, value=values.text(module, keep))
