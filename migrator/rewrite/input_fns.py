"""Input functions -> tf.data pipelines.

numpy_input_fn repeats before it batches, so that batches cross the epoch boundary, and drops
nothing unless it repeats for ever
(https://www.tensorflow.org/versions/r1.15/api_docs/python/tf/estimator/inputs/numpy_input_fn).
"""

from __future__ import annotations

import ast
from typing import Optional

from migrator.analysis import facts
from migrator.analysis.module import UNKNOWN, Module
from migrator.rewrite import emit
from migrator.rewrite.plan import Plan, Unsupported

_QUEUE_INPUTS = {
  "tf.estimator.inputs.numpy_input_fn": "numpy_input_fn",
  "tf.estimator.inputs.pandas_input_fn": "pandas_input_fn",
}
# Parameters that the Estimator fills by itself.
_FILLED = frozenset(("mode", "params", "config", "input_context"))


def dataset(plan: Plan, tf: str, node: ast.expr) -> str:
  """An expression for the Dataset that an `input_fn=` argument yields.

  Raises:
    Unsupported: EM205, a function whose result is not known to be a Dataset.
  """
  module = plan.module
  if isinstance(node, ast.Lambda):
    if _parameters(node.args):
      raise Unsupported("EM205", node, what="a lambda with parameters")
    if not is_dataset(module, node.body):
      raise Unsupported("EM205", node, what="a lambda that may not return a Dataset")
    return plan.source(node.body)
  if isinstance(node, ast.Name):
    definition = module.definition(node)
    if isinstance(definition, ast.FunctionDef):
      _check_function(module, node, definition)
      return f"{plan.source(node)}()"
    if isinstance(definition, ast.Call) and _queue_input(module, definition):
      _define(plan, tf, definition)
      return f"{plan.source(node)}()"
    if isinstance(definition, (ast.Lambda, ast.Call)):
      dataset_text = dataset(plan, tf, definition)
      if isinstance(definition, ast.Lambda):
        return f"{plan.source(node)}()"
      return dataset_text if _queue_input(module, definition) else f"{plan.source(node)}()"
  if isinstance(node, ast.Call):
    if _queue_input(module, node):
      return _inline(plan, tf, node)
    symbol = module.resolve(node.func)
    if symbol is not None and symbol.path == "functools.partial" and node.args:
      return _partial(plan, node)
  raise Unsupported("EM205", node, what=f"`{module.source(node)}`")


def feature_keys(plan: Plan, node: ast.expr) -> Optional[frozenset[str]]:
  """The features that an `input_fn=` argument yields, where the file shows them all."""
  call = plan.module.definition(node)
  if not isinstance(call, ast.Call) or not _queue_input(plan.module, call):
    return None
  bound = facts.bind_arguments(call, (*facts.NUMPY_INPUT_FN_PARAMETERS, "target_column"))
  features = plan.module.definition(bound["x"].value) if bound and "x" in bound else None
  if not isinstance(features, ast.Dict):
    return None
  keys = [plan.module.constant(key) for key in features.keys]
  return frozenset(keys) if all(isinstance(key, str) for key in keys) else None


def _queue_input(module: Module, call: ast.Call) -> Optional[str]:
  symbol = module.resolve(call.func)
  return _QUEUE_INPUTS.get(symbol.path) if symbol is not None else None


def _parameters(arguments: ast.arguments) -> list[str]:
  """Names of the parameters without a default."""
  positional = arguments.posonlyargs + arguments.args
  required = positional[: len(positional) - len(arguments.defaults)]
  keyword_only = [a for a, d in zip(arguments.kwonlyargs, arguments.kw_defaults) if d is None]
  return [a.arg for a in required + keyword_only]


def _check_function(module: Module, node: ast.AST, function: ast.FunctionDef) -> None:
  arguments = function.args
  names = [a.arg for a in arguments.posonlyargs + arguments.args + arguments.kwonlyargs]
  for name in names:
    if name in _FILLED:
      raise Unsupported("EM205", node, what=f"{function.name}() takes `{name}`")
  if _parameters(arguments):
    raise Unsupported("EM205", node, what=f"{function.name}() needs arguments")
  _check_returns(module, node, function)


def _check_returns(module: Module, node: ast.AST, function: ast.FunctionDef) -> None:
  if not function_returns_dataset(module, function):
    raise Unsupported("EM205", node, what=f"{function.name}() may not return a Dataset")


def _partial(plan: Plan, node: ast.Call) -> str:
  function = plan.module.definition(node.args[0])
  if not isinstance(function, ast.FunctionDef):
    raise Unsupported("EM205", node, what=f"`{plan.module.source(node)}`")
  _check_returns(plan.module, node, function)
  arguments = [plan.source(a) for a in node.args[1:]]
  for keyword in node.keywords:
    prefix = f"{keyword.arg}=" if keyword.arg else "**"
    arguments.append(prefix + plan.source(keyword.value))
  return f"{plan.source(node.args[0])}({', '.join(arguments)})"


# -- what returns a Dataset -----------------------------------------------------


def function_returns_dataset(module: Module, function: ast.AST, depth: int = 0) -> bool:
  """Whether every `return` of a function gives a tf.data Dataset, as far as the file shows."""
  returns = [
    n
    for n in ast.walk(function)
    if isinstance(n, ast.Return) and module.scope_of[n].node is function
  ]
  return bool(returns) and all(
    r.value is not None and is_dataset(module, r.value, depth) for r in returns
  )


def is_dataset(module: Module, node: ast.AST, depth: int = 0) -> bool:
  """Whether an expression is a tf.data Dataset, as far as the file shows."""
  if depth > 8:
    return False
  if isinstance(node, ast.IfExp):
    return is_dataset(module, node.body, depth + 1) and is_dataset(module, node.orelse, depth + 1)
  if isinstance(node, ast.Name):
    _, bindings = module.scope_of.get(node, module.root).lookup(node.id)
    values = [b.value for b in bindings]
    # `dataset = dataset.batch(n)` refers to itself: one other value must be a Dataset.
    own = [v for v in values if v is not None and not _refers_to(v, node.id)]
    chained = [v for v in values if v is not None and _refers_to(v, node.id)]
    return (
      bool(own)
      and all(b.kind == "assign" for b in bindings)
      and all(is_dataset(module, v, depth + 1) for v in own)
      and all(_chain_root(v) is not None for v in chained)
    )
  if isinstance(node, ast.Call):
    symbol = module.resolve(node.func)
    if symbol is not None and symbol.path.startswith("tf.data."):
      return "make_" not in symbol.path
    definition = module.definition(node.func) if isinstance(node.func, ast.Name) else None
    if isinstance(definition, ast.FunctionDef):
      return function_returns_dataset(module, definition, depth + 1)
    if isinstance(node.func, ast.Attribute):
      if node.func.attr.startswith(("make_", "get_next", "as_numpy")):
        return False
      return is_dataset(module, node.func.value, depth + 1)
  return False


def _refers_to(node: ast.AST, name: str) -> bool:
  return any(isinstance(n, ast.Name) and n.id == name for n in ast.walk(node))


def _chain_root(node: ast.AST) -> Optional[ast.Name]:
  """The variable at the root of `x.map(...).batch(...)`, without iterators in between."""
  while isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
    if node.func.attr.startswith(("make_", "get_next", "as_numpy")):
      return None
    node = node.func.value
  return node if isinstance(node, ast.Name) else None


# -- numpy_input_fn and pandas_input_fn -----------------------------------------


def _define(plan: Plan, tf: str, call: ast.Call) -> None:
  """`f = numpy_input_fn(...)` becomes `def f():`."""
  statement = plan.module.statement(call)
  if plan.statements.get(statement) and plan.statements[statement].replacement:
    return
  target = statement.targets[0] if isinstance(statement, ast.Assign) else None
  if not isinstance(target, ast.Name) or getattr(statement, "value", None) is not call:
    raise Unsupported("EM205", call, what="an input function in a tuple assignment")
  body = _pipeline(plan, tf, call)
  plan.statement(call).replacement = emit.block(f"def {target.id}():", body, plan.style)


def _inline(plan: Plan, tf: str, call: ast.Call) -> str:
  """A pipeline for `input_fn=numpy_input_fn(...)`: a function of its own before the statement."""
  name = plan.fresh("input_fn", "numpy_input_fn")
  body = _pipeline(plan, tf, call)
  plan.statement(call).before += emit.block(f"def {name}():", body, plan.style)
  return f"{name}()"


def _pipeline(plan: Plan, tf: str, call: ast.Call) -> list[str]:
  kind = _queue_input(plan.module, call)
  parameters = facts.NUMPY_INPUT_FN_PARAMETERS
  if kind == "pandas_input_fn":
    parameters = (*parameters, "target_column")
  bound = facts.bind_arguments(call, parameters)
  if bound is None or "x" not in bound:
    raise Unsupported("EM205", call, what=f"{kind} with *args or **kwargs")
  if set(bound) - set(facts.NUMPY_INPUT_FN_PARAMETERS):
    raise Unsupported("EM205", call, what=f"{kind} with target_column")
  shuffle = bound.get("shuffle")
  known = plan.module.constant(shuffle.value) if shuffle is not None else None
  if known is None:
    raise Unsupported("EM205", call, what=f"{kind} without shuffle=, which TF refuses")
  for name in ("x", "y"):
    if name in bound:
      _check_unchanged(plan, bound[name].value)
  style = plan.style.nested()
  slices = _slices(plan, kind, bound)
  head = f"dataset = {tf}.data.Dataset.from_tensor_slices("
  lines = emit.bracketed(head, [slices], ")", style)
  repeat, batch = _repeat_and_batch(plan, bound)
  capacity = plan.source(bound["queue_capacity"].value) if "queue_capacity" in bound else "1000"
  if known is not False:
    plan.report("EM206", shuffle.node)  # type: ignore[union-attr]
  if known is UNKNOWN:
    condition = plan.source(shuffle.value)  # type: ignore[union-attr]
    lines += [f"dataset = dataset{repeat}"] if repeat else []
    shuffled = emit.block(f"if {condition}:", [f"dataset = dataset.shuffle({capacity})"], style)
    return [*lines, *shuffled, f"return dataset{batch}"]
  chain = repeat + (f".shuffle({capacity})" if known else "")
  return [*lines, f"return dataset{chain}{batch}"]


def _slices(plan: Plan, kind: Optional[str], bound: dict[str, facts.Argument]) -> str:
  features, labels = bound["x"].value, bound.get("y")
  text = plan.source(features)
  if kind == "pandas_input_fn":
    text = f"{{name: {text}[name].values for name in {text}}}"
  elif not isinstance(features, ast.Dict):
    text = f"dict({text})"
  if labels is None or plan.module.constant(labels.value) is None:
    return text
  label_text = plan.source(labels.value)
  if kind == "pandas_input_fn":
    label_text += ".values" if isinstance(labels.value, ast.Name) else ""
  return f"({text}, {label_text})"


def _repeat_and_batch(plan: Plan, bound: dict[str, facts.Argument]) -> tuple[str, str]:
  size = plan.source(bound["batch_size"].value) if "batch_size" in bound else "128"
  if "num_epochs" not in bound:
    return "", f".batch({size})"
  epochs = plan.module.constant(bound["num_epochs"].value)
  text = plan.source(bound["num_epochs"].value)
  if epochs is None:
    return ".repeat()", f".batch({size}, drop_remainder=True)"
  if epochs is UNKNOWN:
    return f".repeat({text})", f".batch({size}, drop_remainder={text} is None)"
  return ("" if epochs == 1 else f".repeat({text})"), f".batch({size})"


def _check_unchanged(plan: Plan, node: ast.AST) -> None:
  """The old function kept the arrays of its creation; the new one reads the variables later."""
  for name in ast.walk(node):
    if isinstance(name, ast.Name):
      _, bindings = plan.module.scope_of[name].lookup(name.id)
      if len(bindings) > 1:
        raise Unsupported("EM205", name, what=f"`{name.id}` is assigned more than once")
