"""TF1's spelling of names that TF2 still has: `tf.compat.v1.X`, or all of a file by its import.

`different_names.txt` lists what plain `tf` of TF2 has as another object than `tf.compat.v1`, and
`tf2_names.txt` what `tf.compat.v1` lacks; both are measured.
"""

from __future__ import annotations

import ast
import functools

from migrator.analysis import facts, symbols, tables
from migrator.analysis.module import Module, Use
from migrator.rewrite import replacements
from migrator.rewrite.plan import Plan


@functools.cache
def _names(table: str) -> frozenset[str]:
  lines = (line.split() for line in tables.read(table).splitlines())
  return frozenset(f"{module}.{name}" for module, *names in lines for name in names)


def _is_listed(table: str, path: str) -> bool:
  parts, names = path.split("."), _names(table)
  return any(".".join(parts[:n]) in names for n in range(2, len(parts) + 1))


def can_swap(module: Module) -> bool:
  """Whether everything that a file finds in plain `tf` is in `tf.compat.v1` or is replaced."""
  for node in ast.walk(module.tree):
    if isinstance(node, ast.ImportFrom) and not node.level and node.names[0].name == "*":
      symbol = symbols.canonical(node.module or "")
      if symbol.path == "tf" and not symbol.api:
        return False
  return not any(
    not use.symbol.api
    and not use.symbol.private
    and _is_listed("tf2_names.txt", use.symbol.path)
    and replacements.find(use.symbol.path) is None
    for use in module.uses()
  )


def is_tf1_spelling(module: Module, use: Use) -> bool:
  """Whether plain `tf` of TF2 has the name of a use not at all, or with another meaning."""
  symbol = use.symbol
  if symbol.api or symbol.private or not symbol.path.startswith("tf."):
    return False
  if symbol.path.startswith(("tf.keras.", "tf.contrib.", "tf.compat.")):
    return False
  return facts.is_tf1_only(module, use) or _is_listed("different_names.txt", symbol.path)


def respell(plan: Plan, use: Use) -> None:
  """Plans `tf.compat.v1.X` for a use that begins with the name of TensorFlow."""
  root: ast.AST = use.node
  while isinstance(root, ast.Attribute):
    root = root.value
  if not isinstance(root, ast.Name) or root is use.node or root in plan.expressions:
    return
  if plan.module.resolve(root) == symbols.Symbol("tf"):
    plan.expressions[root] = f"{root.id}.compat.v1"


def tf_name(plan: Plan) -> tuple[str, bool]:
  """A name that means TensorFlow in the whole file, and whether it is `tf.compat.v1`.

  Asks for an import where there is none.
  """
  root = plan.module.root
  for name, bindings in root.bindings.items():
    found = {
      symbols.canonical(b.target) if b.kind == "import" and not b.guarded else None
      for b in bindings
    }
    symbol = next(iter(found), None)
    if len(found) == 1 and symbol is not None and symbol.path == "tf" and symbol.api != "v2":
      return name, symbol.api == "v1"
  statement = f"import tensorflow as {plan.tf}"
  plan.needs(statement)
  return plan.tf, False
