"""What a condition says about the installed TensorFlow: `hasattr`, versions, TYPE_CHECKING."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple, Optional

from migrator.analysis import facts, symbols

if TYPE_CHECKING:
  from migrator.analysis.module import Module

Version = tuple[int, ...]
_VERSIONS = ("tf.__version__", "tf.VERSION", "tf.version.VERSION", "tf.GIT_VERSION")
_TYPE_CHECKING = ("TYPE_CHECKING", "MYPY")
_FLIPPED = {ast.Lt: ast.Gt, ast.LtE: ast.GtE, ast.Gt: ast.Lt, ast.GtE: ast.LtE}
_NEGATED = {
  ast.Lt: ast.GtE,
  ast.LtE: ast.Gt,
  ast.Gt: ast.LtE,
  ast.GtE: ast.Lt,
  ast.Eq: ast.NotEq,
  ast.NotEq: ast.Eq,
  ast.In: ast.NotIn,
  ast.NotIn: ast.In,
  ast.Is: ast.IsNot,
  ast.IsNot: ast.Is,
}
_DEPTH = 4


class Known(NamedTuple):
  """What holds where a condition does.

  Attributes:
    exists: canonical name of a symbol that is there; "" where nothing is known of one.
    below: TensorFlow is older than this version; () where nothing is known.
    never: the code does not run at all.
    words: the condition as a message names it.
  """

  exists: str = ""
  below: Version = ()
  never: bool = False
  words: str = ""


def implied(module: Module, test: ast.AST, truth: bool, depth: int = 0) -> Iterator[Known]:
  """What is known where a condition is true, or false.

  Args:
    module: the module of the condition.
    test: the condition.
    truth: which of the two.
    depth: how many names were followed to it.
  """
  if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
    yield from implied(module, test.operand, not truth, depth)
  elif isinstance(test, ast.BoolOp):
    # `a and b` says something when it is true, `a or b` when it is false.
    if isinstance(test.op, ast.And) is truth:
      for value in test.values:
        yield from implied(module, value, truth, depth)
  elif isinstance(test, ast.Constant):
    if bool(test.value) is not truth:
      yield Known(never=True)
  elif isinstance(test, ast.Compare):
    yield from _comparison(module, test, truth)
  elif isinstance(test, ast.Call):
    yield from _call(module, test, truth)
  elif isinstance(test, (ast.Name, ast.Attribute)):
    yield from _name(module, test, truth, depth)


def _name(module: Module, test: ast.expr, truth: bool, depth: int) -> Iterator[Known]:
  name = test.id if isinstance(test, ast.Name) else test.attr  # type: ignore[attr-defined]
  if name in _TYPE_CHECKING:
    if truth:
      yield Known(never=True)
    return
  symbol = module.resolve(test)
  if symbols.is_tensorflow(symbol):
    # `if estimator:` after `estimator = getattr(tf, "estimator", None)`
    if truth and symbol is not None:
      yield Known(exists=symbol.path, words=module.source(test))
    return
  if isinstance(test, ast.Name) and depth < _DEPTH:
    definition = module.definition(test)
    if isinstance(definition, ast.expr) and not isinstance(definition, ast.Constant):
      yield from implied(module, definition, truth, depth + 1)


def _call(module: Module, test: ast.Call, truth: bool) -> Iterator[Known]:
  function = test.func
  name = function.id if isinstance(function, ast.Name) else ""
  if name == "hasattr" and len(test.args) == 2 and truth:
    attr = test.args[1]
    base = module.resolve(test.args[0])
    if base is not None and isinstance(attr, ast.Constant) and isinstance(attr.value, str):
      yield _existing(
        symbols.canonical(_dotted(base) + "." + attr.value).path, _shown(module, test)
      )
  elif name in ("bool", "callable") and len(test.args) == 1:
    yield from implied(module, test.args[0], truth, _DEPTH)
  elif isinstance(function, ast.Attribute) and function.attr == "startswith":
    if is_version(module, function.value) and test.args:
      bounds = list(_literals(test.args[0]))
      if bounds and () not in bounds and not (truth and _is_ambiguous(test.args[0])):
        below = max(_following(b) for b in bounds) if truth else _other_than(min(bounds))
        yield Known(below=below, words=_shown(module, test, truth))
  elif truth:
    symbol = module.resolve(test)
    if symbols.is_tensorflow(symbol) and symbol is not None:
      yield Known(exists=symbol.path, words=_shown(module, test))


def _is_ambiguous(prefix: ast.expr) -> bool:
  """Whether later versions begin as well with what a version begins with: 2.20 with "2.2"."""
  literals = [n.value for n in ast.walk(prefix) if isinstance(n, ast.Constant)]
  return any(isinstance(v, str) and re.fullmatch(r"2\.\d", v) for v in literals)


def _comparison(module: Module, test: ast.Compare, truth: bool) -> Iterator[Known]:
  if len(test.ops) != 1:
    return
  left, right, kind = test.left, test.comparators[0], type(test.ops[0])
  if not truth:
    kind = _NEGATED[kind]
  if kind in (ast.IsNot, ast.NotEq) and isinstance(right, ast.Constant) and right.value is None:
    yield from _present(module, left)
    return
  if kind is ast.In and isinstance(right, ast.Call) and isinstance(left, ast.Constant):
    # "estimator" in dir(tf)
    if isinstance(right.func, ast.Name) and right.func.id in ("dir", "vars") and right.args:
      base = module.resolve(right.args[0])
      if base is not None and isinstance(left.value, str):
        path = symbols.canonical(_dotted(base) + "." + left.value).path
        yield _existing(path, _shown(module, test))
    return
  if is_version(module, right) and not is_version(module, left):
    left, right, kind = right, left, _FLIPPED.get(kind, kind)
  if not is_version(module, left) or _is_minor(module, left):
    return
  bounds = list(_literals(right))
  if not bounds or () in bounds:
    return
  if kind in (ast.Lt, ast.NotEq):
    below = bounds[0] if kind is ast.Lt else _other_than(bounds[0])
    yield Known(below=below, words=_shown(module, test, truth))
  elif kind in (ast.LtE, ast.Eq, ast.In):
    yield Known(below=max(_following(b) for b in bounds), words=_shown(module, test, truth))


def _present(module: Module, node: ast.expr) -> Iterator[Known]:
  """What `node is not None` says."""
  symbol = module.resolve(node)
  if isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
    function = module.resolve(node.func)
    target = node.args[0].value
    if function is not None and function.path == "importlib.util.find_spec":
      symbol = symbols.canonical(target) if isinstance(target, str) else None
  if symbols.is_tensorflow(symbol) and symbol is not None:
    yield Known(exists=symbol.path, words=_shown(module, node) + " is not None")


def _existing(path: str, words: str) -> Known:
  """What `hasattr` says: a name that only TF1 has tells the version too."""
  if facts.is_tf1_name(path):
    return Known(exists=path, below=(2, 0), words=words)
  return Known(exists=path, words=words)


def is_version(module: Module, node: ast.AST, depth: int = 0) -> bool:
  """Whether an expression is made from TensorFlow's version."""
  for part in ast.walk(node):
    if isinstance(part, ast.Attribute):
      symbol = module.resolve(part)
      if symbol is not None and symbol.path in _VERSIONS:
        return True
    elif isinstance(part, ast.Name) and depth < _DEPTH:
      symbol = module.resolve(part)
      if symbol is not None and symbol.path in _VERSIONS:
        return True
      definition = _unpacked(module, part)
      if definition is not None and is_version(module, definition, depth + 1):
        return True
  return False


def _unpacked(module: Module, name: ast.Name) -> Optional[ast.AST]:
  """The expression behind a name, also behind `major, minor = version.split(".")[:2]`."""
  scope = module.scope_of.get(name, module.root)
  _, bindings = scope.lookup(name.id)
  if len(bindings) != 1 or bindings[0].kind not in ("assign", "other"):
    return None
  binding = bindings[0]
  if binding.value is not None:
    return binding.value
  return binding.node.value if isinstance(binding.node, ast.Assign) else None


def _is_minor(module: Module, node: ast.AST) -> bool:
  """Whether it is the second number of the version: that says nothing without the first."""
  if isinstance(node, ast.Name):
    if node.id.lower().endswith(("minor", "patch")):
      return True
    definition = module.definition(node)
    return definition is not None and definition is not node and _is_minor(module, definition)
  if isinstance(node, ast.Call) and node.args:
    return _is_minor(module, node.args[0])
  if isinstance(node, ast.Attribute):
    return node.attr in ("minor", "micro")
  if isinstance(node, ast.Subscript):
    index = node.slice
    return isinstance(index, ast.Constant) and isinstance(index.value, int) and index.value > 0
  return False


def _literals(node: ast.AST) -> Iterator[Version]:
  """The versions that an expression such as "2.16", (2, 16) or parse("2.16") names."""
  if isinstance(node, ast.Constant):
    yield _version(node.value)
  elif isinstance(node, ast.Call) and node.args:
    yield from _literals(node.args[0])
  elif isinstance(node, (ast.Tuple, ast.List, ast.Set)):
    values = [e.value if isinstance(e, ast.Constant) else None for e in node.elts]
    if values and all(type(v) is int for v in values):
      yield tuple(values)  # type: ignore[arg-type]
    else:
      for value in values:
        yield _version(value)
  else:
    yield ()


def _version(value: object) -> Version:
  """The numbers of a version; () for what is none."""
  if type(value) is int:
    return (value,)
  if isinstance(value, float):
    value = str(value)
  found = re.match(r"\d+(?:\.\d+)*", value) if isinstance(value, str) else None
  return tuple(int(part) for part in found.group().split(".")[:2]) if found else ()


def _following(version: Version) -> Version:
  """The first version that is not one of `version` ("2" stands for all 2.x); () for ()."""
  return (*version[:-1], version[-1] + 1) if version else ()


def _other_than(version: Version) -> Version:
  """What a version that is not this one is below, or ().

  What is not 2.x is older, since nobody asks for versions that do not exist yet; what is not 1.x is
  newer.
  """
  return version if version >= (2,) else ()


def _dotted(symbol: symbols.Symbol) -> str:
  return "tensorflow" + symbol.path[2:] if symbol.path.split(".")[0] == "tf" else symbol.path


def _shown(module: Module, node: ast.AST, truth: bool = True, limit: int = 60) -> str:
  text = ("" if truth else "not ") + " ".join(module.source(node).split())
  return text if len(text) <= limit else text[: limit - 3] + "..."
