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
from migrator.rewrite import emit, moves
from migrator.rewrite.parsed_examples import of_unit, parses_examples
from migrator.rewrite.plan import Plan, Unsupported

__all__ = ["dataset", "feature_keys", "of_unit", "parses_examples"]

_QUEUE_INPUTS = {
  "tf.estimator.inputs.numpy_input_fn": "numpy_input_fn",
  "tf.estimator.inputs.pandas_input_fn": "pandas_input_fn",
}
_MAKES_DATASET = (
  "tf.data.Dataset.",
  "tf.data.FixedLengthRecordDataset",
  "tf.data.TFRecordDataset",
  "tf.data.TextLineDataset",
  "tf.data.experimental.CsvDataset",
  "tf.data.experimental.SqlDataset",
  "tf.data.experimental.make_",
)
# Methods of a Dataset that give a Dataset.
_KEEPS_DATASET = frozenset(
  """apply batch bucket_by_sequence_length cache concatenate enumerate filter flat_map
  group_by_window ignore_errors interleave map padded_batch prefetch ragged_batch rebatch
  rejection_resample repeat scan shard shuffle skip snapshot sparse_batch take take_while
  unbatch unique window with_options zip""".split()
)
# Parameters that the Estimator fills by itself.
_FILLED = frozenset(("mode", "params", "config", "input_context"))


def dataset(plan: Plan, tf: str, node: ast.expr) -> str:
  """An expression for the Dataset that an `input_fn=` argument yields.

  Raises:
    Unsupported: EM205, a function whose result is not known to be a Dataset.
  """
  module = plan.module
  if isinstance(node, ast.Lambda):
    return _lambda(plan, node)
  if isinstance(node, ast.Name):
    definition = module.definition(node)
    if isinstance(definition, ast.FunctionDef):
      _check_function(module, node, definition)
      return f"{plan.source(node)}()"
    if isinstance(definition, ast.Call) and _queue_input(module, definition):
      _define(plan, tf, definition)
      return f"{plan.source(node)}()"
    if isinstance(definition, ast.Lambda):
      _lambda(plan, definition)
      return f"{plan.source(node)}()"
    if isinstance(definition, ast.Call) and _is_partial(module, definition):
      _partial(plan, definition)
      return f"{plan.source(node)}()"
  if isinstance(node, ast.Call):
    if _queue_input(module, node):
      return _inline(plan, tf, node)
    if _is_partial(module, node):
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


def _lambda(plan: Plan, node: ast.Lambda) -> str:
  names = [a.arg for a in node.args.posonlyargs + node.args.args + node.args.kwonlyargs]
  if _parameters(node.args) or any(name in _FILLED for name in names):
    raise Unsupported("EM205", node, what="a lambda with parameters")
  if not is_dataset(plan.module, node.body):
    raise Unsupported("EM205", node, what="a lambda that may not return a Dataset")
  if names or node.args.vararg or node.args.kwarg:
    return f"({plan.source(node)})()"
  return plan.atom(node.body)


def _is_partial(module: Module, call: ast.Call) -> bool:
  symbol = module.resolve(call.func)
  return symbol is not None and symbol.path == "functools.partial" and bool(call.args)


def _check_function(module: Module, node: ast.AST, function: ast.FunctionDef) -> None:
  arguments = function.args
  names = [a.arg for a in arguments.posonlyargs + arguments.args + arguments.kwonlyargs]
  for name in names:
    if name in _FILLED:
      raise Unsupported("EM205", node, what=f"{function.name}() takes `{name}`")
  if _parameters(arguments):
    raise Unsupported("EM205", node, what=f"{function.name}() needs arguments")
  if arguments.vararg or arguments.kwarg:
    raise Unsupported("EM205", node, what=f"{function.name}() takes any arguments")
  _check_returns(module, node, function)


def _check_returns(module: Module, node: ast.AST, function: ast.FunctionDef) -> None:
  if not function_returns_dataset(module, function):
    raise Unsupported("EM205", node, what=f"{function.name}() may not return a Dataset")


def _partial(plan: Plan, node: ast.Call) -> str:
  function = plan.module.definition(node.args[0])
  if not isinstance(function, ast.FunctionDef):
    raise Unsupported("EM205", node, what=f"`{plan.module.source(node)}`")
  _check_returns(plan.module, node, function)
  names = [a.arg for a in function.args.posonlyargs + function.args.args]
  open_names = {*names[len(node.args) - 1 :], *(a.arg for a in function.args.kwonlyargs)}
  filled = sorted(open_names.intersection(_FILLED) - {k.arg for k in node.keywords})
  if filled:
    raise Unsupported("EM205", node, what=f"{function.name}() takes `{filled[0]}`")
  arguments = [plan.source(a) for a in node.args[1:]]
  for keyword in node.keywords:
    prefix = f"{keyword.arg}=" if keyword.arg else "**"
    arguments.append(prefix + plan.source(keyword.value))
  return f"{plan.source(node.args[0])}({', '.join(arguments)})"


# -- what returns a Dataset -----------------------------------------------------


def function_returns_dataset(module: Module, function: ast.AST, depth: int = 0) -> bool:
  """Whether every `return` of a function gives a tf.data Dataset, as far as the file shows."""
  if getattr(function, "decorator_list", None):
    return False
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
    if symbol is not None and symbol.path.startswith("tf."):
      return symbol.path.startswith(_MAKES_DATASET)
    definition = module.definition(node.func) if isinstance(node.func, ast.Name) else None
    if isinstance(definition, ast.FunctionDef):
      return function_returns_dataset(module, definition, depth + 1)
    if isinstance(node.func, ast.Attribute):
      return node.func.attr in _KEEPS_DATASET and is_dataset(module, node.func.value, depth + 1)
  return False


def _refers_to(node: ast.AST, name: str) -> bool:
  return any(isinstance(n, ast.Name) and n.id == name for n in ast.walk(node))


def _chain_root(node: ast.AST) -> Optional[ast.Name]:
  """The variable at the root of `x.map(...).batch(...)`, if all of that are Datasets."""
  while isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
    if node.func.attr not in _KEEPS_DATASET:
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
  before, body = _pipeline(plan, tf, call, target.id)
  edit = plan.statement(call)
  edit.replacement = before + emit.block(f"def {target.id}():", body, plan.style)


def _inline(plan: Plan, tf: str, call: ast.Call) -> str:
  """A pipeline for `input_fn=numpy_input_fn(...)`: a function of its own before the statement."""
  module, scope = plan.module, plan.module.scope_of[call]
  if scope is not module.scope_of[module.statement(call)]:
    raise Unsupported("EM205", call, what="made anew in a lambda or comprehension")
  name = plan.fresh("input_fn", "numpy_input_fn")
  before, body = _pipeline(plan, tf, call, name)
  plan.statement(call).before += before + emit.block(f"def {name}():", body, plan.style)
  return f"{name}()"


def _pipeline(plan: Plan, tf: str, call: ast.Call, name: str) -> tuple[list[str], list[str]]:
  """Statements before the function that makes the Dataset, and its body."""
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
  for parameter in ("batch_size", "num_epochs", "shuffle", "queue_capacity"):
    if parameter in bound:
      reason = moves.repeat_obstacle(plan.module, bound[parameter].value)
      if reason is not None:
        raise Unsupported("EM205", bound[parameter].node, what=reason)
  style = plan.style.nested()
  before, slices = _slices(plan, kind, bound, name)
  head = f"dataset = {tf}.data.Dataset.from_tensor_slices("
  lines = emit.bracketed(head, [slices], ")", style)
  repeat, batch = _repeat_and_batch(plan, bound)
  capacity = plan.source(bound["queue_capacity"].value) if "queue_capacity" in bound else "1000"
  if known is not False:
    plan.report("EM206", shuffle.value)  # type: ignore[union-attr]
  if known is UNKNOWN:
    condition = plan.source(shuffle.value)  # type: ignore[union-attr]
    lines += [f"dataset = dataset{repeat}"] if repeat else []
    shuffled = emit.block(f"if {condition}:", [f"dataset = dataset.shuffle({capacity})"], style)
    return before, [*lines, *shuffled, f"return dataset{batch}"]
  chain = repeat + (f".shuffle({capacity})" if known else "")
  return before, [*lines, f"return dataset{chain}{batch}"]


def _slices(
  plan: Plan, kind: Optional[str], bound: dict[str, facts.Argument], name: str
) -> tuple[list[str], str]:
  """The argument of `from_tensor_slices`, and an assignment that fixes it where it must be.

  The old function kept what `x` and `y` were when it was made. An expression that may give
  something else when the new function is called is evaluated once, before the function.
  """
  features, labels = bound["x"].value, bound.get("y")
  parts = [features, *([labels.value] if labels is not None else [])]
  before: list[str] = []
  texts = [plan.atom(part) for part in parts]
  if any(_must_be_kept(plan, part) for part in parts):
    kept = [plan.fresh(f"{name}_{n}") for n in ("features", "labels")[: len(parts)]]
    before = [f"{variable} = {text}" for variable, text in zip(kept, texts)]
    texts = kept
  if kind == "pandas_input_fn":
    texts[0] = f"{{name: {texts[0]}[name].values for name in {texts[0]}}}"
  elif before or not isinstance(features, ast.Dict):
    texts[0] = f"dict({texts[0]})"
  if labels is None or plan.module.constant(labels.value) is None:
    return before[:1], texts[0]
  if kind == "pandas_input_fn" and (before or isinstance(labels.value, (ast.Name, ast.Subscript))):
    texts[1] += ".values"
  return before, f"({texts[0]}, {texts[1]})"


def _must_be_kept(plan: Plan, node: ast.expr) -> bool:
  return not moves.is_plain(node) or moves.repeat_obstacle(plan.module, node) is not None


def _repeat_and_batch(plan: Plan, bound: dict[str, facts.Argument]) -> tuple[str, str]:
  size = plan.source(bound["batch_size"].value) if "batch_size" in bound else "128"
  if "num_epochs" not in bound:
    return "", f".batch({size})"
  epochs = plan.module.constant(bound["num_epochs"].value)
  text = plan.atom(bound["num_epochs"].value)
  if epochs is None:
    return ".repeat()", f".batch({size}, drop_remainder=True)"
  if epochs is UNKNOWN:
    return f".repeat({text})", f".batch({size}, drop_remainder={text} is None)"
  return ("" if epochs == 1 else f".repeat({text})"), f".batch({size})"
