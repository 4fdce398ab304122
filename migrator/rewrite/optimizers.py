"""The optimizer argument of a canned estimator -> a Keras optimizer with TF1's rule.

Which stock optimizer is exact with which arguments was measured, see `optimizer_table`. Formulas: the TF1 classes at
https://www.tensorflow.org/versions/r1.15/api_docs/python/tf/train/Optimizer
"""

from __future__ import annotations

import ast
import dataclasses
from typing import Optional

from migrator.analysis import aliases, facts
from migrator.rewrite import moves, optimizer_rules, schedules
from migrator.rewrite.optimizer_rules import Optimizer, Settings, as_item, combined
from migrator.rewrite.plan import Plan, Unsupported

__all__ = ["Optimizer", "Rule", "Settings", "as_item", "combined", "convert", "of_call"]


@dataclasses.dataclass(frozen=True)
class Rule:
  """What an estimator does with its argument for an optimizer.

  Attributes:
    default: the optimizer's name where the argument is missing.
    rate: the learning rate of an optimizer given by its name; None: the optimizer's own.
    ftrl: the learning rate of the Ftrl that stands for None; None where None is an error.
  """

  default: str
  rate: Optional[str]
  ftrl: Optional[str] = None


@dataclasses.dataclass
class _Made:
  """How an optimizer is made: the call's function and arguments, and the function around it."""

  function: ast.expr
  args: list[ast.expr]
  keywords: list[ast.keyword]
  around: Optional[ast.AST] = None

  def call(self) -> ast.Call:
    return ast.Call(self.function, self.args, self.keywords)

  def values(self) -> list[ast.expr]:
    return [*self.args, *(k.value for k in self.keywords)]


def convert(
  plan: Plan, argument: Optional[facts.Argument], rule: Rule, settings: Settings
) -> Optimizer:
  """The Keras optimizer for an estimator's `optimizer=`.

  Args:
    plan: of the file.
    argument: the constructor's argument; None: the estimator's default.
    rule: what the estimator does with it.
    settings: what else counts.

  Raises:
    Unsupported: EM211, an optimizer or an argument that is not carried over.
  """
  node = argument.value if argument is not None else None
  definition = plan.module.definition(node) if node is not None else None
  if definition is None and node is None:
    result = _by_name(plan, rule.default, rule, settings.place, settings)
  elif isinstance(definition, ast.Constant):
    result = _by_name(plan, definition.value, rule, node or settings.place, settings)
  else:
    assert node is not None
    made = _made(plan, node, definition)
    for value in made.values():
      for part in schedules.moving(plan, value, made.around):
        reason = moves.obstacle(plan.module, part, settings.place)
        if made.around is not None and reason is None:
          # It was evaluated later, when the training began.
          reason = moves.repeat_obstacle(plan.module, part)
        if reason is not None:
          what = f"`{plan.module.source(part)}` ({reason})"
          raise Unsupported("EM211", value, optimizer=what)
    result = _by_call(plan, made, node, settings)
  if argument is not None:
    result.name = argument.value if isinstance(argument.value, ast.Name) else None
    if isinstance(definition, (ast.FunctionDef, ast.ClassDef)):
      result.name = None
    result.leading = tuple(plan.comments.leading(argument.node))
    result.trailing = plan.comments.trailing(argument.node)
  result.combined = f"{plan.runtime()}.optimizers.Combined"
  return result


def of_call(plan: Plan, call: ast.Call, settings: Settings) -> Optimizer:
  """The Keras optimizer for the constructor's call of a TF1 one, for the same place.

  Raises:
    Unsupported: EM211, an optimizer or an argument that is not carried over.
  """
  return _by_call(plan, _Made(call.func, call.args, call.keywords), call, settings)


def _made(plan: Plan, node: ast.expr, definition: Optional[ast.AST]) -> _Made:
  """How the optimizer of an argument is made: by a call, or by a function without parameters."""
  module = plan.module
  unsupported = Unsupported("EM211", node, optimizer=module.source(node))
  symbol = module.resolve(node)
  if symbol is not None and not aliases.is_certain(module, node):
    raise unsupported
  if symbol is not None and symbol.path.startswith(("tf.train.", "tf.keras.optimizers.")):
    return _Made(node, [], [])  # the class: it was called
  around: Optional[ast.AST] = None
  if isinstance(definition, (ast.Lambda, ast.FunctionDef)):
    around = definition
    given = definition.args
    if given.args or given.posonlyargs or given.kwonlyargs or given.vararg or given.kwarg:
      raise unsupported
    definition = module.definition(_result(definition, unsupported))
  if not isinstance(definition, ast.Call):
    raise unsupported
  symbol = module.resolve(definition.func)
  if symbol is not None and symbol.path == "functools.partial" and definition.args:
    return _Made(definition.args[0], definition.args[1:], definition.keywords, around)
  return _Made(definition.func, definition.args, definition.keywords, around)


def _result(function, unsupported: Unsupported) -> ast.expr:
  """What a function returns that does nothing but assign and return."""
  if isinstance(function, ast.Lambda):
    return function.body
  *before, last = function.body
  plain = all(
    isinstance(s, ast.Assign) or (isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant))
    for s in before
  )
  if not plain or not isinstance(last, ast.Return) or last.value is None or function.decorator_list:
    raise unsupported
  return last.value


def _by_name(plan: Plan, name: object, rule: Rule, node: ast.AST, settings: Settings) -> Optimizer:
  if name is None and rule.ftrl is not None:
    name, rule = "Ftrl", dataclasses.replace(rule, rate=rule.ftrl)
  strings = optimizer_rules.STRINGS_V1 if settings.flavour == "v1" else optimizer_rules.STRINGS_V2
  if not isinstance(name, str) or name not in strings:
    raise Unsupported("EM211", node, optimizer=repr(name))
  texts = {"learning_rate": rule.rate} if rule.rate is not None else {}
  write = optimizer_rules.write_v1 if settings.flavour == "v1" else optimizer_rules.write_v2
  return write(plan, strings[name], texts, False, settings.place, settings)


def _by_call(plan: Plan, made: _Made, node: ast.expr, settings: Settings) -> Optimizer:
  symbol = plan.module.resolve(made.function)
  certain = aliases.is_certain(plan.module, made.function)
  path = symbol.path if symbol is not None and certain else ""
  name = path.rpartition(".")[2]
  place = made.function
  unsupported = Unsupported("EM211", place, optimizer=plan.module.source(made.function))
  if settings.flavour == "v1" and path.startswith("tf.train.") and name in optimizer_rules.V1:
    bound = facts.bind_arguments(made.call(), optimizer_rules.V1[name])
    if bound is None or set(bound) - set(optimizer_rules.V1[name]):
      raise unsupported
    texts, schedule = _argument_texts(plan, bound, made, settings)
    kind = name[: -len("Optimizer")]
    for naming in optimizer_rules.NAMES:
      given = bound.get(naming)
      usual = (kind,) if naming == "name" else (kind, None)
      if given and plan.module.constant(given.value) not in usual:
        raise Unsupported("EM211", node, optimizer=f"a renamed optimizer ({naming}=)")
    for ignored in ("use_locking", *optimizer_rules.NAMES):
      texts.pop(ignored, None)
    if texts.get("beta") == "None":
      del texts["beta"]  # Keras has no other word for 0.
    return optimizer_rules.write_v1(plan, kind, texts, schedule, place, settings)
  if (
    settings.flavour == "v2"
    and path.startswith("tf.keras.optimizers.")
    and name in optimizer_rules.V2
  ):
    bound = facts.bind_arguments(made.call(), optimizer_rules.V2[name].parameters)
    if bound is None:
      raise unsupported
    if "lr" in bound:
      bound = {"learning_rate": bound.pop("lr"), **bound}
    texts, schedule = _argument_texts(plan, bound, made, settings)
    texts.pop("name", None)
    if texts.get("amsgrad") == "False":
      del texts["amsgrad"]
    if set(texts) - set(optimizer_rules.V2[name].parameters) or "amsgrad" in texts:
      raise Unsupported(
        "EM211", place, optimizer=plan.module.source(made.function) + " with these arguments"
      )
    return optimizer_rules.write_v2(plan, name, texts, schedule, place, settings)
  raise unsupported


def _argument_texts(
  plan: Plan, bound: dict[str, facts.Argument], made: _Made, settings: Settings
) -> tuple[dict[str, str], bool]:
  """The arguments' texts, and whether the learning rate is a schedule."""
  texts, schedule = {}, False
  for name, argument in bound.items():
    changing = None
    if name == "learning_rate":
      changing = schedules.convert(plan, settings.tf, argument.value, made.around)
    if changing is None:
      schedules.refuse_tensor(plan, argument.value, name)
      text = plan.source(schedules.local_value(plan, argument.value, made.around))
    texts[name] = text if changing is None else changing
    schedule |= changing is not None
  return texts, schedule
