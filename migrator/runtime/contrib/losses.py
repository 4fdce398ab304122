"""Losses of `tf.contrib.losses` and `slim.losses`: predictions come first, and weights mean what they meant.

A loss is the sum of weighted losses divided by the number of those whose weight is not 0; it is added to
the collection LOSSES.
"""

from __future__ import annotations

import tensorflow as tf

from migrator.runtime.contrib.framework.arg_scope import add_arg_scope

v1 = tf.compat.v1
_KEYS = v1.GraphKeys

__all__ = [
  "absolute_difference",
  "add_loss",
  "compute_weighted_loss",
  "cosine_distance",
  "get_losses",
  "get_regularization_losses",
  "get_total_loss",
  "hinge_loss",
  "log_loss",
  "mean_pairwise_squared_error",
  "mean_squared_error",
  "sigmoid_cross_entropy",
  "softmax_cross_entropy",
  "sparse_softmax_cross_entropy",
]


def _scaled(losses, weights):
  """Returns the sum of the losses [batch, ...], weighted by a number or by [batch, ...]."""
  axes = list(range(weights.shape.ndims, losses.shape.ndims))
  return tf.reduce_sum(tf.reduce_sum(losses, axis=axes) * weights)


def _present(losses, weights):
  """Returns how many losses of each row count, [batch] or [rows of weights]."""
  rank = weights.shape.ndims
  if rank == 0:
    batch = tf.shape(losses)[0]
    each = tf.cast(tf.size(losses), tf.float32) / tf.cast(batch, tf.float32)
    return tf.ones([batch]) * tf.where(tf.equal(weights, 0), tf.zeros_like(each), each)
  nonzero = tf.cast(tf.not_equal(weights, 0), tf.float32)
  rows = tf.reduce_sum(nonzero, axis=list(range(1, rank)))
  return rows * tf.cast(tf.reduce_prod(tf.shape(losses)[rank:]), tf.float32)


def compute_weighted_loss(losses, weights=1.0, scope=None):
  """Returns the mean of losses whose weight is not 0, and adds it to LOSSES.

  Args:
    losses: a tensor [batch, ...].
    weights: a number, or a tensor [batch] or [batch, ...] of as many axes as it has; a last one of size 1
      does not count.
    scope: the name scope.

  Raises:
    ValueError: if a rank is not known.
  """
  with v1.name_scope(scope, "weighted_loss", [losses, weights]):
    losses = tf.convert_to_tensor(losses)
    dtype = losses.dtype
    losses = tf.cast(losses, tf.float32)
    weights = tf.cast(tf.convert_to_tensor(weights), tf.float32)
    if losses.shape.ndims is None or weights.shape.ndims is None:
      raise ValueError("The ranks of losses and weights must be known.")
    if weights.shape.ndims > 1 and tf.compat.dimension_value(weights.shape[-1]) in (None, 1):
      weights = tf.squeeze(weights, [-1])
    total = tf.math.divide_no_nan(
      _scaled(losses, weights), tf.reduce_sum(_present(losses, weights)), name="value"
    )
    loss = tf.cast(total, dtype)
    add_loss(loss)
    return loss


@add_arg_scope
def add_loss(loss, loss_collection=_KEYS.LOSSES):
  """Adds a loss to a collection; to none if that is None."""
  if loss_collection:
    v1.add_to_collection(loss_collection, loss)


def get_losses(scope=None, loss_collection=_KEYS.LOSSES):
  """Returns the losses of a collection whose names begin with a scope."""
  return v1.get_collection(loss_collection, scope)


def get_regularization_losses(scope=None):
  """Returns the penalties of weights whose names begin with a scope."""
  return v1.get_collection(_KEYS.REGULARIZATION_LOSSES, scope)


def get_total_loss(add_regularization_losses=True, name="total_loss"):
  """Returns the sum of the losses and, by default, of the penalties of weights."""
  losses = get_losses()
  if add_regularization_losses:
    losses = losses + get_regularization_losses()
  return tf.add_n(losses, name=name)


def _floats(predictions, labels):
  predictions.shape.assert_is_compatible_with(labels.shape)
  return tf.cast(predictions, tf.float32), tf.cast(labels, tf.float32)


def absolute_difference(predictions, labels=None, weights=1.0, scope=None):
  """Returns the mean of |prediction - label|; see `compute_weighted_loss`."""
  with v1.name_scope(scope, "absolute_difference", [predictions, labels, weights]) as scope:
    predictions, labels = _floats(predictions, labels)
    return compute_weighted_loss(tf.abs(predictions - labels), weights, scope=scope)


def mean_squared_error(predictions, labels=None, weights=1.0, scope=None):
  """Returns the mean of (prediction - label) ** 2; see `compute_weighted_loss`."""
  with v1.name_scope(scope, "mean_squared_error", [predictions, labels, weights]) as scope:
    predictions, labels = _floats(predictions, labels)
    losses = tf.math.squared_difference(predictions, labels)
    return compute_weighted_loss(losses, weights, scope=scope)


def log_loss(predictions, labels=None, weights=1.0, epsilon=1e-7, scope=None):
  """Returns the mean cross entropy of probabilities, each plus epsilon; see `compute_weighted_loss`."""
  with v1.name_scope(scope, "log_loss", [predictions, labels, weights]) as scope:
    predictions, labels = _floats(predictions, labels)
    losses = -labels * tf.math.log(predictions + epsilon) - (1 - labels) * tf.math.log(
      1 - predictions + epsilon
    )
    return compute_weighted_loss(losses, weights, scope=scope)


def hinge_loss(logits, labels=None, scope=None):
  """Returns max(0, 1 - (2 label - 1) logit) of each element, added to no collection."""
  with v1.name_scope(scope, "hinge_loss", [logits, labels]):
    logits.shape.assert_is_compatible_with(labels.shape)
    labels = tf.cast(labels, tf.float32)
    return tf.nn.relu(1 - (2 * labels - 1) * logits)


def cosine_distance(predictions, labels=None, axis=None, weights=1.0, scope=None, dim=None):
  """Returns the mean of 1 - the sum of prediction * label along an axis, which has the older name dim.

  Raises:
    ValueError: if neither or both of them are given.
  """
  if axis is not None and dim is not None:
    raise ValueError("Cannot specify both 'axis' and 'dim'")
  axis = dim if axis is None else axis
  if axis is None:
    raise ValueError("You must specify 'axis'.")
  with v1.name_scope(scope, "cosine_distance_loss", [predictions, labels, weights]) as scope:
    predictions, labels = _floats(predictions, labels)
    losses = 1 - tf.reduce_sum(predictions * labels, axis=[axis])
    return compute_weighted_loss(losses, weights, scope=scope)


def sigmoid_cross_entropy(logits, multi_class_labels, weights=1.0, label_smoothing=0, scope=None):
  """Returns the mean cross entropy of independent classes; smoothing moves labels towards one half."""
  values = [logits, multi_class_labels, weights]
  with v1.name_scope(scope, "sigmoid_cross_entropy_loss", values) as scope:
    logits.shape.assert_is_compatible_with(multi_class_labels.shape)
    labels = tf.cast(multi_class_labels, logits.dtype)
    if label_smoothing > 0:
      labels = labels * (1 - label_smoothing) + 0.5 * label_smoothing
    losses = tf.nn.sigmoid_cross_entropy_with_logits(labels=labels, logits=logits, name="xentropy")
    return compute_weighted_loss(losses, weights, scope=scope)


def softmax_cross_entropy(logits, onehot_labels, weights=1.0, label_smoothing=0, scope=None):
  """Returns the mean cross entropy of one-hot labels, which smoothing moves towards 1 / classes."""
  values = [logits, onehot_labels, weights]
  with v1.name_scope(scope, "softmax_cross_entropy_loss", values) as scope:
    logits.shape.assert_is_compatible_with(onehot_labels.shape)
    labels = tf.cast(onehot_labels, logits.dtype)
    if label_smoothing > 0:
      classes = tf.cast(tf.shape(labels)[1], logits.dtype)
      labels = labels * (1.0 - label_smoothing) + label_smoothing / classes
    # Labels get no gradient, as they got none.
    losses = tf.nn.softmax_cross_entropy_with_logits(
      labels=tf.stop_gradient(labels), logits=logits, name="xentropy"
    )
    return compute_weighted_loss(losses, weights, scope=scope)


def sparse_softmax_cross_entropy(logits, labels, weights=1.0, scope=None):
  """Returns the mean cross entropy of classes [batch] or [batch, 1]."""
  values = [logits, labels, weights]
  with v1.name_scope(scope, "sparse_softmax_cross_entropy_loss", values) as scope:
    labels = tf.reshape(labels, [tf.shape(labels)[0]])
    losses = tf.nn.sparse_softmax_cross_entropy_with_logits(
      labels=labels, logits=logits, name="xentropy"
    )
    return compute_weighted_loss(losses, weights, scope=scope)


def mean_pairwise_squared_error(predictions, labels=None, weights=1.0, scope=None):
  """Returns the mean squared difference between pairs of elements of a row, added to LOSSES.

  Raises:
    ValueError: if a rank is not known.
  """
  values = [predictions, labels, weights]
  with v1.name_scope(scope, "mean_pairwise_squared_error", values):
    predictions, labels = _floats(predictions, labels)
    weights = tf.cast(tf.convert_to_tensor(weights), tf.float32)
    differences = predictions - labels
    if differences.shape.ndims is None or weights.shape.ndims is None:
      raise ValueError("The ranks of predictions and weights must be known.")
    axes = list(range(1, differences.shape.ndims))
    count = _present(differences, weights)
    squares = tf.reduce_sum(tf.square(differences), axis=axes)
    sums = tf.reduce_sum(differences, axis=axes)
    each = 2.0 * tf.math.divide_no_nan(squares, count) - 2.0 * tf.math.divide_no_nan(
      tf.square(sums), tf.square(count)
    )
    loss = _scaled(each, weights)
    loss = tf.where(tf.reduce_sum(count) > 0, loss, tf.zeros_like(loss))
    add_loss(loss)
    return loss
