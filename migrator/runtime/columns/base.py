"""What the layers that take the place of feature columns share.

A categorical feature goes through two layers. An *ids* layer turns its values into a dense int64 tensor
[batch, k], as many as the example with the most has; a dense layer turns the ids into floats. Two ids are
special and must not be confused:

* `MISSING`: there is no value here. It counts nowhere.
* `UNKNOWN`, -1: a value out of the vocabulary. It adds nothing, but a cross sees it.

A value of a dense feature is missing if it is "" or -1. What a sparse or a ragged feature holds is there,
whatever it is.
"""

from __future__ import annotations

import re
from typing import Any, Optional

import tensorflow as tf

MISSING = -(2**63)
"""The id where there is no value."""
UNKNOWN = -1
"""The id of what the vocabulary lacks."""

register = tf.keras.utils.register_keras_serializable(package="migrator")
"""Makes a class known to `tf.keras.models.load_model`."""


class ColumnLayer(tf.keras.layers.Layer):
  """A layer that computes what a feature column did, with the ops that the column used."""

  def __init__(self, **kwargs: Any):
    # A column converts its feature itself, or takes it as it is.
    kwargs.setdefault("autocast", False)
    super().__init__(**kwargs)
    # XLA has neither strings nor sparse tensors.
    self.supports_jit = False

  @tf.autograph.experimental.do_not_convert
  def __call__(self, *args: Any, **kwargs: Any) -> Any:
    """Calls the layer; no function was converted in a column either, nor a normalizer_fn."""
    return super().__call__(*args, **kwargs)

  def add_float(self, name: str, shape: tuple, initializer: Any, trainable: bool = True) -> Any:
    """Makes a float32 weight, whatever the policy of the layer's results is."""
    return self.add_weight(
      name=name, shape=shape, initializer=initializer, trainable=trainable, dtype="float32"
    )


def spec(shape: Any, dtype: str = "float32") -> Any:
  """Returns what `compute_output_spec` returns, which only Keras 3 asks for."""
  return tf.keras.KerasTensor(tuple(shape), dtype=dtype)


def input_name(tensor: Any) -> Optional[str]:
  """Returns the name of the Input that a symbolic tensor is; None if it is anything else."""
  history = getattr(tensor, "_keras_history", None)
  if history is None or not isinstance(history[0], tf.keras.layers.InputLayer):
    return None
  return history[0].name


def is_pair(value: Any) -> bool:
  """Returns whether a value is ids and weights, as WeightedIds returns them."""
  return isinstance(value, (list, tuple)) and not isinstance(value, tf.TensorShape)


def scope_name(column: str) -> str:
  """Returns the variable scope of a column, in which TF1 allows fewer characters than in its name."""
  return re.sub(r"[^A-Za-z0-9_.\-]", "_", column)


def tensor_of(weight: Any) -> tf.Variable:
  """Returns the tf.Variable of a weight, which a lookup needs for a sparse gradient."""
  return weight if isinstance(weight, tf.Variable) else weight.value


def as_feature(value: Any) -> Any:
  """Returns a feature as a dense or a sparse tensor of at least two dimensions, as columns saw it."""
  if isinstance(value, tf.RaggedTensor):
    return value.to_sparse()
  if isinstance(value, tf.SparseTensor):
    return tf.sparse.reshape(value, [-1, 1]) if value.shape.rank == 1 else value
  value = tf.convert_to_tensor(value)
  return value[:, tf.newaxis] if value.shape.rank == 1 else value


def is_present(values: tf.Tensor) -> tf.Tensor:
  """Returns where a dense feature holds a value: neither "" nor -1."""
  missing = "" if values.dtype == tf.string else tf.cast(-1, values.dtype)
  return tf.not_equal(values, missing)


def to_sparse(ids: tf.Tensor) -> tf.SparseTensor:
  """Returns dense ids as a sparse tensor without the missing ones."""
  where = tf.where(tf.not_equal(ids, tf.constant(MISSING, tf.int64)))
  return tf.SparseTensor(where, tf.gather_nd(ids, where), tf.shape(ids, out_type=tf.int64))


def to_sparse_pair(inputs: Any) -> tuple[tf.SparseTensor, Optional[tf.SparseTensor]]:
  """Returns ids, and the weights that a pair has, as sparse tensors with the same indices."""
  if not is_pair(inputs):
    return to_sparse(inputs), None
  ids, weights = inputs
  sparse = to_sparse(ids)
  values = tf.gather_nd(weights, sparse.indices)
  return sparse, tf.SparseTensor(sparse.indices, values, sparse.dense_shape)


def ids_shape(inputs: Any) -> tuple:
  """Returns the shape of ids, or of those of a pair."""
  return tuple((inputs[0] if is_pair(inputs) else inputs).shape)
