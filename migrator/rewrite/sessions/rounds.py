"""The loops in which a program runs a monitored session or a Supervisor's: how they end."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from typing import NamedTuple, Optional, Union

from migrator.analysis.module import Module
from migrator.lint.checks import estimators
from migrator.rewrite.sessions import conditions, runs
from migrator.rewrite.sessions.found import Unit
from migrator.rewrite.sessions.text import LINE, comments, source, spell

_LOOPS = (ast.For, ast.AsyncFor, ast.While)
_HEAD = "for batch in dataset:"
_STOPS = ("should_stop", "ShouldStop")

Loop = Union[ast.For, ast.AsyncFor, ast.While]


class Rounds(NamedTuple):
  """What stands in the new loop of what ended the old one.

  Attributes:
    notes: comments above the loop.
    head: the `for` line.
    before: lines before the step of each round.
    after: lines after it, and after the save that is due.
  """

  notes: list[str]
  head: str
  before: list[str]
  after: list[str]


def of(module: Module, unit: Unit, step: str) -> Rounds:
  """Reads the loop of a unit; the notes say where there is none, or several."""
  names = runs.session_names(module, unit)
  found = _loops(module, unit, names)
  if not found:
    text = "The loop of the session is not seen here: the caller's becomes this; what else ends it stays."
    return Rounds(comments([text]), _HEAD, [], [])
  loop, notes = found[0], []
  if len(found) > 1:
    lines = spell([other.lineno for other in found])
    notes.append(f"{lines}: the session has {len(found)} loops; this is the first of them.")
  inside = set(module.ancestors(unit.call))
  around = [a for a in module.ancestors(loop) if isinstance(a, _LOOPS) and a not in inside]
  if _function(module, loop) is not _function(module, unit.call):
    around += [n for n in _own_loops(module, unit, names) if n not in around]
  if around:
    lines = spell([a.lineno for a in around])
    notes.append(f"{lines}: what loops around it stays around this one, with what ends it.")
  head = _HEAD
  if _runs_a_step(module, loop, names):
    head = _head(module, loop)
  elif isinstance(loop, (ast.For, ast.AsyncFor)):
    rounds = f"for {source(module, loop.target)} in {source(module, loop.iter)}"
    notes.append(
      f"line {loop.lineno}: `{rounds}`: not only its own lines run the session. Where a round is more than one step, the loop stays "
      "around this one, else this one has as many rounds."
    )
  reader = _Ends(module, loop, names, step)
  before, after = reader.lines()
  return Rounds(comments([*notes, *reader.notes]), head, before, after)


def _head(module: Module, loop: Loop) -> str:
  if isinstance(loop, ast.While):
    return _HEAD
  target = source(module, loop.target)
  if isinstance(loop.target, ast.Tuple) and loop.target.elts:
    parts = [source(module, e) for e in loop.target.elts]
    target = f"({parts[0]},)" if len(parts) == 1 else f"({', '.join(parts)})"
  return f"for {target}, batch in zip({source(module, loop.iter)}, dataset):"


def _loops(module: Module, unit: Unit, names: set[str]) -> list[Loop]:
  """The loops of the session, without those within them.

  Those that ask it whether to stop, else those that run it, else those that hand it on; those of the
  unit's own function, if there are any. A `for` that asks and has its runs in loops within it gives way
  to these: its rounds are no steps.
  """
  loops: list[Loop] = [n for n in list(module.scope_of) if isinstance(n, _LOOPS)]
  loops.sort(key=lambda n: n.lineno)
  asking = [n for n in loops if any(_asks(module, c, names) for c in _direct(module, n))]
  running = [n for n in loops if any(_is_run(module, c, names) for c in _direct(module, n))]
  using = [n for n in loops if any(_uses(module, c, names) for c in _direct(module, n))]
  taken: list[Loop] = []
  for loop in asking:
    within = [n for n in running if loop in module.ancestors(n)]
    gives_way = not isinstance(loop, ast.While) and loop not in running
    taken += within if gives_way and within else [loop]
  taken = taken or running or using
  function = _function(module, unit.call)
  taken = [n for n in taken if _function(module, n) is function] or taken
  taken = list(dict.fromkeys(taken))
  return [n for n in taken if not any(a in taken for a in module.ancestors(n))]


def _runs_a_step(module: Module, loop: Loop, names: set[str]) -> bool:
  """Whether each round runs the session itself, and nothing else does: no inner loop, no call."""
  if not any(_is_run(module, n, names) for n in _direct(module, loop)):
    return False
  for node in estimators.own_nodes(loop):
    if not isinstance(node, ast.Call):
      continue
    if _is_run(module, node, names):
      inner = next(a for a in module.ancestors(node) if isinstance(a, _LOOPS))
      if inner is not loop:
        return False
    given = [*node.args, *(k.value for k in node.keywords)]
    if any(_uses(module, g, names) for g in given):
      return False
  return True


def _own_loops(module: Module, unit: Unit, names: set[str]) -> list[Loop]:
  """The loops of the function of a unit that hand its session on."""
  function = _function(module, unit.call)
  loops: list[Loop] = [n for n in list(module.scope_of) if isinstance(n, _LOOPS)]
  return [
    n
    for n in loops
    if _function(module, n) is function and any(_uses(module, c, names) for c in _direct(module, n))
  ]


def _function(module: Module, node: ast.AST) -> Optional[ast.AST]:
  functions = (ast.FunctionDef, ast.AsyncFunctionDef)
  return next((a for a in module.ancestors(node) if isinstance(a, functions)), None)


def _is_run(module: Module, node: ast.AST, names: Iterable[str]) -> bool:
  return (
    isinstance(node, ast.Call)
    and isinstance(node.func, ast.Attribute)
    and node.func.attr in ("run", "run_step_fn")
    and source(module, node.func.value) in names
  )


def _direct(module: Module, loop: Loop) -> Iterator[ast.AST]:
  """The nodes of a loop that are of no loop within it."""
  for node in estimators.own_nodes(loop):
    if next((a for a in module.ancestors(node) if isinstance(a, _LOOPS)), None) is loop:
      yield node


def _asks(module: Module, node: ast.AST, names: Iterable[str]) -> bool:
  """Whether a node is `session.should_stop()`."""
  return (
    isinstance(node, ast.Call)
    and isinstance(node.func, ast.Attribute)
    and node.func.attr in _STOPS
    and source(module, node.func.value) in names
  )


def _uses(module: Module, node: ast.AST, names: Iterable[str]) -> bool:
  return isinstance(node, (ast.Name, ast.Attribute)) and source(module, node) in names


class _Ends:
  """What ends a loop besides the session.

  Args:
    module: the file.
    loop: the loop.
    names: the variables of the session and the Supervisor.
    step: the variable of the global step in the new code.

  Attributes:
    notes: what is to be said about it.
  """

  def __init__(self, module: Module, loop: Loop, names: set[str], step: str):
    self._module = module
    self._loop = loop
    self._names = names
    self._step = step
    self.notes: list[str] = []
    self._set_inside: dict[str, None] = {}

  def lines(self) -> tuple[list[str], list[str]]:
    """Those before and after the step of a round."""
    before: list[str] = []
    after: list[str] = []
    loop = self._loop
    if isinstance(loop, ast.While):
      kept = self._without_stop(loop.test, ast.And)
      if kept:
        text = conditions.negated(kept, ast.parse(kept, mode="eval").body)
        before += self._ending(text, loop.test)
    calls = [n for n in _direct(self._module, loop) if isinstance(n, ast.Call)]
    ran = [c.lineno for c in calls if _is_run(self._module, c, self._names)]
    exits = [n for n in estimators.own_nodes(loop) if isinstance(n, (ast.Break, ast.Return))]
    for node in sorted(exits, key=lambda n: n.lineno):
      lines = self._exit(node)
      if ran and node.lineno > min(ran):
        after += lines
      else:
        before += lines
    if self._set_inside:
      names = ", ".join(f"`{n}`" for n in self._set_inside)
      self.notes.append(
        f"{names}: set in the loop of line {loop.lineno}, which stays; what a run of the session gave is "
        f"`int({self._step})`, or what `train_step` returns."
      )
    return before, after

  def _exit(self, node: Union[ast.Break, ast.Return]) -> list[str]:
    """The lines for one statement that leaves the loop."""
    loops = (a for a in self._module.ancestors(node) if isinstance(a, _LOOPS))
    if isinstance(node, ast.Break) and next(loops, None) is not self._loop:
      return []
    handler = self._handler(node)
    if handler is not None:
      caught = source(self._module, handler.type) if handler.type is not None else "any error"
      if not caught.endswith("OutOfRangeError"):
        self.notes.append(f"line {node.lineno}: the loop also ends after `{caught}`: this stays.")
      return []
    parent = self._module.parents[node]
    plain = isinstance(node, ast.Break) and isinstance(parent, ast.If)
    if plain and self._module.parents[parent] is self._loop and node in parent.body:  # type: ignore[attr-defined]
      test: ast.expr = parent.test  # type: ignore[attr-defined]
      kept = self._without_stop(test, ast.Or)
      return self._ending(kept, test) if kept else []
    condition = conditions.of(self._module, node, [self._loop])
    if condition and self._is_stop_only(node):
      return []
    what = "return" if isinstance(node, ast.Return) else "break"
    where = f" where `{condition}`" if condition else ""
    self.notes.append(f"line {node.lineno}: `{what}`{where} ends the loop, too: this stays.")
    return []

  def _handler(self, node: ast.AST) -> Optional[ast.ExceptHandler]:
    for ancestor in self._module.ancestors(node):
      if ancestor is self._loop:
        return None
      if isinstance(ancestor, ast.ExceptHandler):
        return ancestor
    return None

  def _is_stop_only(self, node: ast.AST) -> bool:
    """Whether a statement stands under nothing but the session's own question."""
    parent = self._module.parents[node]
    return isinstance(parent, ast.If) and _asks(self._module, parent.test, self._names)

  def _without_stop(self, test: ast.expr, operator: type) -> str:
    """A test without the question to the session; "" where nothing else is asked."""
    parts = [test]
    if isinstance(test, ast.BoolOp) and isinstance(test.op, operator):
      parts = test.values
    kept = [p for p in parts if not self._is_stop(p, operator)]
    if operator is ast.And:
      kept = [p for p in kept if not (isinstance(p, ast.Constant) and p.value)]
    word = " and " if operator is ast.And else " or "
    texts = [source(self._module, p) for p in kept]
    loose = (ast.BoolOp, ast.IfExp, ast.NamedExpr, ast.Lambda)
    shown = [f"({t})" if isinstance(p, loose) else t for p, t in zip(kept, texts)]
    return word.join(shown) if len(kept) > 1 else "".join(texts)

  def _is_stop(self, node: ast.expr, operator: type) -> bool:
    if operator is ast.And:
      if not isinstance(node, ast.UnaryOp) or not isinstance(node.op, ast.Not):
        return False
      node = node.operand
    return _asks(self._module, node, self._names)

  def _ending(self, condition: str, test: ast.expr) -> list[str]:
    """The lines that leave the new loop where a condition holds."""
    head, comment = f"  if {condition}:", f"# line {test.lineno}: the loop's own end"
    fits = len(head) + len(comment) + 2 <= LINE
    names = [n for n in ast.walk(test) if isinstance(n, ast.Name) and n.id in condition]
    self._set_inside.update(dict.fromkeys(n.id for n in names if self._is_set_inside(n)))
    return [
      f"{head}  {comment}" if fits else f"  {comment}",
      *([] if fits else [head]),
      "    break",
    ]

  def _is_set_inside(self, name: ast.Name) -> bool:
    _, bindings = self._module.scope_of[name].lookup(name.id)
    return any(self._loop in self._module.ancestors(b.node) for b in bindings)
