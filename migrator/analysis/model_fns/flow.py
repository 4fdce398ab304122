"""Which statements of a model_fn a value depends on, in one mode.

Each statement reads and writes variables of the function. A variable that is bound several times is
several values: what counts is the binding that reaches the reader.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from typing import Optional

from migrator.analysis.model_fns.modes import Function, Leaf, Unreadable

CHANGING = frozenset(
  """add append clear discard extend insert pop popitem remove reverse setdefault sort
  update""".split()
)
_CONTAINERS = frozenset("dict list set OrderedDict defaultdict".split())
_COMPOUND = (ast.If, ast.For, ast.While, ast.Try)


class Value:
  """An expression at its place: the value that it has when the statement with this number runs."""

  def __init__(self, node: ast.expr, index: int):
    self.node = node
    self.index = index


class Flow:
  """The statements of one mode with what reaches what.

  Attributes:
    function: the model_fn.
    leaves: the statements.
    replaced: as given.
    reads: of each statement: variable -> number of the statement whose binding it reads; -1 for a
      parameter.
    writes: of each statement: the variables that it binds or changes.

  Args:
    function: the model_fn.
    leaves: its statements in a mode.
    replaced: expressions for which something else stands -> the new parameter that this reads.
  """

  def __init__(self, function: Function, leaves: list[Leaf], replaced: Mapping[ast.AST, str]):
    self.function = function
    self.leaves = leaves
    self.replaced = replaced
    self._containers = self._mutable()
    self.records = self._records()
    self.reads: list[dict[str, int]] = []
    self.writes: list[set[str]] = []
    self._before: list[dict[str, int]] = []
    current = dict.fromkeys((*function.parameters, *replaced.values()), -1)
    for index, leaf in enumerate(leaves):
      self._before.append(dict(current))
      read, written = self._effects(leaf)
      self.writes.append(written)
      # What is bound under a condition may keep its old value.
      kept = written if isinstance(leaf.node, _COMPOUND) else set()
      names = read | {name for name in kept if name in current}
      self.reads.append({name: current[name] for name in names if name in current})
      current.update(dict.fromkeys(written, index))
    self._check_late()

  # -- one statement ----------------------------------------------------------------

  def _is_local(self, node: ast.Name) -> bool:
    scope, _ = self.function.module.scope_of[node].lookup(node.id)
    return scope is self.function.scope

  def _record_key(self, node: ast.AST) -> Optional[str]:
    """The variable that `spec["loss"]` stands for, of a dict that is used in no other way."""
    if (
      isinstance(node, ast.Subscript)
      and isinstance(node.value, ast.Name)
      and node.value.id in self.records
      and isinstance(node.slice, ast.Constant)
    ):
      return f"{node.value.id}[{node.slice.value!r}]"
    return None

  def names(self, *nodes: ast.AST) -> Iterator[tuple[str, ast.AST, bool]]:
    """The variables of the function in some code: name, node, and whether it is bound there."""
    for node in nodes:
      if node in self.replaced:
        yield self.replaced[node], node, False
        continue
      key = self._record_key(node)
      if key is not None:
        yield key, node, not isinstance(node.ctx, ast.Load)  # type: ignore[attr-defined]
      elif isinstance(node, ast.Name):
        if self._is_local(node):
          yield node.id, node, not isinstance(node.ctx, ast.Load)
      else:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and node is not self.function.node:
          scope = self.function.module.scope_of.get(node)
          if scope is self.function.scope:
            yield node.name, node, True
        yield from self.names(*ast.iter_child_nodes(node))

  def _effects(self, leaf: Leaf) -> tuple[set[str], set[str]]:
    """The variables that a statement reads and those that it binds or changes."""
    read: set[str] = set()
    written: set[str] = set()
    heads = [item.context_expr for with_ in leaf.withs for item in with_.items]
    for name, node, bound in self.names(leaf.node, *heads):
      (written if bound else read).add(name)
      if not bound and self._changes(node, name):
        written.add(name)
    if isinstance(leaf.node, ast.AugAssign):
      read |= {name for name, _, _ in self.names(leaf.node.target)}
    if isinstance(leaf.node, (ast.Import, ast.ImportFrom)):
      written |= {(a.asname or a.name).partition(".")[0] for a in leaf.node.names}
    return read, written

  def _changes(self, node: ast.AST, name: str) -> bool:
    """Whether a read of a variable may be the begin of a change of its value in place."""
    parents = self.function.module.parents
    parent = parents.get(node)
    if isinstance(parent, ast.Starred):
      parent = parents.get(parent)
    if isinstance(parent, (ast.Subscript, ast.Attribute)) and parent.value is node:
      if not isinstance(parent.ctx, ast.Load):
        return True
      call = parents.get(parent)
      is_call = isinstance(call, ast.Call) and call.func is parent
      return is_call and isinstance(parent, ast.Attribute) and parent.attr in CHANGING
    # A function that gets a dict or a list may fill it; TensorFlow's do not.
    call = parents.get(parent) if isinstance(parent, ast.keyword) else parent
    if name in self._containers and isinstance(call, ast.Call) and node is not call.func:
      return self.function.module.resolve(call.func) is None and not (
        isinstance(call.func, ast.Name) and call.func.id in ("dict", "len", "list", "sorted", "zip")
      )
    return False

  def _mutable(self) -> set[str]:
    """Variables that hold a dict or a list."""
    found = set()
    for leaf in self.leaves:
      for node in ast.walk(leaf.node):
        if not isinstance(node, ast.Assign):
          continue
        value, function = node.value, getattr(node.value, "func", None)
        made = getattr(function, "id", getattr(function, "attr", "")) in _CONTAINERS
        if made or isinstance(value, (ast.Dict, ast.List, ast.Set)):
          found |= {t.id for t in node.targets if isinstance(t, ast.Name)}
    return found

  def _records(self) -> set[str]:
    """Dicts that are used by constant keys and `**` only, as of the arguments of an EstimatorSpec."""
    found: dict[str, bool] = {}
    made: set[str] = set()
    handed: set[str] = set()
    parents = self.function.module.parents
    for leaf in self.leaves:
      for node in ast.walk(leaf.node):
        if not isinstance(node, ast.Name) or not self._is_local(node):
          continue
        parent = parents.get(node)
        if isinstance(node.ctx, ast.Store):
          made.add(node.id)
          plain = isinstance(parent, ast.Assign) and parent.targets == [node]
          good = plain and isinstance(parent.value, ast.Dict) and not parent.value.keys
        elif isinstance(parent, ast.Subscript) and parent.value is node:
          good = isinstance(parent.slice, ast.Constant)
        else:
          good = isinstance(parent, ast.keyword) and parent.arg is None
          handed.add(node.id)
        found[node.id] = found.get(node.id, True) and good
    return {name for name in made & handed if found[name]}

  def _check_late(self) -> None:
    """Refuses functions that read a variable which is bound again before they are called."""
    for index, leaf in enumerate(self.leaves):
      for inner in ast.walk(leaf.node):
        if isinstance(inner, (ast.Lambda, ast.FunctionDef)):
          for name, node, bound in self.names(*ast.iter_child_nodes(inner)):
            later = range(index + 1, len(self.leaves))
            if not bound and any(name in self._effects(self.leaves[i])[1] for i in later):
              raise Unreadable(node, f"`{name}` is bound again behind a function that reads it")

  # -- values -----------------------------------------------------------------------

  def reaching(self, value: Value) -> dict[str, int]:
    """Variable -> statement whose binding an expression reads; -1 for a parameter."""
    return self.reaching_names({name for name, _, _ in self.names(value.node)}, value.index)

  def reaching_names(self, names: Iterable[str], index: int) -> dict[str, int]:
    """The same for variables that a new expression reads in the place of a statement."""
    before = self._before[index]
    return {name: before[name] for name in names if name in before}

  def at_end(self, name: str) -> int:
    """The statement whose binding of a variable the last statement reads; -1: a parameter."""
    return self._before[-1].get(name, -1)

  def resolve(self, value: Value) -> Value:
    """The expression that a variable was assigned, as long as it is one; else the value itself."""
    seen = set()
    while True:
      node = value.node
      name = node.id if isinstance(node, ast.Name) and self._is_local(node) else None
      name = name or self._record_key(node)
      index = self._before[value.index].get(name, -1) if name else -1
      if index < 0 or index in seen:
        return value
      seen.add(index)
      statement = self.leaves[index].node
      if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return value
      target = statement.targets[0]
      if not (isinstance(target, ast.Name) or self._record_key(target) is not None):
        return value
      value = Value(statement.value, index)

  def identity(self, value: Value) -> tuple:
    """What is equal for values that are certain to be the same, also in other modes."""
    made = self.resolve(value)
    name = made.node.id if isinstance(made.node, ast.Name) else self._record_key(made.node)
    index = self._before[made.index].get(name, -1) if name else -1
    return (made.node,) if index < 0 else (name, self.leaves[index].node)

  def closure(self, start: Iterable[int], stop: Iterable[int] = ()) -> set[int]:
    """The statements that some statements depend on, they themselves included.

    Args:
      start: the statements.
      stop: statements that are taken as they are, without what they depend on.
    """
    stops, found = set(stop), set()
    todo = [index for index in start if index >= 0]
    while todo:
      index = todo.pop()
      if index in found:
        continue
      found.add(index)
      if index not in stops:
        todo += [i for i in self.reads[index].values() if i >= 0]
    return found

  def needed(self, value: Value, stop: Iterable[int] = ()) -> set[int]:
    """The statements that an expression depends on."""
    return self.closure(self.reaching(value).values(), stop)

  def parameters(self, indexes: Iterable[int], *values: Value) -> set[str]:
    """The parameters of the model_fn that some statements and expressions read."""
    found = {name for i in indexes for name, at in self.reads[i].items() if at < 0}
    for value in values:
      found |= {name for name, at in self.reaching(value).items() if at < 0}
    return found
