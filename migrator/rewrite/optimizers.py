"""The optimizer argument of a canned estimator -> a Keras optimizer with TF1's rule.

Which stock optimizer is exact with which arguments was measured, see `optimizer_table`. Formulas: the TF1 classes at
https://www.tensorflow.org/versions/r1.15/api_docs/python/tf/train/Optimizer
"""

from __future__ import annotations

import ast
import dataclasses
from typing import Optional

from migrator.analysis import facts
from migrator.rewrite import emit, moves, optimizer_table, schedules
from migrator.rewrite.plan import Plan, Unsupported

# TF1 class -> its parameters in order. The exact class of the runtime has the same names.
_V1 = {
  "AdadeltaOptimizer": ("learning_rate", "rho", "epsilon", "use_locking", "name"),
  "AdagradOptimizer": ("learning_rate", "initial_accumulator_value", "use_locking", "name"),
  "AdamOptimizer": ("learning_rate", "beta1", "beta2", "epsilon", "use_locking", "name"),
  "FtrlOptimizer": (
    "learning_rate",
    "learning_rate_power",
    "initial_accumulator_value",
    "l1_regularization_strength",
    "l2_regularization_strength",
    "use_locking",
    "name",
    "accum_name",
    "linear_name",
    "l2_shrinkage_regularization_strength",
    "beta",
  ),
  "GradientDescentOptimizer": ("learning_rate", "use_locking", "name"),
  "MomentumOptimizer": ("learning_rate", "momentum", "use_locking", "name", "use_nesterov"),
  "ProximalAdagradOptimizer": (
    "learning_rate",
    "initial_accumulator_value",
    "l1_regularization_strength",
    "l2_regularization_strength",
    "use_locking",
    "name",
  ),
  "ProximalGradientDescentOptimizer": (
    "learning_rate",
    "l1_regularization_strength",
    "l2_regularization_strength",
    "use_locking",
    "name",
  ),
  "RMSPropOptimizer": (
    "learning_rate",
    "decay",
    "momentum",
    "epsilon",
    "use_locking",
    "centered",
    "name",
  ),
}
_STRINGS_V1 = {
  "Adagrad": "Adagrad",
  "Adam": "Adam",
  "Ftrl": "Ftrl",
  "RMSProp": "RMSProp",
  "SGD": "GradientDescent",
}
# They change the names of the slots.
_NAMES = ("name", "accum_name", "linear_name")


@dataclasses.dataclass(frozen=True)
class _Keras:
  """An optimizer of Keras 2, which the v2 estimators took, under its older `legacy` rule.

  Attributes:
    parameters: in order.
    defaults: which the output writes out.
    exact: the exact class of the runtime, "" for none; the same rule.
    renames: Keras argument -> the exact class's.
  """

  parameters: tuple[str, ...]
  defaults: dict[str, str]
  exact: str = ""
  renames: dict[str, str] = dataclasses.field(default_factory=dict)


_RATE = {"learning_rate": "0.001"}
_EPSILON = {**_RATE, "epsilon": "1e-7"}
_V2 = {
  "Adadelta": _Keras(("learning_rate", "rho", "epsilon", "name"), _EPSILON, "Adadelta"),
  "Adagrad": _Keras(
    ("learning_rate", "initial_accumulator_value", "epsilon", "name"), _EPSILON, "Adagrad"
  ),
  "Adam": _Keras(
    ("learning_rate", "beta_1", "beta_2", "epsilon", "amsgrad", "name"),
    _EPSILON,
    "Adam",
    {"beta_1": "beta1", "beta_2": "beta2"},
  ),
  "Ftrl": _Keras(
    (
      "learning_rate",
      "learning_rate_power",
      "initial_accumulator_value",
      "l1_regularization_strength",
      "l2_regularization_strength",
      "name",
      "l2_shrinkage_regularization_strength",
      "beta",
    ),
    _RATE,
    "Ftrl",
  ),
  "RMSprop": _Keras(("learning_rate", "rho", "momentum", "epsilon", "centered", "name"), _EPSILON),
  "SGD": _Keras(
    ("learning_rate", "momentum", "nesterov", "name"), {"learning_rate": "0.01"}, "GradientDescent"
  ),
}
_STRINGS_V2 = {"RMSProp": "RMSprop", **{n: n for n in ("Adagrad", "Adam", "Ftrl", "SGD")}}


@dataclasses.dataclass(frozen=True)
class Rule:
  """What an estimator does with its argument for an optimizer.

  Attributes:
    default: the optimizer's name where the argument is missing.
    rate: the learning rate of an optimizer given by its name; None: the optimizer's own.
    ftrl: the learning rate of the Ftrl that stands for None; None where None is an error.
    note: a comment that says where the rate comes from.
  """

  default: str
  rate: Optional[str]
  ftrl: Optional[str] = None
  note: str = ""


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


@dataclasses.dataclass
class Optimizer:
  """An expression, a comment that says what is not obvious in it, and the user's comments.

  `name` is the read of the variable that held the TF1 optimizer, if there was one; `combined` the
  function that puts several of them together.
  """

  text: str
  note: str = ""
  leading: tuple[str, ...] = ()
  trailing: str = ""
  name: Optional[ast.Name] = None
  combined: str = ""


@dataclasses.dataclass(frozen=True)
class Settings:
  """What the choice of an optimizer depends on, besides the argument.

  Attributes:
    tf: the name under which the output knows TF2.
    flavour: "v1" or "v2" of the estimator.
    exact: whether to use the runtime's optimizer even where the stock one's rule is TF1's.
    sparse: whether gradients are sparse, those of a table in which rows are looked up.
    place: the constructor's call, where the optimizer will be made.
  """

  tf: str
  flavour: str
  exact: bool
  sparse: bool
  place: ast.AST


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
      reason = moves.obstacle(
        plan.module, schedules.local_value(plan, value, made.around), settings.place
      )
      if made.around is not None and reason is None:
        # It was evaluated later, when the training began.
        reason = moves.repeat_obstacle(plan.module, value)
      if reason is not None:
        raise Unsupported("EM211", value, optimizer=f"`{plan.module.source(value)}` ({reason})")
    result = _by_call(plan, made, node, settings)
  if argument is not None:
    result.name = argument.value if isinstance(argument.value, ast.Name) else None
    if isinstance(definition, (ast.FunctionDef, ast.ClassDef)):
      result.name = None
    result.leading = tuple(plan.comments.leading(argument.node))
    result.trailing = plan.comments.trailing(argument.node)
  result.combined = f"{plan.runtime()}.optimizers.Combined"
  return result


def _made(plan: Plan, node: ast.expr, definition: Optional[ast.AST]) -> _Made:
  """How the optimizer of an argument is made: by a call, or by a function without parameters."""
  module = plan.module
  unsupported = Unsupported("EM211", node, optimizer=module.source(node))
  symbol = module.resolve(node)
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
  strings = _STRINGS_V1 if settings.flavour == "v1" else _STRINGS_V2
  if not isinstance(name, str) or name not in strings:
    raise Unsupported("EM211", node, optimizer=repr(name))
  texts = {"learning_rate": rule.rate} if rule.rate is not None else {}
  write = _write_v1 if settings.flavour == "v1" else _write_v2
  return write(plan, strings[name], texts, False, settings.place, settings)


def _by_call(plan: Plan, made: _Made, node: ast.expr, settings: Settings) -> Optimizer:
  symbol = plan.module.resolve(made.function)
  path = symbol.path if symbol is not None else ""
  name = path.rpartition(".")[2]
  place = made.function
  unsupported = Unsupported("EM211", place, optimizer=plan.module.source(made.function))
  if settings.flavour == "v1" and path.startswith("tf.train.") and name in _V1:
    bound = facts.bind_arguments(made.call(), _V1[name])
    if bound is None or set(bound) - set(_V1[name]):
      raise unsupported
    texts, schedule = _argument_texts(plan, bound, made, settings)
    kind = name[: -len("Optimizer")]
    for naming in _NAMES:
      given = bound.get(naming)
      usual = (kind,) if naming == "name" else (kind, None)
      if given and plan.module.constant(given.value) not in usual:
        raise Unsupported("EM211", node, optimizer=f"a renamed optimizer ({naming}=)")
    for ignored in ("use_locking", *_NAMES):
      texts.pop(ignored, None)
    if texts.get("beta") == "None":
      del texts["beta"]  # Keras has no other word for 0.
    return _write_v1(plan, kind, texts, schedule, place, settings)
  if settings.flavour == "v2" and path.startswith("tf.keras.optimizers.") and name in _V2:
    bound = facts.bind_arguments(made.call(), _V2[name].parameters)
    if bound is None:
      raise unsupported
    if "lr" in bound:
      bound = {"learning_rate": bound.pop("lr"), **bound}
    texts, schedule = _argument_texts(plan, bound, made, settings)
    texts.pop("name", None)
    if texts.get("amsgrad") == "False":
      del texts["amsgrad"]
    if set(texts) - set(_V2[name].parameters) or "amsgrad" in texts:
      raise Unsupported(
        "EM211", place, optimizer=plan.module.source(made.function) + " with these arguments"
      )
    return _write_v2(plan, name, texts, schedule, place, settings)
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


def _write_v1(plan, kind: str, texts: dict[str, str], schedule, place, settings) -> Optimizer:
  stock = optimizer_table.choose(kind, settings.sparse, schedule)
  if stock is None or settings.exact:
    return Optimizer(_call(f"{plan.runtime()}.optimizers.{kind}", texts, {}, {}))
  if stock.code:
    plan.report(stock.code, place)
  note = ""
  if "epsilon" in stock.written and "epsilon" not in texts:
    note = "# TF1's epsilon" if float(stock.written["epsilon"]) else "# as TF1: no epsilon"
  function = f"{settings.tf}.keras.optimizers.{stock.name}"
  return Optimizer(_call(function, texts, stock.renames, stock.written), note)


def _write_v2(plan, name: str, texts: dict[str, str], schedule, place, settings) -> Optimizer:
  keras = _V2[name]
  moving = texts.get("momentum", "0.0") not in ("0", "0.0")
  exact = "" if name == "SGD" and moving else keras.exact
  # Both keep the learning rate within the velocity, so that a schedule makes no difference.
  kind = {"SGD": "Momentum" if moving else "GradientDescent", "RMSprop": "RMSProp"}.get(name, name)
  stock = optimizer_table.is_exact(kind, settings.sparse, schedule and not moving, fresh=False)
  if settings.sparse and not stock and not exact:
    what = f"{name}{' with momentum' if moving else ''} where rows of a table are looked up"
    raise Unsupported("EM211", place, optimizer=what)
  if exact and (settings.exact or not stock):
    if name == "SGD":
      texts = {n: t for n, t in texts.items() if n == "learning_rate"}
    function = f"{plan.runtime()}.optimizers.{exact}"
    return Optimizer(_call(function, texts, keras.renames, keras.defaults))
  if name == "Adam":
    plan.report("EM221", place)
  if name == "RMSprop":
    plan.report("EM265", place)
  return Optimizer(_call(f"{settings.tf}.keras.optimizers.{name}", texts, {}, keras.defaults))


def _call(function: str, texts: dict[str, str], renames, defaults) -> str:
  """The call, with the learning rate first and without a keyword, as people write it."""
  arguments = {**{n: v for n, v in defaults.items() if n not in texts}, **texts}
  rate = arguments.pop("learning_rate", None)
  parts = [rate] if rate is not None else []
  order = sorted(arguments, key=lambda n: list(texts).index(n) if n in texts else 99)
  parts += [f"{renames.get(n, n)}={arguments[n]}" for n in order]
  return f"{function}({', '.join(parts)})"


def as_item(optimizer: Optimizer, prefix: str = "optimizer=") -> emit.Item:
  """The optimizer as an argument; the user's own comment wins over the note."""
  return emit.Item(prefix + optimizer.text, optimizer.leading, optimizer.trailing or optimizer.note)


def combined(
  parts: list[tuple[str, Optimizer]], model: Optional[str], prefix: str = "optimizer="
) -> emit.Item:
  """The optimizer of several nested models, each with the optimizer of its own weights.

  Args:
    parts: the name of each nested model, and its optimizer.
    model: the variable of the whole model; None where each nested one is a variable of its name.
    prefix: of the argument.
  """
  pairs, comments = [], []
  for name, optimizer in parts:
    nested = name if model is None else f"{model}.get_layer({emit.string(name)})"
    pairs.append(f"({optimizer.text}, {nested})")
    comments += [*optimizer.leading, *filter(None, [optimizer.trailing or optimizer.note])]
  function = parts[0][1].combined
  return emit.Item(f"{prefix}{function}([{', '.join(pairs)}])", comments)
