"""Which expressions and functions of a file give a tf.data Dataset."""

from __future__ import annotations

import ast
from typing import Optional

from migrator.analysis.module import Module

_MAKES_DATASET = (
  "tf.data.Dataset.",
  "tf.data.FixedLengthRecordDataset",
  "tf.data.TFRecordDataset",
  "tf.data.TextLineDataset",
  "tf.data.experimental.CsvDataset",
  "tf.data.experimental.SqlDataset",
  "tf.data.experimental.make_",
)
# Methods of a Dataset that give a Dataset.
_KEEPS_DATASET = frozenset(
  """apply batch bucket_by_sequence_length cache concatenate enumerate filter flat_map
  group_by_window ignore_errors interleave map padded_batch prefetch ragged_batch rebatch
  rejection_resample repeat scan shard shuffle skip snapshot sparse_batch take take_while
  unbatch unique window with_options zip""".split()
)


def function_returns_dataset(module: Module, function: ast.AST, depth: int = 0) -> bool:
  """Whether every `return` of a function gives a tf.data Dataset, as far as the file shows."""
  if getattr(function, "decorator_list", None):
    return False
  returns = [
    n
    for n in ast.walk(function)
    if isinstance(n, ast.Return) and module.scope_of[n].node is function
  ]
  return bool(returns) and all(
    r.value is not None and is_dataset(module, r.value, depth) for r in returns
  )


def is_dataset(module: Module, node: ast.AST, depth: int = 0) -> bool:
  """Whether an expression is a tf.data Dataset, as far as the file shows."""
  if depth > 8:
    return False
  if isinstance(node, ast.IfExp):
    return is_dataset(module, node.body, depth + 1) and is_dataset(module, node.orelse, depth + 1)
  if isinstance(node, ast.Name):
    _, bindings = module.scope_of.get(node, module.root).lookup(node.id)
    values = [b.value for b in bindings]
    # `dataset = dataset.batch(n)` refers to itself: one other value must be a Dataset.
    own = [v for v in values if v is not None and not _refers_to(v, node.id)]
    chained = [v for v in values if v is not None and _refers_to(v, node.id)]
    return (
      bool(own)
      and all(b.kind == "assign" for b in bindings)
      and all(is_dataset(module, v, depth + 1) for v in own)
      and all(_chain_root(v) is not None for v in chained)
    )
  if isinstance(node, ast.Call):
    symbol = module.resolve(node.func)
    if symbol is not None and symbol.path.startswith("tf."):
      return symbol.path.startswith(_MAKES_DATASET)
    definition = module.definition(node.func) if isinstance(node.func, ast.Name) else None
    if isinstance(definition, ast.FunctionDef):
      return function_returns_dataset(module, definition, depth + 1)
    if isinstance(node.func, ast.Attribute):
      return node.func.attr in _KEEPS_DATASET and is_dataset(module, node.func.value, depth + 1)
  return False


def _refers_to(node: ast.AST, name: str) -> bool:
  return any(isinstance(n, ast.Name) and n.id == name for n in ast.walk(node))


def _chain_root(node: ast.AST) -> Optional[ast.Name]:
  """The variable at the root of `x.map(...).batch(...)`, if all of that are Datasets."""
  while isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
    if node.func.attr not in _KEEPS_DATASET:
      return None
    node = node.func.value
  return node if isinstance(node, ast.Name) else None
