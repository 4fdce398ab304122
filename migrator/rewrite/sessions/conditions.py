"""Under which conditions a statement of a session program runs: the `if`s around it, as source."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from migrator.analysis.module import Module
from migrator.rewrite.sessions.found import Unit
from migrator.rewrite.sessions.text import source

_BORDERS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)


def of(module: Module, node: ast.AST, outside: Iterable[ast.AST] = ()) -> str:
  """The condition under which a node of a function runs; "" for none.

  Args:
    module: the file.
    node: the node.
    outside: nodes whose own conditions go without saying, and what stands around those.
  """
  border: set[tuple[ast.AST, str]] = set()
  for other in outside:
    border.update((test, sign) for test, sign in _tests(module, other))
  found = [(test, sign) for test, sign in _tests(module, node) if (test, sign) not in border]
  return " and ".join(_signed(module, test, sign, len(found)) for test, sign in reversed(found))


def of_hook(module: Module, unit: Unit, hook: ast.AST) -> str:
  """The condition under which a hook is among the unit's; "" for none."""
  places = [unit.elements.get(hook, hook)]
  if hook not in (places[0], *module.ancestors(places[0])):
    places.append(hook)
  found_conditions = [of(module, place, [unit.call]) for place in places]
  several = [c for c in dict.fromkeys(found_conditions) if c]
  return " and ".join(f"({c})" if " or " in c and len(several) > 1 else c for c in several)


def _tests(module: Module, node: ast.AST) -> Iterator[tuple[ast.expr, str]]:
  """The tests around a node, innermost first, with "" or "not"."""
  child = node
  for ancestor in module.ancestors(node):
    if isinstance(ancestor, _BORDERS):
      return
    if isinstance(ancestor, (ast.If, ast.IfExp)) and child is not ancestor.test:
      body = ancestor.body if isinstance(ancestor.body, list) else [ancestor.body]
      yield ancestor.test, "" if child in body else "not"
    child = ancestor


def _signed(module: Module, test: ast.expr, sign: str, number: int) -> str:
  """A test as one part of a condition of some parts."""
  text = source(module, test)
  if not sign:
    loose = isinstance(test, (ast.Lambda, ast.IfExp, ast.NamedExpr))
    loose |= isinstance(test, ast.BoolOp) and isinstance(test.op, ast.Or)
    return f"({text})" if loose and number > 1 else text
  return negated(text, test)


def negated(text: str, test: ast.expr) -> str:
  """The source of the opposite of a test."""
  if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
    inner = ast.unparse(test.operand)
    return f"({inner})" if isinstance(test.operand, (ast.BoolOp, ast.IfExp)) else inner
  if isinstance(test, (ast.Name, ast.Attribute, ast.Call, ast.Subscript)):
    return f"not {text}"
  return f"not ({text})"


def words(condition: str) -> str:
  """A condition as a part of a sentence; "" for none."""
  return f", only if `{condition}`" if condition else ""
