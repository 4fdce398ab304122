"""The imports of a file whose removed names are replaced."""

from __future__ import annotations

import ast
from typing import Optional

from migrator.analysis import guards, symbols
from migrator.analysis.module import Module
from migrator.rewrite import imports, replacements
from migrator.rewrite.plan import Plan, Unsupported


class Imports:
  """Plans the new import statements.

  Args:
    plan: gets the edits; that of the uses is done.
    swaps: whether TensorFlow's modules are imported from `tensorflow.compat.v1`.
    tf1: whether the file is written for TF1.
    kept: reads of imported names that stay and mean the replacement.
  """

  def __init__(self, plan: Plan, swaps: bool, tf1: bool, kept: set[ast.AST]):
    self._plan = plan
    self._module: Module = plan.module
    self._swaps = swaps
    self._tf1 = tf1
    self._kept = kept
    self._obstacles: list[Unsupported] = []

  def run(self) -> list[Unsupported]:
    for node in list(self._module.nodes()):
      if not isinstance(node, (ast.Import, ast.ImportFrom)):
        continue
      if not guards.is_for_older(self._module, node):
        self._statement(node)
    return self._obstacles

  def _statement(self, node: ast.stmt) -> None:
    level = getattr(node, "level", 0)
    if level:
      return
    old = [self._spelled(node, alias) for alias in node.names]  # type: ignore[attr-defined]
    new: list[str] = []
    for alias, spelled in zip(node.names, old):  # type: ignore[attr-defined]
      text = self._alias(node, alias)
      new += [spelled if text is None else text] if text != "" else []
    if new == old:
      return
    lines = _joined(new)
    comment = self._plan.comments.trailing(node)
    if comment and lines:
      lines[-1] += f"  {comment}"
    edit = self._plan.statement(node)
    if edit.replacement is None:
      edit.replacement = lines

  def _spelled(self, node: ast.stmt, alias: ast.alias) -> str:
    fields = {**dict(ast.iter_fields(node)), "names": [alias]}
    return ast.unparse(type(node)(**fields))

  def _alias(self, node: ast.stmt, alias: ast.alias) -> Optional[str]:
    """The statement for one name; None leaves it as it is, "" drops it."""
    origin = node.module if isinstance(node, ast.ImportFrom) else ""
    if alias.name == "*":
      self._star(node, origin or "")
      return None
    target = f"{origin}.{alias.name}" if origin else alias.name
    symbol = symbols.canonical(target)
    if not symbols.is_tensorflow(symbol) and not replacements.is_slim(symbol):
      return None
    if symbol.path == "tf":
      if self._swaps and not symbol.api and not origin:
        return f"import tensorflow.compat.v1 as {alias.asname or 'tensorflow'}"
      return None
    if replacements.is_slim(symbol) and not origin and not alias.asname:
      return self._gone(node, "tf_slim", replacements.home("tf_slim"))
    if not origin and not alias.asname:
      return self._whole(symbol)
    name = alias.asname or alias.name
    found, via = replacements.find(symbol.path), replacements.home(symbol.path)
    is_gone = replacements.removed(symbol)
    if found or is_gone or _is_misplaced(symbol, target):
      return self._gone(node, name, via if is_gone else None)
    if origin and self._tf1 and _is_plain(symbol, target):
      module = f"tensorflow.compat.v1{origin[len('tensorflow') :]}"
      return f"from {module} import {_as(alias.name, name)}"
    return None

  def _whole(self, symbol: symbols.Symbol) -> Optional[str]:
    """`import tensorflow.contrib.slim`, which binds `tensorflow`."""
    if not replacements.removed(symbol):
      return None
    if not self._reads("tensorflow"):
      return ""
    return f"import tensorflow{'.compat.v1 as tensorflow' if self._swaps else ''}"

  def _gone(self, node: ast.stmt, name: str, via: Optional[str]) -> str:
    """What takes the place of the import of something removed or replaced."""
    if imports.is_read_elsewhere(self._module, name) and via is None:
      self._obstacles.append(Unsupported("EM906", node, name=name, symbol=name))
    if via is None or not (
      any(isinstance(n, ast.Name) and n.id == name for n in self._kept)
      or imports.is_read_elsewhere(self._module, name)
    ):
      return ""
    head, _, last = via.rpartition(".")
    if not head:
      return f"from migrator import {_as('runtime', name)}"
    head = head.replace("runtime", "migrator.runtime", 1) if head.startswith("runtime") else head
    head = f"tensorflow{head[2:]}" if head.split(".")[0] == "tf" else head
    return f"from {head} import {_as(last, name)}"

  def _star(self, node: ast.stmt, origin: str) -> None:
    symbol = symbols.canonical(origin)
    if symbols.is_tensorflow(symbol) and (
      replacements.removed(symbol) or (self._tf1 and symbol.path == "tf" and not symbol.api)
    ):
      self._obstacles.append(Unsupported("EM907", node, name="*", origin=origin))

  def _reads(self, name: str) -> bool:
    """Whether something reads a name after the edits."""
    edited = self._plan.expressions
    for node in self._module.nodes():
      if isinstance(node, ast.Name) and node.id == name:
        above: Optional[ast.AST] = node
        while isinstance(above, (ast.Name, ast.Attribute)) and above not in edited:
          above = self._module.parents.get(above)
        if above not in edited or f"{name}." in edited[above]:
          return True
    return False


def _as(name: str, bound: str) -> str:
  return name if name == bound else f"{name} as {bound}"


def _is_plain(symbol: symbols.Symbol, target: str) -> bool:
  """Whether `tensorflow.compat.v1` has the module and the name of an import."""
  return (
    symbol.path.startswith("tf.")
    and not symbol.api
    and not symbol.private
    and target.startswith("tensorflow.")
    and not target.startswith(("tensorflow.keras.", "tensorflow.compat"))
  )


def _is_misplaced(symbol: symbols.Symbol, target: str) -> bool:
  """A hook that `tf.estimator` had a second time."""
  return symbol.path.startswith("tf.train.") and ".estimator." in target


def _joined(statements: list[str]) -> list[str]:
  """Imports from one module next to each other in one statement."""
  lines: list[str] = []
  for statement in statements:
    head, _, names = statement.partition(" import ")
    if names and lines and lines[-1].startswith(f"{head} import "):
      lines[-1] += f", {names}"
    elif statement not in lines:
      lines.append(statement)
  return lines
