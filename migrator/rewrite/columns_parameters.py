"""The functions that create feature columns, and their parameters.

https://www.tensorflow.org/versions/r1.15/api_docs/python/tf/feature_column and
https://www.tensorflow.org/api_docs/python/tf/feature_column.
"""

from __future__ import annotations

import ast
from typing import Optional

from migrator.analysis import aliases
from migrator.rewrite.plan import Plan, Unsupported

_EMBEDDING = "dimension combiner initializer"
CHECKPOINT = "ckpt_to_load_from tensor_name_in_ckpt max_norm trainable use_safe_embedding_lookup"
COLLECTION = "shared_embedding_collection_name"
PARAMETERS = {
  name: tuple(parameters.split())
  for name, parameters in {
    "numeric_column": "key shape default_value dtype normalizer_fn",
    "bucketized_column": "source_column boundaries",
    "categorical_column_with_identity": "key num_buckets default_value",
    "categorical_column_with_vocabulary_list": (
      "key vocabulary_list dtype default_value num_oov_buckets"
    ),
    "categorical_column_with_vocabulary_file": (
      "key vocabulary_file vocabulary_size dtype default_value num_oov_buckets file_format"
    ),
    "categorical_column_with_hash_bucket": "key hash_bucket_size dtype",
    "crossed_column": "keys hash_bucket_size hash_key",
    "weighted_categorical_column": "categorical_column weight_feature_key dtype",
    "indicator_column": "categorical_column",
    "embedding_column": f"categorical_column {_EMBEDDING} {CHECKPOINT}",
    "shared_embeddings": f"categorical_columns {_EMBEDDING} {COLLECTION} {CHECKPOINT}",
    "shared_embedding_columns": f"categorical_columns {_EMBEDDING} {COLLECTION} {CHECKPOINT}",
  }.items()
}
# TF1 had another order.
VOCABULARY_FILE_V1 = tuple(
  "key vocabulary_file vocabulary_size num_oov_buckets default_value dtype".split()
)
DTYPES = {
  **{f"tf.{name}": name for name in ("string", "float16", "float32", "float64")},
  **{f"tf.{name}": "int64" for name in ("int8", "int16", "int32", "int64")},
}
_MODULE = "tf.feature_column."


def creator_name(plan: Plan, call: ast.Call) -> Optional[str]:
  """The function of `tf.feature_column` that is called, or None.

  Raises:
    Unsupported: EM207, a column of `tf.contrib`, or one that the canned estimators do not take.
  """
  symbol = plan.module.resolve(call.func)
  if symbol is None or not aliases.is_certain(plan.module, call.func):
    return None
  if symbol.path.startswith("tf.contrib.") and "column" in symbol.path:
    raise Unsupported("EM207", call, column=symbol.path)
  if not symbol.path.startswith(_MODULE):
    return None
  name = symbol.path[len(_MODULE) :]
  if name.startswith("sequence_"):
    what = f"{symbol.path}, which the input layer of a canned estimator refuses"
    raise Unsupported("EM207", call, column=what)
  return name if name in PARAMETERS else None
