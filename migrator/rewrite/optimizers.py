"""The optimizer argument of a canned estimator -> a Keras optimizer with TF1's rule.

Which stock optimizer is exact with which arguments was measured, see `optimizer_table`. Formulas: the TF1 classes at
https://www.tensorflow.org/versions/r1.15/api_docs/python/tf/train/Optimizer
"""

from __future__ import annotations

import ast
import dataclasses
from typing import Optional

from migrator.analysis import facts, symbols
from migrator.analysis.module import UNKNOWN
from migrator.rewrite import emit, moves, optimizer_table
from migrator.rewrite.plan import Plan, Unsupported

_STRING_RATE_V1 = "0.05"  # what a v1 canned estimator uses for an optimizer given by name


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
# Keras optimizers of the v2 flavour: {Keras name: exact name} and the differing defaults.
_V2 = {
  "Adam": (
    ("learning_rate", "beta_1", "beta_2", "epsilon"),
    {"beta_1": "beta1", "beta_2": "beta2"},
    {"learning_rate": "0.001", "epsilon": "1e-7"},
    "Adam",
  ),
  "Adagrad": (
    ("learning_rate", "initial_accumulator_value", "epsilon"),
    {},
    {"learning_rate": "0.001", "epsilon": "1e-7"},
    "Adagrad",
  ),
  "SGD": (("learning_rate",), {}, {"learning_rate": "0.01"}, "GradientDescent"),
}


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


def convert(
  plan: Plan,
  tf: str,
  argument: Optional[facts.Argument],
  flavour: str,
  exact: bool,
  place: ast.AST,
) -> Optimizer:
  """The Keras optimizer for an estimator's `optimizer=`.

  Args:
    plan: of the file.
    tf: the name under which the output knows TF2.
    argument: the constructor's argument; None: the estimator's default.
    flavour: "v1" or "v2" of the estimator.
    exact: whether to use the runtime's optimizer even where the stock one's rule is TF1's.
    place: the constructor's call, where the optimizer will be made.

  Raises:
    Unsupported: EM211, an optimizer or an argument that is not carried over.
  """
  node = argument.value if argument is not None else None
  definition = plan.module.definition(node) if node is not None else None
  if node is not None and not isinstance(definition, (ast.Constant, ast.Call)):
    raise Unsupported("EM211", node, optimizer=plan.module.source(node))
  if definition is None or isinstance(definition, ast.Constant):
    name = definition.value if isinstance(definition, ast.Constant) else "Adagrad"
    result = _by_name(plan, tf, name, node, flavour, exact, place)
  else:
    assert isinstance(definition, ast.Call)
    for value in (*definition.args, *(k.value for k in definition.keywords)):
      reason = moves.obstacle(plan.module, value, place)
      if reason is not None:
        raise Unsupported("EM211", value, optimizer=f"`{plan.module.source(value)}` ({reason})")
    result = _by_call(plan, tf, definition, flavour, exact)
  if argument is not None:
    result.name = argument.value if isinstance(argument.value, ast.Name) else None
    result.leading = tuple(plan.comments.leading(argument.node))
    result.trailing = plan.comments.trailing(argument.node)
  return result


def _by_name(plan, tf, name, node, flavour, exact, place) -> Optimizer:
  if flavour == "v1" and name in _STRINGS_V1:
    rate = {"learning_rate": _STRING_RATE_V1}
    return _write_v1(plan, tf, _STRINGS_V1[name], rate, exact, place)
  if flavour == "v2" and name in _V2:
    return _write_v2(plan, tf, name, {}, exact, place)
  raise Unsupported("EM211", node, optimizer=repr(name))


def _by_call(plan: Plan, tf: str, call: ast.Call, flavour: str, exact: bool) -> Optimizer:
  symbol = plan.module.resolve(call.func)
  path = symbol.path if symbol is not None else ""
  name = path.rpartition(".")[2]
  unsupported = Unsupported("EM211", call, optimizer=plan.module.source(call.func))
  if flavour == "v1" and path.startswith("tf.train.") and name in _V1:
    bound = facts.bind_arguments(call, _V1[name])
    if bound is None:
      raise unsupported
    texts = _argument_texts(plan, bound)
    kind = name[: -len("Optimizer")]
    for naming in _NAMES:
      given = bound.get(naming)
      usual = (kind,) if naming == "name" else (kind, None)
      if given and plan.module.constant(given.value) not in usual:
        raise Unsupported("EM211", call, optimizer=f"a renamed optimizer ({naming}=)")
    for ignored in ("use_locking", *_NAMES):
      texts.pop(ignored, None)
    if texts.get("beta") == "None":
      del texts["beta"]  # Keras has no other word for 0.
    return _write_v1(plan, tf, kind, texts, exact, call)
  if flavour == "v2" and path.startswith("tf.keras.optimizers.") and name in _V2:
    bound = facts.bind_arguments(call, _V2[name][0])
    if bound is None:
      raise unsupported
    texts = _argument_texts(plan, bound)
    if "lr" in texts:
      texts = {"learning_rate": texts.pop("lr"), **texts}
    texts.pop("name", None)
    if set(texts) - set(_V2[name][0]):
      raise Unsupported("EM211", call, optimizer=plan.module.source(call))
    return _write_v2(plan, tf, name, texts, exact, call)
  raise unsupported


def _argument_texts(plan: Plan, bound: dict[str, facts.Argument]) -> dict[str, str]:
  texts = {}
  for name, argument in bound.items():
    if plan.module.constant(argument.value) is UNKNOWN:
      for node in ast.walk(argument.value):
        definition = plan.module.definition(node) if isinstance(node, ast.Name) else node
        for inner in ast.walk(definition) if definition is not None else ():
          symbol = plan.module.resolve(inner) if isinstance(inner, ast.Attribute) else None
          if symbol is not None and symbols.is_tensorflow(symbol) and not _is_flag(symbol):
            # A tensor of the old graph, such as a decayed learning rate.
            raise Unsupported("EM211", argument.node, optimizer=f"{name} as a tensor")
    texts[name] = plan.source(argument.value)
  return texts


def _is_flag(symbol: symbols.Symbol) -> bool:
  return symbol.path.startswith(("tf.app", "tf.flags"))


def _write_v1(plan, tf, kind: str, texts: dict[str, str], exact: bool, place) -> Optimizer:
  # The estimators that are carried over have numeric columns only, and no schedule passes.
  stock = None if exact else optimizer_table.choose(kind, sparse=False, schedule=False)
  if stock is None:
    return Optimizer(_call(f"{plan.runtime()}.optimizers.{kind}", texts, {}, {}))
  if stock.code:
    plan.report(stock.code, place)
  note = ""
  if "epsilon" in stock.written and "epsilon" not in texts:
    note = "# TF1's epsilon" if float(stock.written["epsilon"]) else "# as TF1: no epsilon"
  function = f"{tf}.keras.optimizers.{stock.name}"
  return Optimizer(_call(function, texts, stock.renames, stock.written), note)


def _write_v2(plan, tf, name: str, texts: dict[str, str], exact: bool, place) -> Optimizer:
  _, renames, defaults, exact_name = _V2[name]
  if exact:
    return Optimizer(_call(f"{plan.runtime()}.optimizers.{exact_name}", texts, renames, defaults))
  if name == "Adam":
    plan.report("EM221", place)
  return Optimizer(_call(f"{tf}.keras.optimizers.{name}", texts, {}, defaults))


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
