"""What the functions, methods and operators of lists, dicts and strings give."""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Callable
from typing import Any, Optional

from migrator.analysis.module import UNKNOWN
from migrator.rewrite import emit
from migrator.rewrite.columns_values import NotStatic, Value

_CHANGES = ("append", "extend", "insert", "update")


def is_key(value: Any) -> bool:
  """Whether a value is known and can be the key of a dict."""
  return isinstance(value, (str, int, float, bool, tuple))


def is_change(node: ast.AST) -> bool:
  """Whether an expression is a call that adds to a list or dict."""
  return (
    isinstance(node, ast.Call)
    and isinstance(node.func, ast.Attribute)
    and node.func.attr in _CHANGES
  )


def call(interpreter: Any, node: ast.Call, environment: Any) -> Optional[Value]:
  """The value of a call of a builtin, or of a method of a list or dict; None for another call.

  Raises:
    NotStatic: the call adds something to a list that is not known.
  """
  if any(isinstance(a, ast.Starred) for a in node.args):
    return None
  if isinstance(node.func, ast.Attribute):
    if interpreter.plan.module.resolve(node.func) is not None:
      return None
    owner = interpreter.evaluate(node.func.value, environment)
    return _method(interpreter, node, owner, environment)
  if not isinstance(node.func, ast.Name):
    return None
  _, bindings = interpreter.plan.module.scope_of[node.func].lookup(node.func.id)
  if bindings:
    return None
  arguments = [interpreter.evaluate(a, environment) for a in node.args]
  if node.func.id == "dict":
    values: dict[Any, Value] = {
      k.arg: interpreter.evaluate(k.value, environment) for k in node.keywords
    }
    if None in values or len(arguments) > 1:
      return None
    if not arguments:
      return Value(entries=dict(values))
    pairs = arguments[0].entries
    if pairs is None and arguments[0].items is not None:
      pairs = _pairs(arguments[0].items)
    return None if pairs is None else Value(entries=dict([*pairs.items(), *values.items()]))
  if node.keywords and node.func.id != "enumerate":
    return None
  return _builtin(node.func.id, arguments)


def _pairs(items: list[Value]) -> Optional[dict[Any, Value]]:
  found = {}
  for item in items:
    if item.items is None or len(item.items) != 2 or not is_key(item.items[0].constant):
      return None
    found[item.items[0].constant] = item.items[1]
  return found


def _builtin(name: str, arguments: list[Value]) -> Optional[Value]:
  lists = [elements(a) for a in arguments]
  if name in ("list", "tuple", "set") and len(arguments) <= 1:
    items = lists[0] if lists else []
    return None if items is None else Value(items=list(items), is_tuple=name == "tuple")
  if name == "sorted" and len(lists) == 1 and lists[0] is not None:
    try:
      return Value(items=sorted(lists[0], key=lambda item: item.constant))
    except TypeError:
      return None
  if name == "zip" and arguments and None not in lists:
    return Value(items=[Value(items=list(row), is_tuple=True) for row in zip(*lists)])
  if name == "enumerate" and len(arguments) == 1 and lists[0] is not None:
    rows = enumerate(lists[0])
    return Value(items=[Value(items=[_number(i), v], is_tuple=True) for i, v in rows])
  numbers = [a.constant for a in arguments]
  if name == "range" and numbers and all(isinstance(n, int) for n in numbers):
    return Value(items=[_number(i) for i in range(*numbers)])
  if name == "len" and len(arguments) == 1:
    value = numbers[0]
    if lists[0] is not None:
      return Value(scalar=len(lists[0]))
    return Value(scalar=len(value) if isinstance(value, str) else UNKNOWN)
  if name == "str" and len(arguments) == 1 and isinstance(numbers[0], (str, int)):
    return Value(scalar=str(numbers[0]))
  return None


def _number(value: int) -> Value:
  return Value(str(value), scalar=value)


def elements(value: Value) -> Optional[list[Value]]:
  """What a loop over the value runs through; None where not known."""
  if value.entries is not None:
    return [_key(key) for key in value.entries]
  if isinstance(value.scalar, str):
    return [_key(character) for character in value.scalar]
  return value.items


def _key(key: Any) -> Value:
  return Value(emit.string(key) if isinstance(key, str) else repr(key), scalar=key)


def _method(interpreter, node: ast.Call, owner: Value, environment) -> Optional[Value]:
  name = node.func.attr  # type: ignore[attr-defined]
  if owner.entries is not None and not node.args and not node.keywords:
    if name == "values":
      return Value(items=[_entry(owner, key) for key in owner.entries])
    if name == "keys":
      return Value(items=elements(owner))
    if name == "items":
      rows = [[_key(key), _entry(owner, key)] for key in owner.entries]
      return Value(items=[Value(items=row, is_tuple=True) for row in rows])
    if name == "copy":
      return Value(entries=dict(owner.entries))
  if name == "copy" and owner.items is not None:
    return Value(items=list(owner.items))
  if name == "get" and owner.entries is not None and len(node.args) == 1:
    return subscript(owner, interpreter.evaluate(node.args[0], environment))
  if name in _CHANGES and len(node.args) in (1, 2) and not node.keywords:
    arguments = [interpreter.evaluate(a, environment) for a in node.args]
    return _change(name, node, owner, arguments)
  if name == "split" and isinstance(owner.constant, str) and not node.keywords:
    by = [interpreter.evaluate(a, environment).constant for a in node.args]
    if len(by) <= 1 and all(isinstance(b, str) and b for b in by):
      return Value(items=[_key(word) for word in owner.constant.split(*by)])
  if name == "format" and isinstance(owner.constant, str):
    arguments = [interpreter.evaluate(a, environment) for a in node.args]
    keywords: dict[str, Any] = {
      k.arg or "": interpreter.evaluate(k.value, environment).constant for k in node.keywords
    }
    values = [a.constant for a in arguments]
    if all(isinstance(v, (str, int)) for v in (*values, *keywords.values())) and "" not in keywords:
      return Value(scalar=owner.constant.format(*values, **keywords))
  return None


def _change(name: str, node: ast.AST, owner: Value, arguments: list[Value]) -> Value:
  added = arguments[-1]
  if owner.items is None and owner.entries is None:
    raise NotStatic(node, "it grows, and what it was is not known")
  if name == "append" and owner.items is not None:
    owner.items.append(added)
  elif name == "insert" and owner.items is not None and isinstance(arguments[0].constant, int):
    owner.items.insert(arguments[0].constant, added)
  elif name == "extend" and owner.items is not None and elements(added) is not None:
    owner.items.extend(elements(added) or ())
  elif name == "update" and owner.entries is not None and added.entries is not None:
    owner.entries.update(added.entries)
  else:
    raise NotStatic(node, "what is added is not known")
  return Value(items=[added]) if added.column is not None else added


def _entry(owner: Value, key: Any) -> Value:
  """An entry of a dict; of one with a name, as the user would write it."""
  value = owner.entries[key]  # type: ignore[index]
  if owner.text.isidentifier() and not value.has_columns() and value.items is not None:
    return dataclasses.replace(value, text=f"{owner.text}[{_key(key).text}]", reads=owner.reads)
  return value


def subscript(owner: Value, index: Value) -> Optional[Value]:
  """`owner[index]`, or None where it is not known."""
  key = index.constant
  if owner.entries is not None and is_key(key):
    return _entry(owner, key) if key in owner.entries else None
  if owner.items is not None and isinstance(key, int) and -len(owner.items) <= key:
    return owner.items[key] if key < len(owner.items) else None
  return None


def part(owner: Value, bounds: list[Any]) -> Optional[Value]:
  """`owner[begin:end:step]` of a list or tuple, or None where it is not known."""
  if owner.items is None or not all(b is None or isinstance(b, int) for b in bounds):
    return None
  if bounds[2] == 0:
    return None
  return Value(items=owner.items[slice(*bounds)], is_tuple=owner.is_tuple)


def compare(operator: ast.cmpop, left: Any, right: Any) -> Any:
  """Whether a comparison of constants holds, or UNKNOWN."""
  if left is UNKNOWN or right is UNKNOWN:
    return UNKNOWN
  if isinstance(operator, ast.Eq):
    return left == right
  if isinstance(operator, ast.NotEq):
    return left != right
  try:
    if isinstance(operator, ast.In):
      return left in right
    if isinstance(operator, ast.NotIn):
      return left not in right
  except TypeError:
    return UNKNOWN
  return UNKNOWN


def operate(operator: ast.operator, left: Any, right: Any) -> Any:
  """An operator on constants, or UNKNOWN."""
  if UNKNOWN in (left, right):
    return UNKNOWN
  try:
    if isinstance(operator, ast.Add):
      return left + right
    if isinstance(operator, ast.Sub):
      return left - right
    if isinstance(operator, ast.Mult) and not isinstance(left, (str, list)):
      return left * right
    if isinstance(operator, ast.Div):
      return left / right
    if isinstance(operator, ast.FloorDiv):
      return left // right
    if isinstance(operator, ast.Pow) and abs(right) < 64:
      return left**right
    if isinstance(operator, ast.Mod):
      return left % right
  except (TypeError, ValueError, ZeroDivisionError, OverflowError):
    return UNKNOWN
  return UNKNOWN


def joined(node: ast.JoinedStr, evaluate: Callable[[ast.expr], Value]) -> Any:
  """The value of an f-string of constants, or UNKNOWN."""
  text = ""
  for part in node.values:
    if isinstance(part, ast.Constant):
      text += str(part.value)
    elif isinstance(part, ast.FormattedValue) and part.conversion == -1 and not part.format_spec:
      value = evaluate(part.value).constant
      if not isinstance(value, (str, int)):
        return UNKNOWN
      text += str(value)
    else:
      return UNKNOWN
  return text
