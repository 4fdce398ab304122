"""`tf.estimator.train_and_evaluate` -> a training whose saves an evaluation hears of.

https://www.tensorflow.org/guide/migrate/evaluator
"""

from __future__ import annotations

import ast
from typing import Any, Optional, Union

from migrator.analysis import units
from migrator.rewrite import emit, exports, specs
from migrator.rewrite.plan import Unsupported

_THROTTLE = "# seconds between two evaluations, at least"


def write(target: Any, call: units.MethodCall) -> None:
  """Plans the edits of one call.

  Args:
    target: that writes its unit.
    call: the call.

  Raises:
    Unsupported: EM270, a result that is used in a way that is not known; and what hooks, exporters
      and input functions raise.
  """
  plan = target.plan
  train, evaluate = target.specs[call.call]
  statement = plan.module.statement(call.call)
  used = _used_result(target, call.call, statement)
  texts = {
    "hooks": lambda a, use: _listed(target.hooks(a, use)),
    "saving_listeners": lambda a, use: _listed(target.hooks(a, "listener")),
    "input_fn": lambda a, use: target.input_function(a),
    "exporters": lambda a, use: exports.exporters(plan, a) or "None",
  }
  for spec, use in ((train, "train"), (evaluate, "evaluate")):
    for name, argument in spec.arguments.items():
      if name != "start_delay_secs" and specs.must_stay(plan, spec, argument):
        text = texts[name](argument, use) if name in texts else plan.source(argument.value)
        specs.keep(plan, spec, argument, text)
  style = plan.style_at(statement)
  name = target.evaluation = target.evaluation or plan.fresh(
    "evaluation", f"{target.base}_evaluation"
  )
  items = _items(target, call, train, evaluate)
  own = emit.bracketed(f"{name} = {plan.runtime()}.Evaluation(", items, ")", style)
  training = target.train_lines(specs.training(call, train), style, [name])
  lines = [*specs.remove(plan, evaluate, "\n".join(own)), *own]
  lines += [*specs.remove(plan, train, ""), *training]
  edit = plan.statement(statement)
  if used is None:
    edit.replacement = lines
  else:
    edit.before += lines
    node, pattern = used
    plan.expressions[node] = pattern.format(name)
  text = "\n".join(lines)
  edit.comments = [c for c in edit.comments if c not in text]


def _listed(elements: list[str]) -> str:
  if len(elements) == 1 and elements[0].startswith("*") and elements[0][1:].isidentifier():
    return elements[0][1:]
  return f"[{', '.join(elements)}]"


def _used_result(
  target: Any, call: ast.Call, statement: ast.stmt
) -> Optional[tuple[ast.expr, str]]:
  """The expression that uses the result, and a pattern for what takes its place; None for none."""
  module = target.plan.module
  parent = module.parents[call]
  if isinstance(parent, ast.Expr):
    return None
  if isinstance(parent, (ast.Assign, ast.AnnAssign, ast.Return)) and parent is statement:
    return call, "{0}.metrics, {0}.export_results"
  above = module.parents[parent]
  if isinstance(parent, ast.Subscript) and parent.value is call and above is statement:
    index = module.constant(parent.slice)
    if isinstance(above, (ast.Assign, ast.AnnAssign, ast.Return)) and index in (0, 1):
      return parent, "{0}.metrics" if index == 0 else "{0}.export_results"
  what = "its result is used inside of an expression"
  raise Unsupported("EM270", call, what=what)


def _items(
  target: Any, call: units.MethodCall, train: specs.Spec, spec: specs.Spec
) -> list[Union[emit.Item, str]]:
  """The arguments of `runtime.Evaluation`, in the order of the EvalSpec's."""
  plan, arguments = target.plan, spec.arguments
  given: dict[str, Union[emit.Item, str]] = {}
  for name, argument in arguments.items():
    text = None
    if name == "input_fn":
      kept = plan.kept.get(argument.value)
      given[name] = plan.item(argument, kept or target.input_function(argument))
      continue
    if name == "start_delay_secs":
      plan.report("EM272", argument.node)
    elif name == "hooks":
      elements = target.hooks(argument, "evaluate")
      text = f"callbacks={_listed(elements)}" if elements else None
    elif name == "exporters":
      listed = plan.kept.get(argument.value) or exports.exporters(plan, argument)
      text = f"exporters={listed}" if listed else None
    elif name != "name" or spec.given(plan, name) is not None:
      text = f"{name}={target.source(argument.value)}"
    if text is not None:
      given[name] = plan.item(argument, text)
  items = [target.evaluates(call), given.pop("input_fn")]
  items += [] if "steps" in given else ["steps=100"]
  if "throttle_secs" not in given:
    given["throttle_secs"] = emit.Item("throttle_secs=600", trailing=_THROTTLE)
  items += given.values()
  if "exporters" in given:
    items += target.exports(train, call.owner)
  return items
