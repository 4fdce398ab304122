"""The linear part of an Estimator, and the bias that is all of a baseline."""

from __future__ import annotations

from typing import Any, Optional

import tensorflow as tf

from migrator.runtime.columns.base import (
  ColumnLayer,
  as_feature,
  is_pair,
  register,
  scope_name,
  spec,
  tensor_of,
  to_sparse_pair,
)


@register
class LinearModel(ColumnLayer):
  """`linear_model`: a dictionary by the name of the column -> float32 [batch, units].

  A column of `num_buckets` is ids, or ids with weights, and has a row of weights for each id; any other is
  numbers, with a row for each element. Weights and bias begin with 0.
  """

  def __init__(
    self,
    units: int = 1,
    num_buckets: Optional[dict[str, int]] = None,
    sparse_combiner: str = "sum",
    **kwargs: Any,
  ):
    """Makes the layer.

    Args:
      units: how many logits.
      num_buckets: of each categorical column, by its name.
      sparse_combiner: what becomes of several values of an example: "sum", "mean" or "sqrtn".
      **kwargs: those of a Keras layer.
    """
    super().__init__(**kwargs)
    self.units = int(units)
    self.num_buckets = {name: int(size) for name, size in (num_buckets or {}).items()}
    self.sparse_combiner = sparse_combiner

  def build(self, input_shape):
    unknown = sorted(set(self.num_buckets) - set(input_shape))
    if unknown:
      raise ValueError(f"{self.name} has num_buckets of {unknown[0]!r}, but no such input.")
    self.column_weights = {}
    for name in sorted(input_shape):
      rows = self.num_buckets.get(name)
      if rows is None:
        rows = tf.TensorShape(input_shape[name])[1:].num_elements() or 1
      self.column_weights[name] = self.add_float(
        f"{scope_name(name)}_weights", (rows, self.units), "zeros"
      )
    self.bias_weights = self.add_float("bias_weights", (self.units,), "zeros")
    super().build(input_shape)

  def call(self, inputs):
    # In the order of the names, on which the last digits of the sum depend.
    sums = [self._weighted_sum(name, inputs[name]) for name in sorted(inputs)]
    return tf.nn.bias_add(tf.add_n(sums), tensor_of(self.bias_weights))

  def _weighted_sum(self, name: str, value: Any) -> tf.Tensor:
    weights = tensor_of(self.column_weights[name])
    if name in self.num_buckets:
      ids, id_weights = to_sparse_pair(value)
      return tf.nn.safe_embedding_lookup_sparse(
        weights, ids, id_weights, combiner=self.sparse_combiner
      )
    if is_pair(value):
      raise ValueError(f"{self.name} lacks num_buckets of {name!r}, which has weights.")
    value = tf.cast(as_feature(value), tf.float32)
    return tf.matmul(tf.reshape(value, [tf.shape(value)[0], weights.shape[0]]), weights)

  def compute_output_spec(self, inputs):
    return spec((tf.nest.flatten(inputs)[0].shape[0], self.units))

  def variable_names(self) -> dict[str, Any]:
    """Returns the weights by their names in the checkpoints of an Estimator."""
    names = {
      f"linear_model/{scope_name(name)}/weights": weight
      for name, weight in self.column_weights.items()
    }
    return {**names, "linear_model/bias_weights": self.bias_weights}

  def get_config(self):
    own = {
      "units": self.units,
      "num_buckets": self.num_buckets,
      "sparse_combiner": self.sparse_combiner,
    }
    return {**super().get_config(), **own}


@register
class Bias(ColumnLayer):
  """The logits of a baseline, which look at nothing: any inputs -> float32 [batch, units]."""

  def __init__(self, units: int = 1, **kwargs: Any):
    """Makes the layer.

    Args:
      units: how many logits.
      **kwargs: those of a Keras layer.
    """
    super().__init__(**kwargs)
    self.units = int(units)

  def build(self, input_shape=None):
    self.bias = self.add_float("bias", (self.units,), "zeros")
    super().build(input_shape)

  def call(self, inputs):
    first = tf.nest.flatten(inputs)[0]
    first = first.to_sparse() if isinstance(first, tf.RaggedTensor) else first
    return tensor_of(self.bias) * tf.ones([tf.shape(first)[0], self.units])

  def compute_output_spec(self, inputs):
    return spec((tf.nest.flatten(inputs)[0].shape[0], self.units))

  def variable_names(self) -> dict[str, Any]:
    """Returns the bias by its name in the checkpoints of an Estimator."""
    return {"bias": self.bias}

  def get_config(self):
    return {**super().get_config(), "units": self.units}
