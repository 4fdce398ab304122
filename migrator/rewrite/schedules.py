"""Learning rates that fall with the global step: TF1's functions -> Keras schedules.

TF1 computed them of the global step in the graph, Keras of the optimizer's own count of its updates,
which is the same number. https://www.tensorflow.org/versions/r1.15/api_docs/python/tf/train/exponential_decay
"""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Iterator
from typing import Optional

from migrator.analysis import facts, symbols
from migrator.analysis.module import UNKNOWN
from migrator.rewrite.plan import Plan, Unsupported

_STEPS = ("tf.train.get_global_step", "tf.train.get_or_create_global_step")
_DECAY = ("learning_rate", "global_step", "decay_steps", "decay_rate", "staircase", "name")


@dataclasses.dataclass(frozen=True)
class _Schedule:
  """A function of TF1: its parameters, the Keras class, and the parameters' names there."""

  parameters: tuple[str, ...]
  keras: str
  renames: dict[str, str]


_RATE = {"learning_rate": "initial_learning_rate"}
_PIECEWISE = _Schedule(("x", "boundaries", "values", "name"), "PiecewiseConstantDecay", {})
_COSINE = ("learning_rate", "global_step", "decay_steps", "alpha", "name")
_RESTARTS = ("learning_rate", "global_step", "first_decay_steps", "t_mul", "m_mul", "alpha", "name")
_POLYNOMIAL = (
  "learning_rate",
  "global_step",
  "decay_steps",
  "end_learning_rate",
  "power",
  "cycle",
  "name",
)
_SCHEDULES = {
  "cosine_decay": _Schedule(_COSINE, "CosineDecay", _RATE),
  "cosine_decay_restarts": _Schedule(_RESTARTS, "CosineDecayRestarts", _RATE),
  "exponential_decay": _Schedule(_DECAY, "ExponentialDecay", _RATE),
  "inverse_time_decay": _Schedule(_DECAY, "InverseTimeDecay", _RATE),
  "natural_exp_decay": _Schedule(_DECAY, "ExponentialDecay", _RATE),
  "piecewise_constant": _PIECEWISE,
  "piecewise_constant_decay": _PIECEWISE,
  "polynomial_decay": _Schedule(_POLYNOMIAL, "PolynomialDecay", _RATE),
}


def convert(
  plan: Plan, tf: str, node: ast.expr, function: Optional[ast.AST] = None
) -> Optional[str]:
  """The Keras schedule for a learning rate that is made by a call; None where it is another value.

  Args:
    plan: of the file.
    tf: the name under which the output knows TF2.
    node: the learning rate.
    function: in which it is made, and whose variables are not known elsewhere.

  Raises:
    Unsupported: EM211, a rate that changes in a way that is not carried over.
  """
  call = plan.module.definition(node)
  symbol = plan.module.resolve(call.func) if isinstance(call, ast.Call) else None
  if symbol is None or not isinstance(call, ast.Call):
    return None
  head, _, name = symbol.path.rpartition(".")
  if head == "tf.keras.optimizers.schedules" and name.endswith(("Decay", "DecayRestarts")):
    if any(k.arg is None for k in call.keywords):
      raise Unsupported("EM211", node, optimizer=plan.module.source(call))
    texts = [_value(plan, v, function) for v in call.args]
    texts += [f"{k.arg}={_value(plan, k.value, function)}" for k in call.keywords]
    return f"{tf}.keras.optimizers.schedules.{name}({', '.join(texts)})"
  if head != "tf.train" or name not in _SCHEDULES:
    return None
  schedule = _SCHEDULES[name]
  bound = facts.bind_arguments(call, schedule.parameters)
  step = "x" if "x" in schedule.parameters else "global_step"
  if bound is None or set(bound) - set(schedule.parameters) or not _is_step(plan, bound.get(step)):
    raise Unsupported("EM211", node, optimizer=f"`{plan.module.source(call)}` as the rate")
  texts = []
  for key, argument in bound.items():
    if key in (step, "name"):
      continue
    text = _value(plan, argument.value, function)
    if name == "natural_exp_decay" and key == "decay_rate":
      plan.needs("import math")
      text = f"math.exp(-{plan.atom(local_value(plan, argument.value, function))})"
    texts.append(f"{schedule.renames.get(key, key)}={text}")
  return f"{tf}.keras.optimizers.schedules.{schedule.keras}({', '.join(_short(texts))})"


def _short(texts: list[str]) -> list[str]:
  """The arguments with the first ones by position, as people write them."""
  order = ("initial_learning_rate=", "boundaries=")
  if texts and texts[0].startswith(order):
    texts = [texts[0].partition("=")[2], *texts[1:]]
  return texts


def _is_step(plan: Plan, argument: Optional[facts.Argument]) -> bool:
  """Whether an argument is the global step."""
  call = plan.module.definition(argument.value) if argument is not None else None
  symbol = plan.module.resolve(call.func) if isinstance(call, ast.Call) else None
  return symbol is not None and symbol.path in _STEPS


def _value(plan: Plan, node: ast.expr, function: Optional[ast.AST]) -> str:
  """Source of a number or a list of numbers."""
  refuse_tensor(plan, node, "a learning rate's argument")
  return plan.source(local_value(plan, node, function))


def local_value(plan: Plan, node: ast.expr, function: Optional[ast.AST]) -> ast.expr:
  """What a variable of `function` stands for, whose code moves; else the expression itself."""
  if not isinstance(node, ast.Name) or function is None:
    return node
  owner, bindings = plan.module.scope_of[node].lookup(node.id)
  if owner is None or owner.node is not function or len(bindings) != 1:
    return node
  value = bindings[0].value
  if bindings[0].kind != "assign" or not isinstance(value, ast.expr):
    return node
  return local_value(plan, value, function)


def moving(plan: Plan, node: ast.expr, function: Optional[ast.AST]) -> Iterator[ast.expr]:
  """The parts of an optimizer's argument that are evaluated at another place in the new code."""
  value = local_value(plan, node, function)
  symbol = plan.module.resolve(value.func) if isinstance(value, ast.Call) else None
  if isinstance(value, ast.Call) and symbol is not None and symbols.is_tensorflow(symbol):
    for argument in (*value.args, *(k.value for k in value.keywords)):
      yield from moving(plan, argument, function)
  else:
    yield value


def refuse_tensor(plan: Plan, node: ast.expr, name: str) -> None:
  """Refuses a tensor of the old graph.

  Raises:
    Unsupported: EM211.
  """
  if plan.module.constant(node) is not UNKNOWN:
    return
  for inner in ast.walk(node):
    definition = plan.module.definition(inner) if isinstance(inner, ast.Name) else inner
    for part in ast.walk(definition) if definition is not None else ():
      symbol = plan.module.resolve(part) if isinstance(part, ast.Attribute) else None
      flag = symbol is not None and symbol.path.startswith(("tf.app", "tf.flags"))
      if symbol is not None and symbols.is_tensorflow(symbol) and not flag:
        raise Unsupported("EM211", node, optimizer=f"{name} as a tensor")
