"""Names that stand for a TensorFlow symbol by way of an attribute or a condition."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Optional

from migrator.analysis import symbols

if TYPE_CHECKING:
  from migrator.analysis.module import Module
  from migrator.analysis.scopes import Binding

# Functions that give the module of the name that is their first argument.
_IMPORTERS = ("importlib.import_module", "pytest.importorskip")
_RECEIVERS = ("self", "cls")
_CHAIN = (ast.Name, ast.Attribute)
_NAME = re.compile(r"\w+")
# What begins with plain letters is found faster than a word boundary.
_IMPORT_LINE = re.compile(r"import(?<!\wimport)\b[^\n]*")
_VALUE = re.compile(r"=[ \t]*(\w+)(?:\.\w+)*[ \t]*(?:[;#][^\n]*)?$", re.MULTILINE)
_TARGETS = re.compile(r"[ \t]*((?:[\w.]+[ \t]*(?::[^=\n]*)?=[ \t]*)*[\w.]+[ \t]*(?::[^=\n]*)?)\Z")


def attribute(module: Module, node: ast.Attribute) -> Optional[symbols.Symbol]:
  """The symbol behind `self.est`, `cls.est` or `C.est`, where the class says `est = tf.estimator`.

  Returns:
    None where the class has the attribute assigned more than once, or from something else.
  """
  if not isinstance(node.value, ast.Name) or not module.may_mean(node.attr):
    return None
  if node.attr not in _candidates(module):
    return None
  owner = _class_of(module, node.value)
  if owner is None:
    return None
  values = _attributes(module, owner).get(node.attr, ())
  if len(values) != 1 or not isinstance(values[0], _CHAIN) or values[0] is node:
    return None
  if node.attr in module.pending_attributes:
    return None  # self.a = self.b; self.b = self.a
  module.pending_attributes.add(node.attr)
  try:
    symbol = module.resolve(values[0])
  finally:
    module.pending_attributes.discard(node.attr)
  return symbol if symbols.is_tensorflow(symbol) and not symbols.is_value(symbol) else None


def _candidates(module: Module) -> frozenset[str]:
  """Attributes that can stand for a symbol at all, told from the text: classes are long."""
  found = module.aliased_attributes
  if found is None:
    names = {
      name
      for line in _IMPORT_LINE.findall(module.text)
      for name in _NAME.findall(line)
      if name not in ("import", "as")
    }
    names |= {n for n in module.root.bindings if _is_alias(module, n)}
    found = module.aliased_attributes = frozenset(_assigned(module.text, names))
  return found


def _is_alias(module: Module, name: str) -> bool:
  """Whether `name = tf.estimator`, or `name = import_module("tensorflow")`, at the left edge."""
  values = [b.value for b in module.root.bindings[name] if b.kind == "assign"]
  if not any(isinstance(value, (*_CHAIN, ast.Call)) for value in values):
    return False
  return symbols.is_tensorflow(module.resolve_name(name, module.root))


def _assigned(text: str, names: set[str]) -> Iterator[str]:
  """The names to which `x = name` or `self.x = name.y` assigns, on lines that are indented."""
  if not names:
    return
  for match in _VALUE.finditer(text):
    if match[1] not in names:
      continue
    begin = text.rfind("\n", 0, match.start()) + 1
    targets = _TARGETS.match(text, begin, match.start())
    if targets is not None and text[begin] in " \t":
      yield from _NAME.findall(targets[1])


def _class_of(module: Module, name: ast.Name) -> Optional[ast.ClassDef]:
  if name.id in _RECEIVERS:
    return next((a for a in module.ancestors(name) if isinstance(a, ast.ClassDef)), None)
  definition = module.definition(name)
  return definition if isinstance(definition, ast.ClassDef) else None


def _attributes(module: Module, owner: ast.ClassDef) -> dict[str, list[ast.expr]]:
  """What the class assigns to each attribute, in its body and as `self.x` in its methods."""
  if owner not in module.class_attributes:
    found: dict[str, list[ast.expr]] = {}
    for statement in owner.body:
      if isinstance(statement, (ast.Assign, ast.AnnAssign)) and statement.value is not None:
        for target in _targets(statement):
          if isinstance(target, ast.Name):
            found.setdefault(target.id, []).append(statement.value)
    for node in ast.walk(owner):
      if isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value is not None:
        for target in _targets(node):
          if isinstance(target, ast.Attribute) and _is_receiver(target.value):
            found.setdefault(target.attr, []).append(node.value)
    module.class_attributes[owner] = found
  return module.class_attributes[owner]


def _is_receiver(node: ast.expr) -> bool:
  return isinstance(node, ast.Name) and node.id in _RECEIVERS


def _targets(node: ast.stmt) -> list[ast.expr]:
  return node.targets if isinstance(node, ast.Assign) else [node.target]  # type: ignore[attr-defined]


def choice(module: Module, node: ast.AST) -> Optional[symbols.Symbol]:
  """The first TensorFlow symbol that `a if c else b`, `a or b` or `(x := a)` can be, or None."""
  options: list[ast.expr] = []
  if isinstance(node, ast.IfExp):
    options = [node.body, node.orelse]
  elif isinstance(node, ast.BoolOp):
    options = node.values
  elif isinstance(node, ast.NamedExpr):
    options = [node.value]
  for option in options:
    symbol = module.resolve(option)
    if symbols.is_tensorflow(symbol):
      return symbol
  return None


def is_certain(module: Module, node: ast.AST, seen: frozenset[ast.AST] = frozenset()) -> bool:
  """Whether `resolve` gives the one meaning of an expression, not the first of several.

  The modules that a name is imported from do not count: they are dialects of one thing.
  """
  if node in seen or isinstance(node, (ast.IfExp, ast.BoolOp)):
    return False
  seen |= {node}
  if isinstance(node, ast.NamedExpr):
    return is_certain(module, node.value, seen)
  values: list[ast.expr] = []
  if isinstance(node, ast.Name):
    here = module.scope_of.get(node, module.root)
    scope, bindings = here.lookup(node.id)
    bindings = current(bindings, node) if scope is here else final(bindings)
    if any(b.kind == "import" for b in bindings):
      return True
    values = [b.value for b in bindings if b.kind == "assign" and b.value is not None]
  found = {module.resolve(value) for value in values}
  return len(found) <= 1 and all(is_certain(module, value, seen) for value in values)


def call(module: Module, node: ast.Call) -> Optional[symbols.Symbol]:
  """The symbol of `importlib.import_module("x")`, `__import__("x")` and `getattr(tf, "x")`."""
  function = node.func
  name = function.id if isinstance(function, ast.Name) else ""
  if name == "getattr" and len(node.args) in (2, 3):
    attr = _text(node.args[1])
    base = module.resolve(node.args[0]) if attr.isidentifier() else None
    return None if base is None else base.attribute(attr)
  target = _text(node.args[0]) if node.args else ""
  if not target:
    return None
  if name == "__import__":
    # Without a fromlist it gives the package at the head of the name.
    return symbols.canonical(target if len(node.args) > 3 else target.partition(".")[0])
  symbol = module.resolve(function) if isinstance(function, _CHAIN) else None
  if symbol is None or symbol.path not in _IMPORTERS:
    return None
  if target.startswith("."):
    package = next((k.value for k in node.keywords if k.arg == "package"), None)
    package = package or (node.args[1] if len(node.args) > 1 else None)
    parent = _text(package) if package is not None else ""
    return symbols.canonical(parent + target) if parent and target[1:2] != "." else None
  return symbols.canonical(target)


def _text(node: ast.AST) -> str:
  return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def current(bindings: list[Binding], node: ast.AST) -> list[Binding]:
  """The bindings that a use in the same scope as they can see.

  In straight-line code that is what stands between the last unconditional binding before the
  use (with it) and the use; `import tensorflow as tf`, `tf = other` ends the meaning of `tf`.

  Args:
    bindings: of one name, all in the scope of the use.
    node: the use.
  """
  line = getattr(node, "lineno", 0)
  before = [b for b in bindings if getattr(b.node, "lineno", 0) < line]
  last = max((i for i, b in enumerate(before) if not b.guarded), default=None)
  if last is None:
    return bindings
  return before[last:]


def final(bindings: list[Binding]) -> list[Binding]:
  """The bindings that the end of their scope leaves, as a function inside it sees them.

  A `del` at the end does not count: it cannot be what the functions were written for.
  """
  kept = [b for b in bindings if not isinstance(b.node, ast.Delete)]
  last = max((i for i, b in enumerate(kept) if not b.guarded), default=0)
  return kept[last:] or bindings
