"""Losses of `tf.contrib.losses.metric_learning` for embeddings."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

__all__ = ["triplet_semihard_loss"]


def _squared_distances(rows: Any) -> Any:
  """Returns the squared distances [n, n] of rows [n, size]; 0 from a row to itself, and never negative."""
  squares = tf.reduce_sum(tf.square(rows), axis=1, keepdims=True)
  transposed = tf.transpose(rows)
  sums = squares + tf.reduce_sum(tf.square(transposed), axis=0, keepdims=True)
  found = tf.maximum(sums - 2.0 * tf.matmul(rows, transposed), 0.0)
  off_diagonal = tf.ones_like(found) - tf.linalg.diag(tf.ones([tf.shape(rows)[0]]))
  return found * tf.cast(found > 0.0, tf.float32) * off_diagonal


def _least(values: Any, mask: Any) -> Any:
  """Returns the least value of each row where the mask is 1; the greatest of the row if that is nowhere."""
  top = tf.reduce_max(values, 1, keepdims=True)
  return tf.reduce_min((values - top) * mask, 1, keepdims=True) + top


def _greatest(values: Any, mask: Any) -> Any:
  """Returns the greatest value of each row where the mask is 1; the least of the row if that is nowhere."""
  bottom = tf.reduce_min(values, 1, keepdims=True)
  return tf.reduce_max((values - bottom) * mask, 1, keepdims=True) + bottom


def triplet_semihard_loss(labels: Any, embeddings: Any, margin: float = 1.0) -> Any:
  """Returns the triplet loss [] with semi-hard negatives of F. Schroff et al., https://arxiv.org/abs/1503.03832.

  For each pair of rows with one label the negative is the nearest row of another label that is farther away
  than the partner; if there is none, the farthest row of another label.

  Args:
    labels: integers [batch].
    embeddings: float32 [batch, size], of length 1.
    margin: how much farther a negative should be, as a squared distance.
  """
  labels = tf.reshape(tf.convert_to_tensor(labels), [-1, 1])
  size = tf.size(labels)
  same = tf.equal(labels, tf.transpose(labels))
  other = tf.logical_not(same)
  distances = _squared_distances(embeddings)
  # The row of pair (partner p, anchor a) is p * size + a: distances from a to all others.
  tiled = tf.tile(distances, [size, 1])
  farther = tf.logical_and(
    tf.tile(other, [size, 1]), tiled > tf.reshape(tf.transpose(distances), [-1, 1])
  )
  mask = tf.cast(farther, tf.float32)
  is_any = tf.reshape(tf.reduce_sum(mask, 1, keepdims=True) > 0.0, [size, size])
  outside = tf.transpose(tf.reshape(_least(tiled, mask), [size, size]))
  inside = tf.tile(_greatest(distances, tf.cast(other, tf.float32)), [1, size])
  negatives = tf.where(tf.transpose(is_any), outside, inside)
  positives = tf.cast(same, tf.float32) - tf.linalg.diag(tf.ones([size]))
  losses = tf.maximum((margin + (distances - negatives)) * positives, 0.0)
  return tf.truediv(tf.reduce_sum(losses), tf.reduce_sum(positives), name="triplet_semihard_loss")
