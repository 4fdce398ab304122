"""Hooks of TensorFlow at their places of use -> callbacks of the runtime.

https://www.tensorflow.org/guide/migrate/logging_stop_hook
"""

from __future__ import annotations

import ast
import dataclasses
from typing import Optional

from migrator.analysis import facts, symbols
from migrator.lint import wording
from migrator.rewrite import hook_tensors
from migrator.rewrite.plan import Plan, Unsupported


@dataclasses.dataclass(frozen=True)
class _Hook:
  """What stands for a hook.

  Attributes:
    name: of the class in `migrator.runtime`.
    tensors: the argument with tensors of the graph, "" where there is none.
    refused: arguments that have no counterpart unless they are None.
    uses: the methods of an Estimator that may call it.
  """

  name: str
  tensors: str = ""
  refused: tuple[str, ...] = ()
  uses: tuple[str, ...] = ("train", "evaluate", "predict")


# None of these is a callback of Keras: TerminateOnNaN ends without the error, EarlyStopping counts
# epochs, TensorBoard writes other tags at other steps, and `steps_per_epoch` is no StopAtStepHook, which
# always takes one step more than it has to.
_HOOKS = {
  "FinalOpsHook": _Hook("FinalOps", "final_ops", ("final_ops_feed_dict",)),
  "LoggingTensorHook": _Hook("LoggingTensor", "tensors"),
  "NanTensorHook": _Hook("NanTensor", "loss_tensor"),
  "ProfilerHook": _Hook("Profiler"),
  "StepCounterHook": _Hook("StepCounter", refused=("summary_writer",)),
  "StopAtStepHook": _Hook("StopAtStep"),
}


def convert(plan: Plan, tf: str, call: ast.Call, use: str) -> None:
  """Plans the replacement of a call that makes a hook of TensorFlow.

  Args:
    plan: of the file; `plan.target` is the unit in whose list the hook is.
    tf: the name under which the output knows TF2.
    call: the call.
    use: "train", "evaluate", "predict" or "listener": who calls the hook.

  Raises:
    Unsupported: EM303 for a hook that nothing stands for, EM320 to EM322 for one of its arguments.
  """
  del tf
  symbol = plan.module.resolve(call.func)
  assert symbol is not None
  hook = _known(symbol)
  if hook is None:
    raise Unsupported("EM303", call, name=symbol.path, **wording.of(symbol))
  name = symbol.path.rpartition(".")[2]
  if use not in hook.uses:
    raise Unsupported("EM322", call, name=name, method=use)
  arguments = _arguments(plan, call, name)
  for argument in arguments.values():
    if argument.name in hook.refused and plan.module.constant(argument.value) is not None:
      raise Unsupported("EM321", argument.node, call=name, argument=f"{argument.name}=")
  if hook.tensors in arguments:
    hook_tensors.convert(plan, name, arguments[hook.tensors].value, use)
  plan.expressions[call.func] = f"{plan.runtime()}.{hook.name}"


def _known(symbol: symbols.Symbol) -> Optional[_Hook]:
  head, _, name = symbol.path.rpartition(".")
  return _HOOKS.get(name) if head == "tf.train" else None


def _arguments(plan: Plan, call: ast.Call, name: str) -> dict[str, facts.Argument]:
  parameters = facts.HOOK_PARAMETERS[name]
  arguments = facts.bind_arguments(call, parameters)
  if arguments is None:
    raise Unsupported("EM321", call, call=name, argument="*args or **kwargs")
  for argument in arguments.values():
    if argument.name not in parameters:
      raise Unsupported("EM321", argument.node, call=name, argument=f"{argument.name}=")
  return arguments
