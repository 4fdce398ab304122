"""The loop that takes the place of a monitored session's or a Supervisor's."""

from __future__ import annotations

import ast

from migrator.analysis.module import Module
from migrator.lint import values
from migrator.rewrite.sessions import found
from migrator.rewrite.sessions.found import Unit
from migrator.rewrite.sessions.policy import Policy, source
from migrator.rewrite.sessions.text import comments

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
  result = ["# In place of the loop of the session:", f"{manager}.restore_or_initialize()", *before]
  result += [f"{manager}.save()  # at the start"] if saves else []
  result += [*_hooks(module, unit), *_summaries(module, unit, policy)]
  result += ["for batch in dataset:", "  train_step(batch)"]
  result += [f"  {manager}.save()  # when due"] if saves else []
  result += inside
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
      before.append(f"last_step = int({step}) + {_operand(module, number)}")
    else:
      continue
    inside += [
      f"  if {step} >= {limit}:  # asked after a step: a finished program makes one more",
      "    break",
    ]
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
    text = values.text(module, hook)
    result += comments([f"line {line}, `{text}`{new}, called around `train_step`."])
  return result


def _summaries(module: Module, unit: Unit, policy: Policy) -> list[str]:
  """A comment for the summaries that a MonitoredTrainingSession writes of itself."""
  given = unit.arguments.nodes
  if unit.kind != found.TRAINING_SESSION or not policy.directory:
    return []
  shown = {}
  for name in ("log_step_count_steps", "save_summaries_steps"):
    shown[name] = source(module, given[name]) if name in given else "100"
  place = source(module, given["summary_dir"]) if "summary_dir" in given else policy.directory
  counter = f"every_n_steps={shown['log_step_count_steps']}, output_dir={place}"
  every = f"{shown['save_summaries_steps']} steps"
  if "save_summaries_secs" in given:
    every = f"{source(module, given['save_summaries_secs'])} seconds"
  return comments(
    [
      f"The session wrote global_step/sec of itself: `runtime.StepCounter({counter})`; and the "
      f"graph's summaries, every {every}: `tf.summary` in `train_step`."
    ]
  )
