"""Labels, weights and logits in a graph: their shapes, as heads check and complete them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Optional

import tensorflow as tf

from migrator.runtime.heads.weight_column import WeightColumn
from migrator.runtime.hosting import arguments

v1 = tf.compat.v1

_DIMENSIONS = "[D0, D1, ... DN"
NO_LABELS = (
  "You must provide a labels Tensor. Given: None. Check that the data has the label feature, and that "
  "the input_fn parses and returns labels."
)


def dense_labels(labels: Any, logits: Any, dimension: int) -> Any:
  """Returns labels of the logits' shape, but for the last axis.

  Args:
    labels: a tensor [D0, D1, ..., dimension]; without the last axis if `dimension` is 1.
    logits: a tensor [D0, D1, ..., logits_dimension].
    dimension: the size of the last axis.

  Raises:
    ValueError: for no labels, sparse ones, or a size that is another one.
    InvalidArgumentError: when it runs, for other shapes.
  """
  if labels is None:
    raise ValueError(NO_LABELS)
  with v1.name_scope(None, "labels", (labels, logits)) as scope:
    labels = v1.convert_to_tensor_or_sparse_tensor(labels)
    if isinstance(labels, tf.SparseTensor):
      raise ValueError(
        f"SparseTensor labels are not supported. The labels must be a Tensor of shape {_DIMENSIONS}, "
        f"{dimension}]: check the label feature, or use tf.sparse.to_dense in the input_fn."
      )
    rank = labels.shape.rank
    if rank is not None and logits.shape.rank == rank + 1:
      labels = tf.expand_dims(labels, -1)
    found, wanted = v1.shape(labels), v1.shape(logits)
    message = (
      f"labels shape must be {_DIMENSIONS}, {dimension}]: check n_classes or label_dimension, and the "
      "shape of the labels."
    )
    with tf.control_dependencies([v1.debugging.assert_rank_at_least(labels, 2, message=message)]):
      if labels.shape.rank is not None and labels.shape[-1] not in (None, dimension):
        raise ValueError(
          f"Mismatched label shape. Expected labels dimension={dimension}. Received "
          f"{labels.shape[-1]}. Check n_classes or label_dimension, and the shape of the labels."
        )
      wanted = tf.concat([wanted[:-1], [dimension]], 0)
      data = ["expected_labels_shape: ", wanted, "labels_shape: ", found]
      check = v1.debugging.assert_equal(wanted, found, message=message, data=data)
      with tf.control_dependencies([check]):
        return tf.identity(labels, name=scope)


def checked_logits(logits: Any, dimension: int) -> Any:
  """Returns logits as float32.

  Raises:
    ValueError: if the last axis has another size.
    InvalidArgumentError: when it runs, likewise.
  """
  with v1.name_scope(None, "logits", (logits,)) as scope:
    logits = tf.cast(logits, tf.float32)
    shape = v1.shape(logits)
    message = f"logits shape must be {_DIMENSIONS}, logits_dimension={dimension}]"
    check = v1.debugging.assert_rank_at_least(logits, 2, data=[shape], message=message)
    with tf.control_dependencies([check]):
      if logits.shape.rank is not None and logits.shape[-1] is not None:
        if isinstance(dimension, int) and logits.shape[-1] != dimension:
          raise ValueError(f"{message}, got {logits.shape}.")
        return logits
      check = v1.debugging.assert_equal(dimension, shape[-1], data=[shape], message=message)
      with tf.control_dependencies([check]):
        return tf.identity(logits, name=scope)


def weights_of(features: Any, column: Any, logits: Any, per_logit: bool = False) -> Any:
  """Returns the weights of the examples, 1.0 without a column.

  Args:
    features: dict of features.
    column: the key of the weights, a numeric column, or None.
    logits: a tensor [D0, D1, ..., logits_dimension].
    per_logit: whether each logit may have a weight.

  Returns:
    float32 [D0, D1, ..., 1] or the shape of the logits.

  Raises:
    TypeError: for another column.
    ValueError: if there is no such feature, or it is sparse.
    InvalidArgumentError: when it runs, for other shapes.
  """
  with v1.name_scope(None, "weights", (*features.values(), logits)) as scope:
    found = WeightColumn.of(column)
    if found is None:
      return 1.0
    weights = _column(features, found)
    shape, wanted = v1.shape(weights), v1.shape(logits)
    message = f"weights shape must be {_DIMENSIONS}] or {_DIMENSIONS}, 1]"
    if per_logit:
      message += f" or {_DIMENSIONS}, logits_dimension]"
    data = ["logits_shape: ", wanted, "weights_shape: ", shape]
    if weights.shape.rank is not None and logits.shape.rank == weights.shape.rank + 1:
      check = v1.debugging.assert_equal(wanted[:-1], shape, message=message, data=data)
      with tf.control_dependencies([check]):
        return tf.expand_dims(weights, -1, name=scope)
    one = tf.concat([wanted[:-1], [1]], 0)
    if per_logit:
      same = [_same_shape(wanted, shape), _same_shape(one, shape)]
      check = tf.debugging.Assert(tf.reduce_any(same), [message, *data])
    else:
      check = v1.debugging.assert_equal(one, shape, message=message, data=data)
    with tf.control_dependencies([check]):
      return tf.identity(weights, name=scope)


def _same_shape(first: Any, second: Any) -> Any:
  return tf.reduce_all(tf.equal(first, second))


def _column(features: Any, column: WeightColumn) -> Any:
  """Returns the feature of a numeric column as float32, with a last axis."""
  if column.key not in features:
    raise ValueError(
      f"The weight column {column.key!r} is not among the features: there are {sorted(features)}."
    )
  weights = v1.convert_to_tensor_or_sparse_tensor(features[column.key])
  if isinstance(weights, tf.SparseTensor):
    raise ValueError(f"The weight column {column.key!r} must be a dense Tensor.")
  if weights.shape.rank == 0:
    raise ValueError(f"The weight column {column.key!r} must not be a scalar.")
  if weights.shape.rank is None:
    weights = tf.cond(
      tf.equal(tf.rank(weights), 1), lambda: tf.expand_dims(weights, -1), lambda: weights
    )
  elif weights.shape.rank == 1:
    weights = tf.expand_dims(weights, -1)
  if column.normalizer_fn is not None:
    weights = column.normalizer_fn(weights)
  return tf.cast(weights, tf.float32, name="weights")


def in_range(labels: Any, classes: int, message: Optional[str] = None) -> Any:
  """Returns labels; when they run, those below 0 or above classes - 1 are an InvalidArgumentError."""
  with v1.name_scope(None, "assert_range", (labels,)):
    checks = (
      v1.debugging.assert_less_equal(
        labels,
        tf.convert_to_tensor(classes - 1, labels.dtype),
        message=message or "Labels must <= n_classes - 1",
      ),
      v1.debugging.assert_non_negative(labels, message=message or "Labels must >= 0"),
    )
    with tf.control_dependencies(checks):
      return tf.identity(labels)


def checked_loss_fn(function: Optional[Callable[..., Any]]) -> Optional[Callable[..., Any]]:
  """Returns a loss function of `labels`, `logits` and perhaps `features`.

  Raises:
    ValueError: with the Estimator's messages, if it lacks one of the first two or has others.
  """
  if not function:
    return None
  names = arguments.names_of(function)
  for required in ("labels", "logits"):
    if required not in names:
      raise ValueError(f"loss_fn must contain argument: {required}. Given arguments: {names}")
  invalid = sorted({*names} - {"labels", "logits", "features"})
  if invalid:
    raise ValueError(f"loss_fn has unexpected args: {invalid}")
  return function


def called(
  function: Callable[..., Any], labels: Any, logits: Any, features: Any, dimension: int
) -> Any:
  """Returns what a loss function gives.

  Args:
    function: see `checked_loss_fn`.
    labels: as the head has them.
    logits: a tensor [D0, D1, ..., logits_dimension].
    features: dict of features.
    dimension: how many losses an example has.

  Raises:
    InvalidArgumentError: when it runs, if the losses are not [D0, D1, ..., dimension].
  """
  more = {"features": features} if "features" in arguments.names_of(function) else {}
  with v1.name_scope(None, "call_loss_fn", [labels, logits, *features.values()]):
    losses = function(labels=labels, logits=logits, **more)
    shape = v1.shape(logits, name="logits_shape")
    wanted = tf.concat([shape[:-1], [dimension]], 0, name="expected_loss_shape")
    found = v1.shape(losses, name="loss_shape")
    text = f"loss_fn must return Tensor of shape {_DIMENSIONS}, {dimension}]. "
    check = tf.debugging.Assert(
      _same_shape(found, wanted),
      [text, "logits_shape: ", shape, "loss_shape: ", found],
      name="check_loss_shape",
    )
    with tf.control_dependencies([check]):
      return tf.identity(losses)
