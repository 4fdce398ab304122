"""The Keras optimizers that stand for an Estimator's, and how they are written.

Which stock optimizer is exact with which arguments was measured, see `optimizer_table`. The v2 estimators
converted what they got to `tf.keras.optimizers.legacy`
(https://www.tensorflow.org/versions/r2.15/api_docs/python/tf/keras/optimizers/legacy).
"""

from __future__ import annotations

import ast
import dataclasses
from typing import Optional

from migrator.rewrite import emit, optimizer_table
from migrator.rewrite.plan import Unsupported

# TF1 class -> its parameters in order. The exact class of the runtime has the same names.
V1 = {
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
STRINGS_V1 = {
  "Adagrad": "Adagrad",
  "Adam": "Adam",
  "Ftrl": "Ftrl",
  "RMSProp": "RMSProp",
  "SGD": "GradientDescent",
}
# They change the names of the slots.
NAMES = ("name", "accum_name", "linear_name")


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
V2 = {
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
STRINGS_V2 = {"RMSProp": "RMSprop", **{n: n for n in ("Adagrad", "Adam", "Ftrl", "SGD")}}


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


def write_v1(plan, kind: str, texts: dict[str, str], schedule, place, settings) -> Optimizer:
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


def write_v2(plan, name: str, texts: dict[str, str], schedule, place, settings) -> Optimizer:
  keras = V2[name]
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
