"""`train`, TrainSpec and EvalSpec: how many steps they mean, and when they save and evaluate."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Optional

from migrator.analysis.module import UNKNOWN, Module
from migrator.lint import values
from migrator.lint.checks import estimators, fresh_starts, policy
from migrator.lint.checks.estimators import Training
from migrator.lint.checks.registry import Context, Report, check

# With so few, ten minutes pass only where a step takes 0.6 seconds or more.
_SHORT_JOB = 1000
_EVAL_SPEC = ("tf.estimator.EvalSpec",)
_FINAL = ("tf.estimator.FinalExporter",)
_DEFAULT_THROTTLE = 600


def _is_given(module: Module, node: Optional[ast.expr]) -> bool:
  """Whether an argument is there and is not None, as far as one can see."""
  return node is not None and values.literal(module, node) is not None


def _number(module: Module, node: Optional[ast.expr]) -> Optional[float]:
  value = values.literal(module, node)
  known = isinstance(value, (int, float)) and not isinstance(value, bool)
  return value if known else None


def _shown(module: Module, node: ast.expr) -> str:
  number = _number(module, node)
  return values.text(module, node) if number is None else repr(number)


@check(
  "EM114",
  "EM224",
  "EM225",
  "EM226",
  words=estimators.TRAIN_WORDS,
  also=estimators.TRAINERS,
  evidence=estimators.TRAINING,
)
def trainings(context: Context) -> Iterator[Report]:
  """Every training of an Estimator."""
  for training in estimators.trainings(context):
    refused = list(_refused(context, training))
    yield from refused
    if refused:
      continue
    yield from _incremental(context, training)
    yield from _repeated(context, training)
    yield from _short(context, training)


def _refused(context: Context, training: Training) -> Iterator[Report]:
  """EM225: numbers of steps that raise."""
  module = context.module
  nodes = {n: training.arguments.get(n) for n in ("steps", "max_steps")}
  if all(values.literal(module, v) not in (None, UNKNOWN) for v in nodes.values()):
    call = f"{training.name}(steps=..., max_steps=...)"
    yield context.report("EM225", training.call, call=call, reason="they exclude each other")
    return
  for name, node in nodes.items():
    number = _number(module, node)
    if node is not None and number is not None and number <= 0 and training.name != "fit":
      call = f"{training.name}({name}={number!r})"
      yield context.report("EM225", node, call=call, reason="the number must be positive")


def _incremental(context: Context, training: Training) -> Iterator[Report]:
  """EM224: `steps=`, where a second start goes on from a checkpoint."""
  module = context.module
  steps = training.arguments.get("steps")
  if training.name == "TrainSpec" or steps is None or not _is_given(module, steps):
    return
  if _is_given(module, training.arguments.get("max_steps")) or _number(module, steps) == 1:
    return  # a single step is a trial
  if estimators.enclosing_loop(module, training.call) is not None:
    return  # a round of training, evaluation, training: more steps are meant
  if _is_remainder(module, steps):
    return
  call, makers = training.call, training.makers
  if makers and all(fresh_starts.finds_nothing(context, m, call) for m in makers):
    return
  yield context.report("EM224", steps, name=training.name, steps=_shown(module, steps))


def _is_remainder(module: Module, steps: ast.expr) -> bool:
  """Whether something is subtracted: the step of the newest checkpoint from the total."""
  found = [steps, *(values.possible(module, steps) or ())]
  return any(
    isinstance(part, ast.BinOp) and isinstance(part.op, ast.Sub)
    for value in found
    for part in ast.walk(value)
  )


def _repeated(context: Context, training: Training) -> Iterator[Report]:
  """EM226: the same `max_steps=` in every round of a loop."""
  module = context.module
  total = training.arguments.get("max_steps")
  if training.name == "TrainSpec" or total is None or not _is_given(module, total):
    return
  loop = estimators.enclosing_loop(module, training.call)
  if loop is None or _may_end(loop) or _is_retried(module, training.call, loop):
    return
  if _changes(module, total, loop) or _changes(module, training.call.func, loop):
    return
  yield context.report("EM226", training.call, name=training.name, steps=_shown(module, total))


def _may_end(loop: ast.AST) -> bool:
  """Whether the loop can be left in its first round."""
  return any(isinstance(n, (ast.Break, ast.Return, ast.Raise)) for n in estimators.own_nodes(loop))


def _is_retried(module: Module, call: ast.Call, loop: ast.AST) -> bool:
  """Whether the call is tried again after an exception."""
  for ancestor in module.ancestors(call):
    if ancestor is loop:
      return False
    if isinstance(ancestor, ast.Try):
      return True
  return False


def _changes(module: Module, node: ast.AST, loop: ast.AST) -> bool:
  """Whether an expression can be something else in the next round."""
  within = set(ast.walk(loop))
  attributes = [n for n in within if isinstance(n, ast.Attribute)]
  stored = {_chain(n) for n in attributes if not isinstance(n.ctx, ast.Load)}
  for part in ast.walk(node):
    if isinstance(part, (ast.Call, ast.Subscript)):
      return True
    if isinstance(part, ast.Attribute) and _chain(part) in stored:
      return True
    if isinstance(part, ast.Name):
      _, bindings = module.scope_of[part].lookup(part.id)
      if any(b.node in within for b in bindings):
        return True
  return False


def _chain(node: ast.Attribute) -> str:
  return f"{ast.dump(node.value)}.{node.attr}"


def _short(context: Context, training: Training) -> Iterator[Report]:
  """EM114: fewer steps than the default cadence is made for."""
  module = context.module
  number = _number(module, training.arguments.get("max_steps"))
  if number is None:
    number = _number(module, training.arguments.get("steps"))
  if number is None or not 1 < number <= _SHORT_JOB or not training.makers:
    return
  if estimators.enclosing_loop(module, training.call) is not None:
    return
  for maker in training.makers:
    asked = estimators.policy_of(context, maker)
    if asked is None or asked.known_seconds != policy.DEFAULT_SECONDS:
      return
    if fresh_starts.starts_anew(context, maker):
      return  # nobody comes back to its temporary directory
    if training.name != "TrainSpec" and fresh_starts.is_emptied(context, maker, training.call):
      return  # nor to one that is emptied
  places = "the first and the last step only"
  if training.name == "TrainSpec":
    places += ", and train_and_evaluate evaluates after the last one only"
  seconds = policy.DEFAULT_SECONDS / number
  each = f"{seconds:.0f}" if seconds >= 10 else f"{seconds:.2g}"
  yield context.report("EM114", training.call, steps=f"{number:g}", places=places, each=each)


@check("EM225", "EM241", words=("EvalSpec",))
def evaluations(context: Context) -> Iterator[Report]:
  """Every EvalSpec: numbers that raise, and the default of 100 batches."""
  module = context.module
  for call, _ in context.calls_of(*_EVAL_SPEC):
    found = values.arguments(module, call, estimators.EVAL_SPEC_PARAMETERS)
    if found.complete and found.get("steps") is None:
      yield context.report("EM241", call)
    for name, least, must in (
      ("steps", 1, "the number must be positive"),
      ("start_delay_secs", 0, "the number must not be negative"),
      ("throttle_secs", 0, "the number must not be negative"),
    ):
      number = _number(module, found.get(name))
      if number is not None and number < least:
        shown = f"EvalSpec({name}={number!r})"
        yield context.report("EM225", found.nodes[name], call=shown, reason=must)


@check("EM227", "EM240", words=("train_and_evaluate",))
def evaluated(context: Context) -> Iterator[Report]:
  """Every `train_and_evaluate`: when it evaluates, and whether it exports."""
  module = context.module
  reported = set()
  for estimator, train_specs, eval_specs in estimators.evaluated_trainings(context):
    asked = _policy(context, estimator)
    for spec in eval_specs:
      found = values.arguments(module, spec, estimators.EVAL_SPEC_PARAMETERS)
      what = _throttled(module, asked, found) if asked is not None else None
      if what is not None and spec not in reported:
        reported.add(spec)
        yield context.report("EM227", spec, what=what)
      for exporter in _exporters(module, found.get("exporters")):
        endless = [s for s in train_specs if _is_endless(module, s)]
        if train_specs and endless == train_specs and exporter not in reported:
          reported.add(exporter)
          line = module.span(endless[0]).line
          yield context.report("EM240", exporter, line=line)


def _policy(context: Context, estimator: Optional[ast.expr]) -> Optional[policy.Policy]:
  """The policy of an estimator, or of the only RunConfig of a file that makes none; or None."""
  made = estimators.makers(context.module, estimator) if estimator is not None else ()
  if made:
    return estimators.policy_of(context, made[0]) if len(made) == 1 else None
  calls = list(context.calls_of(*policy.RUN_CONFIGS))
  return policy.read(context.module, calls[0][0]) if len(calls) == 1 else None


def _throttled(module: Module, asked: policy.Policy, found: values.Arguments) -> Optional[str]:
  """What is surprising about the time between two evaluations, or None."""
  if not asked.complete or not found.complete or asked.conflicts or asked.saves_nothing:
    return None
  node = found.get("throttle_secs")
  throttle = _DEFAULT_THROTTLE if node is None else _number(module, node)
  seconds = asked.known_seconds
  if throttle is None:
    return None
  if node is None and (asked.has_steps or (seconds is not None and seconds < throttle)):
    cadence = asked.describe().partition(" and ")[0].removeprefix("a checkpoint ")
    return (
      f"does not evaluate after every checkpoint ({cadence}): it lets {throttle} seconds pass "
      "between two evaluations, the default of `throttle_secs`"
    )
  if node is not None and seconds is not None and 1 < throttle < seconds:
    return (
      f"evaluates only after a checkpoint, so every {seconds} seconds: "
      f"`throttle_secs={throttle}` makes it no more frequent"
    )
  return None


def _exporters(module: Module, node: Optional[ast.expr]) -> Iterator[ast.Call]:
  """The FinalExporter calls among the exporters of an EvalSpec."""
  if node is None:
    return
  candidates = [*estimators.elements(module, node), node]
  for candidate in candidates:
    for value in values.possible(module, candidate) or ():
      if isinstance(value, ast.Call) and values.is_call_of(module, value, _FINAL):
        yield value


def _is_endless(module: Module, spec: ast.Call) -> bool:
  """Whether a TrainSpec has certainly no `max_steps`."""
  found = values.arguments(module, spec, estimators.TRAIN_SPEC_PARAMETERS)
  node = found.get("max_steps")
  if node is None:
    return found.complete
  return values.literal(module, node) is None
