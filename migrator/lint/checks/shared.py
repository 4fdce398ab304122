"""Two writers of checkpoints in one directory."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Optional

from migrator.analysis.module import Module
from migrator.lint import values
from migrator.lint.checks import backup, fits, keras_versions, paths, writers
from migrator.lint.checks.registry import Context, Report, check
from migrator.lint.checks.writers import Writer

_OVERWRITTEN = (
  "both write `ckpt-N` and the `checkpoint` file, and each restores what the other saved"
)
_TAKEN_OVER = "the `checkpoint` file names the other's files, and a restart restores these"
_FORGOTTEN = (
  "each of its saves takes the manager's files off the `checkpoint` file, so that after a restart "
  "none of them is restored or deleted"
)
_NOT_TRAINED = (
  "the second `fit` finds the epochs of the first done and trains nothing, or fails on its shapes"
)


@check(
  "EM513",
  words=("CheckpointManager", "BackupAndRestore"),
  # One manager that saves, and nothing else that does, is none.
  evidence=r"(?s)BackupAndRestore|ModelCheckpoint|save_weights|CheckpointManager(?!\()"
  r"|CheckpointManager\(.*CheckpointManager\(|\.save\(.*\.save\(",
)
def two_savers(context: Context) -> Iterator[Report]:
  """Two savers whose files or state files are in each other's way."""
  module = context.module
  # `Checkpoint.write` leaves the `checkpoint` file alone.
  found = [w for w in writers.writers(context) if w.is_checkpoint and w.name != "Checkpoint.write"]
  managers = [w for w in found if w.name == "CheckpointManager"]
  for number, manager in enumerate(managers):
    for other in managers[number + 1 :]:
      if manager.directory == other.directory and _are_both_used(module, manager, other):
        consequence = _OVERWRITTEN if _names_alike(module, manager, other) else _TAKEN_OVER
        yield _report(context, other, manager, consequence)
    for other in found:
      alike = other.directory == manager.directory
      if alike and other.name != "CheckpointManager" and _is_saved(module, manager.call):
        yield _report(context, other, manager, _FORGOTTEN)
  yield from _two_backups(context)


def _report(context: Context, second: Writer, first: Writer, consequence: str) -> Report:
  return context.report(
    "EM513",
    second.node,
    first=first.name,
    second=second.name,
    consequence=consequence,
    line=context.module.span(first.call).line,
  )


def _are_both_used(module: Module, first: Writer, second: Writer) -> bool:
  """Whether two managers of one block are different variables that both save."""
  if module.scope_of[first.call] is not module.scope_of[second.call]:
    return False
  names = [_target(module, w.call) for w in (first, second)]
  if None in names or names[0] == names[1]:
    return False
  checkpoints = [values.arguments(module, w.call, ("checkpoint",)) for w in (first, second)]
  shown = [ast.dump(c.nodes["checkpoint"]) for c in checkpoints if "checkpoint" in c.nodes]
  if len(set(shown)) != 2:
    return False  # one state, with two rules of what to keep
  return all(_is_saved(module, w.call) for w in (first, second))


def _target(module: Module, call: ast.Call) -> Optional[str]:
  """The variable that a call is assigned to, as text."""
  statement = module.parents.get(call)
  if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
    return None
  return ast.unparse(statement.targets[0])


def _is_saved(module: Module, manager: ast.Call) -> bool:
  """Whether `save` of a manager is called."""
  name = _target(module, manager)
  return name is not None and any(
    ast.unparse(call.func.value) == name  # type: ignore[attr-defined]
    for call in fits.method_calls(module, "save")
  )


def _names_alike(module: Module, first: Writer, second: Writer) -> bool:
  """Whether two managers give their checkpoints the same name."""
  names = [
    values.literal(module, values.arguments(module, w.call).get("checkpoint_name"))
    if values.arguments(module, w.call).get("checkpoint_name") is not None
    else "ckpt"
    for w in (first, second)
  ]
  return names[0] == names[1]


def _two_backups(context: Context) -> Iterator[Report]:
  """Backups that stay, of two models in one directory."""
  module = context.module
  seen: dict[paths.Parts, tuple[str, Writer]] = {}
  for fit in sorted(fits.fit_calls(module), key=lambda f: (f.lineno, f.col_offset)):
    made = fits.callback_of(module, fit, *fits.BACKUPS)
    if made is None or not isinstance(fit.func, ast.Attribute):
      continue
    found = values.arguments(module, made, backup.PARAMETERS)
    node = found.get("backup_dir")
    place = paths.parts(module, node)
    if node is None or place is None:
      continue
    if values.literal(module, found.get("delete_checkpoint")) is not False:
      continue
    model = ast.unparse(fit.func.value)
    first = seen.setdefault(place, (model, Writer("BackupAndRestore", made, node, place, place)))
    scopes = [module.scope_of[c] for c in (first[1].call, made)]
    if first[0] != model and first[1].call is not made and scopes[0] is scopes[1]:
      second = Writer("BackupAndRestore", made, node, place, place)
      yield _report(context, second, first[1], _NOT_TRAINED)


@check("EM525", words=("BackupAndRestore",))
def deleted_directories(context: Context) -> Iterator[Report]:
  """Files of others in a directory that BackupAndRestore deletes when `fit` ends."""
  module = context.module
  found = list(writers.writers(context))
  for call, _ in context.calls_of(*fits.BACKUPS):
    arguments = values.arguments(module, call, backup.PARAMETERS)
    node = arguments.get("backup_dir")
    place = paths.parts(module, node)
    if node is None or not place or not backup.is_deleted(module, arguments):
      continue
    if keras_versions.is_for_keras_2(module, call):
      continue
    inside = [w for w in found if w.place[: len(place)] == place]
    if inside:
      first = min(inside, key=lambda w: module.span(w.call).line)
      line = module.span(first.call).line
      shown = values.text(module, node)
      yield context.report("EM525", node, shown=shown, writer=first.name, line=line)
