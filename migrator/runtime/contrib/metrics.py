"""Metrics of `tf.contrib.metrics` and `slim.metrics`: those of `tf.compat.v1.metrics`, predictions first."""

from __future__ import annotations

from typing import Any, Callable

import tensorflow as tf

_METRICS = tf.compat.v1.metrics
_NOTHING = object()


def _renamed(name: str, metric: str, first: tuple[str, ...], **more: Any) -> Callable[..., Any]:
  """Returns a metric of TF1 whose arguments stand in another order.

  Args:
    name: its name here.
    metric: its name in `tf.compat.v1.metrics`.
    first: the arguments that must be given, in order; those left out of `**more` follow.
    **more: further arguments in front of the collections, with their values by default.
  """
  function = getattr(_METRICS, metric)
  defaults = {
    **dict.fromkeys(first, _NOTHING),
    **more,
    "metrics_collections": None,
    "updates_collections": None,
    "name": None,
  }

  def streaming(*args: Any, **kwargs: Any) -> Any:
    given = dict(zip(defaults, args))
    unknown = [one for one in kwargs if one not in defaults or one in given]
    values = {**defaults, **given, **kwargs}
    missing = [one for one, value in values.items() if value is _NOTHING]
    if unknown or missing or len(args) > len(defaults):
      raise TypeError(f"{name} takes the arguments {', '.join(defaults)}, not these.")
    return function(**values)

  streaming.__name__ = streaming.__qualname__ = name
  streaming.__doc__ = (
    f"Returns the value and the update of `tf.compat.v1.metrics.{metric}`; arguments: "
    f"{', '.join(defaults)}."
  )
  return streaming


_PAIR = ("predictions", "labels")


def _pair(name: str, metric: str, *extra: str, **more: Any) -> Callable[..., Any]:
  return _renamed(name, metric, (*_PAIR, *extra), **(more or {"weights": None}))


streaming_accuracy = _pair("streaming_accuracy", "accuracy")
streaming_precision = _pair("streaming_precision", "precision")
streaming_recall = _pair("streaming_recall", "recall")
streaming_true_positives = _pair("streaming_true_positives", "true_positives")
streaming_true_negatives = _pair("streaming_true_negatives", "true_negatives")
streaming_false_positives = _pair("streaming_false_positives", "false_positives")
streaming_false_negatives = _pair("streaming_false_negatives", "false_negatives")
streaming_mean_absolute_error = _pair("streaming_mean_absolute_error", "mean_absolute_error")
streaming_mean_squared_error = _pair("streaming_mean_squared_error", "mean_squared_error")
streaming_root_mean_squared_error = _pair(
  "streaming_root_mean_squared_error", "root_mean_squared_error"
)
streaming_mean_relative_error = _pair(
  "streaming_mean_relative_error", "mean_relative_error", "normalizer"
)
streaming_mean_iou = _pair("streaming_mean_iou", "mean_iou", "num_classes")
streaming_precision_at_thresholds = _pair(
  "streaming_precision_at_thresholds", "precision_at_thresholds", "thresholds"
)
streaming_recall_at_thresholds = _pair(
  "streaming_recall_at_thresholds", "recall_at_thresholds", "thresholds"
)
streaming_sparse_recall_at_k = _pair(
  "streaming_sparse_recall_at_k", "recall_at_k", "k", class_id=None, weights=None
)
streaming_sparse_precision_at_k = _pair(
  "streaming_sparse_precision_at_k", "precision_at_k", "k", class_id=None, weights=None
)
streaming_sparse_average_precision_at_k = _pair(
  "streaming_sparse_average_precision_at_k", "average_precision_at_k", "k"
)
streaming_specificity_at_sensitivity = _pair(
  "streaming_specificity_at_sensitivity",
  "specificity_at_sensitivity",
  "sensitivity",
  weights=None,
  num_thresholds=200,
)
streaming_sensitivity_at_specificity = _pair(
  "streaming_sensitivity_at_specificity",
  "sensitivity_at_specificity",
  "specificity",
  weights=None,
  num_thresholds=200,
)
streaming_mean = _renamed("streaming_mean", "mean", ("values",), weights=None)
streaming_mean_tensor = _renamed("streaming_mean_tensor", "mean_tensor", ("values",), weights=None)
streaming_percentage_less = _renamed(
  "streaming_percentage_less", "percentage_below", ("values", "threshold"), weights=None
)


def streaming_auc(
  predictions,
  labels,
  weights=None,
  num_thresholds=200,
  metrics_collections=None,
  updates_collections=None,
  curve="ROC",
  name=None,
):
  """Returns the value and the update of `tf.compat.v1.metrics.auc`."""
  return _METRICS.auc(
    labels,
    predictions,
    weights=weights,
    num_thresholds=num_thresholds,
    metrics_collections=metrics_collections,
    updates_collections=updates_collections,
    curve=curve,
    name=name,
  )


def accuracy(predictions, labels, weights=None, name=None):
  """Returns the weighted share of predictions that equal their labels, of one batch.

  Args:
    predictions: a tensor of integers, booleans or text.
    labels: a tensor of the same dtype and shape.
    weights: a tensor of weights that multiplies.
    name: the name scope.

  Raises:
    ValueError: if the dtypes differ or are not of these kinds.
  """
  dtype = predictions.dtype
  if not (dtype.is_integer or dtype in (tf.bool, tf.string)):
    raise ValueError(f"Labels should have bool, string, or integer dtype, not {dtype}.")
  if labels.dtype != dtype:
    raise ValueError(f"Dtypes of predictions ({dtype}) and labels ({labels.dtype}) must match.")
  with tf.compat.v1.name_scope(name, "accuracy", values=[predictions, labels]):
    correct = tf.cast(tf.equal(predictions, labels), tf.float32)
    if weights is None:
      return tf.reduce_mean(correct)
    correct = tf.multiply(correct, weights)
    counted = tf.multiply(tf.ones_like(correct), weights)
    return tf.reduce_sum(correct) / tf.reduce_sum(counted)


def aggregate_metrics(*value_update_tuples):
  """Returns the values and the updates of several metrics, as two lists.

  Raises:
    ValueError: if there are none.
  """
  if not value_update_tuples:
    raise ValueError("Expected at least one value_tensor/update_op pair")
  values, updates = zip(*value_update_tuples)
  return list(values), list(updates)


def aggregate_metric_map(names_to_tuples):
  """Returns {name: value} and {name: update} of {name: (value, update)}."""
  values = {name: value for name, (value, _) in names_to_tuples.items()}
  return values, {name: update for name, (_, update) in names_to_tuples.items()}


__all__ = [
  "accuracy",
  "aggregate_metric_map",
  "aggregate_metrics",
  *sorted(name for name in dict(globals()) if name.startswith("streaming_")),
]
