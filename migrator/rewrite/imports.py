"""Adds the imports that new code needs and removes those that nothing reads any more."""

from __future__ import annotations

import ast
import os
import pkgutil
import re
import sys
from collections.abc import Sequence
from typing import Optional

from migrator.analysis import symbols
from migrator.analysis.module import Module
from migrator.rewrite.plan import Plan


def _standard_modules() -> frozenset[str]:
  """Top-level modules of the standard library."""
  names = getattr(sys, "stdlib_module_names", None)
  if names is None:  # before Python 3.10: what lies in its folder
    found = pkgutil.iter_modules([os.path.dirname(os.__file__)])
    names = {*sys.builtin_module_names, *(module.name for module in found)}
  return frozenset(names)


_STANDARD = _standard_modules()


def add(plan: Plan) -> None:
  """Plans the imports that the plan asked for."""
  first = _first_edit(plan)
  top = _before(_top_imports(plan.module), first)
  for statement in sorted(plan.imports):
    if not _has(plan.module, top, first, statement):
      _insert(plan, top, first, statement)


def remove_unused(plan: Plan, before: Module) -> None:
  """Plans the removal of TensorFlow (and functools) imports that lost their last reader.

  Args:
    plan: of the new text.
    before: the old text; what nothing read there stays.
  """
  for node in [n for n in plan.module.scope_of if isinstance(n, (ast.Import, ast.ImportFrom))]:
    kept = [a for a in node.names if not _lost(plan.module, before, node, a)]
    if len(kept) == len(node.names):
      continue
    edit = plan.statement(node)
    if kept:
      changed = type(node)(**{**dict(ast.iter_fields(node)), "names": kept})
      edit.replacement = [ast.unparse(changed)]
    else:
      edit.replacement = []


def _lost(module: Module, before: Module, node: ast.AST, alias: ast.alias) -> bool:
  target = alias.name
  if isinstance(node, ast.ImportFrom):
    target = f"{node.module or ''}.{alias.name}"
    if node.level or alias.name == "*":
      return False
  if is_read_elsewhere(module, alias.asname or alias.name.split(".")[0]):
    return False
  ours = symbols.is_tensorflow(symbols.canonical(target)) or target == "functools"
  name = alias.asname or alias.name.split(".")[0]
  return ours and _reads(before, name) > 0 and _reads(module, name) == 0


def is_read_elsewhere(module: Module, name: str) -> bool:
  """Whether other files or texts may read a name: a package, `__all__`, annotations in strings."""
  if module.filename.replace("\\", "/").rpartition("/")[2] == "__init__.py":
    return True
  pattern = re.compile(rf"\b{re.escape(name)}\b")
  if any(pattern.search(c) for c in re.findall(r"#\s*type:.*", module.text)):
    return True
  return any(
    isinstance(node, ast.Constant)
    and isinstance(node.value, str)
    and (node.value == name or re.match(rf"[\w\[., ]*\b{re.escape(name)}\.\w", node.value))
    for node in ast.walk(module.tree)
  )


def _reads(module: Module, name: str) -> int:
  return sum(
    isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Load)
    for n in ast.walk(module.tree)
  )


def _top_imports(module: Module) -> list[ast.stmt]:
  """Imports at the top of the module, down to the first other statement."""
  found: list[ast.stmt] = []
  for i, node in enumerate(module.tree.body):
    if isinstance(node, (ast.Import, ast.ImportFrom)):
      found.append(node)
    elif isinstance(node, ast.Pass):
      continue  # a magic of a notebook
    elif not (i == 0 and isinstance(node, ast.Expr)):
      break
  return found or [n for n in module.tree.body if isinstance(n, (ast.Import, ast.ImportFrom))]


def _first_edit(plan: Plan) -> int:
  """The line of the first statement that changes: what it needs must be imported above it."""
  nodes = [*plan.statements, *plan.expressions, *plan.arguments, *plan.functions]
  edited = [plan.module.statement(node) for node in nodes]
  lines = [n.lineno for n in edited if not isinstance(n, (ast.Import, ast.ImportFrom))]
  return min(lines, default=len(plan.module.parser_lines) + 1)


def _before(imports: Sequence[ast.stmt], line: int) -> list[ast.stmt]:
  """The imports above a line; the first one where there are none, as in a function above all."""
  return [node for node in imports if node.lineno < line] or list(imports[:1])


def _has(module: Module, top: list[ast.stmt], first: int, statement: str) -> bool:
  """Whether the module has an import already, above what needs it."""
  return any(
    isinstance(n, (ast.Import, ast.ImportFrom))
    and (n.lineno < first or n in top)
    and statement in _single(n)
    for n in module.tree.body
  )


def _single(node: ast.stmt) -> list[str]:
  """What an import is the same as: one statement for each name."""
  fields = dict(ast.iter_fields(node))
  return [ast.unparse(type(node)(**{**fields, "names": [n]})) for n in fields["names"]]


def _root(node: ast.stmt) -> str:
  if isinstance(node, ast.ImportFrom):
    return (node.module or ".").split(".")[0]
  return node.names[0].name.split(".")[0]  # type: ignore[attr-defined]


def _insert(plan: Plan, top: list[ast.stmt], first: int, statement: str) -> None:
  root = _root(ast.parse(statement).body[0])
  if not top:
    begin = plan.module.tree.body[0]
    if isinstance(begin, ast.Expr) and len(plan.module.tree.body) > 1:
      begin = plan.module.tree.body[1]
    plan.statement(begin).before.append(statement)
    return
  if root in _STANDARD:
    _insert_standard(plan, top, statement, root)
    return
  # Wherever that stands: a program may set up its environment before TensorFlow is imported.
  imports = [n for n in plan.module.tree.body if isinstance(n, (ast.Import, ast.ImportFrom))]
  tensorflow = [n for n in imports if _root(n) in ("tensorflow", "tensorflow_estimator")]
  plan.statement((_before(tensorflow, first) or top)[-1]).after.append(statement)


def _insert_standard(plan: Plan, top: list[ast.stmt], statement: str, root: str) -> None:
  """Among the plain imports of the standard library, in alphabetical order."""
  plain: list[ast.stmt] = []
  future: Optional[ast.stmt] = None
  for node in top:
    if isinstance(node, ast.ImportFrom) and node.module == "__future__":
      future = node
    elif isinstance(node, ast.Import) and _root(node) in _STANDARD:
      plain.append(node)
  following = next((n for n in plain if _root(n) > root), None)
  if following is not None:
    edit = plan.statement(following)
    edit.before.append(statement)
    edit.before.sort()
  elif plain:
    edit = plan.statement(plain[-1])
    edit.after.append(statement)
  elif future is not None:
    plan.statement(future).after.append(statement)
  else:
    plan.statement(top[0]).before.append(statement)
