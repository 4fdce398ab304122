"""Graphs that a program builds outside of its model_fn and its input functions.

TF1 had a default graph everywhere; TF2 has one only where the runtime makes it, or where eager
execution is off. So a program whose driver makes a placeholder or runs a session of its own asks
for graphs, as TF1 did.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Optional

from migrator.analysis import local_calls
from migrator.analysis.module import Module
from migrator.rewrite import compat
from migrator.rewrite.plan import Plan, StatementEdit, Unsupported

# What raises RuntimeError with eager execution, or finds an empty graph; all measured on TF 2.21.
_GRAPHS = frozenset(
  f"tf.{name}"
  for name in (
    "InteractiveSession Session gradients placeholder sparse_placeholder summary.FileWriter"
    " summary.merge_all train.Saver train.import_meta_graph train.MonitoredTrainingSession"
    " train.MonitoredSession train.SingularMonitoredSession train.Supervisor"
    " train.batch train.shuffle_batch train.start_queue_runners train.string_input_producer"
    " train.slice_input_producer data.make_initializable_iterator"
  ).split()
)
_ITERATOR = "make_one_shot_iterator"
_SWITCHES = ("enable_eager_execution", "disable_eager_execution", "disable_v2_behavior")
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


def find(module: Module, iterators: bool = False) -> Optional[ast.Call]:
  """The first use of a graph that is the driver's own, or None.

  Functions that are handed on, as a model_fn is, do not count: who gets them makes the graph.
  Neither does what stands below `with tf.Graph().as_default():`, nor a file that says itself
  whether eager execution is on.

  Args:
    module: the program.
    iterators: whether an iterator over a dataset counts. Its elements were tensors of a graph, and
      nothing was read where nobody ran them; with eager execution they are read at once.
  """
  names = [use.symbol.path.rpartition(".")[2] for use in module.uses()]
  if any(name in _SWITCHES for name in names):
    return None
  for call in _driver_calls(module):
    symbol = module.resolve(call.func)
    named = call.func.attr if isinstance(call.func, ast.Attribute) else ""
    path = symbol.path if symbol is not None else ""
    found = path in _GRAPHS or (iterators and _ITERATOR in (named, path.rpartition(".")[2]))
    if found and not _has_graph(module, call):
      return call
  return None


def _driver_calls(module: Module) -> Iterator[ast.Call]:
  """The calls of the module's own statements, and of the functions of the file that they run."""
  waiting: list[ast.AST] = [module.tree]
  known: set[ast.AST] = set(waiting)
  while waiting:
    for node in _own(waiting.pop(0)):
      if not isinstance(node, ast.Call):
        continue
      yield node
      for function in [local_calls.called(module, node), *_mains(module, node)]:
        if function is not None and function not in known:
          known.add(function)
          waiting.append(function)


def _own(node: ast.AST) -> Iterator[ast.AST]:
  """What runs with a function or module, which the functions defined in it do not."""
  body = getattr(node, "body", [])
  waiting: list[ast.AST] = list(body) if isinstance(body, list) else [body]
  while waiting:
    found = waiting.pop(0)
    if isinstance(found, _FUNCTIONS):
      continue
    yield found
    waiting[:0] = ast.iter_child_nodes(found)


def _mains(module: Module, call: ast.Call) -> Iterator[Optional[ast.FunctionDef]]:
  """The function that `tf.app.run(main)`, or absl's, runs; without an argument it is `main`."""
  symbol = module.resolve(call.func)
  is_absl = isinstance(call.func, ast.Attribute) and ast.unparse(call.func) == "app.run"
  if not is_absl and (symbol is None or symbol.path != "tf.app.run"):
    return
  given = [*call.args, *(k.value for k in call.keywords if k.arg == "main")][:1]
  for node in given:
    found = module.definition(node)
    yield found if isinstance(found, ast.FunctionDef) else None
  if not given:
    for statement in module.tree.body:
      if isinstance(statement, ast.FunctionDef) and statement.name == "main":
        yield statement


def _has_graph(module: Module, call: ast.Call) -> bool:
  """Whether a call stands in a `with` over a graph, or names the graph that it is for."""
  if any(keyword.arg == "graph" for keyword in call.keywords):
    return True
  for ancestor in module.ancestors(call):
    if isinstance(ancestor, _FUNCTIONS):
      return False
    contexts = ancestor.items if isinstance(ancestor, (ast.With, ast.AsyncWith)) else []
    if any(_is_graph(item.context_expr) for item in contexts):
      return True
  return False


def _is_graph(context: ast.expr) -> bool:
  """Whether a `with` enters `graph.as_default()`."""
  called = context.func if isinstance(context, ast.Call) else None
  return isinstance(called, ast.Attribute) and called.attr == "as_default"


def check(module: Module, name: str) -> None:
  """Raises Unsupported where a program needs graphs, so that its model_fn is not taken apart."""
  call = find(module)
  if call is not None:
    called = module.source(call.func)
    reason = f"the program makes graphs outside of it, too: `{called}`"
    raise Unsupported("EM244", call, name=name, reason=reason)


def plan_switch(plan: Plan) -> None:
  """Turns eager execution off in front of a program whose driver builds graphs."""
  if find(plan.module, iterators=True) is None:
    return
  name, is_v1 = compat.tf_name(plan)
  is_v1 = is_v1 or any(
    f"import tensorflow.compat.v1 as {name}" in (edit.replacement or ())
    for edit in plan.statements.values()
  )
  function = f"{name}.{'' if is_v1 else 'compat.v1.'}disable_eager_execution"
  body = plan.module.tree.body
  # A notebook may do other things before it imports TensorFlow.
  bound = next((i for i, s in enumerate(body) if _imports(s, name)), -1)
  first = next((s for s in body[bound + 1 :] if not _is_head(s)), None)
  assert first is not None, "the call that was found stands in a statement"
  if first not in plan.statements:
    # What stands above the statement stays with it.
    plan.statements[first] = StatementEdit(leading_first=False)
  line = f"{function}()  # Graphs are made outside of the model_fn, too."
  plan.statements[first].before[:0] = ["", line]


def _imports(statement: ast.stmt, name: str) -> bool:
  """Whether a statement of the module, or one in it, imports something under a name."""
  return any(
    isinstance(node, (ast.Import, ast.ImportFrom))
    and any((alias.asname or alias.name.partition(".")[0]) == name for alias in node.names)
    for node in (statement, *_own(statement))
  )


def _is_head(statement: ast.stmt) -> bool:
  """Whether a statement is a docstring or only imports."""
  if isinstance(statement, ast.Try):
    return all(_is_head(s) for s in statement.body)
  text = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
  return text or isinstance(statement, (ast.Import, ast.ImportFrom))
