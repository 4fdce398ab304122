"""What a session unit saves and keeps, as arguments of `runtime.CheckpointManager`."""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Iterator
from typing import Optional

from migrator.analysis.module import UNKNOWN, Module
from migrator.lint import values
from migrator.lint.checks import estimators
from migrator.rewrite.sessions import found
from migrator.rewrite.sessions.found import Unit
from migrator.rewrite.sessions.text import source

_DEFAULT_KEEP = "keep_checkpoint_max=5"
_DEFAULT_SECONDS = "save_checkpoints_secs=600"


@dataclasses.dataclass
class Policy:
  """When a unit saves of itself, where, and what it keeps; all as source.

  Attributes:
    directory: where it saves and restores; "" for nowhere.
    name: what the names of its files begin with.
    cadence: the argument that says how often; "" for never by itself.
    keep: the arguments that say what stays.
    recovers: whether it goes on deleting what an earlier process saved.
    saves_last: whether it saves at the end.
    questions: what a person has to decide, or to know.
  """

  directory: str = ""
  name: str = '"model.ckpt"'
  cadence: str = ""
  keep: list[str] = dataclasses.field(default_factory=lambda: [_DEFAULT_KEEP])
  recovers: bool = True
  saves_last: bool = True
  questions: list[str] = dataclasses.field(default_factory=list)


def of(module: Module, unit: Unit) -> Policy:
  """The policy of a unit, with the defaults of TF 1.15 and 2.15."""
  if unit.kind in (found.SAVER, found.META_GRAPH):
    policy = Policy(recovers=bool(unit.recoveries), saves_last=False)
    _set_keep(module, unit.saver, policy)
    policy.questions += _other_lists(module, unit)
    for other in unit.others:
      if ast.dump(other) != ast.dump(unit.call):
        policy.questions.append(
          f"line {other.lineno}: on another path it is `{source(module, other)}`; the code is for line "
          f"{unit.call.lineno}."
        )
    return policy
  if unit.kind == found.SUPERVISOR:
    return _supervisor(module, unit)
  return _monitored(module, unit)


def _given(module: Module, arguments: values.Arguments, name: str) -> Optional[ast.expr]:
  """An argument, unless it is None."""
  node = arguments.get(name)
  return None if node is None or values.literal(module, node) is None else node


def _other_lists(module: Module, unit: Unit) -> Iterator[str]:
  """Saves that write the list of checkpoints to another file than `checkpoint`."""
  for call in unit.saves:
    arguments = values.arguments(module, call, found.SAVE_PARAMETERS)
    name = _given(module, arguments, "latest_filename")
    if name is not None:
      yield (
        f"line {call.lineno}: `latest_filename={source(module, name)}`: the manager's list is the file "
        "`checkpoint`; what is in the old one is loaded by the path of the checkpoint."
      )


def _is_none(module: Module, arguments: values.Arguments, name: str) -> bool:
  """Whether an argument is given as None."""
  return name in arguments.nodes and values.literal(module, arguments.nodes[name]) is None


def _set_keep(module: Module, saver: Optional[ast.Call], policy: Policy) -> None:
  """What a Saver keeps; without one what the default one does."""
  if saver is None:
    return
  arguments = found.bind(module, saver, found.SAVER)
  keep = arguments.get("max_to_keep")
  policy.keep = [
    f"keep_checkpoint_max={source(module, keep)}" if keep is not None else _DEFAULT_KEEP
  ]
  hours = arguments.get("keep_checkpoint_every_n_hours")
  if hours is not None:
    policy.keep.append(f"keep_checkpoint_every_n_hours={source(module, hours)}")
  line = module.span(saver).line
  if not arguments.complete:
    policy.questions.append(
      f"line {line}: `**` may give the Saver a `max_to_keep` of its own; 5 is its default."
    )
  if values.literal(module, arguments.get("pad_step_number")) is True:
    policy.questions.append(
      f"line {line}: `pad_step_number` wrote model.ckpt-00000010; the manager writes model.ckpt-10."
    )


def _cadence(
  module: Module, arguments: values.Arguments, steps: str, seconds: str, default: str
) -> Optional[str]:
  """The argument for how often; "" for never, None where both are set, which raises."""
  texts = []
  for name, new in ((steps, "save_checkpoints_steps"), (seconds, "save_checkpoints_secs")):
    node = arguments.get(name)
    value = values.literal(module, node)
    certainly_off = value is None or (isinstance(value, (int, float)) and value <= 0)
    if node is None or (value is not UNKNOWN and certainly_off):
      continue
    texts.append((f"{new}={source(module, node)}", value))
  if len(texts) == 2:
    # The two exclude each other where the program runs, so that one of them is None there.
    return None if all(v is not UNKNOWN for _, v in texts) else ", ".join(t for t, _ in texts)
  if texts:
    return texts[0][0]
  asked = arguments.get(steps) is not None or arguments.get(seconds) is not None
  return "" if asked else default


def _monitored(module: Module, unit: Unit) -> Policy:
  """That of MonitoredTrainingSession, and of SingularMonitoredSession, which never saves."""
  arguments, policy = unit.arguments, Policy()
  directory = _given(module, arguments, "checkpoint_dir")
  policy.directory = source(module, directory) if directory is not None else ""
  hooks = saver_hooks(module, unit)
  if unit.kind == found.TRAINING_SESSION and directory is not None:
    names = ("save_checkpoint_steps", "save_checkpoint_secs")
    cadence = _cadence(module, arguments, *names, _DEFAULT_SECONDS)
    if cadence is None:
      policy.questions.append(
        "both cadences are set, which MonitoredTrainingSession refuses with a ValueError: which one is meant?"
      )
      steps = arguments.nodes["save_checkpoint_steps"]
      cadence = f"save_checkpoints_steps={source(module, steps)}"
    policy.cadence = cadence
    scaffold = _given(module, arguments, "scaffold")
    if scaffold is not None and unit.saver is None and not _is_without_saver(module, scaffold):
      policy.questions.append(
        f"`{source(module, scaffold)}` may bring a Saver, whose `max_to_keep` decides what stays."
      )
    _set_keep(module, unit.saver, policy)
  if not arguments.complete:
    policy.questions.append("`**` or `*` may give the session other values than are seen here.")
  if hooks:
    _add_hook(module, policy, hooks, directory)
  chief = values.literal(module, arguments.get("is_chief"))
  if chief is not True and arguments.get("is_chief") is not None:
    policy.questions.append(
      f"`is_chief={source(module, arguments.nodes['is_chief'])}`: only the chief saves; the other workers wait "
      "for it and restore nothing themselves."
    )
  return policy


def _is_without_saver(module: Module, scaffold: ast.expr) -> bool:
  call = found.known_call(module, scaffold, "tf.train.Scaffold")
  if call is None:
    return False
  arguments = found.bind(module, call, "tf.train.Scaffold")
  return arguments.complete and _given(module, arguments, "saver") is None


def saver_hooks(module: Module, unit: Unit) -> list[ast.Call]:
  """The CheckpointSaverHooks among the hooks of a unit."""
  return [h for h in unit.hooks if values.is_call_of(module, h, (found.SAVER_HOOK,))]  # type: ignore[misc]


def _add_hook(
  module: Module, policy: Policy, hooks: list[ast.Call], directory: Optional[ast.expr]
) -> None:
  """A CheckpointSaverHook: the unit's only saver, or a second one."""
  hook = found.bind(module, hooks[0], found.SAVER_HOOK)
  line = module.span(hooks[0]).line
  if _given(module, hook, "listeners") is not None:
    policy.questions.append(
      f"line {line}: `listeners={source(module, hook.nodes['listeners'])}` hear of each save of the "
      "hook: `manager.begin_session(model, saving_listeners=...)` after the restore, and "
      "`manager.end_session()` in place of the last save."
    )
  other = Policy()
  other.cadence = _cadence(module, hook, "save_steps", "save_secs", "") or ""
  saver = found.known_call(module, hook.get("saver"), found.SAVER)
  saver = saver or found.saver_of_scaffold(module, hook.get("scaffold"))
  if saver is not None:
    _set_keep(module, saver, other)
  else:
    other.keep = list(policy.keep)
  place = _given(module, hook, "checkpoint_dir")
  other.directory = source(module, place) if place is not None else ""
  name = _given(module, hook, "checkpoint_basename")
  if name is not None:
    other.name = source(module, name)
  if not policy.cadence:
    # Switched off, or without a directory: the hook alone saves.
    elsewhere = directory is not None and policy.directory != other.directory
    if elsewhere and place is not None:
      policy.questions.append(
        f"line {line}: the hook saves to `{other.directory}`, the session restores from "
        f"`{policy.directory}`: if these differ, a restart begins anew."
      )
    policy.directory, policy.name = other.directory, other.name
    policy.cadence, policy.keep = other.cadence, other.keep
    # The session tells its own Saver only of the checkpoints of earlier processes.
    policy.recovers = hook.get("saver") is None
    policy.questions += other.questions
    return
  same = False
  if place is not None and directory is not None:
    same = bool(estimators.keys(module, place) & estimators.keys(module, directory))
  where = "to the same directory" if same else f"to `{other.directory}`"
  alternative = ", ".join([other.cadence or "no cadence", *other.keep])
  policy.questions.append(
    f"line {line}: this CheckpointSaverHook saves too, {where}: {alternative}. One manager is enough, and two delete "
    "each other's files: which cadence is meant? Below it is the session's."
  )


def _supervisor(module: Module, unit: Unit) -> Policy:
  arguments, policy = unit.arguments, Policy(saves_last=False)
  logdir = _given(module, arguments, "logdir")
  policy.directory = source(module, logdir) if logdir is not None else ""
  if _is_none(module, arguments, "saver"):
    policy.directory = ""
    policy.questions.append("`saver=None`: the Supervisor neither saves nor restores.")
    return policy
  if not found.starts_services(module, unit):
    # Without its threads it restores and nothing more.
    _set_keep(module, unit.saver, policy)
    return policy
  if logdir is not None:
    seconds = arguments.get("save_model_secs")
    value = values.literal(module, seconds)
    if seconds is None:
      policy.cadence = _DEFAULT_SECONDS
    elif value is UNKNOWN or (value is not None and value > 0):
      policy.cadence = f"save_checkpoints_secs={source(module, seconds)}"
  name = arguments.get("checkpoint_basename")
  if name is not None:
    policy.name = source(module, name)
  _set_keep(module, unit.saver, policy)
  saver = _given(module, arguments, "saver")
  if saver is not None and unit.saver is None:
    policy.questions.append(
      f"`{source(module, saver)}` is made elsewhere: its `max_to_keep` decides what stays."
    )
  if policy.cadence and _is_none(module, arguments, "global_step"):
    policy.keep = ["keep_checkpoint_max=1"]
    policy.questions.append(
      "`global_step=None`: each save replaced the one before. One checkpoint stays here as well; "
      "its name has the step."
    )
  if policy.cadence:
    policy.questions.append(
      "a thread saved by the clock, also in the middle of a step; the loop saves after the step in which the time "
      "is up. The thread saved no last checkpoint."
    )
  return policy
