"""Hooks of TensorFlow at their places of use -> callbacks of the runtime.

https://www.tensorflow.org/guide/migrate/logging_stop_hook
"""

from __future__ import annotations

import ast
import dataclasses
from typing import Any, Callable

from migrator.analysis import facts, units
from migrator.lint import wording
from migrator.rewrite import hook_tensors, input_fns
from migrator.rewrite.plan import Plan, Unsupported


@dataclasses.dataclass(frozen=True)
class _Hook:
  """What stands for a hook.

  Attributes:
    name: in `migrator.runtime`.
    tensors: the argument with tensors of the graph, "" where there is none.
    refused: arguments that have no counterpart unless they are None.
    dropped: arguments that have no meaning any more.
    training_only: whether only `train` may call it.
    logs_step_before: whether the step that it logs is the one before the last.
    note: what differs, for EM323.
  """

  name: str
  tensors: str = ""
  refused: tuple[str, ...] = ()
  dropped: tuple[str, ...] = ()
  training_only: bool = False
  logs_step_before: bool = False
  note: str = ""


# None of these is a callback of Keras: TerminateOnNaN ends without the error, EarlyStopping counts
# epochs, TensorBoard writes other tags at other steps, and no argument of `fit` is a StopAtStepHook,
# which always takes one step more.
_HOOKS = {
  "FinalOpsHook": _Hook("FinalOps", "final_ops", refused=("final_ops_feed_dict",)),
  "InMemoryEvaluatorHook": _Hook("InMemoryEvaluator", training_only=True),
  "LoggingTensorHook": _Hook("LoggingTensor", "tensors"),
  "NanTensorHook": _Hook("NanTensor", "loss_tensor"),
  "ProfilerHook": _Hook(
    "Profiler",
    note="writes a directory for TensorBoard in place of each `timeline-<step>.json`, and nothing to the "
    "event file; of two at one step the first alone profiles",
  ),
  "StepCounterHook": _Hook("StepCounter", refused=("summary_writer",)),
  "StopAtStepHook": _Hook("StopAtStep"),
  "make_early_stopping_hook": _Hook(
    "make_early_stopping", training_only=True, logs_step_before=True
  ),
  # The chief, which one process alone is, got a StopAtStepHook.
  "make_stop_at_checkpoint_step_hook": _Hook(
    "StopAtStep", dropped=("estimator", "wait_after_file_check_secs"), training_only=True
  ),
  "stop_if_higher_hook": _Hook("stop_if_higher", training_only=True, logs_step_before=True),
  "stop_if_lower_hook": _Hook("stop_if_lower", training_only=True, logs_step_before=True),
  "stop_if_no_decrease_hook": _Hook(
    "stop_if_no_decrease", training_only=True, logs_step_before=True
  ),
  "stop_if_no_increase_hook": _Hook(
    "stop_if_no_increase", training_only=True, logs_step_before=True
  ),
}


def convert(
  plan: Plan, tf: str, call: ast.Call, use: str, of_evaluation: Callable[[ast.expr], Any]
) -> None:
  """Plans the replacement of a call that makes a hook of TensorFlow.

  Args:
    plan: of the file; `plan.target` is the unit in whose list the hook is.
    tf: the name under which the output knows TF2.
    call: the call.
    use: "train", "evaluate", "predict" or "listener": who calls the hook.
    of_evaluation: follows and converts a list of hooks of an evaluation.

  Raises:
    Unsupported: EM303 for a hook that nothing stands for, EM322 for one in the wrong place, EM320,
      EM321 or EM325 for one of its arguments.
  """
  symbol = plan.module.resolve(call.func)
  assert symbol is not None
  name = facts.hook_name(symbol)
  if name is None or use == "listener":
    raise Unsupported("EM303", call, name=symbol.path, **wording.of(symbol))
  hook = _HOOKS[name]
  if hook.training_only and use != "train":
    raise Unsupported("EM322", call, name=name, method=use)
  arguments = _arguments(plan, call, name)
  for argument in arguments.values():
    if argument.name in hook.refused and plan.module.constant(argument.value) is not None:
      raise Unsupported("EM321", argument.node, call=name, argument=f"{argument.name}=")
  extra: list[str] = []
  if hook.tensors in arguments:
    extra = hook_tensors.convert(plan, name, arguments, arguments[hook.tensors], use)
  if "estimator" in arguments:
    _convert_estimator(plan, name, arguments["estimator"], drop="estimator" in hook.dropped)
  if name == "InMemoryEvaluatorHook":
    _convert_evaluation(plan, tf, arguments)
    if "hooks" in arguments:
      of_evaluation(arguments["hooks"].value)
  elif hook.logs_step_before and plan.source_version == 1:
    what = "logs the step before the last one, as in TF 2.15; TF 1.15 logged the last"
    plan.report("EM323", call, hook=name, what=what)
  if hook.note:
    plan.report("EM323", call, hook=name, what=hook.note)
  plan.expressions[call.func] = f"{plan.runtime()}.{hook.name}"
  _rename(plan, call, arguments, hook.dropped, extra)


def check_estimators(plan: Plan, unit: units.Unit) -> None:
  """Each hook that gets the estimator must have become a callback.

  Raises:
    Unsupported: EM212 at a hook that nothing uses, or that something else uses.
  """
  for name in unit.handed:
    if name not in plan.handed:
      raise Unsupported("EM212", name, what="is handed to a hook that is not one of its own")


def _arguments(plan: Plan, call: ast.Call, name: str) -> dict[str, facts.Argument]:
  parameters = facts.HOOK_PARAMETERS[name]
  arguments = facts.bind_arguments(call, parameters)
  if arguments is None:
    raise Unsupported("EM321", call, call=name, argument="*args or **kwargs")
  for argument in arguments.values():
    if argument.name not in parameters:
      raise Unsupported("EM321", argument.node, call=name, argument=f"{argument.name}=")
  return arguments


def _convert_estimator(plan: Plan, hook: str, argument: facts.Argument, drop: bool) -> None:
  """The estimator gives its directory, or what evaluates its model."""
  node = argument.value
  if node not in plan.target.unit.handed:
    raise Unsupported("EM325", node, hook=hook, estimator=plan.module.source(node))
  assert isinstance(node, ast.Name)
  plan.handed.add(node)
  if drop:
    return
  evaluates = hook == "InMemoryEvaluatorHook"
  plan.expressions[node] = plan.target.evaluator(node) if evaluates else plan.target.model_dir(node)


def _convert_evaluation(plan: Plan, tf: str, arguments: dict[str, facts.Argument]) -> None:
  """The input function of an evaluation within a training."""
  given = arguments.get("input_fn")
  if given is not None:
    dataset = input_fns.dataset(plan, tf, given.value)
    function = dataset[:-2] if dataset.endswith("()") else ""
    if isinstance(given.value, ast.Call) and function.isidentifier():
      # numpy_input_fn(...) has become a function before the statement.
      plan.expressions[given.value] = function


_NEW_NAMES = {
  "InMemoryEvaluatorHook": {"estimator": "backup_or_evaluate", "hooks": "callbacks"},
}


def _rename(
  plan: Plan,
  call: ast.Call,
  arguments: dict[str, facts.Argument],
  dropped: tuple[str, ...],
  extra: list[str],
) -> None:
  """Gives keywords the names of the callback's parameters, and adds and drops arguments."""
  name = facts.hook_name(plan.module.resolve(call.func)) or ""
  names = _NEW_NAMES.get(name, {"estimator": "model_dir"})
  kept = [a for a in arguments.values() if a.name not in dropped]
  if len(kept) < len(arguments):
    # What is left is named, as what stood before it may be gone.
    items = [f"{a.name}={plan.source(a.value)}" for a in kept]
    plan.keep_comments(call)
    plan.expressions[call] = f"{plan.expressions[call.func]}({', '.join([*items, *extra])})"
    return
  for argument in kept:
    items = extra if argument is kept[-1] else []
    renamed = isinstance(argument.node, ast.keyword) and argument.name in names
    if renamed or items:
      text = plan.source(argument.value)
      if isinstance(argument.node, ast.keyword):
        text = f"{names.get(argument.name, argument.name)}={text}"
      plan.arguments[argument.node] = ", ".join([text, *items])
