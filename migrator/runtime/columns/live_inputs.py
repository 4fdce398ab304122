"""The raw features that live `tf.feature_column` objects read, and Keras Inputs for them."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Optional

import tensorflow as tf


def inputs(
  columns: Any, sparse: bool = False, dtypes: Optional[Mapping[str, str]] = None
) -> dict[str, Any]:
  """Returns Keras Inputs for the raw features of feature columns.

  Numbers have the shape of their column. A categorical feature is `[None]`, any number of values for an
  example, string or int64; so are the weights of ids. Numbers of a sequence are always sparse, as the
  column takes them.

  Args:
    columns: `tf.feature_column` objects, in any order; the same one may occur twice.
    sparse: whether the input functions give sparse tensors for what is `[None]`, as
      `tf.io.parse_example` does.
    dtypes: of raw keys of crosses that are no strings, and of no other column: "int64".

  Returns:
    The name of the feature -> Input.

  Raises:
    ImportError: if this TensorFlow has no feature columns.
    ValueError: naming the feature, if columns take it for different things.
  """
  found = raw_features(as_list(columns))
  unknown = sorted(set(dtypes or ()) - set(found))
  if unknown:
    raise ValueError(f"dtypes has {unknown[0]!r}, but no column reads such a feature.")
  return {
    key: feature.input(key, sparse, (dtypes or {}).get(key)) for key, feature in found.items()
  }


@dataclasses.dataclass
class Feature:
  """A raw feature.

  Attributes:
    dtype: "string", "int64" or another; None if only the raw key of a cross tells of it.
    shape: of an example; None for any number of values.
    is_sparse: whether its column takes only sparse tensors.
    crossed: whether it is a raw key of a cross.
    weight: whether it holds the weights of ids.
  """

  dtype: Optional[str] = None
  shape: Optional[tuple] = None
  is_sparse: bool = False
  crossed: bool = False
  weight: bool = False

  @property
  def is_number(self) -> bool:
    return self.dtype is not None and self.shape is not None

  def input(self, key: str, sparse: bool, dtype: Optional[str]) -> Any:
    """Returns the Input."""
    dtype = self.dtype or dtype or "string"
    if self.shape is not None and self.crossed and self.dtype is not None:
      # A cross takes no floats: the column converts the whole numbers itself.
      dtype = "int64"
    arguments: dict[str, Any] = {} if "/" in key else {"name": key}
    if self.shape is None and (sparse or self.is_sparse):
      arguments["sparse"] = True
    shape = (None,) if self.shape is None else self.shape
    return tf.keras.Input(shape, dtype=dtype, **arguments)


def raw_features(columns: Iterable[Any]) -> dict[str, Feature]:
  """Returns the raw features that columns read, by their names.

  Raises:
    ValueError: naming the feature, if columns take it for different things.
  """
  found: dict[str, Feature] = {}
  for column in walk(columns):
    if hasattr(column, "hash_bucket_size") and hasattr(column, "keys"):
      for key in column.keys:
        if isinstance(key, str):
          found.setdefault(key, Feature()).crossed = True
      continue
    for key in getattr(column, "parents", ()):
      if isinstance(key, str):
        _add(found, key, column)
  return found


def _add(found: dict[str, Feature], key: str, column: Any) -> None:
  spec = column.parse_example_spec[key]
  dtype = tf.as_dtype(spec.dtype)
  new = Feature("int64" if dtype.is_integer else dtype.name)
  if hasattr(spec, "shape"):
    new.shape, new.dtype = tuple(spec.shape), dtype.name
  elif not hasattr(column, "num_buckets"):
    new.is_sparse = True
  new.weight = key == getattr(column, "weight_feature_key", None)
  old = found.setdefault(key, Feature())
  if old.dtype is None:
    old.dtype, old.shape = new.dtype, new.shape
  elif old.is_number and new.is_number:
    if (old.dtype, old.shape) != (new.dtype, new.shape):
      raise _conflict(key, old, new)
  elif old.is_number or new.is_number:
    number, ids = (old, new) if old.is_number else (new, old)
    if ids.dtype != "int64":
      raise _conflict(key, old, new)
    # The column of the numbers converts whole numbers itself; ids are no floats.
    old.dtype, old.shape = "int64", number.shape
  elif old.dtype != new.dtype:
    raise _conflict(key, old, new)
  old.is_sparse |= new.is_sparse
  old.weight |= new.weight


def _conflict(key: str, old: Feature, new: Feature) -> ValueError:
  def text(feature: Feature) -> str:
    return f"{feature.dtype} {list(feature.shape) if feature.shape is not None else '[None]'}"

  return ValueError(
    f"Columns take the feature {key!r} both for {text(old)} and for {text(new)}: one Input cannot be both."
  )


def as_list(columns: Any) -> list:
  """Returns columns as a list; of one column, or of the values of a dictionary, too.

  Raises:
    ImportError: if this TensorFlow has no feature columns.
    ValueError: for something that is no column.
  """
  check()
  if _is_column(columns):
    columns = [columns]
  columns = list(columns.values() if isinstance(columns, Mapping) else columns)
  for column in columns:
    if not _is_column(column):
      raise ValueError(f"feature columns hold {column!r}, which is not a tf.feature_column.")
  return columns


def _is_column(value: Any) -> bool:
  # Shared embeddings of TF1 are no FeatureColumn.
  is_column = isinstance(value, tf.__internal__.feature_column.FeatureColumn)
  return is_column or hasattr(value, "shared_embedding_collection_name")


def check() -> None:
  """Raises if TensorFlow has no feature columns any more.

  Raises:
    ImportError: with the way out.
  """
  internal = getattr(tf, "__internal__", None)
  if not hasattr(tf, "feature_column") or not hasattr(internal, "feature_column"):
    raise ImportError(
      f"TensorFlow {tf.__version__} has no tf.feature_column any more. Run `migrator eject` with an older "
      "one, 2.21 say: it prints layers that take the place of the columns and need none."
    )


def walk(columns: Iterable[Any]) -> Iterator[Any]:
  """Yields columns and those that they are made of, each once, the inner ones first."""
  seen: set[int] = set()

  def visit(column: Any) -> Iterator[Any]:
    if id(column) in seen:
      return
    seen.add(id(column))
    parents = getattr(column, "parents", None)
    for parent in [column.categorical_column] if parents is None else parents:
      if not isinstance(parent, str):
        yield from visit(parent)
    yield column

  for column in columns:
    yield from visit(column)
