"""What tells a network of `tf.contrib.gan` about classes and other conditions."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from migrator.runtime.contrib import layers

v1 = tf.compat.v1

__all__ = ["condition_tensor", "condition_tensor_from_onehot"]


def condition_tensor(tensor: Any, conditioning: Any) -> Any:
  """Returns a tensor plus a linear layer of its condition.

  Args:
    tensor: a tensor [batch, ...] whose other sizes are known.
    conditioning: a tensor [batch, ...].

  Raises:
    ValueError: if sizes are not known, or the condition has no axis but that of the batch.
  """
  tensor.shape[1:].assert_is_fully_defined()
  if conditioning.shape.ndims < 2:
    raise ValueError(
      f"conditioning has the shape {conditioning.shape}: it needs an axis behind that of the batch."
    )
  mapped = layers.linear(layers.flatten(conditioning), tensor.shape[1:].num_elements())
  if not mapped.shape.is_compatible_with(tensor.shape):
    mapped = tf.reshape(mapped, tf.shape(tensor))
  return tensor + mapped


def condition_tensor_from_onehot(
  tensor: Any, one_hot_labels: Any, embedding_size: int = 256
) -> Any:
  """Returns a tensor plus a linear layer of the embedding of its class.

  Args:
    tensor: a tensor [batch, ...] whose other sizes are known.
    one_hot_labels: a tensor [batch, classes].
    embedding_size: the size of the embedding, of the variable `embedding`.

  Raises:
    ValueError: if sizes are not known or ranks differ.
  """
  one_hot_labels.shape.assert_has_rank(2)
  one_hot_labels.shape[1:].assert_is_fully_defined()
  classes = tf.argmax(one_hot_labels, axis=1)
  table = v1.get_variable("embedding", [one_hot_labels.shape[1], embedding_size])
  embedding = v1.nn.embedding_lookup(table, classes, name="token_to_embedding")
  return condition_tensor(tensor, embedding)
