"""Savers of TF1: which of two decides, and what MonitoredTrainingSession saves."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any, NamedTuple, Optional

from migrator.analysis.module import UNKNOWN, Module
from migrator.lint import values
from migrator.lint.checks import estimators, policy, retention
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
_WORDS = ("MonitoredTrainingSession", "CheckpointSaverHook")
_UNSET = object()


class _Cadence(NamedTuple):
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
      given = hooks_in(module, cadence.found, ("hooks", "chief_only_hooks"))
      asked = "no checkpoint of its own" if given else "no checkpoint at all"
      if every is not None:
        keep = _keep_of_scaffold(module, cadence.found.get("scaffold"))
        asked = f"a checkpoint {every} and at the first and last step, {keep}"
      yield context.report("EM415", call, policy=asked)


def _keep_of_scaffold(module: Module, scaffold: Optional[ast.expr]) -> str:
  """Which checkpoints stay, in words, under the Saver of a Scaffold."""
  if scaffold is None or values.literal(module, scaffold) is None:
    return "the newest 5 kept"
  savers = [
    s for call in retention.calls(module, scaffold) for s in retention.savers_of(module, call)
  ]
  if len(savers) != 1:
    return "kept as the Saver of its Scaffold does"
  keep = retention.kept(module, savers[0])
  return "all of them kept" if keep in ("0", "None") else f"the newest {keep} kept"


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
    given = hooks_in(module, other.found, ("hooks", "chief_only_hooks"))
    for hook in (h for h in hooks if h in given):
      what = _beside_session(module, _hook(module, hook), other)
      if what is not None and hook not in reported:
        reported.add(hook)
        yield context.report("EM410", hook, what=what)
  for found, makers, place in _estimator_hooks(context):
    given = hooks_in(module, found, ("hooks", "training_hooks", "training_chief_hooks"))
    for hook in (h for h in hooks if h in given and h not in reported):
      what = _instead_of_estimators(context, _hook(module, hook), makers, place)
      if what is not None:
        reported.add(hook)
        yield context.report("EM410", hook, what=what)


def hooks_in(module: Module, found: values.Arguments, names: tuple[str, ...]) -> set[ast.AST]:
  """What the lists of hooks among the arguments of a call can hold."""
  given: set[ast.AST] = set()
  for name in names:
    for element in estimators.elements(module, found.get(name)):
      given.update(values.possible(module, element) or ())
  return given


def saving_sessions(context: Context) -> Iterator[values.Arguments]:
  """The arguments of every MonitoredTrainingSession that has a directory to resume from."""
  for call, _ in context.calls_of(_SESSION):
    session = _session(context.module, call)
    if _directory(context.module, session) is not None:
      yield session.found


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
  for call, symbol in context.calls_of(*retention.SPECS):
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
