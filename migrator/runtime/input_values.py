"""Makes a feature what an Input of a model takes, where a feature column saw no difference."""

from __future__ import annotations

import dataclasses
import math
from typing import Any, Optional

import tensorflow as tf

from migrator.runtime.columns.base import as_feature


@dataclasses.dataclass(frozen=True)
class Target:
  """An Input of a model.

  Attributes:
    name: of the feature, or the number of the Input.
    dtype: its data type.
    shape: without the batch; None for a dimension that varies.
    kind: "dense", "sparse" or "ragged".
    crossed: whether its values are hashed in a cross.
    weight: whether it has the weights of ids.
  """

  name: Any
  dtype: tf.DType
  shape: tuple
  kind: str
  crossed: bool
  weight: bool

  @classmethod
  def of(cls, name: Any, tensor: Any, crossed: bool, weight: bool) -> Target:
    """Returns what a symbolic input of a model is."""
    kind = "dense"
    type_spec = getattr(tensor, "type_spec", None)
    if getattr(tensor, "sparse", False) or isinstance(type_spec, tf.SparseTensorSpec):
      kind = "sparse"
    elif getattr(tensor, "ragged", False) or isinstance(type_spec, tf.RaggedTensorSpec):
      kind = "ragged"
    return cls(name, tf.as_dtype(tensor.dtype), tuple(tensor.shape)[1:], kind, crossed, weight)

  @property
  def missing(self) -> Any:
    """What a dense feature has where there is no value; None for numbers, which are never missing."""
    if self.dtype == tf.string:
      return ""
    if self.dtype.is_integer:
      return -1
    return 0.0 if self.weight else None


def fit_value(target: Target, value: Any) -> Any:
  """Returns a feature with the data type, the kind and the shape of its Input.

  Raises:
    ValueError: naming the feature, if it cannot.
    InvalidArgumentError: alike, when a dataset runs.
  """
  if isinstance(value, (tf.SparseTensor, tf.RaggedTensor)):
    kind = "sparse" if isinstance(value, tf.SparseTensor) else "ragged"
  else:
    value, kind = tf.convert_to_tensor(value), "dense"
  if value.shape.rank == 0:
    raise ValueError(f"The feature {target.name!r} is a scalar: batch the dataset.")
  value = _cast(target, value)
  if kind == "dense" == target.kind:
    return _shaped(target, value)
  if kind != target.kind and "dense" in (kind, target.kind):
    _check(target, kind)
  if target.kind == "dense":
    return _shaped(target, _densified(target, as_feature(value)))
  if kind == "dense":
    value = _sparsified(target, as_feature(value))
  elif kind != target.kind or kind == "sparse":
    value = as_feature(value)
  if target.kind == "ragged" and isinstance(value, tf.SparseTensor):
    value = _to_ragged(target, value)
  rank = value.shape.rank
  if rank is not None and rank != 1 + len(target.shape):
    raise ValueError(
      f"The feature {target.name!r} has {rank} dimensions, its Input {1 + len(target.shape)}."
    )
  return value


def _cast(target: Target, value: Any) -> Any:
  given, wanted = value.dtype, target.dtype
  if given == wanted:
    return value
  if tf.string in (given, wanted) or (wanted.is_integer and not given.is_integer):
    raise ValueError(
      f"The feature {target.name!r} is {given.name}, but its Input is {wanted.name}: no column took it."
    )
  return tf.cast(value, wanted)


def _check(target: Target, kind: str) -> None:
  """Raises if another kind of feature than the Input has other results.

  Raises:
    ValueError: with the way out.
  """
  wanted = {"dense": "no sparse=True", "sparse": "sparse=True", "ragged": "ragged=True"}[kind]
  if target.crossed:
    raise ValueError(
      f"The feature {target.name!r} is {kind}, its Input {target.kind}, and the buckets of a cross "
      f"depend on that: make the Input with {wanted}."
    )
  if target.missing is None:
    raise ValueError(
      f"The feature {target.name!r} holds numbers and is {kind}, its Input {target.kind}: make the Input "
      f"with {wanted}, or convert the feature."
    )


def _densified(target: Target, value: tf.SparseTensor) -> tf.Tensor:
  """Returns a dense tensor, in which places without a value have what stands for that."""
  missing = tf.constant(target.missing, target.dtype)
  message = (
    f"The feature {target.name!r} is sparse and holds {target.missing!r}, which its dense Input takes for "
    "no value: make the Input with sparse=True"
  )
  with tf.control_dependencies(
    [tf.debugging.assert_none_equal(value.values, missing, message=message)]
  ):
    values = tf.identity(value.values)
  dense = tf.SparseTensor(value.indices, values, value.dense_shape)
  return tf.sparse.to_dense(dense, default_value=missing)


def _sparsified(target: Target, value: tf.Tensor) -> tf.SparseTensor:
  """Returns the values that are not missing."""
  where = tf.where(tf.not_equal(value, tf.constant(target.missing, target.dtype)))
  shape = tf.shape(value, out_type=tf.int64)
  return tf.SparseTensor(where, tf.gather_nd(value, where), shape)


def _to_ragged(target: Target, value: tf.SparseTensor) -> tf.RaggedTensor:
  """Returns the values of each example; in a sequence each must stay at its step."""
  if value.shape.rank != 2:
    return tf.RaggedTensor.from_sparse(value)
  rows = value.dense_shape[0]
  ragged = tf.RaggedTensor.from_value_rowids(value.values, value.indices[:, 0], nrows=rows)
  message = (
    f"The feature {target.name!r} has a place without a value before one with a value, which its ragged "
    "Input cannot have: make the Input with sparse=True"
  )
  places = tf.ragged.range(ragged.row_lengths()).values
  with tf.control_dependencies([tf.debugging.assert_equal(places, value.indices[:, 1], message)]):
    return ragged.with_values(tf.identity(ragged.values))


def _shaped(target: Target, value: tf.Tensor) -> tf.Tensor:
  """Returns a dense feature with the shape of its Input."""
  shape = target.shape
  if None in shape:
    if len(shape) == 1 and value.shape.rank is None:
      is_flat = tf.equal(tf.rank(value), 1)
      value = tf.cond(is_flat, lambda: tf.expand_dims(value, -1), lambda: value)
    elif len(shape) == 1:
      value = as_feature(value)
  elif not value.shape[1:].is_compatible_with(shape) or value.shape.rank is None:
    # A numeric column reshaped its feature: [batch, 784] and [batch, 28, 28] are the same to it.
    value = _reshaped(target, value, value.shape[1:].num_elements())
  try:
    return tf.ensure_shape(value, [None, *shape])
  except ValueError as error:
    raise ValueError(_message(target, value.shape)) from error


def _reshaped(target: Target, value: tf.Tensor, size: Optional[int]) -> tf.Tensor:
  batch = tf.shape(value)[0]
  wanted = math.prod(target.shape)
  if size is None:
    message = _message(target, value.shape)
    check = tf.debugging.assert_equal(tf.size(value), batch * wanted, message)
    with tf.control_dependencies([check] if check is not None else []):
      value = tf.identity(value)
  elif size != wanted:
    raise ValueError(_message(target, value.shape))
  return tf.reshape(value, [batch, *target.shape])


def _message(target: Target, shape: Any) -> str:
  wanted = [None, *target.shape]
  return f"The feature {target.name!r} has the shape {shape}, its Input {wanted}"
