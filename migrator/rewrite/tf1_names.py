"""Spells TF1's names for flags, logging, files and parsing as TF2 has them: `tf.compat.v1.X`.

Only where the function does the same with eager execution
(https://www.tensorflow.org/guide/migrate/migrate_tf2); the names of graphs and sessions are
reported instead.
"""

from __future__ import annotations

import ast
from typing import Optional

from migrator.analysis import facts, symbols
from migrator.rewrite.plan import Plan

_SAME = frozenset(
  """tf.app tf.ConfigProto tf.decode_base64 tf.div tf.is_nan tf.lin_space tf.matching_files tf.mod
  tf.parse_single_sequence_example tf.parse_tensor tf.random_crop tf.regex_replace tf.sparse_to_dense tf.GPUOptions tf.ceil tf.decode_csv tf.decode_raw tf.FixedLenFeature tf.FixedLenSequenceFeature
  tf.flags tf.floor_div tf.gfile tf.log tf.log1p tf.logging tf.parse_example
  tf.parse_single_example tf.python_io tf.random_normal tf.random_uniform tf.read_file
  tf.rsqrt tf.set_random_seed tf.sparse_tensor_to_dense tf.string_join tf.string_split
  tf.string_strip tf.string_to_hash_bucket_fast tf.string_to_number tf.substr tf.to_double
  tf.to_float tf.to_int32 tf.to_int64 tf.VarLenFeature tf.write_file""".split()
)


_MODE_KEYS = ("tf.estimator.ModeKeys", "tf.contrib.learn.ModeKeys")
_MODES = {"TRAIN": '"train"', "EVAL": '"eval"', "PREDICT": '"infer"', "INFER": '"infer"'}


def plan_spellings(plan: Plan) -> list[ast.AST]:
  """Plans `tf.compat.v1.X` for the names above; returns the changed nodes."""
  changed: list[ast.AST] = []
  for use in plan.module.uses():
    path = use.symbol.path
    owner, _, name = path.rpartition(".")
    if owner in _MODE_KEYS and name in _MODES and isinstance(use.node, ast.Attribute):
      plan.expressions[use.node] = _MODES[name]
      changed.append(use.node)
      continue
    if not any(path == same or path.startswith(same + ".") for same in _SAME):
      continue
    root = _root(use.node)
    if root is None or not facts.is_tf1_only(plan.module, use):
      continue
    if plan.module.resolve(root) == symbols.Symbol("tf"):
      plan.expressions[root] = f"{root.id}.compat.v1"
      changed.append(root)
  return changed


def _root(node: ast.AST) -> Optional[ast.Name]:
  if not isinstance(node, ast.Attribute):
    return None
  value: ast.AST = node
  while isinstance(value, ast.Attribute):
    value = value.value
  return value if isinstance(value, ast.Name) else None
