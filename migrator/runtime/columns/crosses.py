"""Layers over several features: crosses, and ids with weights."""

from __future__ import annotations

from typing import Any, Optional

import tensorflow as tf

from migrator.runtime.columns.base import (
  MISSING,
  ColumnLayer,
  as_feature,
  input_name,
  is_pair,
  register,
  spec,
  to_sparse,
)


@register
class CrossIds(ColumnLayer):
  """`crossed_column`: a list of raw features and ids, in the order of the keys -> ids [batch, product].

  TensorFlow hashes the sparse ones first and the dense ones after them, and takes every value of a dense
  one, "" too. So the same values make other ids if a raw key is fed dense or sparse: its Input must be
  what the feature was. The keys of a cross within a cross are keys of the outer one.

  Attributes:
    raw_inputs: the names of the Inputs that are raw keys.
  """

  def __init__(
    self,
    num_buckets: int,
    hash_key: Optional[int] = None,
    raw: Optional[list] = None,
    **kwargs: Any,
  ):
    """Makes the layer.

    Args:
      num_buckets: `hash_bucket_size`.
      hash_key: None for TensorFlow's own.
      raw: which of the inputs are raw keys; None: the Inputs of the model, strings, and what is sparse.
      **kwargs: those of a Keras layer.
    """
    super().__init__(**kwargs)
    self.num_buckets = int(num_buckets)
    self.hash_key = hash_key
    self.raw = None if raw is None else [bool(r) for r in raw]
    self.raw_inputs: tuple = ()

  def __call__(self, inputs, *args, **kwargs):
    if any(is_pair(x) for x in inputs):
      raise ValueError(f"{self.name} is a cross, and a cross takes no weights: give it the ids.")
    if self.raw is None:
      self.raw = [_is_raw(x) for x in inputs]
    names = [input_name(x) for x, raw in zip(inputs, self.raw) if raw]
    self.raw_inputs = tuple(sorted({*self.raw_inputs, *filter(None, names)}))
    return super().__call__(inputs, *args, **kwargs)

  def call(self, inputs):
    parts = [as_feature(x) if raw else to_sparse(x) for x, raw in zip(inputs, self.raw or [])]
    crossed = tf.sparse.cross_hashed(parts, self.num_buckets, self.hash_key)
    return tf.sparse.to_dense(crossed, default_value=tf.constant(MISSING, tf.int64))

  def compute_output_spec(self, inputs):
    return spec((inputs[0].shape[0], None), "int64")

  def get_config(self):
    own = {"num_buckets": self.num_buckets, "hash_key": self.hash_key, "raw": self.raw}
    return {**super().get_config(), **own}


def _is_raw(x: Any) -> bool:
  if input_name(x) is not None or isinstance(x, (tf.SparseTensor, tf.RaggedTensor)):
    return True
  return tf.as_dtype(x.dtype) == tf.string


@register
class WeightedIds(ColumnLayer):
  """`weighted_categorical_column`: [ids, weights] -> a pair of tensors [batch, k], int64 and float32.

  The n-th weight of a batch is the n-th id's, wherever they are, as it was: a weight 0 of a dense feature
  is no weight.

  Attributes:
    weight_inputs: the names of the Inputs that are weights.
  """

  weight_inputs: tuple = ()

  def __call__(self, inputs, *args, **kwargs):
    name = input_name(inputs[1])
    if name is not None:
      self.weight_inputs = tuple(sorted({*self.weight_inputs, name}))
    return super().__call__(inputs, *args, **kwargs)

  def call(self, inputs):
    ids, weights = inputs
    weights = as_feature(weights)
    if isinstance(weights, tf.SparseTensor):
      values = weights.values
    else:
      values = tf.boolean_mask(weights, tf.not_equal(weights, tf.cast(0, weights.dtype)))
    where = tf.where(tf.not_equal(ids, tf.constant(MISSING, tf.int64)))
    message = f"{self.name}: the batch has other numbers of values and of weights that are not 0"
    with tf.control_dependencies(
      [tf.debugging.assert_equal(tf.shape(where)[0], tf.size(values), message)]
    ):
      values = tf.cast(values, tf.float32)
    return ids, tf.scatter_nd(where, values, tf.shape(ids, out_type=tf.int64))

  def compute_output_spec(self, inputs):
    shape = inputs[0].shape
    return spec(shape, "int64"), spec(shape)
