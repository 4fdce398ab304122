"""TrainSpec and EvalSpec: their arguments, at the call that reads them.

A spec is given in the call of `train_and_evaluate`, or by a name that is bound once. What it holds
was evaluated where it was made: an argument that may give something else at the call is kept in a
variable of its own, at the old place.

https://www.tensorflow.org/versions/r1.15/api_docs/python/tf/estimator/train_and_evaluate
"""

from __future__ import annotations

import ast
import dataclasses
from typing import Optional

from migrator.analysis import facts, units
from migrator.analysis.module import Module
from migrator.rewrite import moves
from migrator.rewrite.plan import Plan, Unsupported

PARAMETERS = {
  "TrainSpec": ("input_fn", "max_steps", "hooks", "saving_listeners"),
  "EvalSpec": (
    "input_fn",
    "steps",
    "name",
    "hooks",
    "exporters",
    "start_delay_secs",
    "throttle_secs",
  ),
}
# Whose making has no effect that the place of an argument could change.
_QUIET = ("TrainSpec", "EvalSpec", "FinalExporter", "LatestExporter", "BestExporter")


@dataclasses.dataclass(frozen=True)
class Spec:
  """One spec.

  Attributes:
    kind: "TrainSpec" or "EvalSpec".
    call: the call that makes it.
    arguments: as bound.
    places: the calls that read it.
    statement: the assignment to its name; None for one that stands in its call.
  """

  kind: str
  call: ast.Call
  arguments: dict[str, facts.Argument]
  places: tuple[ast.Call, ...]
  statement: Optional[ast.Assign]

  def given(self, plan: Plan, name: str) -> Optional[facts.Argument]:
    """An argument that is there and not None."""
    argument = self.arguments.get(name)
    if argument is None or plan.module.constant(argument.value) is None:
      return None
    return argument


def find(plan: Plan, call: units.MethodCall) -> tuple[Spec, Spec]:
  """The specs of a call of train_and_evaluate.

  Raises:
    Unsupported: EM270, a spec that is not known, or that something else reads.
  """
  found = []
  for parameter, kind in (("train_spec", "TrainSpec"), ("eval_spec", "EvalSpec")):
    if parameter not in call.arguments:
      raise _refused(call.call, f"it is given no {parameter}")
    found.append(_find(plan, call.call, call.arguments[parameter].value, kind))
  return found[0], found[1]


def training(call: units.MethodCall, spec: Spec) -> units.MethodCall:
  """The call of `train` that a train_and_evaluate makes."""
  return units.MethodCall(call.call, "train", spec.arguments, call.owner)


def _refused(node: ast.AST, what: str) -> Unsupported:
  return Unsupported("EM270", node, what=what)


def _find(plan: Plan, place: ast.Call, node: ast.expr, kind: str) -> Spec:
  module = plan.module
  made = module.definition(node)
  symbol = module.resolve(made.func) if isinstance(made, ast.Call) else None
  if not isinstance(made, ast.Call) or symbol is None or symbol.path != f"tf.estimator.{kind}":
    raise _refused(node, f"`{module.source(node)}` is not known to be one {kind} of this file")
  arguments = facts.bind_arguments(made, PARAMETERS[kind])
  if arguments is None or set(arguments) - set(PARAMETERS[kind]):
    raise _refused(made, f"the arguments of the {kind} are not all known")
  if "input_fn" not in arguments:
    raise _refused(made, f"the {kind} has no input_fn")
  plan.unit_calls.add(made)
  if node is made:
    return Spec(kind, made, arguments, (place,), None)
  statement = module.parents[made]
  plain = isinstance(statement, ast.Assign) and len(statement.targets) == 1
  if not isinstance(node, ast.Name) or not isinstance(statement, ast.Assign) or not plain:
    raise _refused(node, f"`{module.source(node)}` is not plainly assigned")
  target = statement.targets[0]
  if not isinstance(target, ast.Name) or target.id != node.id:
    raise _refused(node, f"`{node.id}` is a second name of the {kind}")
  return Spec(kind, made, arguments, _readers(plan, node, kind), statement)


def _readers(plan: Plan, name: ast.Name, kind: str) -> tuple[ast.Call, ...]:
  """The calls that read a spec's variable: each must be rewritten."""
  found = []
  for load in facts.loads(plan.module, name):
    parent = plan.module.parents[load]
    call = plan.module.parents[parent] if isinstance(parent, ast.keyword) else parent
    symbol = plan.module.resolve(call.func) if isinstance(call, ast.Call) else None
    together = symbol is not None and symbol.path == "tf.estimator.train_and_evaluate"
    if not isinstance(call, ast.Call) or not together or call not in plan.unit_calls:
      raise _refused(load, f"the {kind} `{name.id}` is also read here")
    found.append(call)
  return tuple(found)


# -- arguments that stay where they are -------------------------------------------


def must_stay(plan: Plan, spec: Spec, argument: facts.Argument) -> bool:
  """Whether an argument must be evaluated where the spec is made, not where it is read."""
  if spec.statement is None or argument.value in plan.kept:
    return False
  if isinstance(argument.value, ast.Constant):
    return False
  module = plan.module
  if len(spec.places) == 1 and _follows(module, spec.statement, spec.places[0]):
    return False
  if isinstance(argument.value, ast.Lambda):
    # It reads its names when it is called, in either case.
    scope = module.scope_of[spec.statement]
    return any(module.scope_of[place] is not scope for place in spec.places)
  return any(moves.obstacle(module, argument.value, place) is not None for place in spec.places)


def _follows(module: Module, statement: ast.Assign, place: ast.Call) -> bool:
  """Whether nothing but other specs and exporters is made between two statements of a block."""
  last = module.statement(place)
  parent = module.parents[statement]
  if module.parents[last] is not parent or module.scope_of[place] is not module.scope_of[last]:
    return False
  for field in ("body", "orelse", "finalbody"):
    block = getattr(parent, field, None)
    if isinstance(block, list) and statement in block and last in block:
      between = block[block.index(statement) + 1 : block.index(last)]
      return all(_is_quiet(module, s) for s in between)
  return False


def _is_quiet(module: Module, statement: ast.stmt) -> bool:
  if not isinstance(statement, ast.Assign) or not isinstance(statement.value, ast.Call):
    return False
  symbol = module.resolve(statement.value.func)
  head, _, name = symbol.path.rpartition(".") if symbol is not None else ("", "", "")
  return head == "tf.estimator" and name in _QUIET


def keep(plan: Plan, spec: Spec, argument: facts.Argument, text: str) -> str:
  """Keeps an argument in a variable where the spec is made; returns the variable."""
  assert spec.statement is not None
  prefix = spec.kind[: -len("Spec")].lower()
  name = plan.kept[argument.value] = plan.fresh(f"{prefix}_{argument.name}")
  edit = plan.statement(spec.statement)
  edit.replacement = [*(edit.replacement or ()), f"{name} = {text}"]
  return name


def remove(plan: Plan, spec: Spec, shown: str) -> list[str]:
  """Removes the statement of a spec, unless it keeps arguments or stands in its call.

  Args:
    plan: of the file.
    spec: the spec.
    shown: new code that has some of its comments.

  Returns:
    The comments of the statement, for the code in its place.
  """
  if spec.statement is None or plan.statement(spec.statement).replacement is not None:
    return []
  plan.remove(spec.statement)
  found = [*plan.comments.leading(spec.statement), *plan.comments.inside(spec.statement)]
  found.append(plan.comments.trailing(spec.statement))
  if len(spec.places) > 1:
    plan.statement(spec.statement).drop_comments = False
    return []
  return [c for c in found if c and c not in shown]
