"""The weights of examples, which a head took out of the features."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Callable, Optional

import tensorflow as tf


class WeightColumn:
  """The key of a feature, and what is done with it."""

  def __init__(self, key: str, normalizer_fn: Optional[Callable] = None):
    self.key = key
    self.normalizer_fn = normalizer_fn

  @classmethod
  def of(cls, column: Any) -> Optional[WeightColumn]:
    """Makes it of a `weight_column` argument.

    Args:
      column: a key, a `tf.feature_column.numeric_column`, what `get_config` gave, or None.

    Raises:
      TypeError: for anything else.
    """
    if column is None or isinstance(column, cls):
      return column
    if isinstance(column, str):
      return cls(column)
    if isinstance(column, Mapping):
      function = column.get("normalizer_fn")
      return cls(
        column["key"], tf.keras.utils.deserialize_keras_object(function) if function else None
      )
    if type(column).__name__ in ("NumericColumn", "_NumericColumn"):
      return cls(column.key, column.normalizer_fn)
    raise TypeError(
      f"Weight column must be either a string or NumericColumn. Given type: {type(column)}."
    )

  def get_config(self) -> dict:
    """Returns what `of` takes; a normalizer_fn must be registered with Keras to be loaded."""
    config: dict = {"key": self.key}
    if self.normalizer_fn is not None:
      config["normalizer_fn"] = tf.keras.utils.serialize_keras_object(self.normalizer_fn)
    return config

  def weights(self, features: Any, losses_dimension: int) -> tf.Tensor:
    """Returns the weights, float32 [batch, 1] or [batch, losses_dimension].

    Args:
      features: the dict of features.
      losses_dimension: how many losses an example has.

    Raises:
      ValueError: if there is no such feature, or it is not numbers of such a shape.
    """
    if not isinstance(features, Mapping) or self.key not in features:
      there = sorted(features) if isinstance(features, Mapping) else "no named features"
      raise ValueError(f"The weight column {self.key!r} is not in the dataset: there are {there}.")
    weights = features[self.key]
    if isinstance(weights, (tf.SparseTensor, tf.RaggedTensor)):
      raise ValueError(f"The weight column {self.key!r} must be a dense Tensor.")
    weights = tf.convert_to_tensor(weights)
    if weights.shape.rank is None:
      weights = tf.reshape(weights, [tf.shape(weights)[0], -1])
    elif weights.shape.rank == 1:
      weights = tf.expand_dims(weights, -1)
    if self.normalizer_fn is not None:
      weights = self.normalizer_fn(weights)
    if not (weights.dtype.is_floating or weights.dtype.is_integer):
      raise ValueError(
        f"The weight column {self.key!r} should be castable to float. Given dtype: {weights.dtype}"
      )
    if weights.shape.rank == 0 or weights.shape[-1] not in (None, 1, losses_dimension):
      shape = "[batch] or [batch, 1]"
      if losses_dimension > 1:
        shape += f" or [batch, {losses_dimension}]"
      raise ValueError(
        f"The weight column {self.key!r} must be of shape {shape}, not {weights.shape}."
      )
    return tf.cast(weights, tf.float32)
