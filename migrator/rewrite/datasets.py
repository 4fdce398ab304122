"""Which expressions and functions of a file give a tf.data Dataset."""

from __future__ import annotations

import ast
from typing import Optional

from migrator.analysis.binding import Binding
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
# What is behind one of these is no Dataset.
_NO_DATASET = frozenset(("get_next", "make_one_shot_iterator", "make_initializable_iterator"))
# Modules of which it is known that they give no Datasets, or what they are, whatever is called.
WELL_KNOWN = frozenset(
  """tensorflow tf keras numpy pandas scipy os math collections functools itertools json sklearn re csv
  datetime""".split()
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
    if same_functions(module, node.func, depth):
      return True
    if isinstance(node.func, ast.Attribute):
      return node.func.attr in _KEEPS_DATASET and is_dataset(module, node.func.value, depth + 1)
  return False


def same_functions(module: Module, node: ast.AST, depth: int = 0) -> list[ast.FunctionDef]:
  """The functions that a name stands for one after the other, if each of them gives a Dataset."""
  if not isinstance(node, ast.Name):
    return []
  _, bindings = module.scope_of.get(node, module.root).lookup(node.id)
  found = [b.node for b in bindings if isinstance(b.node, ast.FunctionDef)]
  if len(found) < 2 or len(found) != len(bindings):
    return []
  return found if all(function_returns_dataset(module, f, depth + 1) for f in found) else []


def is_imported(module: Module, node: ast.AST, depth: int = 0) -> bool:
  """Whether only another module, none of those that everybody knows, tells what an expression is.

  `their.train_input_fn`, `their.make(files)`, or a variable that is nothing else.
  """
  while isinstance(node, (ast.Call, ast.Attribute, ast.Subscript)):
    if isinstance(node, ast.Attribute) and node.attr in _NO_DATASET:
      return False
    node = node.func if isinstance(node, ast.Call) else node.value
  if isinstance(node, ast.IfExp) and depth <= 8:
    return all(is_imported(module, part, depth + 1) for part in (node.body, node.orelse))
  if not isinstance(node, ast.Name) or depth > 8:
    return False
  _, bindings = module.scope_of.get(node, module.root).lookup(node.id)
  # `data = data.batch(n)` says nothing more.
  bindings = [b for b in bindings if not _is_chain(b)]
  return bool(bindings) and all(_is_imported(module, binding, depth) for binding in bindings)


def _is_chain(binding: Binding) -> bool:
  """Whether a variable is bound to the Dataset that it was, if it was one, and more."""
  root = _chain_root(binding.value) if isinstance(binding.value, ast.Call) else None
  return root is not None and root.id == binding.name


def _is_imported(module: Module, binding: Binding, depth: int) -> bool:
  if binding.kind == "import":
    return binding.target.partition(".")[0] not in WELL_KNOWN
  # An unpacked variable is what the right-hand side says, as far as its origin goes.
  value = binding.value if binding.value is not None else getattr(binding.node, "value", None)
  if not isinstance(binding.node, (ast.Assign, ast.AnnAssign)) or not isinstance(value, ast.expr):
    return False
  return not _refers_to(value, binding.name) and is_imported(module, value, depth + 1)


def _refers_to(node: ast.AST, name: str) -> bool:
  return any(isinstance(n, ast.Name) and n.id == name for n in ast.walk(node))


def _chain_root(node: ast.AST) -> Optional[ast.Name]:
  """The variable at the root of `x.map(...).batch(...)`, if all of that are Datasets."""
  while isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
    if node.func.attr not in _KEEPS_DATASET:
      return None
    node = node.func.value
  return node if isinstance(node, ast.Name) else None
