"""Layers that turn ids and numbers into what the first dense layer takes."""

from __future__ import annotations

from typing import Any, Callable, Optional

import tensorflow as tf

from migrator.runtime.columns.base import (
  ColumnLayer,
  as_feature,
  ids_shape,
  register,
  scope_name,
  spec,
  tensor_of,
  to_sparse_pair,
)

_INPUT_LAYER = "input_from_feature_columns/input_layer"


@register
class Indicator(ColumnLayer):
  """`indicator_column`: ids [batch, k] -> how often each occurs, float32 [batch, depth].

  Of ids with weights, the sum of the weights of each.
  """

  def __init__(self, depth: int, **kwargs: Any):
    """Makes the layer.

    Args:
      depth: how many ids there are; others add nothing.
      **kwargs: those of a Keras layer.
    """
    super().__init__(**kwargs)
    self.depth = int(depth)

  def call(self, inputs):
    ids, weights = to_sparse_pair(inputs)
    if weights is None:
      return tf.reduce_sum(tf.one_hot(inputs, self.depth), axis=1)
    # The steps of the column, on which the order of the sums depends.
    indices = tf.concat([ids.indices[:, :-1], ids.values[:, tf.newaxis]], axis=1)
    shape = tf.concat([ids.dense_shape[:-1], [self.depth]], axis=0)
    merged = tf.sparse.reorder(tf.SparseTensor(indices, weights.values, shape))
    merged = tf.sparse.slice(merged, [0, 0], shape)
    counts = tf.scatter_nd(merged.indices, merged.values, merged.dense_shape)
    return tf.ensure_shape(counts, [None, self.depth])

  def compute_output_spec(self, inputs):
    return spec((ids_shape(inputs)[0], self.depth))

  def get_config(self):
    return {**super().get_config(), "depth": self.depth}


@register
class Embedding(ColumnLayer):
  """`embedding_column`: ids [batch, k], or ids with weights -> float32 [batch, output_dim].

  Called on several ids it is a shared embedding.
  """

  def __init__(
    self,
    input_dim: int,
    output_dim: int,
    combiner: str = "mean",
    max_norm: Optional[float] = None,
    trainable: bool = True,
    embeddings_initializer: Any = None,
    ckpt_to_load_from: Optional[str] = None,
    tensor_name_in_ckpt: Optional[str] = None,
    use_safe_embedding_lookup: bool = True,
    variable_name: Optional[str] = None,
    **kwargs: Any,
  ):
    """Makes the layer.

    Args:
      input_dim: how many ids there are.
      output_dim: `dimension`.
      combiner: what becomes of several values of an example: "mean", "sqrtn" or "sum".
      max_norm: to what a longer row is shortened before.
      trainable: whether the table is.
      embeddings_initializer: None for a normal distribution, truncated, of deviation
        `1 / sqrt(output_dim)`.
      ckpt_to_load_from: the checkpoint with the initial values. A saved model has values and needs none.
      tensor_name_in_ckpt: their name there.
      use_safe_embedding_lookup: whether ids below 0 and examples without a value are allowed.
      variable_name: of the table in a checkpoint, within the scope of the model or, with a leading "/",
        in full; None for that of an embedding column.
      **kwargs: those of a Keras layer.
    """
    super().__init__(trainable=trainable, **kwargs)
    if (ckpt_to_load_from is None) != (tensor_name_in_ckpt is None):
      raise ValueError(f"{self.name} needs both or none of ckpt_to_load_from, tensor_name_in_ckpt.")
    self.input_dim = int(input_dim)
    self.output_dim = int(output_dim)
    self.combiner = combiner
    self.max_norm = max_norm
    if embeddings_initializer is None:
      embeddings_initializer = tf.keras.initializers.TruncatedNormal(stddev=output_dim**-0.5)
    self.embeddings_initializer = tf.keras.initializers.get(embeddings_initializer)
    self.ckpt_to_load_from = ckpt_to_load_from
    self.tensor_name_in_ckpt = tensor_name_in_ckpt
    self.use_safe_embedding_lookup = use_safe_embedding_lookup
    self.variable_name = variable_name

  def build(self, input_shape=None):
    shape = (self.input_dim, self.output_dim)
    initializer = self.embeddings_initializer
    if self.ckpt_to_load_from is not None:
      initializer = self._from_checkpoint(shape)
    self.embeddings = self.add_float("embeddings", shape, initializer)
    super().build(input_shape)

  def _from_checkpoint(self, shape: tuple) -> Callable:
    """Returns an initializer with the values of the checkpoint.

    Raises:
      ValueError: if they have another shape.
    """
    with tf.init_scope():
      reader = tf.train.load_checkpoint(self.ckpt_to_load_from)
      value = reader.get_tensor(self.tensor_name_in_ckpt)
    if value.shape != shape:
      raise ValueError(
        f"{self.name} has the shape {shape}, but {self.tensor_name_in_ckpt} in "
        f"{self.ckpt_to_load_from} has {value.shape}."
      )
    return lambda shape, dtype=None, **_: tf.cast(value, dtype or tf.float32)

  def call(self, inputs):
    return self._lookup(*to_sparse_pair(inputs))

  def _lookup(self, ids: tf.SparseTensor, weights: Optional[tf.SparseTensor]) -> tf.Tensor:
    """Returns the combined rows; those of ids of three dimensions for each of the first two."""
    safe = self.use_safe_embedding_lookup or ids.shape.rank > 2
    lookup = tf.nn.safe_embedding_lookup_sparse if safe else tf.nn.embedding_lookup_sparse
    table = tensor_of(self.embeddings)
    result = lookup(table, ids, weights, combiner=self.combiner, max_norm=self.max_norm)
    return tf.ensure_shape(result, [*[None] * (ids.shape.rank - 1), self.output_dim])

  def compute_output_spec(self, inputs):
    return spec((ids_shape(inputs)[0], self.output_dim))

  def variable_names(self) -> dict[str, Any]:
    """Returns the table by its name in the checkpoints of an Estimator."""
    name = f"{_INPUT_LAYER}/{scope_name(self.name)}/embedding_weights"
    return {self.variable_name or name: self.embeddings}

  def get_config(self):
    loads = not self.built
    return {
      **super().get_config(),
      "input_dim": self.input_dim,
      "output_dim": self.output_dim,
      "combiner": self.combiner,
      "max_norm": self.max_norm,
      "embeddings_initializer": tf.keras.initializers.serialize(self.embeddings_initializer),
      "ckpt_to_load_from": self.ckpt_to_load_from if loads else None,
      "tensor_name_in_ckpt": self.tensor_name_in_ckpt if loads else None,
      "use_safe_embedding_lookup": self.use_safe_embedding_lookup,
      "variable_name": self.variable_name,
    }


@register
class Normalizer(ColumnLayer):
  """The `normalizer_fn` of a numeric column: numbers as they are fed -> float32 of the same shape."""

  def __init__(self, fn: Callable, **kwargs: Any):
    """Makes the layer.

    Args:
      fn: from a tensor to a tensor. Decorate it with `tf.keras.utils.register_keras_serializable`, so that
        a saved model finds it; of a lambda only the weights of the model can be saved.
      **kwargs: those of a Keras layer.
    """
    super().__init__(**kwargs)
    self.fn = fn

  def call(self, inputs):
    return tf.cast(self.fn(as_feature(inputs)), tf.float32)

  def compute_output_spec(self, inputs):
    return spec(inputs.shape if len(inputs.shape) > 1 else (*inputs.shape, 1))

  def get_config(self):
    return {**super().get_config(), "fn": tf.keras.utils.serialize_keras_object(self.fn)}

  @classmethod
  def from_config(cls, config):
    fn = config["fn"]
    if not callable(fn):
      fn = tf.keras.utils.deserialize_keras_object(fn)
    return cls(**{**config, "fn": fn})
