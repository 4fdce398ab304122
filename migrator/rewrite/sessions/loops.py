"""The loop that takes the place of a monitored session's or a Supervisor's."""

from __future__ import annotations

import ast
from typing import Optional

from migrator.analysis.module import Module
from migrator.lint import values
from migrator.rewrite.sessions import conditions, found, hook_lists, rounds
from migrator.rewrite.sessions.found import Unit
from migrator.rewrite.sessions.policy import Policy
from migrator.rewrite.sessions.text import LINE, comments, excerpt, source

_LOGGED = "log_step_count_steps"
# What takes the place of a hook; for others the rewrite of hook classes says it.
_COUNTERPARTS = {
  "LoggingTensorHook": "runtime.LoggingTensor",
  "StepCounterHook": "runtime.StepCounter",
  "NanTensorHook": "runtime.NanTensor",
  "FinalOpsHook": "runtime.FinalOps",
  "ProfilerHook": "runtime.Profiler",
}


def lines(module: Module, unit: Unit, policy: Policy, step: str, manager: str) -> list[str]:
  """The loop, with what is called before, in and after it.

  Args:
    module: the file.
    unit: the session or Supervisor.
    policy: its policy.
    step: the variable of the global step.
    manager: the variable of the manager.
  """
  before, inside = _stop(module, unit, step)
  saves = bool(policy.cadence)
  old = rounds.of(module, unit, step)
  result = ["# In place of the loop of the session:", f"{manager}.restore_or_initialize()", *before]
  result += [f"{manager}.save()  # at the start"] if saves else []
  result += [*_hooks(module, unit), *_summaries(module, unit), *old.notes]
  result += [old.head, *old.before, "  train_step(batch)"]
  result += [f"  {manager}.save()  # when due"] if saves else []
  result += [*inside, *old.after]
  if saves and policy.saves_last:
    result.append(f"{manager}.save(check_interval=False)  # at the end, not after an exception")
  return result


def _stop(module: Module, unit: Unit, step: str) -> tuple[list[str], list[str]]:
  """The statements for StopAtStepHooks: before the loop, and in it."""
  before: list[str] = []
  inside: list[str] = []
  for hook in unit.hooks:
    if not isinstance(hook, ast.Call) or not values.is_call_of(module, hook, (found.STOP_HOOK,)):
      continue
    arguments = found.bind(module, hook, found.STOP_HOOK)
    last, number = arguments.get("last_step"), arguments.get("num_steps")
    if last is not None:
      limit = _operand(module, last)
    elif number is not None:
      limit = "last_step"
      counted = f"int({step}) + {_operand(module, number)}"
      condition = conditions.of_hook(module, unit, hook)
      counted += f" if {condition} else None" if condition else ""
      before.append(f"last_step = {counted}")
    else:
      continue
    condition = conditions.of_hook(module, unit, hook)
    asked = f"{condition} and {step} >= {limit}" if condition else f"{step} >= {limit}"
    head, comment = f"  if {asked}:", "# asked after a step: a finished program makes one more"
    fits = len(head) + len(comment) + 2 <= LINE
    inside += [f"{head}  {comment}"] if fits else [f"  {comment}", head]
    inside.append("    break")
  return before, inside


def _operand(module: Module, node: ast.expr) -> str:
  text = source(module, node)
  simple = (ast.Name, ast.Attribute, ast.Constant, ast.Call, ast.Subscript)
  return text if isinstance(node, simple) else f"({text})"


def _hooks(module: Module, unit: Unit) -> list[str]:
  """A comment for each of the other hooks."""
  result = []
  for hook in unit.hooks:
    if values.is_call_of(module, hook, (found.STOP_HOOK, found.SAVER_HOOK)):
      continue
    symbol = module.resolve(hook.func) if isinstance(hook, ast.Call) else None
    name = symbol.path.rpartition(".")[2] if symbol is not None else ""
    new = f": `{_COUNTERPARTS[name]}`" if name in _COUNTERPARTS else " becomes a callback"
    line = getattr(hook, "lineno", 0)
    text = excerpt(module, hook)
    only = conditions.words(conditions.of_hook(module, unit, hook))
    result += comments([f"line {line}, `{text}`{new}, called around `train_step`{only}."])
  more = ", ".join(f"`{u}`" for u in hook_lists.unknown(module, unit))
  if more:
    result += comments(
      [f"{more} may bring more hooks than stand here: these become callbacks, too."]
    )
  return result


def _summaries(module: Module, unit: Unit) -> list[str]:
  """A comment for the summaries that a MonitoredTrainingSession writes of itself."""
  given = unit.arguments.nodes
  place = given.get("summary_dir", given.get("checkpoint_dir"))
  if unit.kind != found.TRAINING_SESSION or place is None:
    return []
  directory = source(module, place)
  written = []
  every = source(module, given[_LOGGED]) if _LOGGED in given else "100"
  if not _is_off(module, given.get(_LOGGED)):
    counter = f"every_n_steps={every}, output_dir={directory}"
    written.append(f"global_step/sec of itself: `runtime.StepCounter({counter})`")
  steps, seconds = given.get("save_summaries_steps"), given.get("save_summaries_secs")
  often = []
  if steps is not None and not _is_off(module, steps):
    often.append(f"{source(module, steps)} steps")
  if seconds is not None and not _is_off(module, seconds):
    often.append(f"{source(module, seconds)} seconds")
  if steps is None and seconds is None:
    often.append("100 steps")
  if often:
    summaries = f"the graph's summaries, every {' or '.join(often)}: `tf.summary` in `train_step`"
    written.append(summaries)
  return comments([f"The session wrote {'; and '.join(written)}."]) if written else []


def _is_off(module: Module, node: Optional[ast.expr]) -> bool:
  """Whether a number of steps or seconds is given as one that means never."""
  value = values.literal(module, node)
  return value is None or (isinstance(value, (int, float)) and value <= 0)
