"""The Keras model that an Estimator wrapped: how it is compiled, and what of its code Keras 3 refuses."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Optional

from migrator.analysis import facts
from migrator.analysis.module import Module
from migrator.rewrite import optimizer_rules, optimizers
from migrator.rewrite.plan import Plan

_COMPILE = ("optimizer", "loss", "metrics")
_DEPTH = 8
# Keras' own names of the optimizers, as strings.
_STRINGS = {name.lower(): name for name in optimizer_rules.V2}
# What the model is asked for without its weights.
_HARMLESS = frozenset(
  "count_params input input_names input_shape inputs layers name output output_names output_shape "
  "outputs summary to_json".split()
)
# Arguments of layers that Keras 3 refuses (measured with 3.15), and what it takes instead.
_LAYER_ARGUMENTS = {
  "batch_input_shape": "tf.keras.Input(batch_shape=...)",
  "fused": "nothing",
  "init": "kernel_initializer=",
}
# Metric -> its key in the evaluations of TF1 (measured with 1.15).
_TF1_KEYS = {
  "accuracy": "acc",
  "mae": "mean_absolute_error",
  "mape": "mean_absolute_percentage_error",
  "mse": "mean_squared_error",
}
# Layer -> the arguments whose default TF2 changed.
_RECURRENT = {
  "GRU": {"recurrent_activation", "reset_after"},
  "LSTM": {"recurrent_activation"},
}
_LAYERS = {"CuDNNGRU": "GRU", "CuDNNLSTM": "LSTM"}


def read(plan: Plan, tf: str, model: ast.expr, place: ast.Call, exact: bool) -> str:
  """Gives the optimizer of the model today's name, where it has the same rule.

  Args:
    plan: of the file; gets the edits.
    tf: the name of TF2.
    model: the expression of the model.
    place: the call of model_to_estimator.
    exact: whether to use the runtime's optimizers everywhere.

  Returns:
    The flavour of the optimizer: "v1" for one of tf.train, else "v2".

  Raises:
    Unsupported: EM211, an optimizer that is not carried over.
  """
  compiled = list(dict.fromkeys(_compile_calls(plan.module, model, _DEPTH)))
  _report_layers(plan)
  if not compiled:
    plan.report("EM290", place)
  flavours = [_optimizer(plan, tf, call, exact) for call in compiled]
  _report_metrics(plan, compiled)
  _report_recurrent(plan)
  return "v1" if "v1" in flavours else "v2"


def mentions(plan: Plan, word: str) -> bool:
  """Whether a string of the file is this word."""
  return any(isinstance(n, ast.Constant) and n.value == word for n in ast.walk(plan.module.tree))


def report_reads(plan: Plan, model: ast.expr, place: ast.Call) -> None:
  """Reports reads of the model after the Estimator was made of it: it trained a copy."""
  if not isinstance(model, ast.Name):
    return
  for load in facts.loads(plan.module, model):
    parent = plan.module.parents.get(load)
    harmless = isinstance(parent, ast.Attribute) and parent.attr in _HARMLESS
    if load is not model and not harmless and load.lineno > place.lineno:
      plan.report("EM291", load, name=load.id)


def _compile_calls(module: Module, node: ast.AST, depth: int) -> Iterator[ast.Call]:
  """The calls of `compile` on what an expression gives, as far as the file shows."""
  if not depth:
    return
  if isinstance(node, (ast.Name, ast.Attribute)):
    yield from _compiled_as(module, node)
    values = [module.definition(node)] if isinstance(node, ast.Name) else []
    if isinstance(node, ast.Name):
      _, bindings = module.scope_of[node].lookup(node.id)
      values = [b.value for b in bindings if b.kind == "assign" and b.value is not None]
    for value in values:
      if value is not None and value is not node:
        yield from _compile_calls(module, value, depth - 1)
  elif isinstance(node, ast.Call):
    function = module.definition(node.func)
    if isinstance(function, ast.FunctionDef):
      for inner in ast.walk(function):
        if isinstance(inner, ast.Return) and inner.value is not None:
          yield from _compile_calls(module, inner.value, depth - 1)
      yield from _compiled_arguments(module, node, function, depth)


def _compiled_arguments(
  module: Module, call: ast.Call, function: ast.FunctionDef, depth: int
) -> Iterator[ast.Call]:
  """The model may have been compiled before a function of the file got it and returned it."""
  for value in [*call.args, *(k.value for k in call.keywords)]:
    if isinstance(value, (ast.Name, ast.Call)) and value is not function:
      yield from _compile_calls(module, value, depth - 1)


def _compiled_as(module: Module, node: ast.expr) -> Iterator[ast.Call]:
  """The calls of `compile` on a variable or an attribute."""
  text = module.source(node)
  for call in ast.walk(module.tree):
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
      continue
    owner = call.func.value
    if call.func.attr != "compile" or module.source(owner) != text or call not in module.scope_of:
      continue
    if isinstance(node, ast.Name) and isinstance(owner, ast.Name):
      scope, _ = module.scope_of[node].lookup(node.id)
      if module.scope_of[owner].lookup(owner.id)[0] is not scope:
        continue
    yield call


def _optimizer(plan: Plan, tf: str, call: ast.Call, exact: bool) -> str:
  """Rewrites the optimizer of a compile call; returns its flavour."""
  module = plan.module
  bound = facts.bind_arguments(call, _COMPILE)
  argument = bound.get("optimizer") if bound is not None else None
  definition = module.definition(argument.value) if argument is not None else None
  if argument is None or definition is None:
    plan.report("EM290", call)
    return "v2"
  name: Optional[str] = None
  if isinstance(definition, ast.Constant):
    name = _STRINGS.get(str(definition.value).lower())
    path = f"tf.keras.optimizers.{name}"
  else:
    function = definition.func if isinstance(definition, ast.Call) else definition
    symbol = module.resolve(function)
    path = symbol.path if symbol is not None else ""
  flavour = "v1" if path.startswith("tf.train.") else "v2"
  if not path.startswith(("tf.train.", "tf.keras.optimizers.")) or (
    isinstance(definition, ast.Constant) and name is None
  ):
    plan.report("EM290", argument.value)
    return flavour
  settings = optimizers.Settings(tf, flavour, exact, _looks_up(plan), definition)
  if name is not None:
    result = optimizer_rules.write_v2(plan, name, {}, False, argument.value, settings)
  else:
    made = facts.Argument("optimizer", definition, definition)  # type: ignore[arg-type]
    result = optimizers.convert(plan, made, optimizers.Rule("", None), settings)
  ours = result.text.startswith(f"{plan.runtime()}.")
  if ours or not _is_todays(path, definition):
    place = argument.value if name is not None else definition
    plan.expressions[place] = result.text
  return flavour


def _is_todays(path: str, definition: ast.AST) -> bool:
  """Whether Keras 3 has the class and its arguments, so that the user's own words can stay."""
  if not path.startswith("tf.keras.optimizers.") or ".legacy." in path:
    return False
  return not isinstance(definition, ast.Call) or all(k.arg != "lr" for k in definition.keywords)


def _looks_up(plan: Plan) -> bool:
  """Whether some layer of the file looks up rows of a table."""
  return any(use.symbol.path == "tf.keras.layers.Embedding" for use in plan.module.uses())


# -- what Keras 3 says --------------------------------------------------------------------


def _report_layers(plan: Plan) -> None:
  """Reports layers and arguments that Keras 3 refuses."""
  for call, symbol in facts.calls(plan.module):
    name = symbol.path.rpartition(".")[2]
    if not symbol.path.startswith("tf.keras.layers."):
      continue
    if name in _LAYERS:
      plan.report("EM292", call, what=name, instead=_LAYERS[name])
    for keyword in call.keywords:
      if keyword.arg in _LAYER_ARGUMENTS:
        instead = _LAYER_ARGUMENTS[keyword.arg]
        plan.report("EM292", keyword, what=f"{name}({keyword.arg}=)", instead=instead)


def _report_metrics(plan: Plan, compiled: list[ast.Call]) -> None:
  """Reports metrics whose key in evaluations was another one in TF1."""
  if plan.source_version != 1:
    return
  for call in compiled:
    bound = facts.bind_arguments(call, _COMPILE) or {}
    for node in ast.walk(bound["metrics"].value) if "metrics" in bound else ():
      name = node.value if isinstance(node, ast.Constant) else None
      if isinstance(name, str) and name in _TF1_KEYS:
        plan.report("EM293", node, name=name, old=_TF1_KEYS[name])


def _report_recurrent(plan: Plan) -> None:
  """Reports recurrent layers whose defaults were others in TF1."""
  if plan.source_version != 1:
    return
  for call, symbol in facts.calls(plan.module):
    module, _, name = symbol.path.rpartition(".")
    given = {keyword.arg for keyword in call.keywords}
    if module == "tf.keras.layers" and name in _RECURRENT and not _RECURRENT[name] <= given:
      missing = ", ".join(sorted(_RECURRENT[name] - given))
      plan.report("EM295", call, layer=name, missing=missing)
