"""Names that `from tensorflow... import *` may bind, and TensorFlow itself where `from x` does."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from migrator.analysis import private_names, removed_names, symbols
from migrator.analysis.module import Module, Use

# What `from tensorflow import *` binds and what leads to removed names.
_TOP = ("compat", "contrib", "estimator", "keras", "train")
# What a star import of another module binds, as a rule, where a text uses these names.
USUAL = {"tf": "tensorflow", "tensorflow": "tensorflow"}


def uses(module: Module) -> Iterator[tuple[Use, str]]:
  """Names bound nowhere in the module that a star import may bind to TensorFlow's.

  Yields:
    The use, not `certain`, of the longest chain; and the module after `from`.
  """
  if "import *" not in module.text and "import  *" not in module.text:
    return
  bound = _bound(module)
  if not bound:
    return
  for node in list(module.scope_of):
    if not isinstance(node, ast.Name) or not isinstance(node.ctx, ast.Load):
      continue
    if node.id not in bound or module.scope_of[node].lookup(node.id)[1]:
      continue
    origin, symbol = bound[node.id]
    chain: ast.expr = node
    parent = module.parents[chain]
    while isinstance(parent, ast.Attribute):
      symbol = symbol.attribute(parent.attr)
      chain, parent = parent, module.parents[parent]
    yield Use(symbol, chain, module.span(chain), certain=False), origin


def _bound(module: Module) -> dict[str, tuple[str, symbols.Symbol]]:
  """{name: (module after `from`, symbol)} of all star imports."""
  found: dict[str, tuple[str, symbols.Symbol]] = {}
  for origin in module.root.star_imports:
    symbol = symbols.canonical(origin)
    if not symbols.is_tensorflow(symbol):
      for name, dotted in USUAL.items():
        found.setdefault(name, (origin, symbols.canonical(dotted)))
      continue
    names: tuple[str, ...]
    if symbol.path == "tf":
      names = _TOP
    elif symbol.path.startswith("tf."):
      names = removed_names.names(symbol.path)
    else:
      names = private_names.names(symbol.path)
    for name in names:
      found[name] = (origin, symbol.attribute(name))
  return found
