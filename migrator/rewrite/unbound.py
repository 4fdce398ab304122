"""Names that the output reads and nothing binds, though the input bound them."""

from __future__ import annotations

import ast
import builtins
from typing import Optional

from migrator.analysis.module import Module


def first(before: Module, after: Module) -> Optional[str]:
  """A name that only the module after the rewrite reads without a binding, or None."""
  new = _unbound(after) - _unbound(before)
  return min(new) if new else None


def _unbound(module: Module) -> set[str]:
  """The names that are read where no scope binds them, and that are not built in."""
  found = set()
  for node, scope in module.scope_of.items():
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
      _, bindings = scope.lookup(node.id)
      if not bindings and not hasattr(builtins, node.id) and not node.id.startswith("__"):
        found.add(node.id)
  return found
