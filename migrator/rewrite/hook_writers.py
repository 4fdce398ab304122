"""Summaries that a hook writes itself: `tf.summary.FileWriter` -> `tf.summary.create_file_writer`.

https://www.tensorflow.org/tensorboard/migrate
"""

from __future__ import annotations

import ast
from typing import Optional

from migrator.analysis import facts
from migrator.rewrite import emit
from migrator.rewrite.plan import Plan, Unsupported

_WRITERS = (
  "tf.summary.FileWriter",
  "tf.summary.FileWriterCache.get",
  "tf.summary.SummaryWriterCache.get",
  "tf.train.SummaryWriter",
)
_SUMMARIES = ("tf.Summary", "tf.summary.Summary")
_WRITER_PARAMETERS = ("logdir", "graph", "max_queue", "flush_secs", "graph_def", "filename_suffix")


def convert(plan: Plan, tf: str, node: ast.ClassDef) -> None:
  """Plans the edits of the writers and summaries within a hook's class.

  Raises:
    Unsupported: EM302, for summaries that a graph makes, and writers that are used in other ways.
  """
  found = False
  for use in plan.module.uses():
    if use.symbol.path not in _WRITERS:
      continue
    if not any(a is node for a in plan.module.ancestors(use.node)):
      continue
    _convert_writer(plan, tf, node, use.node)
    found = True
  for inner in ast.walk(node):
    if isinstance(inner, ast.Call) and isinstance(inner.func, ast.Attribute):
      if inner.func.attr == "add_summary":
        _convert_add(plan, tf, node, inner)
        found = True
      elif inner.func.attr in ("add_graph", "add_session_log", "add_run_metadata", "add_event"):
        what = f"calls {plan.module.source(inner.func)}"
        raise Unsupported("EM302", inner, hook=node.name, what=what)
  if found:
    plan.report("EM314", node, name=node.name)


def _convert_writer(plan: Plan, tf: str, node: ast.ClassDef, used: ast.AST) -> None:
  call = plan.module.parents[used]
  if not isinstance(call, ast.Call) or call.func is not used:
    raise Unsupported("EM302", used, hook=node.name, what=f"uses {plan.module.source(used)}")
  arguments = facts.bind_arguments(call, _WRITER_PARAMETERS)
  graph = (arguments or {}).get("graph")
  if arguments is None or "logdir" not in arguments or graph is not None:
    what = f"makes {plan.module.source(call)}"
    raise Unsupported("EM302", call, hook=node.name, what=what)
  unknown = set(arguments) - {"logdir", "max_queue", "filename_suffix"}
  if unknown:
    what = f"makes a writer with {sorted(unknown)[0]}="
    raise Unsupported("EM302", call, hook=node.name, what=what)
  items = [plan.source(arguments["logdir"].value)]
  items += [f"{n}={plan.source(a.value)}" for n, a in arguments.items() if n != "logdir"]
  plan.expressions[call] = f"{tf}.summary.create_file_writer({', '.join(items)})"


def _convert_add(plan: Plan, tf: str, node: ast.ClassDef, call: ast.Call) -> None:
  """`writer.add_summary(Summary(value=[...]), step)`, also with the summary in a variable."""
  statement = plan.module.parents[call]
  arguments = facts.bind_arguments(call, ("summary", "global_step"))
  assert isinstance(call.func, ast.Attribute)
  if arguments is None or "summary" not in arguments or not isinstance(statement, ast.Expr):
    raise Unsupported("EM302", call, hook=node.name, what=f"calls {plan.module.source(call.func)}")
  if "global_step" not in arguments:
    raise Unsupported("EM302", call, hook=node.name, what="writes a summary without a step")
  scalars = _scalars(plan, arguments["summary"].value)
  if scalars is None:
    what = f"writes {plan.module.source(arguments['summary'].value)}"
    raise Unsupported("EM302", call, hook=node.name, what=f"{what}, a summary of the graph")
  plan.pending_writers.append((statement, call, arguments["global_step"].value, scalars, tf))


def finish(plan: Plan) -> None:
  """Plans the statements that write summaries, once all values in them are planned."""
  for statement, call, step, scalars, tf in plan.pending_writers:
    style = plan.style_at(statement)
    written = [
      f"{tf}.summary.scalar({plan.source(tag)}, {plan.source(value)}, step={plan.source(step)})"
      for tag, value in scalars
    ]
    head = f"with {plan.source(call.func.value)}.as_default():"
    plan.statement(statement).replacement = emit.block(head, written, style)
  plan.pending_writers.clear()


def _scalars(plan: Plan, node: ast.expr) -> Optional[list[tuple[ast.expr, ast.expr]]]:
  """The tags and values of a summary of numbers; None if it is another one."""
  call = node
  added: list[ast.Call] = []
  if isinstance(node, ast.Name):
    _, bindings = plan.module.scope_of[node].lookup(node.id)
    if len(bindings) != 1 or not isinstance(bindings[0].value, ast.Call):
      return None
    call = bindings[0].value
    for load in facts.loads(plan.module, node):
      if load is node:
        continue
      one = _added(plan, load)
      if one is None:
        return None
      added.append(one)
  symbol = plan.module.resolve(call.func) if isinstance(call, ast.Call) else None
  if symbol is None or symbol.path not in _SUMMARIES:
    return None
  assert isinstance(call, ast.Call)
  arguments = facts.bind_arguments(call, ())
  if arguments is None or set(arguments) - {"value"}:
    return None
  values = arguments["value"].value if "value" in arguments else ast.List(elts=[])
  if not isinstance(values, (ast.List, ast.Tuple)):
    return None
  calls: list[ast.expr] = [*values.elts, *added]
  found = [_scalar(value) for value in calls]
  if not found or any(f is None for f in found):
    return None
  if isinstance(node, ast.Name):
    if any(
      plan.module.parents[plan.module.statement(a)]
      is not plan.module.parents[plan.module.statement(node)]
      for a in added
    ):
      return None
    plan.statement(call).replacement = []
    for one in added:
      plan.statement(one).replacement = []
  return [f for f in found if f is not None]


def _added(plan: Plan, load: ast.Name) -> Optional[ast.Call]:
  """`summary.value.add(tag=..., simple_value=...)`."""
  value = plan.module.parents[load]
  add = plan.module.parents.get(value)
  call = plan.module.parents.get(add) if add is not None else None
  plain = (
    isinstance(value, ast.Attribute)
    and value.attr == "value"
    and isinstance(add, ast.Attribute)
    and add.attr == "add"
    and isinstance(call, ast.Call)
    and isinstance(plan.module.parents[call], ast.Expr)
  )
  return call if plain else None


def _scalar(node: ast.expr) -> Optional[tuple[ast.expr, ast.expr]]:
  if not isinstance(node, ast.Call) or node.args:
    return None
  found = {k.arg: k.value for k in node.keywords}
  if set(found) != {"tag", "simple_value"}:
    return None
  return found["tag"], found["simple_value"]
