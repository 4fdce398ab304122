"""When a monitored session or a Supervisor saves, where, and what it keeps."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Optional

from migrator.analysis.module import UNKNOWN, Module
from migrator.lint import values
from migrator.lint.checks import estimators
from migrator.rewrite.sessions import conditions, found, scaffolds
from migrator.rewrite.sessions import policy as policy_parts
from migrator.rewrite.sessions.found import Unit
from migrator.rewrite.sessions.policy import Policy
from migrator.rewrite.sessions.text import source, spell


def policy_of(module: Module, unit: Unit) -> Policy:
  """The policy of any unit, with the defaults of TF 1.15 and 2.15."""
  if unit.kind in (found.SAVER, found.META_GRAPH):
    return policy_parts.of_saver(module, unit)
  if unit.kind == found.SUPERVISOR:
    return _supervisor(module, unit)
  return _monitored(module, unit)


def _monitored(module: Module, unit: Unit) -> Policy:
  """That of MonitoredTrainingSession, and of SingularMonitoredSession, which never saves."""
  arguments, policy = unit.arguments, Policy()
  directory = policy_parts.given(module, arguments, "checkpoint_dir")
  policy.directory = source(module, directory) if directory is not None else ""
  hooks = saver_hooks(module, unit)
  if unit.kind == found.TRAINING_SESSION and directory is not None:
    names = ("save_checkpoint_steps", "save_checkpoint_secs")
    cadence = policy_parts.cadence(module, arguments, *names, policy_parts.DEFAULT_SECONDS)
    if cadence is None:
      policy.questions.append(
        "both cadences are set, which MonitoredTrainingSession refuses with a ValueError: which one is meant?"
      )
      steps = arguments.nodes["save_checkpoint_steps"]
      cadence = f"save_checkpoints_steps={source(module, steps)}"
    policy.cadence = cadence
    scaffold = policy_parts.given(module, arguments, "scaffold")
    policy.questions += scaffolds.questions(module, scaffold, unit.saver is not None)
    policy_parts.set_keep(module, unit.saver, policy)
  if not arguments.complete:
    policy.questions.append("`**` or `*` may give the session other values than are seen here.")
  if hooks:
    _add_hook(module, unit, policy, hooks, directory)
  nowhere = scaffolds.may_be_none(module, directory)
  if nowhere:
    policy.questions.append(
      f"{spell(nowhere)}: `{policy.directory}` is None there, and the session neither saves nor restores."
    )
  policy.questions += _chief(module, unit)
  return policy


def _chief(module: Module, unit: Unit) -> Iterator[str]:
  """That the other workers save nothing."""
  node = unit.arguments.get("is_chief")
  if node is not None and values.literal(module, node) is not True:
    yield (
      f"`is_chief={source(module, node)}`: only the chief saves of itself; the other workers wait for it and "
      "restore nothing themselves."
    )


def saver_hooks(module: Module, unit: Unit) -> list[ast.Call]:
  """The CheckpointSaverHooks among the hooks of a unit."""
  return [h for h in unit.hooks if values.is_call_of(module, h, (found.SAVER_HOOK,))]  # type: ignore[misc]


def _add_hook(
  module: Module, unit: Unit, policy: Policy, hooks: list[ast.Call], directory: Optional[ast.expr]
) -> None:
  """A CheckpointSaverHook: the unit's only saver, or a second one."""
  hook = found.bind(module, hooks[0], found.SAVER_HOOK)
  line = module.span(hooks[0]).line
  if policy_parts.given(module, hook, "listeners") is not None:
    policy.questions.append(
      f"line {line}: `listeners={source(module, hook.nodes['listeners'])}` hear of each save of the "
      "hook: `manager.begin_session(model, saving_listeners=...)` after the restore, and "
      "`manager.end_session()` in place of the last save."
    )
  other = Policy()
  other.cadence = policy_parts.cadence(module, hook, "save_steps", "save_secs", "") or ""
  saver = found.known_call(module, hook.get("saver"), found.SAVER)
  saver = saver or found.saver_of_scaffold(module, hook.get("scaffold"))
  if saver is not None:
    policy_parts.set_keep(module, saver, other)
  else:
    other.keep = list(policy.keep)
  known = saver is not None or hook.get("saver") is not None
  other.questions += scaffolds.questions(
    module, policy_parts.given(module, hook, "scaffold"), known
  )
  place = policy_parts.given(module, hook, "checkpoint_dir")
  other.directory = source(module, place) if place is not None else ""
  name = policy_parts.given(module, hook, "checkpoint_basename")
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
    policy.questions += [q for q in other.questions if q not in policy.questions]
    condition = conditions.of_hook(module, unit, hooks[0])
    if condition:
      policy.questions.append(
        f"line {line}: this CheckpointSaverHook is there only if `{condition}`; else nothing is saved, and "
        "there is no manager."
      )
    creator = scaffolds.creators(module, unit)
    if creator:
      policy.questions.append(creator)
    elif directory is None:
      policy.questions.append(
        "the session has no `checkpoint_dir`: it restored nothing, and each start of the program began anew. The code "
        f"goes on from `{policy.directory}`."
      )
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
  logdir = policy_parts.given(module, arguments, "logdir")
  policy.directory = source(module, logdir) if logdir is not None else ""
  if policy_parts.is_none(module, arguments, "saver"):
    policy.directory = ""
    policy.questions.append("`saver=None`: the Supervisor neither saves nor restores.")
    return policy
  policy.questions += _chief(module, unit)
  if not found.starts_services(module, unit):
    # Without its threads it restores and nothing more.
    policy_parts.set_keep(module, unit.saver, policy)
    return policy
  if logdir is not None:
    seconds = arguments.get("save_model_secs")
    value = values.literal(module, seconds)
    if seconds is None:
      policy.cadence = policy_parts.DEFAULT_SECONDS
    elif value is UNKNOWN or (value is not None and value > 0):
      policy.cadence = f"save_checkpoints_secs={source(module, seconds)}"
  name = arguments.get("checkpoint_basename")
  if name is not None:
    policy.name = source(module, name)
  policy_parts.set_keep(module, unit.saver, policy)
  saver = policy_parts.given(module, arguments, "saver")
  if saver is not None and unit.saver is None:
    policy.questions.append(
      f"`{source(module, saver)}` is made elsewhere: its `max_to_keep` decides what stays."
    )
  if policy.cadence and policy_parts.is_none(module, arguments, "global_step"):
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
