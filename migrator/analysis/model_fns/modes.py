"""The modes of a model_fn: which statements run in which.

A model_fn is called once for each of the three modes
(https://www.tensorflow.org/versions/r1.15/api_docs/python/tf/estimator/ModeKeys), with `labels` None
where it predicts.
"""

from __future__ import annotations

import ast
import dataclasses
from typing import Optional

from migrator.analysis.module import Module

TRAIN, EVAL, PREDICT = MODES = ("train", "eval", "infer")
_KEYS = {"TRAIN": TRAIN, "EVAL": EVAL, "PREDICT": PREDICT, "INFER": PREDICT}


class Unreadable(Exception):
  """A model_fn that cannot be followed.

  Args:
    node: the place.
    reason: what is there, as the end of a sentence.
    of_choice: whether it may only say that the network was taken to end at a wrong variable.
  """

  def __init__(self, node: ast.AST, reason: str, of_choice: bool = False):
    super().__init__(reason)
    self.of_choice = of_choice
    self.node = node
    self.reason = reason


@dataclasses.dataclass(frozen=True)
class Leaf:
  """A statement that runs in a mode, and the `with` statements around it, outermost first."""

  node: ast.stmt
  withs: tuple[ast.With, ...] = ()


class Function:
  """One model_fn.

  Attributes:
    module: of it.
    node: its definition.
    features: the name of its first parameter.
    parameters: the names of all.
    kept: `if` statements on the mode that stay whole, as parts of the network.
  """

  def __init__(self, module: Module, node: ast.FunctionDef, mode: str = "mode"):
    self.module = module
    self.node = node
    self._mode = mode
    arguments = node.args
    self.parameters = [
      a.arg for a in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)
    ]
    self.features = self.parameters[0] if self.parameters else ""
    self.scope = module.scopes[node]
    self.kept: frozenset[ast.If] = frozenset()

  # -- predicates -----------------------------------------------------------------

  def is_parameter(self, node: ast.AST, name: str) -> bool:
    """Whether an expression reads a parameter, which nothing else binds."""
    if not isinstance(node, ast.Name) or node.id != name:
      return False
    scope, bindings = self.module.scope_of[node].lookup(name)
    return scope is self.scope and len(bindings) == 1 and bindings[0].kind == "param"

  def key(self, node: ast.AST) -> Optional[str]:
    """The mode that `ModeKeys.X` or its string means, or None."""
    symbol = self.module.resolve(node) if isinstance(node, (ast.Attribute, ast.Name)) else None
    if symbol is not None:
      head, _, name = symbol.path.rpartition(".")
      return _KEYS.get(name) if head.endswith("ModeKeys") else None
    value = node.value if isinstance(node, ast.Constant) else None
    return value if isinstance(value, str) and value in MODES else None

  def value(self, node: ast.AST, mode: str) -> Optional[bool]:
    """What a condition is in a mode; None where that depends on something else."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
      value = self.value(node.operand, mode)
      return None if value is None else not value
    if isinstance(node, ast.BoolOp):
      values = [self.value(part, mode) for part in node.values]
      decides = isinstance(node.op, ast.Or)
      if decides in values:
        return decides
      return None if None in values else not decides
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
      return self._compared(node.left, node.ops[0], node.comparators[0], mode)
    if isinstance(node, ast.Name):
      alias = self.alias(node)
      return None if alias is None else self.value(alias, mode)
    return None

  def alias(self, node: ast.Name) -> Optional[ast.expr]:
    """The condition that a variable of the function stands for, if it is bound once to one."""
    scope, bindings = self.module.scope_of[node].lookup(node.id)
    if scope is not self.scope or len(bindings) != 1 or bindings[0].kind != "assign":
      return None
    value = bindings[0].value
    return value if isinstance(value, (ast.Compare, ast.BoolOp, ast.UnaryOp)) else None

  def _compared(self, left, operator: ast.cmpop, right, mode: str) -> Optional[bool]:
    is_none = isinstance(right, ast.Constant) and right.value is None
    if is_none and isinstance(operator, (ast.Is, ast.IsNot)) and self.is_parameter(left, "labels"):
      return (mode == PREDICT) == isinstance(operator, ast.Is)
    if self.is_parameter(right, self._mode):
      left, right = right, left
    if not self.is_parameter(left, self._mode):
      return None
    if isinstance(operator, (ast.In, ast.NotIn)):
      elements = getattr(right, "elts", None)
      keys = [self.key(element) for element in elements or [right]]
      if elements is None or None in keys:
        return None
      return (mode in keys) == isinstance(operator, ast.In)
    key = self.key(right)
    if key is None or not isinstance(operator, (ast.Eq, ast.NotEq, ast.Is, ast.IsNot)):
      return None
    return (mode == key) == isinstance(operator, (ast.Eq, ast.Is))

  def training_text(self, node: ast.AST, name: str) -> Optional[str]:
    """A condition on the mode in terms of whether the network is trained; None where it is more.

    Args:
      node: the condition.
      name: the variable that says whether the network is trained.
    """
    values = tuple(self.value(node, mode) for mode in MODES)
    if values == (True, False, False):
      return name
    return f"not {name}" if values == (False, True, True) else None

  # -- what runs -------------------------------------------------------------------

  def live(self, mode: str) -> list[Leaf]:
    """The statements that run in a mode, the last of which returns.

    Raises:
      Unreadable: the function may return under a condition that is no mode, or does not return.
    """
    found: list[Leaf] = []
    if not self._walk(self.node.body, mode, (), found):
      raise Unreadable(self.node, f"the function may return nothing in mode {mode!r}")
    return found

  def _walk(self, body: list[ast.stmt], mode: str, withs, found: list[Leaf]) -> bool:
    """Adds what runs of a block; returns whether it returned."""
    for statement in body:
      if isinstance(statement, ast.Return):
        found.append(Leaf(statement, withs))
        return True
      if isinstance(statement, ast.Raise):
        raise Unreadable(statement, f"mode {mode!r} raises an error")
      if isinstance(statement, ast.If) and statement not in self.kept:
        value = self.value(statement.test, mode)
        if value is not None:
          if self._walk(statement.body if value else statement.orelse, mode, withs, found):
            return True
          continue
      if isinstance(statement, ast.With) and not any(i.optional_vars for i in statement.items):
        if self._walk(statement.body, mode, (*withs, statement), found):
          return True
        continue
      if returns(statement):
        raise Unreadable(statement, "it returns under a condition that is no mode")
      found.append(Leaf(statement, withs))
    return False


def returns(statement: ast.stmt) -> bool:
  """Whether a statement may return from the function that it is part of."""
  if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
    return False
  return any(
    isinstance(child, ast.Return) or (isinstance(child, ast.stmt) and returns(child))
    for field in ("body", "orelse", "finalbody", "handlers")
    for block in [getattr(statement, field, None) or []]
    for child in _statements(block)
  )


def _statements(block: list) -> list[ast.AST]:
  """The statements of a block, those of exception handlers among them."""
  return [s for part in block for s in (part.body if hasattr(part, "type") else [part])]
