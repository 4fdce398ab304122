"""What of the graph of a session program has to change before its checkpoints can be TF2's."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple, Optional

from migrator.analysis import facts
from migrator.analysis.module import Module
from migrator.lint import values
from migrator.lint.finding import Finding
from migrator.rewrite.sessions import found, runs, scaffolds, steps
from migrator.rewrite.sessions.found import Unit
from migrator.rewrite.sessions.text import excerpt, source, spell

_PLACEHOLDERS = ("tf.placeholder", "tf.placeholder_with_default", "tf.sparse_placeholder")
_VARIABLES = ("tf.get_variable", "tf.Variable")
_LAYERS = ("tf.layers", "tf.contrib.layers", "tf.contrib.slim")
_LAYER = re.compile(
  r"conv|separable|depthwise|dense|fully_connected|batch_norm|layer_norm|embed|(model_)?variable"
)
_SESSIONS = ("tf.Session", "tf.InteractiveSession")
_QUEUES = (
  "tf.train.start_queue_runners",
  "tf.train.batch",
  "tf.train.shuffle_batch",
  "tf.train.string_input_producer",
  "tf.train.slice_input_producer",
  "tf.train.range_input_producer",
  "tf.train.input_producer",
  "tf.train.QueueRunner",
  "tf.train.add_queue_runner",
)
_AROUND = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_TRAIN_OPS = ("minimize", "apply_gradients")


class Change(NamedTuple):
  """Something that has to change first: the lines, and what becomes of it."""

  lines: tuple[int, ...]
  text: str

  def __str__(self) -> str:
    return f"{spell(self.lines)}: {self.text}" if self.lines else self.text


def changes(
  module: Module, unit: Unit, lint: Iterable[Finding], step: str, saves: bool, counted: bool
) -> list[Change]:
  """All that has to change, in the order in which a person does it.

  Args:
    module: the file.
    unit: the unit.
    lint: what lint finds in the file.
    step: the variable of the global step.
    saves: whether the unit saves; else the graph is only read into.
    counted: whether the code depends on the global step.
  """
  result = [*_meta_graphs(module, unit)]
  if saves:
    result += [*_inputs(module, unit), *_train_ops(module, unit, step), *_counted_twice(lint, step)]
    if counted and not any(f"`{step}.assign_add(" in c.text for c in result):
      text = (
        f"nothing here counts the global step: `{step}.assign_add(1)` has to stand in `train_step`; without it "
        f"`{step}` stays as it is, so that no save is due and no last step is reached"
      )
      result.append(Change((), text))
    result += [*_scaffold(module, unit), *(Change(*c) for c in runs.several(module, unit))]
  result += [*_var_list(module, unit)]
  return result


def trains(module: Module) -> bool:
  """Whether the file has an optimizer that is applied."""
  return bool(_methods(module, _TRAIN_OPS))


def _uses(module: Module, unit: Unit, paths: Sequence[str]) -> dict[str, list[int]]:
  """The lines of the calls of some symbols, by the spelling of the symbol."""
  calls = [c for c, symbol in facts.calls(module) if symbol.path in paths]
  return _lines_of(module, _near(module, unit, calls))


def _near(module: Module, unit: Unit, calls: list[ast.Call]) -> list[ast.Call]:
  """Those in the innermost function, class or graph around a unit that has any; else all."""
  for around in module.ancestors(unit.call):
    if isinstance(around, _AROUND) or _is_graph(module, around):
      inside = [c for c in calls if any(a is around for a in module.ancestors(c))]
      if inside:
        return inside
  return calls


def _beside(module: Module, unit: Unit, calls: list[ast.Call]) -> list[ast.Call]:
  """Those in a function, or of a class, in which the unit is made or used."""
  own = {_function(module, node) for node in (*unit.calls, *unit.uses)}
  classes = {_class(module, node) for node in (*unit.calls, *unit.uses)} - {None}
  return [c for c in calls if _function(module, c) in own or _class(module, c) in classes]


def _function(module: Module, node: ast.AST) -> Optional[ast.AST]:
  functions = (ast.FunctionDef, ast.AsyncFunctionDef)
  return next((a for a in module.ancestors(node) if isinstance(a, functions)), None)


def _class(module: Module, node: ast.AST) -> Optional[ast.AST]:
  return next((a for a in module.ancestors(node) if isinstance(a, ast.ClassDef)), None)


def _is_graph(module: Module, node: ast.AST) -> bool:
  """Whether a statement is `with tf.Graph().as_default():` or the like."""
  return isinstance(node, ast.With) and any(
    "Graph" in module.source(item.context_expr) or "graph" in module.source(item.context_expr)
    for item in node.items
  )


def _lines_of(module: Module, calls: Iterable[ast.Call]) -> dict[str, list[int]]:
  lines: dict[str, list[int]] = {}
  for call in calls:
    lines.setdefault(source(module, call.func), []).append(call.lineno)
  return lines


def _variables(module: Module) -> Iterator[ast.Call]:
  """The calls that make variables of the model."""
  for call, symbol in facts.calls(module):
    head, _, name = symbol.path.rpartition(".")
    if (symbol.path in _VARIABLES and not steps.is_step(module, call)) or (
      head in _LAYERS and _LAYER.match(name)
    ):
      yield call


def _methods(module: Module, names: Sequence[str]) -> list[ast.Call]:
  return [
    node
    for node in module.scope_of
    if isinstance(node, ast.Call)
    and isinstance(node.func, ast.Attribute)
    and node.func.attr in names
  ]


def _told(lines: dict[str, list[int]], text: str) -> Iterator[Change]:
  if lines:
    names = ", ".join(f"`{name}`" for name in list(lines)[:3])
    names += ", ..." if len(lines) > 3 else ""
    yield Change(tuple(n for all_of in lines.values() for n in all_of), f"{names}: {text}")


def _meta_graphs(module: Module, unit: Unit) -> Iterator[Change]:
  lines: dict[str, list[int]] = {}
  for call in (unit.call, *unit.others):
    if unit.kind == found.META_GRAPH:
      lines.setdefault(source(module, call.func), []).append(call.lineno)
  yield from _told(
    lines, "the graph comes from a .meta file; the code that makes the model has to be written here"
  )


def _inputs(module: Module, unit: Unit) -> Iterator[Change]:
  yield from _told(
    _lines_of(module, _near(module, unit, list(_variables(module)))),
    "variables of the model: Keras layers, or tf.Variable, of these names",
  )
  feeds = [
    k.lineno if hasattr(k, "lineno") else node.lineno
    for node in _near(module, unit, _methods(module, ("run", "eval")))
    for k in node.keywords
    if k.arg == "feed_dict"
  ]
  fed = f"; what `feed_dict` gives it ({spell(feeds)}) is a batch of `dataset`" if feeds else ""
  yield from _told(_uses(module, unit, _PLACEHOLDERS), f"an argument of `train_step`{fed}")
  sessions = [c for c, symbol in facts.calls(module) if symbol.path in _SESSIONS]
  yield from _told(
    _lines_of(module, _beside(module, unit, sessions)),
    "what the session ran is called: `train_step`, `model(...)`",
  )
  yield from _told(
    _uses(module, unit, _QUEUES), "the input queue becomes `dataset`, a tf.data.Dataset"
  )


def _train_ops(module: Module, unit: Unit, step: str) -> Iterator[Change]:
  found_ops = _near(module, unit, _methods(module, _TRAIN_OPS))
  for call in sorted(found_ops, key=lambda c: c.lineno):
    arguments = values.arguments(module, call, ("", "global_step"))
    counts = arguments.get("global_step")
    if counts is not None:
      what = f"; `{step}.assign_add(1)` stands for `global_step={source(module, counts)}`"
    else:
      what = "; the optimizer does not count the global step"
    name = source(module, call.func)
    yield Change(
      (call.lineno,), f"`{name}`: a GradientTape and `apply_gradients` in `train_step`{what}"
    )
  hands = [
    call
    for call, symbol in facts.calls(module)
    if symbol.path in ("tf.assign_add", "tf.assign")
    and call.args
    and source(module, call.args[0]).endswith("global_step")
  ]
  for call in _near(module, unit, hands):
    text = f"`{source(module, call)}`: counted in `train_step`, `{step}.assign_add(...)`"
    yield Change((call.lineno,), text)


def _counted_twice(lint: Iterable[Finding], step: str) -> Iterator[Change]:
  for finding in lint:
    if finding.code in ("EM412", "EM416"):
      yield Change(
        (finding.span.line,),
        "the global step is counted by hand beside the optimizer: where both count, N of model.ckpt-N and of every "
        f"cadence here stands for N/2 batches. `train_step` with `{step}.assign_add(2)` goes on like that; with 1, halve the "
        f"numbers and the step of what is loaded ({finding.code})",
      )


def _scaffold(module: Module, unit: Unit) -> Iterator[Change]:
  """Arguments of a Scaffold, session or Supervisor that are about the graph and the session."""
  for line, text in scaffolds.parts(module, unit):
    yield Change((line,), text)


def _var_list(module: Module, unit: Unit) -> Iterator[Change]:
  for saver in [unit.saver, *(c for c in unit.others if unit.kind == found.SAVER)]:
    node = found.bind(module, saver, found.SAVER).get("var_list") if saver is not None else None
    if node is None or values.literal(module, node) is None or _is_everything(module, node):
      continue
    yield Change(
      (node.lineno,),
      f"`{excerpt(module, node)}`: the Saver knows these variables only. A `named_checkpoint` has all of the model; "
      "where a checkpoint lacks some, name them in `allow_missing=`, and other names in `name_map=`",
    )


def _is_everything(module: Module, node: ast.expr) -> bool:
  everything = ("tf.global_variables", "tf.all_variables")
  return values.always_call_of(module, node, everything)
