"""What a path expression says: its components, to compare places, and how it ends."""

from __future__ import annotations

import ast
import posixpath
import re
from collections.abc import Sequence
from typing import NamedTuple, Optional

from migrator.analysis.module import UNKNOWN, Module
from migrator.lint.checks import reaching

_JOINS = frozenset(("os.path.join", "posixpath.join", "tf.io.gfile.join", "pathlib.Path"))
_SAME = frozenset(
  (
    "os.path.abspath",
    "os.path.expanduser",
    "os.path.expandvars",
    "os.path.normpath",
    "os.path.realpath",
    "os.fspath",
    "tf.compat.as_str",
    "tf.compat.as_str_any",
  )
)
_NUMERIC = re.compile(r"[^a-zA-Z]*[bcdeEfFgGnoxX%]")
_FIELD = re.compile(r"\{\{|\}\}|\{([^{}]*)\}")
_WORDS = re.compile(r"%[-+ #0]*\d*(?:\.\d+)?[srac]|%\(|%$")
_MAX_DEPTH = 20

Parts = tuple[str, ...]


def parts(module: Module, node: Optional[ast.AST], depth: int = 0) -> Optional[Parts]:
  """The components of a path, from the root or the variable that it begins with.

  Two expressions with equal parts mean the same place; one whose parts begin with those of
  another lies in it. A component that only the running program knows is named after its
  variable, with the scope that owns it: `self.path` differs between classes.

  Returns:
    None for what cannot be compared, for example the result of a call.
  """
  if node is None or depth > _MAX_DEPTH:
    return None
  if isinstance(node, ast.Constant):
    return _split(node.value) if isinstance(node.value, str) else None
  if isinstance(node, ast.Name):
    value = reaching.last_value(module, node)
    found = parts(module, value, depth + 1) if _is_path(module, value) else None
    return found if found is not None else (_variable(module, node),)
  if isinstance(node, ast.Attribute):
    return (_variable(module, node),) if _root(node) is not None else None
  if isinstance(node, ast.JoinedStr):
    return _of_template(module, node, depth)
  if isinstance(node, ast.BinOp):
    return _of_operation(module, node, depth)
  if isinstance(node, ast.Call):
    return _of_call(module, node, depth)
  return None


def _split(text: str) -> Parts:
  if "://" in text:
    head, _, tail = text.partition("://")
    return (head + "://", *_split(tail))
  normal = posixpath.normpath(text)
  root = ("/",) if normal.startswith("/") else ()
  return root + tuple(p for p in normal.split("/") if p not in ("", "."))


def _is_path(module: Module, node: Optional[ast.AST]) -> bool:
  """Whether it is worth looking into a value: the result of most calls is not."""
  if isinstance(node, ast.Call):
    return _function(module, node) is not None
  return isinstance(node, (ast.Constant, ast.JoinedStr, ast.BinOp, ast.Name, ast.Attribute))


def _variable(module: Module, node: ast.AST) -> str:
  """A text that is the same for the same variable, as long as it is not bound anew."""
  root = _root(node)
  assert root is not None
  scope = module.scope_of.get(root, module.root)
  owner, bindings = scope.lookup(root.id)
  key: object = owner.node if owner is not None else None
  if root.id in ("self", "cls"):
    key = next((a for a in module.ancestors(root) if isinstance(a, ast.ClassDef)), key)
  elif owner is scope and len(bindings) > 1:
    before = [b for b in bindings if b.node.lineno < root.lineno]
    key = before[-1] if before else key
  return f"<{ast.unparse(node)} {id(key)}>"


def _root(node: ast.AST) -> Optional[ast.Name]:
  while isinstance(node, ast.Attribute):
    node = node.value
  return node if isinstance(node, ast.Name) else None


def _join(first: Optional[Parts], second: Optional[Parts]) -> Optional[Parts]:
  if first is None or second is None:
    return None
  return second if second[:1] == ("/",) else first + second


def _of_template(module: Module, node: ast.JoinedStr, depth: int) -> Optional[Parts]:
  """An f-string: a variable before the first "/" is a path, others are parts of a name."""
  values = list(node.values)
  first: Optional[Parts] = ()
  if len(values) > 1 and isinstance(values[0], ast.FormattedValue):
    following = values[1]
    if isinstance(following, ast.Constant) and str(following.value).startswith("/"):
      first = parts(module, values.pop(0).value, depth + 1)  # type: ignore[attr-defined]
  text = ""
  for value in values:
    if isinstance(value, ast.Constant):
      text += str(value.value)
      continue
    inner = value.value if isinstance(value, ast.FormattedValue) else value
    constant = module.constant(inner)
    text += "{" + ast.unparse(inner) + "}" if constant is UNKNOWN else str(constant)
  return _join(first, _split(text.lstrip("/") if first else text))


def _of_operation(module: Module, node: ast.BinOp, depth: int) -> Optional[Parts]:
  left = parts(module, node.left, depth + 1)
  if isinstance(node.op, ast.Mod):
    return left
  right = parts(module, node.right, depth + 1)
  if isinstance(node.op, ast.Div):
    return _join(left, right)
  if not isinstance(node.op, ast.Add) or not left or not right:
    return None
  before, after = module.constant(node.left), module.constant(node.right)
  if isinstance(after, str) and after.startswith("/"):
    return left + right[1:]
  if isinstance(before, str) and before.endswith("/"):
    return left + right
  return (*left[:-1], left[-1] + right[0], *right[1:])


def _of_call(module: Module, call: ast.Call, depth: int) -> Optional[Parts]:
  what = _function(module, call)
  if what == "format":
    return parts(module, call.func.value, depth + 1)  # type: ignore[attr-defined]
  if what is None or not call.args or any(isinstance(a, ast.Starred) for a in call.args):
    return None
  if what == "dirname":
    inside = parts(module, call.args[0], depth + 1)
    return inside[:-1] if inside and len(inside) > 1 else None
  found = parts(module, call.args[0], depth + 1)
  for argument in call.args[1:]:
    found = _join(found, parts(module, argument, depth + 1))
  return found


def _function(module: Module, call: ast.Call) -> Optional[str]:
  """What a call does to a path: "join", "dirname", "format"; None for what is unknown."""
  if isinstance(call.func, ast.Attribute) and call.func.attr == "format":
    return "format" if isinstance(module.constant(call.func.value), str) else None
  if isinstance(call.func, ast.Name) and call.func.id == "str" and len(call.args) == 1:
    return "join"
  symbol = module.resolve(call.func)
  path = symbol.path if symbol is not None else ""
  if path == "os.path.dirname":
    return "dirname"
  return "join" if path in _JOINS or path in _SAME else None


class Ending(NamedTuple):
  """The end of a path.

  Attributes:
    text: what it ends with, as far as that is written in the program.
    whole: whether `text` is all of it.
  """

  text: str
  whole: bool

  def lacks(self, suffixes: Sequence[str]) -> bool:
    """Whether the path certainly ends with none of the suffixes."""
    for suffix in suffixes:
      if self.text.endswith(suffix) or (not self.whole and suffix.endswith(self.text)):
        return False
    return True

  def has(self, suffixes: Sequence[str]) -> bool:
    """Whether the path certainly ends with one of the suffixes."""
    return self.text.endswith(tuple(suffixes))

  @property
  def shown(self) -> str:
    """The last component, as far as it is known."""
    return self.text.rstrip("/").rpartition("/")[2] or self.text


_NOTHING = Ending("", False)


def ending(module: Module, node: Optional[ast.AST], depth: int = 0) -> Ending:
  """How a path ends; a place for a number stays in it as it is written, `{epoch:02d}` or `%d`."""
  if node is None or depth > _MAX_DEPTH:
    return _NOTHING
  if isinstance(node, ast.Constant):
    return Ending(node.value, True) if isinstance(node.value, str) else _NOTHING
  if isinstance(node, ast.Name):
    return ending(module, reaching.last_value(module, node), depth + 1)
  if isinstance(node, ast.JoinedStr):
    result = Ending("", True)
    for value in reversed(node.values):
      result = _before(_of_piece(module, value, depth), result)
    return result
  if isinstance(node, ast.BinOp):
    if isinstance(node.op, ast.Mod):
      return _of_percent(module.constant(node.left))
    right = ending(module, node.right, depth + 1)
    if isinstance(node.op, ast.Add):
      return _before(ending(module, node.left, depth + 1), right)
    return Ending("/" + right.text, False) if right.whole else right
  if isinstance(node, ast.Call):
    what = _function(module, node)
    if what == "format":
      text = module.constant(node.func.value)  # type: ignore[attr-defined]
      return _of_format(text)
    if what == "join" and node.args and not isinstance(node.args[-1], ast.Starred):
      last = ending(module, node.args[-1], depth + 1)
      return Ending("/" + last.text, False) if last.whole and len(node.args) > 1 else last
  return _NOTHING


def _before(first: Ending, last: Ending) -> Ending:
  return Ending(first.text + last.text, first.whole) if last.whole else last


def _of_piece(module: Module, value: ast.expr, depth: int) -> Ending:
  """A piece of an f-string."""
  if not isinstance(value, ast.FormattedValue):
    return ending(module, value, depth + 1)
  if isinstance(value.format_spec, ast.JoinedStr):
    texts = [str(v.value) for v in value.format_spec.values if isinstance(v, ast.Constant)]
    written = f"{{{ast.unparse(value.value)}:{''.join(texts)}}}"
    return Ending(written, True) if _NUMERIC.fullmatch("".join(texts)) else _NOTHING
  constant = module.constant(value.value)
  return _NOTHING if constant is UNKNOWN else Ending(str(constant), True)


def _of_format(text: str) -> Ending:
  """A text on which `.format` is called: what follows the last place for a word."""
  for field in reversed(list(_FIELD.finditer(text))):
    if field[1] is not None and not _NUMERIC.fullmatch(field[1].partition(":")[2]):
      return Ending(_unescaped(text[field.end() :]), False)
  return Ending(_unescaped(text), True)


def _unescaped(text: str) -> str:
  return text.replace("{{", "{").replace("}}", "}")


def _of_percent(text: object) -> Ending:
  """A text that `%` fills: what follows the last `%s`."""
  if not isinstance(text, str):
    return _NOTHING
  words = list(_WORDS.finditer(text))
  return Ending(text[words[-1].end() :], False) if words else Ending(text, True)
