"""numpy_input_fn and pandas_input_fn -> functions that return a tf.data pipeline.

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
from migrator.rewrite.plan import Plan, Unsupported

_QUEUE_INPUTS = {
  "tf.estimator.inputs.numpy_input_fn": "numpy_input_fn",
  "tf.estimator.inputs.pandas_input_fn": "pandas_input_fn",
}


def kind_of(module: Module, call: ast.Call) -> Optional[str]:
  symbol = module.resolve(call.func)
  return _QUEUE_INPUTS.get(symbol.path) if symbol is not None else None


def define(plan: Plan, tf: str, call: ast.Call) -> None:
  """`f = numpy_input_fn(...)` becomes `def f():`."""
  statement = plan.module.statement(call)
  if plan.statements.get(statement) and plan.statements[statement].replacement:
    return
  target = statement.targets[0] if isinstance(statement, ast.Assign) else None
  if not isinstance(target, ast.Name) or getattr(statement, "value", None) is not call:
    raise Unsupported("EM205", call, what="an input function in a tuple assignment")
  before, body = pipeline(plan, tf, call, target.id)
  edit = plan.statement(call)
  edit.replacement = before + emit.block(f"def {target.id}():", body, plan.style)


def inline(plan: Plan, tf: str, call: ast.Call) -> str:
  """A pipeline for `input_fn=numpy_input_fn(...)`: a function of its own before the statement."""
  module, scope = plan.module, plan.module.scope_of[call]
  if scope is not module.scope_of[module.statement(call)]:
    raise Unsupported("EM205", call, what="made anew in a lambda or comprehension")
  name = plan.fresh("input_fn", "numpy_input_fn")
  before, body = pipeline(plan, tf, call, name)
  plan.statement(call).before += before + emit.block(f"def {name}():", body, plan.style)
  return f"{name}()"


def pipeline(plan: Plan, tf: str, call: ast.Call, name: str) -> tuple[list[str], list[str]]:
  """Statements before the function that makes the Dataset, and its body."""
  kind = kind_of(plan.module, call)
  parameters = facts.NUMPY_INPUT_FN_PARAMETERS
  if kind == "pandas_input_fn":
    parameters = (*parameters, "target_column")
  bound = facts.bind_arguments(call, parameters)
  if bound is None or "x" not in bound:
    raise Unsupported("EM205", call, what=f"{kind} with *args or **kwargs")
  # target_column only names the labels while pandas_input_fn holds them beside the features.
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
    if kind == "pandas_input_fn":
      # It copied both, so that what changes in them later does not count.
      copied = [_is_changed_in_place(plan.module, part) for part in parts]
      texts = [f"{text}.copy()" if copy else text for text, copy in zip(texts, copied)]
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


def _is_changed_in_place(module: Module, node: ast.expr) -> bool:
  """Whether an expression gives an object, or a part of one, that the file changes."""
  if not isinstance(node, (ast.Name, ast.Attribute, ast.Subscript)):
    return False
  names = [n for n in ast.walk(node) if isinstance(n, ast.Name)]
  return any(moves.changes(module, load) for name in names for load in facts.loads(module, name))


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
