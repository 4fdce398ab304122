"""The values of expressions that lead to feature columns; see `columns_interpreter`."""

from __future__ import annotations

import abc
import ast
import dataclasses
import itertools
from collections.abc import Iterable, Iterator
from typing import Any, Optional

from migrator.analysis import facts
from migrator.analysis.module import UNKNOWN
from migrator.rewrite import columns_creators, columns_lists, columns_parameters, emit, moves
from migrator.rewrite.columns_values import NotStatic, Value
from migrator.rewrite.plan import Plan, Unsupported

_ATOMS = (ast.Name, ast.Attribute, ast.Call, ast.Subscript, ast.Constant)
_DISPLAYS = (ast.List, ast.Tuple, ast.Dict, ast.Set)


class Expressions(abc.ABC):
  """Gives the values of expressions.

  Args:
    plan: of the file.

  Attributes:
    functions: the functions of the file that gave columns.
  """

  def __init__(self, plan: Plan):
    self.plan = plan
    self.functions: dict[ast.FunctionDef, None] = {}
    self._called: list[ast.FunctionDef] = []

  @abc.abstractmethod
  def call(self, node: ast.Call, function: Value, environment: Any) -> Value:
    """The value of a call of a function of the file."""

  @abc.abstractmethod
  def scope(self, environment: Any, node: ast.AST) -> Any:
    """An environment for the variables of a comprehension."""

  @abc.abstractmethod
  def assign(self, target: ast.expr, value: Value, environment: Any) -> None:
    """Binds the names of an assignment target."""

  @abc.abstractmethod
  def may_change(self, load: ast.Name) -> bool:
    """Whether a read of a variable begins a change of its value, or hands it to someone."""

  def evaluate(self, node: ast.expr, environment: Any) -> Value:
    """The value of an expression; one of which nothing is known has its source only.

    Raises:
      NotStatic: it has columns that are not known.
    """
    if isinstance(node, ast.Name):
      return self._name(node, environment)
    if isinstance(node, ast.Constant):
      return Value(self._constant(node), scalar=node.value)
    if isinstance(node, (ast.List, ast.Tuple, ast.Set)):
      return self._with_text(node, environment, self._display(node, environment))
    if isinstance(node, ast.Dict) and None not in node.keys:
      keys = [self.evaluate(k, environment).constant for k in node.keys if k is not None]
      if all(columns_lists.is_key(key) for key in keys):
        values = [self.evaluate(v, environment) for v in node.values]
        return self._with_text(node, environment, Value(entries=dict(zip(keys, values))))
    if isinstance(node, (ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp)):
      return self._comprehension(node, environment)
    if isinstance(node, ast.Call):
      return self._call(node, environment)
    found = self._operation(node, environment)
    if found is not None and (found.column is not None or found.items or found.entries):
      return found if found.text else self._with_text(node, environment, found)
    value = self._with_text(node, environment, found or Value())
    if value.scalar is not UNKNOWN and value.text != self.plan.module.source(node):
      value.text = _literal(value.scalar)
      value.reads = ()
    return value

  # -- kinds of expressions -------------------------------------------------------

  def _name(self, node: ast.Name, environment: Any) -> Value:
    found = environment.find(node.id)
    if found is None:
      return Value(node.id, (node,))
    owner, value = found
    if value.function is None and self._changed_elsewhere(node, owner):
      value.forget()
      return Value(node.id, (node,))
    container = value.items is not None or value.entries is not None
    known = container or value.constant is not UNKNOWN or value.has_columns() or value.function
    return value if known else Value(value.text or node.id, value.reads or (node,))

  def _changed_elsewhere(self, node: ast.Name, owner: Any) -> bool:
    """Whether a function that is not followed here changes a variable of the code around it."""
    module = self.plan.module
    if not isinstance(owner.node, (ast.Module, ast.FunctionDef)):
      return False  # a comprehension
    if module.scope_of[node].lookup(node.id)[0] is not module.scopes.get(owner.node):
      return False
    _, bindings = module.scope_of[node].lookup(node.id)
    for binding in bindings:
      inside = [a for a in module.ancestors(binding.node) if isinstance(a, ast.FunctionDef)]
      if (inside[0] if inside else module.tree) is not owner.node:
        return True  # by a `global` or `nonlocal` statement
    for load in facts.loads(module, node):
      functions = [a for a in module.ancestors(load) if isinstance(a, ast.FunctionDef)]
      inner = functions[0] if functions else module.tree
      if inner is owner.node or inner in self._called or inner in self.functions_around():
        continue
      if moves.changes(module, load):
        return True
    return False

  @abc.abstractmethod
  def functions_around(self) -> set[ast.AST]:
    """What holds the place."""

  def _display(self, node, environment: Any) -> Value:
    items: list[Value] = []
    for element in node.elts:
      if isinstance(element, ast.Starred):
        more = self.evaluate(element.value, environment).items
        if more is None:
          raise NotStatic(element, f"`{self.plan.module.source(element.value)}` is not known")
        items += more
        continue
      value = self.evaluate(element, environment)
      if value.column is not None:
        comments = self.plan.comments
        value = dataclasses.replace(
          value, comments=(tuple(comments.leading(element)), comments.trailing(element))
        )
      items.append(value)
    return Value(items=items, is_tuple=isinstance(node, ast.Tuple))

  def _comprehension(self, node, environment: Any) -> Value:
    inner = self.scope(environment, node)
    values: list[Value] = []
    entries: dict[Any, Value] = {}
    try:
      for _ in self._rounds(node.generators, inner):
        if isinstance(node, ast.DictComp):
          key = self.evaluate(node.key, inner).constant
          if not columns_lists.is_key(key):
            raise NotStatic(node.key, "a key is not known in the file")
          entries[key] = self.evaluate(node.value, inner)
        else:
          values.append(self.evaluate(node.elt, inner))
    except NotStatic:
      return self._with_text(node, environment, Value())
    if isinstance(node, ast.DictComp):
      return self._with_text(node, environment, Value(entries=entries))
    return self._with_text(node, environment, Value(items=values, origin=node))

  def _rounds(self, generators: list[ast.comprehension], environment: Any) -> Iterator[None]:
    if not generators:
      yield
      return
    first, *rest = generators
    items = columns_lists.elements(self.evaluate(first.iter, environment))
    if items is None or first.is_async:
      raise NotStatic(first.iter, f"`{self.plan.module.source(first.iter)}` is not known")
    for item in list(items):
      self.assign(first.target, item, environment)
      if all(self._holds(condition, environment) for condition in first.ifs):
        yield from self._rounds(rest, environment)

  def _holds(self, node: ast.expr, environment: Any) -> bool:
    """Whether a condition of a comprehension holds.

    Raises:
      NotStatic: the file does not show it.
    """
    module, known = self.plan.module, UNKNOWN
    names = [n for n in ast.walk(node) if isinstance(n, ast.Name)]
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
      return not self._holds(node.operand, environment)
    if isinstance(node, ast.BoolOp):
      parts = (self._holds(part, environment) for part in node.values)
      return all(parts) if isinstance(node.op, ast.And) else any(parts)
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
      sides = (node.left, node.comparators[0])
      left, right = (self.evaluate(side, environment).constant for side in sides)
      known = columns_lists.compare(node.ops[0], left, right)
    fixed = not any(
      moves.has_many_values(module, n) for n in names if not self._is_of_comprehension(n)
    )
    if not isinstance(known, bool) or not fixed:
      raise NotStatic(node, f"`{module.source(node)}` is not known")
    return known

  def _is_of_comprehension(self, name: ast.Name) -> bool:
    owner, _ = self.plan.module.scope_of[name].lookup(name.id)
    kinds = (ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp)
    return owner is not None and isinstance(owner.node, kinds)

  def _call(self, node: ast.Call, environment: Any) -> Value:
    name = columns_parameters.creator_name(self.plan, node)
    if name is not None:
      creator = columns_creators.Creator(
        self.plan, node, name, lambda value: self.evaluate(value, environment)
      )
      return creator.make()
    if isinstance(node.func, ast.Name):
      found = environment.find(node.func.id)
      if found is not None and found[1].function is not None:
        value = self.call(node, found[1], environment)
        if value.has_columns():
          self.functions[found[1].function] = None
          return value
        return self._with_text(node, environment, Value(scalar=value.scalar))
    found_value = columns_lists.call(self, node, environment)
    if found_value is not None:
      if found_value.has_columns():
        return found_value
      return self._with_text(node, environment, found_value)
    self._hand_over(node, environment)
    return self._with_text(node, environment, Value())

  def _hand_over(self, node: ast.AST, environment: Any) -> None:
    """Makes unknown what a call that is not followed may change."""
    for inner in ast.walk(node):
      if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Load) and self.may_change(inner):
        found = environment.find(inner.id)
        if found is not None:
          found[1].forget()

  def _operation(self, node: ast.expr, environment: Any) -> Optional[Value]:
    if isinstance(node, ast.BinOp):
      left, right = (self.evaluate(part, environment) for part in (node.left, node.right))
      if isinstance(node.op, ast.Add) and left.items is not None and right.items is not None:
        return Value(items=[*left.items, *right.items], is_tuple=left.is_tuple)
      return Value(scalar=columns_lists.operate(node.op, left.constant, right.constant))
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice):
      bounds = [
        None if bound is None else self.evaluate(bound, environment).constant
        for bound in (node.slice.lower, node.slice.upper, node.slice.step)
      ]
      return columns_lists.part(self.evaluate(node.value, environment), bounds)
    if isinstance(node, ast.Subscript):
      return columns_lists.subscript(
        self.evaluate(node.value, environment), self.evaluate(node.slice, environment)
      )
    if isinstance(node, ast.JoinedStr):
      return Value(scalar=columns_lists.joined(node, lambda part: self.evaluate(part, environment)))
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
      value = self.evaluate(node.operand, environment).constant
      return Value(scalar=-value if isinstance(value, (int, float)) else UNKNOWN)
    return None

  # -- text -----------------------------------------------------------------------

  def _with_text(self, node: ast.expr, environment: Any, value: Value) -> Value:
    value.text, value.reads = self._text(node, environment), tuple(self._reads(node, environment))
    return value

  def _text(self, node: ast.expr, environment: Any) -> str:
    """Source of an expression; names that the new function does not see are replaced."""
    plan, replaced = self.plan, {}
    for name, value in self._names(node, environment):
      if value is not None and value.text and value.text != name.id:
        if moves.is_read_late(plan.module, name, node) and self._varies(name):
          # Not the value of now, but the last one that the variable gets.
          raise NotStatic(name, f"a lambda reads `{name.id}`, which has more than one value")
        replaced[name] = value.text
    try:
      for name, text in replaced.items():
        simple = isinstance(ast.parse(text, mode="eval").body, (*_ATOMS, *_DISPLAYS))
        plan.expressions[name] = text if simple else f"({text})"
      return emit.joined(plan.source(node))
    finally:
      for name in replaced:
        del plan.expressions[name]

  def _constant(self, node: ast.Constant) -> str:
    """Source of a constant; of a string that cannot be moved as it stands, another spelling."""
    try:
      return emit.joined(self.plan.source(node))
    except Unsupported:
      return _literal(node.value)

  def _varies(self, name: ast.Name) -> bool:
    """Whether a variable gets several values while its function runs once."""
    module = self.plan.module
    if moves.has_many_values(module, name):
      return True
    _, bindings = module.scope_of[name].lookup(name.id)
    around = module.ancestors(bindings[0].node)
    return any(isinstance(a, (ast.For, ast.While)) for a in _up_to_function(around))

  def _reads(self, node: ast.expr, environment: Any) -> Iterator[ast.AST]:
    for inner in ast.walk(node):
      called = isinstance(inner, ast.Call) and not moves.is_pure(self.plan.module, inner)
      if called or isinstance(inner, (ast.NamedExpr, ast.Await, ast.Yield, ast.YieldFrom)):
        yield inner
    for name, value in self._names(node, environment):
      if value is None or not value.text or value.text == name.id:
        yield name
      else:
        yield from value.reads

  def _names(self, node: ast.expr, environment: Any):
    """The variables that an expression reads from outside of it, with their values."""
    module = self.plan.module
    for name in ast.walk(node):
      if not isinstance(name, ast.Name) or not isinstance(name.ctx, ast.Load):
        continue
      owner, _ = module.scope_of[name].lookup(name.id)
      opened_by = owner.node if owner is not None else None
      inside = opened_by is not None and (
        opened_by is node or any(a is node for a in module.ancestors(opened_by))
      )
      if inside and not any(opened_by is e for e in _nodes(environment)):
        continue  # a variable of a comprehension or lambda in the expression
      found = environment.find(name.id)
      yield name, found[1] if found is not None else None


def _up_to_function(nodes: Iterable[ast.AST]) -> Iterator[ast.AST]:
  """The first ones of these, up to that which opens a scope of its own."""
  return itertools.takewhile(lambda n: not isinstance(n, (ast.FunctionDef, ast.Lambda)), nodes)


def _nodes(environment: Any) -> Iterator[ast.AST]:
  while environment is not None:
    yield environment.node
    environment = environment.parent


def _literal(value: Any) -> str:
  return emit.string(value) if isinstance(value, str) else repr(value)
