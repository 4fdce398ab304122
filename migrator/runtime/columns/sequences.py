"""Layers for sequence columns: each returns its values and how many steps each example has."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Callable, Optional

import tensorflow as tf

from migrator.runtime.columns.base import (
  MISSING,
  ColumnLayer,
  as_feature,
  is_pair,
  register,
  spec,
  to_sparse,
)
from migrator.runtime.columns.dense import Embedding


def _steps(ids: tf.Tensor) -> tf.Tensor:
  """Returns how many steps each example of ids [batch, steps, ...] has, int64 [batch].

  That is the place of the last step that has a value, plus 1.
  """
  present = tf.not_equal(ids, tf.constant(MISSING, tf.int64))
  present = tf.reduce_any(tf.reshape(present, [tf.shape(ids)[0], tf.shape(ids)[1], -1]), axis=2)
  places = tf.cast(present, tf.int64) * (1 + tf.range(tf.shape(ids, out_type=tf.int64)[1]))
  return tf.maximum(tf.reduce_max(places, axis=1), 0)


def _refuse_weights(layer: tf.keras.layers.Layer, inputs: Any) -> None:
  """Raises for ids with weights: SequenceFeatures took no weighted column.

  Raises:
    ValueError: with the way out.
  """
  if is_pair(inputs):
    raise ValueError(f"{layer.name}: a sequence takes no weights; Embedding and Indicator do.")


def _one_each(sparse: tf.SparseTensor) -> tf.SparseTensor:
  """Returns ids [batch, steps] as [batch, steps, 1], so that steps are not combined."""
  if sparse.shape.rank > 2:
    return sparse
  shape = tf.concat([sparse.dense_shape, [1]], axis=0)
  indices = tf.pad(sparse.indices, [[0, 0], [0, 1]])
  return tf.SparseTensor(indices, sparse.values, tf.ensure_shape(shape, [3]))


@register
class SequenceIndicator(ColumnLayer):
  """`indicator_column` of a sequence: ids [batch, steps] -> float32 [batch, steps, depth], lengths."""

  def __init__(self, depth: int, **kwargs: Any):
    """Makes the layer.

    Args:
      depth: how many ids there are; others add nothing.
      **kwargs: those of a Keras layer.
    """
    super().__init__(**kwargs)
    self.depth = int(depth)

  def call(self, inputs):
    _refuse_weights(self, inputs)
    hot = tf.one_hot(inputs, self.depth)
    return (tf.reduce_sum(hot, axis=-2) if inputs.shape.rank > 2 else hot), _steps(inputs)

  def compute_output_spec(self, inputs):
    batch, steps = inputs.shape[:2]
    return spec((batch, steps, self.depth)), spec((batch,), "int64")

  def get_config(self):
    return {**super().get_config(), "depth": self.depth}


@register
class SequenceEmbedding(Embedding):
  """`embedding_column` of a sequence: ids [batch, steps] -> float32 [batch, steps, dim], lengths."""

  def call(self, inputs):
    _refuse_weights(self, inputs)
    return self._lookup(_one_each(to_sparse(inputs)), None), _steps(inputs)

  def compute_output_spec(self, inputs):
    batch, steps = inputs.shape[:2]
    return spec((batch, steps, self.output_dim)), spec((batch,), "int64")


@register
class SequenceNumeric(ColumnLayer):
  """`sequence_numeric_column`: sparse or ragged numbers -> [batch, steps, elements], lengths.

  Of numbers [batch, k] each step takes as many as it has elements.
  """

  def __init__(
    self,
    shape: Sequence[int] = (1,),
    default_value: float = 0.0,
    normalizer_fn: Optional[Callable] = None,
    **kwargs: Any,
  ):
    """Makes the layer.

    Args:
      shape: of a step.
      default_value: of the steps that an example lacks.
      normalizer_fn: from the sparse tensor to one; see `Normalizer`.
      **kwargs: those of a Keras layer.
    """
    super().__init__(**kwargs)
    self.shape = [int(size) for size in shape]
    self.default_value = default_value
    self.normalizer_fn = normalizer_fn

  def call(self, inputs):
    values = as_feature(inputs)
    if not isinstance(values, tf.SparseTensor):
      raise ValueError(f"{self.name} takes a sparse or a ragged feature, not a dense one.")
    if self.normalizer_fn is not None:
      values = self.normalizer_fn(values)
    default = tf.cast(self.default_value, values.dtype)
    dense = tf.sparse.to_dense(values, default_value=default)
    elements = math.prod(self.shape)
    result = tf.reshape(dense, [tf.shape(dense)[0], -1, elements])
    there = tf.SparseTensor(
      values.indices, tf.zeros_like(values.values, tf.int64), values.dense_shape
    )
    missing = tf.constant(MISSING, tf.int64)
    steps = _steps(tf.sparse.to_dense(there, default_value=missing))
    if values.shape.rank == 2:
      steps = (steps + elements - 1) // elements
    return result, steps

  def compute_output_spec(self, inputs):
    batch = inputs.shape[0]
    result = spec((batch, None, math.prod(self.shape)), tf.as_dtype(inputs.dtype).name)
    return result, spec((batch,), "int64")

  def get_config(self):
    fn = self.normalizer_fn
    return {
      **super().get_config(),
      "shape": self.shape,
      "default_value": self.default_value,
      "normalizer_fn": fn and tf.keras.utils.serialize_keras_object(fn),
    }

  @classmethod
  def from_config(cls, config):
    fn = config.get("normalizer_fn")
    if fn is not None and not callable(fn):
      fn = tf.keras.utils.deserialize_keras_object(fn)
    return cls(**{**config, "normalizer_fn": fn})
