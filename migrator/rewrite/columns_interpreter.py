"""Follows the statements that build feature columns, without running them.

A statement that is not understood makes whatever it may change unknown; only a column that is
asked for and not known is an error.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import Optional

from migrator.rewrite import columns_lists, moves
from migrator.rewrite.columns_expressions import Expressions
from migrator.rewrite.columns_values import Column, NotStatic, Value
from migrator.rewrite.plan import Plan, Unsupported

_MOST_ROUNDS = 1000


class Environment:
  """The variables of a module or of one call of a function.

  Args:
    parent: of the code around it.
    kept: whether the new function sees the variables too.
    node: what opens the scope.
  """

  def __init__(self, parent: Optional[Environment], kept: bool, node: ast.AST):
    self.parent = parent
    self.kept = kept
    self.node = node
    self.values: dict[str, Value] = {}

  def find(self, name: str) -> Optional[tuple[Environment, Value]]:
    """Where a name is bound, and to what."""
    environment: Optional[Environment] = self
    while environment is not None:
      if name in environment.values:
        return environment, environment.values[name]
      environment = environment.parent
    return None


class _Return(Exception):
  def __init__(self, value: Value):
    super().__init__()
    self.value = value


class Interpreter(Expressions):
  """Follows a file up to one place in it.

  Args:
    plan: of the file.
    place: the call of the estimator's constructor.

  Attributes:
    statements: what was understood to build columns, in the order of the source.
  """

  def __init__(self, plan: Plan, place: ast.AST):
    super().__init__(plan)
    self.place = place
    self.statements: dict[ast.stmt, None] = {}
    # What stands above the statements that gave columns their names.
    self.above: dict[Column, tuple[str, ...]] = {}
    self._depth = 0
    self._noted = 0
    module = plan.module
    self._around = {place, *module.ancestors(place)}
    environment = Environment(None, True, module.tree)
    functions = [
      node for node in module.ancestors(place) if isinstance(node, (ast.FunctionDef, ast.Lambda))
    ][::-1]
    self._block(module.tree.body, environment)
    for function in functions:
      environment = Environment(environment, True, function)
      for argument in ast.walk(function.args):
        if isinstance(argument, ast.arg):
          environment.values[argument.arg] = Value(argument.arg)
      if isinstance(function, ast.FunctionDef):
        self._block(function.body, environment)
    self.environment = environment

  def value(self, node: ast.expr) -> Value:
    """What an expression at the place stands for.

    Raises:
      NotStatic: a column in it is not known.
    """
    return self.evaluate(node, self.environment)

  # -- statements ---------------------------------------------------------------

  def _block(self, body: Iterable[ast.stmt], environment: Environment) -> bool:
    """Follows statements; returns whether the place was reached."""
    holder = ""  # the function or class of the block that holds the place
    for statement in body:
      if holder and _mentions(statement, holder):
        return True  # which may run what holds the place
      if statement in self._around:
        if not isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
          self._enter(statement, environment)
          return True
        holder = statement.name
      try:
        self._statement(statement, environment)
      except NotStatic:
        self._forget(statement, environment)
      except Unsupported as error:
        if error.code != "EM220":
          raise
        # Its text cannot be moved; whether it has to be is seen where its variables are read.
        self._forget(statement, environment)
      except _Return:
        if not environment.kept:
          raise
        # The place behind it is reached, so something has held the return back.
        self._forget(statement, environment)
    return bool(holder)

  def _enter(self, statement: ast.stmt, environment: Environment) -> None:
    """Follows a compound statement down to the place in it."""
    if isinstance(statement, (ast.For, ast.While)):
      # What earlier rounds have left is not followed.
      self._forget(statement, environment)
    for field in ("body", "orelse", "handlers", "finalbody"):
      block = getattr(statement, field, None) or []
      if not any(inner in self._around for inner in block):
        if field == "body" and isinstance(statement, ast.Try):
          for inner in block:
            self._forget(inner, environment)
        continue
      self._block(block, environment)
      return

  def _statement(self, statement: ast.stmt, environment: Environment) -> None:
    if isinstance(statement, ast.Assign):
      value = self.evaluate(statement.value, environment)
      for target in statement.targets:
        self.assign(target, value, environment)
      if value.column is not None:
        self.above.setdefault(value.column, tuple(self.plan.comments.leading(statement)))
      self._note(statement, value, environment)
    elif isinstance(statement, ast.AnnAssign):
      if statement.value is not None:
        value = self.evaluate(statement.value, environment)
        self.assign(statement.target, value, environment)
        self._note(statement, value, environment)
    elif isinstance(statement, ast.AugAssign):
      self._augment(statement, environment)
    elif isinstance(statement, ast.Expr):
      value = self.evaluate(statement.value, environment)
      if columns_lists.is_change(statement.value):
        self._note(statement, value, environment)
    elif isinstance(statement, ast.For):
      self._loop(statement, environment)
    elif isinstance(statement, (ast.With, ast.AsyncWith)):
      for item in statement.items:
        if item.optional_vars is not None:
          self.assign(item.optional_vars, Value(), environment)
      self._depth += 1
      try:
        self._block(statement.body, environment)
      finally:
        self._depth -= 1
    elif isinstance(statement, ast.Return):
      value = Value("None", scalar=None)
      raise _Return(self.evaluate(statement.value, environment) if statement.value else value)
    elif isinstance(statement, ast.FunctionDef) and not statement.decorator_list:
      text = statement.name if environment.kept else ""
      environment.values[statement.name] = Value(text, function=statement, environment=environment)
    elif isinstance(statement, ast.If) and _is_main(statement):
      self._block(statement.body, environment)
    elif not isinstance(statement, (ast.Pass, ast.Import, ast.ImportFrom, ast.Assert)):
      raise NotStatic(statement, "it is built under a condition")

  def _note(self, statement: ast.stmt, value: Value, environment: Environment) -> None:
    """Remembers a statement that does nothing but build columns, or makes a list for them."""
    empty = value.items == [] or value.entries == {}
    if not environment.kept or not (value.has_columns() or empty):
      return
    self._noted += 1
    if not self._depth:
      self.statements[statement] = None

  def scope(self, environment: Environment, node: ast.AST) -> Environment:
    return Environment(environment, False, node)

  def functions_around(self) -> set[ast.AST]:
    return self._around

  def assign(self, target: ast.expr, value: Value, environment: Environment) -> None:
    if isinstance(target, ast.Name):
      environment.values[target.id] = value
      if environment.kept and self._has_one_value(target):
        value.text, value.reads = target.id, (target,)
    elif isinstance(target, (ast.Tuple, ast.List)):
      items = value.items
      if items is None or len(items) != len(target.elts):
        items = [Value() for _ in target.elts]
      for element, item in zip(target.elts, items):
        self.assign(element, item, environment)
    elif isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name):
      found = environment.find(target.value.id)
      key = self.evaluate(target.slice, environment).constant
      if found is None:
        return
      if found[1].entries is None or not columns_lists.is_key(key):
        found[1].forget()
        return
      found[1].entries[key] = value

  def _has_one_value(self, target: ast.Name) -> bool:
    """Whether a variable may be read in the new function in place of its value."""
    if moves.has_many_values(self.plan.module, target):
      return False
    # In a loop each round has its own value; only that around the place stands still there.
    loops = (a for a in self.plan.module.ancestors(target) if isinstance(a, (ast.For, ast.While)))
    return all(loop in self._around for loop in loops)

  def _augment(self, statement: ast.AugAssign, environment: Environment) -> None:
    target = statement.target
    found = environment.find(target.id) if isinstance(target, ast.Name) else None
    more = self.evaluate(statement.value, environment)
    if found is None or not isinstance(statement.op, ast.Add) or found[1].items is None:
      raise NotStatic(statement, "it is changed in place")
    if more.items is None:
      raise NotStatic(statement, f"`{self.plan.module.source(statement.value)}` is not known")
    found[1].items.extend(more.items)
    self._note(statement, more, environment)

  def _loop(self, statement: ast.For, environment: Environment) -> None:
    items = columns_lists.elements(self.evaluate(statement.iter, environment))
    if items is None or len(items) > _MOST_ROUNDS or statement.orelse:
      raise NotStatic(statement, f"`{self.plan.module.source(statement.iter)}` is not known")
    before, self._depth = self._noted, self._depth + 1
    try:
      for item in list(items):
        self.assign(statement.target, item, environment)
        for inner in statement.body:
          self._statement(inner, environment)
    finally:
      self._depth -= 1
    if self._noted > before and not self._depth and _only_builds(statement):
      self.statements[statement] = None

  def _forget(self, statement: ast.stmt, environment: Environment) -> None:
    """Makes unknown what a statement, which is not followed, may change."""
    for node in ast.walk(statement):
      if isinstance(node, (ast.Return, ast.Break, ast.Continue)) and not environment.kept:
        raise NotStatic(node, "it is built under a condition")
      if isinstance(node, ast.Name):
        found = environment.find(node.id)
        if isinstance(node.ctx, ast.Load):
          if found is not None and self.may_change(node):
            found[1].forget()
        else:
          if found is not None and isinstance(self.plan.module.parents[node], ast.AugAssign):
            found[1].forget()
          environment.values[node.id] = Value(node.id)

  def may_change(self, load: ast.Name) -> bool:
    """Whether a read of a variable begins a change of its value, or hands it to someone."""
    if moves.changes(self.plan.module, load):
      return True
    parent = self.plan.module.parents.get(load)
    if isinstance(parent, (ast.keyword, ast.Starred)):
      parent = self.plan.module.parents.get(parent)
    return (
      isinstance(parent, ast.Call)
      and parent.func is not load
      and not moves.is_pure(self.plan.module, parent)
    )

  # -- functions of the file ------------------------------------------------------

  def call(self, node: ast.Call, function: Value, environment: Environment) -> Value:
    """The value of a call of a function of the file."""
    definition = function.function
    assert definition is not None
    arguments = definition.args
    if definition in self._called or arguments.vararg or arguments.kwarg:
      raise NotStatic(node, f"`{self.plan.module.source(node)}` is not followed")
    inner = Environment(function.environment, False, definition)
    names = [a.arg for a in (*arguments.posonlyargs, *arguments.args)]
    defaults = dict(zip(names[len(names) - len(arguments.defaults) :], arguments.defaults))
    for keyword_only, default in zip(arguments.kwonlyargs, arguments.kw_defaults):
      names.append(keyword_only.arg)
      if default is not None:
        defaults[keyword_only.arg] = default
    given = dict(zip(names, node.args))
    given.update({k.arg: k.value for k in node.keywords if k.arg is not None})
    if any(isinstance(a, ast.Starred) for a in node.args) or set(given) - set(names):
      raise NotStatic(node, f"`{self.plan.module.source(node)}` is not followed")
    for name in names:
      if name in given:
        inner.values[name] = self.evaluate(given[name], environment)
      elif name in defaults:
        inner.values[name] = self.evaluate(defaults[name], function.environment)
      else:
        raise NotStatic(node, f"`{self.plan.module.source(node)}` is not followed")
    self._called.append(definition)
    try:
      self._block(definition.body, inner)
    except _Return as returned:
      return returned.value
    finally:
      self._called.pop()
    return Value("None", scalar=None)


def _mentions(statement: ast.stmt, name: str) -> bool:
  """Whether a statement that runs now has a name, outside of functions."""
  if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
    return False
  return any(isinstance(node, ast.Name) and node.id == name for node in ast.walk(statement))


def _only_builds(loop: ast.For) -> bool:
  """Whether a loop has nothing but assignments and additions to lists and dicts."""
  return all(
    isinstance(inner, (ast.Assign, ast.AnnAssign, ast.AugAssign))
    or (isinstance(inner, ast.Expr) and columns_lists.is_change(inner.value))
    or (isinstance(inner, ast.For) and _only_builds(inner))
    for inner in loop.body
  )


def _is_main(statement: ast.If) -> bool:
  return ast.unparse(statement.test).replace('"', "'") == "__name__ == '__main__'"
