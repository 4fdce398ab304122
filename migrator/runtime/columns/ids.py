"""Layers that turn the values of a feature into ids: hash buckets, identity, buckets of numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Optional

import tensorflow as tf

from migrator.runtime.columns.base import (
  MISSING,
  ColumnLayer,
  as_feature,
  is_present,
  register,
  spec,
)


class IdsLayer(ColumnLayer):
  """A layer from dense, sparse or ragged values [batch, k] to ids, dense int64 of the same shape.

  Attributes:
    num_buckets: how many ids there are, out-of-vocabulary buckets included.
  """

  num_buckets: int

  def call(self, inputs):
    values = as_feature(inputs)
    if not (values.dtype == tf.string or values.dtype.is_integer):
      raise ValueError(
        f"{self.name} takes strings or integers, but its feature is {values.dtype.name}."
      )
    missing = tf.constant(MISSING, tf.int64)
    if isinstance(values, tf.SparseTensor):
      ids = tf.SparseTensor(values.indices, self._ids(values.values), values.dense_shape)
      return tf.sparse.to_dense(ids, default_value=missing)
    return tf.where(is_present(values), self._ids(values), missing)

  def _ids(self, values: tf.Tensor) -> tf.Tensor:
    """Returns the ids of values; those of missing ones do not count."""
    raise NotImplementedError

  def compute_output_spec(self, inputs):
    return spec(inputs.shape if len(inputs.shape) > 1 else (*inputs.shape, 1), "int64")


@register
class HashIds(IdsLayer):
  """`categorical_column_with_hash_bucket`, of strings or integers."""

  def __init__(self, num_buckets: int, **kwargs: Any):
    """Makes the layer.

    Args:
      num_buckets: `hash_bucket_size`.
      **kwargs: those of a Keras layer.
    """
    super().__init__(**kwargs)
    self.num_buckets = int(num_buckets)

  def _ids(self, values):
    text = values if values.dtype == tf.string else tf.as_string(values)
    return tf.strings.to_hash_bucket_fast(text, self.num_buckets)

  def get_config(self):
    return {**super().get_config(), "num_buckets": self.num_buckets}


@register
class IdentityIds(IdsLayer):
  """`categorical_column_with_identity`.

  Without `default_value` an id out of range stays as it is: an indicator then ignores it and an embedding
  raises InvalidArgumentError, as they did.
  """

  def __init__(self, num_buckets: int, default_value: Optional[int] = None, **kwargs: Any):
    """Makes the layer.

    Args:
      num_buckets: ids are 0 to `num_buckets - 1`.
      default_value: the id of values out of range.
      **kwargs: those of a Keras layer.
    """
    super().__init__(**kwargs)
    self.num_buckets = int(num_buckets)
    self.default_value = default_value

  def _ids(self, values):
    if not values.dtype.is_integer:
      raise ValueError(f"{self.name} takes integers, but its feature is {values.dtype.name}.")
    ids = tf.cast(values, tf.int64)
    if self.default_value is None:
      return ids
    out_of_range = (ids < 0) | (ids >= self.num_buckets)
    return tf.where(out_of_range, tf.constant(self.default_value, tf.int64), ids)

  def get_config(self):
    own = {"num_buckets": self.num_buckets, "default_value": self.default_value}
    return {**super().get_config(), **own}


@register
class BucketIds(ColumnLayer):
  """`bucketized_column` as an embedding, a cross and a linear model see it.

  Element i of numbers [batch, n] has the ids from `i * (len(boundaries) + 1)` on. NaN is in the last
  bucket.
  """

  def __init__(self, boundaries: Sequence[float], **kwargs: Any):
    """Makes the layer.

    Args:
      boundaries: ascending; each begins a bucket.
      **kwargs: those of a Keras layer.
    """
    super().__init__(**kwargs)
    self.boundaries = [float(boundary) for boundary in boundaries]

  def call(self, inputs):
    values = tf.cast(as_feature(inputs), tf.float32)
    bucket = tf.raw_ops.Bucketize(input=values, boundaries=self.boundaries)
    return tf.cast(bucket + (len(self.boundaries) + 1) * tf.range(tf.shape(values)[1]), tf.int64)

  def compute_output_spec(self, inputs):
    return spec(inputs.shape if len(inputs.shape) > 1 else (*inputs.shape, 1), "int64")

  def get_config(self):
    return {**super().get_config(), "boundaries": self.boundaries}
