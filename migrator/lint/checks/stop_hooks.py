"""StopAtStepHook: what a second start makes of its number."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Optional

from migrator.analysis.module import Module
from migrator.lint import values
from migrator.lint.checks import estimators, fresh_starts, savers
from migrator.lint.checks.registry import Context, Report, check

_HOOK = "tf.train.StopAtStepHook"
_PARAMETERS = ("num_steps", "last_step")


@check("EM225", "EM243", words=("StopAtStepHook",))
def stop_hooks(context: Context) -> Iterator[Report]:
  """Every StopAtStepHook: numbers that exclude each other, and what a second start trains."""
  module = context.module
  resumed: Optional[set[ast.AST]] = None
  for call, _ in context.calls_of(_HOOK):
    found = values.arguments(module, call, _PARAMETERS)
    nodes = {name: found.get(name) for name in _PARAMETERS}
    given = {
      n: v for n, v in nodes.items() if v is not None and values.literal(module, v) is not None
    }
    if found.complete and len(given) != 1:
      why = "they exclude each other" if given else "one of the two is needed"
      shown = "StopAtStepHook(num_steps=..., last_step=...)" if given else "StopAtStepHook()"
      if not given or not _is_open(module, nodes):
        yield context.report("EM225", call, call=shown, reason=why)
      continue
    if not found.complete:
      continue
    resumed = _resumed(context) if resumed is None else resumed
    if call not in resumed:
      continue
    name, node = next(iter(given.items()))
    what = "every start trains that many steps more"
    if name == "last_step":
      what = (
        "a start that finds this step reached trains one more, since the hook looks after a step"
      )
    shown = f"StopAtStepHook({name}={values.text(module, node)})"
    yield context.report("EM243", call, call=shown, what=what)


def _is_open(module: Module, nodes: dict[str, Optional[ast.expr]]) -> bool:
  """Whether one of two values may be None when the program runs."""
  known = [values.literal(module, v) for v in nodes.values()]
  return not all(isinstance(v, (int, float)) for v in known)


def _resumed(context: Context) -> set[ast.AST]:
  """The hooks of trainings that go on from a checkpoint when they are started again."""
  module = context.module
  found: set[ast.AST] = set()
  for training in estimators.trainings(context):
    call, makers = training.call, training.makers
    anew = makers and all(fresh_starts.finds_nothing(context, m, call) for m in makers)
    if not anew and estimators.enclosing_loop(module, training.call) is None:
      found |= savers.hooks_in(module, training.arguments, ("hooks",))
  for session in savers.saving_sessions(context):
    found |= savers.hooks_in(module, session, ("hooks", "chief_only_hooks"))
  return found
