"""Summaries that a hook writes itself: `tf.summary.FileWriter` -> `tf.summary.create_file_writer`.

https://www.tensorflow.org/tensorboard/migrate
"""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Sequence
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
  plan.pending_writers.clear()  # those of a class that turned out to have no counterpart
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
  written = _written(plan, statement, call, arguments, tf)
  if written is None:
    what = f"writes {plan.module.source(arguments['summary'].value)}"
    raise Unsupported("EM302", call, hook=node.name, what=f"{what}, a summary of the graph")
  plan.pending_writers.append(written)


def finish(plan: Plan) -> None:
  """Plans the statements that write summaries, once all values in them are planned."""
  for written in plan.pending_writers:
    written.plan_edits(plan)
  plan.pending_writers.clear()


@dataclasses.dataclass
class _Written:
  """One `add_summary`.

  Attributes:
    statement: it, and call: the call in it.
    step: its step.
    scalars: tag and value of all numbers in the summary.
    tf: the name under which the output knows TF2.
    made: the statement that makes the summary, and added: those that add to it, where a variable
      holds it.
  """

  statement: ast.stmt
  call: ast.Call
  step: ast.expr
  scalars: list[tuple[ast.expr, ast.expr]]
  tf: str
  made: Optional[ast.Assign] = None
  added: Sequence[ast.stmt] = ()

  def plan_edits(self, plan: Plan) -> None:
    """Plans `tf.summary.scalar` in its place, with the values as they were computed."""
    assert isinstance(self.call.func, ast.Attribute)
    head = f"with {plan.source(self.call.func.value)}.as_default():"
    step = plan.source(self.step)
    if self.made is None or self._is_at_once(plan):
      for statement in (self.made, *self.added):
        if statement is not None:
          plan.statement(statement).replacement = []
      written = [self._scalar(plan.source(t), plan.source(v), step) for t, v in self.scalars]
    else:
      # What stands between may change what the values are made of: they are kept under their tags.
      name = self.made.targets[0]
      assert isinstance(name, ast.Name)
      count = len(self.scalars) - len(self.added)
      items = [f"{plan.source(t)}: {plan.source(v)}" for t, v in self.scalars[:count]]
      plan.statement(self.made).replacement = [f"{name.id} = {{{', '.join(items)}}}"]
      for statement, (tag, value) in zip(self.added, self.scalars[count:]):
        line = f"{name.id}[{plan.source(tag)}] = {plan.source(value)}"
        plan.statement(statement).replacement = [line]
      scalar = self._scalar("tag", "value", step)
      style = plan.style_at(self.statement).nested()
      written = emit.block(f"for tag, value in {name.id}.items():", [scalar], style)
    plan.statement(self.statement).replacement = emit.block(
      head, written, plan.style_at(self.statement)
    )

  def _scalar(self, tag: str, value: str, step: str) -> str:
    return f"{self.tf}.summary.scalar({tag}, {value}, step={step})"

  def _is_at_once(self, plan: Plan) -> bool:
    """Whether nothing stands between the statements that make the summary and write it."""
    assert self.made is not None
    wanted = [self.made, *self.added, self.statement]
    body = getattr(plan.module.parents[self.made], "body", [])
    place = body.index(self.made) if self.made in body else 0
    return body[place : place + len(wanted)] == wanted


def _written(
  plan: Plan, statement: ast.Expr, call: ast.Call, arguments: dict[str, facts.Argument], tf: str
) -> Optional[_Written]:
  """What a call of `add_summary` writes; None if that is not made of numbers."""
  node = arguments["summary"].value
  made: ast.AST = node
  assigned: Optional[ast.Assign] = None
  added: list[ast.Call] = []
  if isinstance(node, ast.Name):
    _, bindings = plan.module.scope_of[node].lookup(node.id)
    if len(bindings) != 1 or not isinstance(bindings[0].node, ast.Assign):
      return None
    assigned = bindings[0].node
    if len(assigned.targets) != 1 or not isinstance(assigned.targets[0], ast.Name):
      return None
    made = assigned.value
    for load in facts.loads(plan.module, node):
      if load is node:
        continue
      one = _added(plan, load)
      if one is None:
        return None
      added.append(one)
  symbol = plan.module.resolve(made.func) if isinstance(made, ast.Call) else None
  if symbol is None or symbol.path not in _SUMMARIES:
    return None
  assert isinstance(made, ast.Call)
  given = facts.bind_arguments(made, ())
  if given is None or set(given) - {"value"}:
    return None
  values = given["value"].value if "value" in given else ast.List(elts=[])
  if not isinstance(values, (ast.List, ast.Tuple)):
    return None
  found = [_scalar(value) for value in (*values.elts, *added)]
  if not found or any(f is None for f in found):
    return None
  scalars = [f for f in found if f is not None]
  step = arguments["global_step"].value
  statements = [plan.module.statement(one) for one in added]
  return _Written(statement, call, step, scalars, tf, assigned, statements)


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
