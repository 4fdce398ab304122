"""Where a Saver writes: the directory, the name and the number of its checkpoints, as source."""

from __future__ import annotations

import ast
import os
import re
from typing import NamedTuple, Optional

from migrator.analysis.module import UNKNOWN, Module
from migrator.lint.checks import reaching
from migrator.rewrite import emit
from migrator.rewrite.sessions.text import source


class Place(NamedTuple):
  """A `save_path`, taken apart.

  Attributes:
    directory: source of the directory.
    name: source of what the names of the files begin with.
    number: source of the number that the program puts into the name itself; "" for none.
    needs_os: whether they use `os.path`.
    value: the expression that was read, where a name stands for it; else None.
    whole: the expression, where it cannot be taken apart; else None.
  """

  directory: str
  name: str
  number: str = ""
  needs_os: bool = False
  value: Optional[ast.expr] = None
  whole: Optional[ast.expr] = None


def of(module: Module, node: ast.expr) -> Place:
  """Takes the path of a checkpoint apart; what cannot be read is left to `os.path`."""
  found = _split(module, node)
  value = _value(module, node) if found is None else None
  if value is not None:
    found = _split(module, value)
  if found is not None:
    return found._replace(value=value)
  text = source(module, node)
  names = f"os.path.dirname({text})", f"os.path.basename({text})"
  return Place(*names, "", True, value, value if value is not None else node)


def _value(module: Module, node: ast.expr) -> Optional[ast.expr]:
  """The expression of a name, where its own names mean the same at the place of the name."""
  if not isinstance(node, ast.Name):
    return None
  value = reaching.last_value(module, node)
  if not isinstance(value, ast.expr):
    return None
  here, there = module.scope_of[node], module.scope_of.get(value, module.root)
  return value if there in here.chain() else None


def _split(module: Module, node: ast.expr) -> Optional[Place]:
  constant = module.constant(node) if isinstance(node, ast.Constant) else UNKNOWN
  if isinstance(constant, str):
    directory, name = os.path.split(constant)
    return Place(emit.string(directory or "."), emit.string(name)) if name else None
  if isinstance(node, ast.Call) and _is_join(node):
    head, last = node.args[:-1], _named(module, node.args[-1])
    if last is None or not head:
      return None
    texts = [source(module, a) for a in head]
    # A path within the last part belongs to the directory.
    inner, name = os.path.split(last[0]) if last[2] else ("", last[0])
    texts += [emit.string(inner)] if inner else []
    directory = texts[0] if len(texts) == 1 else f"os.path.join({', '.join(texts)})"
    return Place(directory, emit.string(name) if last[2] else name, last[1], len(texts) > 1)
  if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
    last = _named(module, node.right)
    if last is not None and last[2] and last[0].startswith("/"):
      inner, name = os.path.split(last[0])
      left = source(module, node.left)
      simple = isinstance(node.left, (ast.Name, ast.Attribute, ast.Call, ast.Subscript))
      left = left if simple else f"({left})"
      directory = left if inner == "/" else f"{left} + {emit.string(inner)}"
      return Place(directory, emit.string(name), last[1])
  named = _named(module, node)
  if named is None or not named[2] or "/" not in named[0]:
    return None
  inner, name = os.path.split(named[0])
  return Place(emit.string(inner or "/"), emit.string(name), named[1])


def _is_join(node: ast.Call) -> bool:
  function = ast.unparse(node.func)
  plain = not node.keywords and not any(isinstance(a, ast.Starred) for a in node.args)
  return plain and function in ("os.path.join", "path.join", "osp.join", "join")


def _named(module: Module, node: ast.expr) -> Optional[tuple[str, str, bool]]:
  """The last part of a path: its text, the number in it, and whether the text is a literal.

  The number of `"model-%d" % step`, `"model-{}".format(step)`, `f"model-{step}"` and
  `"model-" + str(step)` is taken out, with what joins it to the rest.
  """
  if isinstance(node, ast.Constant) and isinstance(node.value, str):
    return node.value, "", True
  if isinstance(node, ast.BinOp) and isinstance(node.left, ast.Constant):
    left = node.left.value
    if not isinstance(left, str):
      return None
    if isinstance(node.op, ast.Mod) and not isinstance(node.right, (ast.Tuple, ast.Dict)):
      return _without(left, r"%\d*[ds]", source(module, node.right))
    right = node.right
    if not isinstance(node.op, ast.Add) or not isinstance(right, ast.Call):
      return None
    if ast.unparse(right.func) != "str" or len(right.args) != 1:
      return None
    return _without(left + "%s", "%s", source(module, right.args[0]))
  if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
    text = node.func.value
    if node.func.attr == "format" and isinstance(text, ast.Constant) and len(node.args) == 1:
      return _without(str(text.value), r"\{\d?(?::\d*d?)?\}", source(module, node.args[0]))
    return None
  if isinstance(node, ast.JoinedStr):
    parts = [v.value if isinstance(v, ast.Constant) else None for v in node.values]
    inner = [v.value for v in node.values if isinstance(v, ast.FormattedValue)]
    if len(inner) == 1:
      joined = "".join("%s" if p is None else str(p) for p in parts)
      return _without(joined, "%s", source(module, inner[0]))
    return None
  if isinstance(node, (ast.Name, ast.Attribute, ast.Subscript)):
    return source(module, node), "", False
  return None


def _without(text: str, pattern: str, number: str) -> Optional[tuple[str, str, bool]]:
  """A text without its one number, which stands in its last part."""
  found = list(re.finditer(pattern, text))
  if len(found) != 1 or "/" in text[found[0].end() :]:
    return None
  begin = re.sub(r"[-_.]$", "", text[: found[0].start()])
  if not os.path.basename(begin):
    return None
  # "%s" and "{}" may just as well be filled with the name of a data set.
  certain = re.search(r"d\}?$", found[0].group())
  if not certain and not re.search(r"(?i)step|epoch|iter|batch|count|num|\b[einkt]\b", number):
    return None
  return begin + text[found[0].end() :], number, True
