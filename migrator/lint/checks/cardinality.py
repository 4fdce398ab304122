"""Whether Keras can know how many batches a dataset has, from the expression that makes it."""

from __future__ import annotations

import ast
from typing import Optional

from migrator.analysis.module import Module
from migrator.lint import values
from migrator.lint.checks import fits

# tf.data.Dataset.cardinality() was -2 on TF 2.15 and 2.21 after each of these.
_UNKNOWN_MAKERS = (
  "tf.data.Dataset.from_generator",
  "tf.data.Dataset.sample_from_datasets",
  "tf.data.FixedLengthRecordDataset",
  "tf.data.TFRecordDataset",
  "tf.data.TextLineDataset",
  "tf.data.experimental.CsvDataset",
  "tf.data.experimental.sample_from_datasets",
)
_UNKNOWN_METHODS = frozenset(
  """bucket_by_sequence_length filter flat_map group_by_window interleave rejection_resample
  take_while unbatch""".split()
)
_KEEPING_METHODS = frozenset(
  """batch cache concatenate enumerate map padded_batch prefetch ragged_batch scan shard shuffle skip
  snapshot take with_options""".split()
)
_MAX_DEPTH = 20


def unknown_because(module: Module, node: ast.AST, depth: int = 0) -> Optional[str]:
  """What makes the size of a dataset unknown, for example "`filter`"; None where it may be known."""
  if depth > _MAX_DEPTH:
    return None
  definition = module.definition(node)
  if isinstance(definition, ast.GeneratorExp):
    return "a generator"
  if not isinstance(definition, ast.Call):
    return None
  symbol = module.resolve(definition.func)
  if symbol is not None and symbol.path in _UNKNOWN_MAKERS:
    return f"`{values.text(module, definition.func)}`"
  function = definition.func
  made_by = module.definition(function)
  if isinstance(made_by, ast.FunctionDef):
    return _of_function(module, made_by, depth)
  if not isinstance(function, ast.Attribute):
    return None
  source = function.value
  if function.attr in _UNKNOWN_METHODS:
    return f"`{function.attr}`" if _is_dataset(module, source, depth) else None
  if function.attr == "repeat":
    count = values.literal(module, definition.args[0]) if definition.args else None
    finite = isinstance(count, int) and count > 0
    return unknown_because(module, source, depth + 1) if finite else None
  if function.attr in _KEEPING_METHODS:
    return unknown_because(module, source, depth + 1)
  return None


def _of_function(module: Module, function: ast.FunctionDef, depth: int) -> Optional[str]:
  """The reason if it is one for each value that a function returns."""
  if fits.is_generator(function):
    return "a generator"
  reasons = [unknown_because(module, value, depth + 1) for value in fits.returned(function)]
  return reasons[0] if reasons and all(reasons) else None


def _is_dataset(module: Module, node: ast.AST, depth: int) -> bool:
  """Whether an expression begins with a dataset: pandas and RDDs have a `filter` too."""
  while depth < _MAX_DEPTH:
    depth += 1
    definition = module.definition(node)
    if not isinstance(definition, ast.Call):
      return False
    symbol = module.resolve(definition.func)
    if symbol is not None and symbol.path.startswith(("tf.data.", "tf.keras.utils.")):
      return True
    made_by = module.definition(definition.func)
    if isinstance(made_by, ast.FunctionDef):
      results = list(fits.returned(made_by))
      return bool(results) and all(_is_dataset(module, r, depth) for r in results)
    if not isinstance(definition.func, ast.Attribute):
      return False
    node = definition.func.value
  return False
