"""Live feature columns -> the values of columns that the rewrite writes out."""

from __future__ import annotations

import math
from typing import Any

from migrator.eject.functions import Names, literal
from migrator.rewrite.columns_values import Column
from migrator.runtime.errors import CheckpointError

# What casts numbers to float32 without changing them otherwise.
_SAME = "tf.keras.activations.linear"


class EjectError(CheckpointError):
  """A model, or a column, cannot be printed."""


class Reader:
  """Reads live columns.

  Args:
    names: gets the functions that they call.
    dtypes: of the features, by name.
  """

  def __init__(self, names: Names, dtypes: dict[str, str]):
    self._names = names
    self._dtypes = dtypes

  def read(self, column: Any) -> Column:
    """Returns the value of a column.

    Raises:
      EjectError: for a column of the program's own class.
    """
    kind = type(column).__name__.lstrip("_")
    method = getattr(self, f"_{kind}", None)
    if method is None:
      raise EjectError(f"The column {column.name!r} is a {kind}, for which there is no layer.")
    return method(column)

  def _NumericColumn(self, column: Any) -> Column:
    shape = list(column.shape) or [1]
    arguments = [("shape", str(shape))]
    if column.normalizer_fn is not None:
      what = f"the normalizer_fn of {column.key!r}"
      arguments.append(("normalizer_fn", self._names.function(column.normalizer_fn, what)))
    elif self._dtypes.get(column.key, "float32") != "float32":
      arguments.append(("normalizer_fn", _SAME))
    return self._leaf(
      column, "numeric", arguments, "float32", rank=len(shape), size=str(math.prod(shape))
    )

  def _BucketizedColumn(self, column: Any) -> Column:
    return Column(
      "bucketized",
      column.name,
      (("boundaries", literal(column.boundaries)),),
      (self.read(column.source_column),),
      size=str(column.num_buckets),
    )

  def _IdentityCategoricalColumn(self, column: Any) -> Column:
    arguments = [("num_buckets", str(column.number_buckets))]
    if column.default_value is not None:
      arguments.append(("default_value", str(column.default_value)))
    return self._leaf(column, "identity", arguments, "int64")

  def _HashedCategoricalColumn(self, column: Any) -> Column:
    return self._leaf(column, "hash", [("hash_bucket_size", str(column.hash_bucket_size))], "")

  def _VocabularyListCategoricalColumn(self, column: Any) -> Column:
    words = [_word(word) for word in column.vocabulary_list]
    return self._lookup(column, "vocabulary", [("vocabulary_list", literal(words))])

  def _VocabularyFileCategoricalColumn(self, column: Any) -> Column:
    arguments = [("vocabulary_file", literal(str(column.vocabulary_file)))]
    arguments.append(("vocabulary_size", str(column.vocabulary_size)))
    if column.file_format not in (None, "text"):
      arguments.append(("file_format", literal(column.file_format)))
    return self._lookup(column, "vocabulary_file", arguments)

  def _lookup(self, column: Any, kind: str, arguments: list[tuple[str, str]]) -> Column:
    if column.num_oov_buckets:
      arguments.append(("num_oov_buckets", str(column.num_oov_buckets)))
    elif column.default_value not in (None, -1):
      arguments.append(("default_value", str(column.default_value)))
    return self._leaf(column, kind, arguments, "")

  def _leaf(
    self, column: Any, kind: str, arguments: list, dtype: str, rank: int = 1, size: str = ""
  ) -> Column:
    return Column(
      kind,
      column.name,
      tuple(arguments),
      key=column.key,
      dtype=dtype or ("int64" if column.dtype.is_integer else "string"),
      rank=rank,
      size=size or str(column.num_buckets),
      key_text=literal(column.key),
    )

  def _CrossedColumn(self, column: Any) -> Column:
    crossed: list[Any] = []
    sources: list[Column] = []
    for key in _leaves(column):
      if isinstance(key, str):
        crossed.append((key, literal(key)))
      else:
        crossed.append(len(sources))
        sources.append(self.read(key))
    arguments = [("hash_bucket_size", str(column.hash_bucket_size))]
    if column.hash_key is not None:
      arguments.append(("hash_key", str(column.hash_key)))
    return Column(
      "crossed",
      column.name,
      tuple(arguments),
      tuple(sources),
      size=str(column.num_buckets),
      crossed=tuple(crossed),
    )

  def _WeightedCategoricalColumn(self, column: Any) -> Column:
    source = self.read(column.categorical_column)
    key = column.weight_feature_key
    return Column(
      "weighted",
      column.name,
      (),
      (source,),
      key=key,
      size=source.size,
      key_text=literal(key),
    )

  def _SequenceNumericColumn(self, column: Any) -> Column:
    arguments = [("shape", str(list(column.shape) or [1]))]
    if column.normalizer_fn is not None:
      what = f"the normalizer_fn of {column.key!r}"
      arguments.append(("normalizer_fn", self._names.function(column.normalizer_fn, what)))
    return self._leaf(column, "numeric", arguments, "float32", size="1")

  def _SequenceCategoricalColumn(self, column: Any) -> Column:
    return self.read(column.categorical_column)

  def _IndicatorColumn(self, column: Any) -> Column:
    source = self.read(column.categorical_column)
    return Column("indicator", column.name, (), (source,), size=source.size)

  def _EmbeddingColumn(self, column: Any) -> Column:
    source = self.read(column.categorical_column)
    size = str(column.dimension)
    return Column("embedding", column.name, self._table(column), (source,), size=size)

  def _Shared(self, column: Any) -> Column:
    source = self.read(column.categorical_column)
    group = (column.table, column.table if column.scope else "")
    size = str(column.dimension)
    return Column("shared", column.name, self._table(column), (source,), size=size, group=group)

  def _table(self, column: Any) -> tuple:
    """Returns the arguments of an embedding that are not the default."""
    found = [("dimension", str(column.dimension))]
    if column.combiner != "mean":
      found.append(("combiner", literal(column.combiner)))
    what = f"the initializer of {column.name!r}"
    initializer = self._names.initializer(column.initializer, column.dimension, what)
    if initializer:
      found.append(("initializer", initializer))
    for name, default in (
      ("ckpt_to_load_from", None),
      ("tensor_name_in_ckpt", None),
      ("max_norm", None),
      ("trainable", True),
      ("use_safe_embedding_lookup", True),
    ):
      if getattr(column, name) != default:
        found.append((name, literal(getattr(column, name))))
    return tuple(found)


def _word(word: Any) -> Any:
  try:
    return word.decode() if isinstance(word, bytes) else word
  except UnicodeDecodeError:
    return word


def _leaves(column: Any) -> list:
  """Returns the keys of a cross; those of a cross within it are keys of the outer one."""
  found: list[Any] = []
  for key in column.keys:
    found += _leaves(key) if type(key).__name__ == "CrossedColumn" else [key]
  return found
