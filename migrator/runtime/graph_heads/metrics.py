"""The streaming metrics of heads: pairs of a value and an update."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

v1 = tf.compat.v1


def key_of(metric: str, head: Any) -> str:
  """Returns the key of a metric, which ends with the head's name if it has one."""
  return f"{metric}/{head}" if head else metric


def mean_of(values: Any, weights: Any, name: str, default: str, inner: str) -> tuple[Any, Any]:
  """Returns the weighted mean of values as float32.

  Args:
    values: numbers.
    weights: they broadcast to the values.
    name: the scope.
    default: the scope if there is no name.
    inner: what the float32 values are called.
  """
  with v1.name_scope(name, default, (values, weights)) as scope:
    return v1.metrics.mean(tf.cast(values, tf.float32, name=inner), weights=weights, name=scope)


def baseline(mean: tuple[Any, Any]) -> tuple[Any, Any]:
  """Returns the accuracy of always giving the more frequent of two labels, of the labels' mean."""
  with v1.name_scope(None, "accuracy_baseline", mean):
    value, update = mean
    return (
      tf.maximum(value, 1.0 - value, name="value"),
      tf.maximum(update, 1 - update, name="update_op"),
    )


def area(labels: Any, predictions: Any, weights: Any, name: str, curve: str) -> tuple[Any, Any]:
  """Returns the area under the curve "ROC" or "PR"."""
  with v1.name_scope(name, "auc", (predictions, labels, weights)) as scope:
    predictions = tf.cast(predictions, tf.float32, name="predictions")
    return v1.metrics.auc(labels, predictions, weights=weights, curve=curve, name=scope)


def at_threshold(
  labels: Any, predictions: Any, weights: Any, threshold: float
) -> dict[str, tuple[Any, Any]]:
  """Returns accuracy, precision and recall where predictions at a threshold, or above it, are positive."""
  result = {}
  key = f"accuracy/positive_threshold_{threshold:g}"
  values = (predictions, labels, weights, threshold)
  with v1.name_scope(key, None, values) as scope:
    above = tf.cast(tf.greater_equal(predictions, threshold), tf.float32)
    result[key] = v1.metrics.accuracy(labels, above, weights=weights, name=scope)
  for kind, metric in (
    ("precision", v1.metrics.precision_at_thresholds),
    ("recall", v1.metrics.recall_at_thresholds),
  ):
    key = f"{kind}/positive_threshold_{threshold:g}"
    with v1.name_scope(key, None, values) as scope:
      pair = metric(labels, predictions, (threshold,), weights=weights, name=scope)
      result[key] = (tf.squeeze(pair[0]), tf.squeeze(pair[1]))
  return result


def measured(metric: Any, arguments: tuple, name: str) -> tuple[Any, Any]:
  """Returns value and update of a metric of `migrator.runtime.heads`, whose sums are local variables.

  Args:
    metric: has `sums`, the shapes of its sums, `update` and `result`.
    arguments: of a batch, for `update`.
    name: of the variables.
  """
  keys = v1.GraphKeys
  with v1.name_scope(name):
    sums = [
      v1.Variable(
        tf.zeros(shape),
        trainable=False,
        collections=[keys.LOCAL_VARIABLES, keys.METRIC_VARIABLES],
        name="sum",
        use_resource=True,
      )
      for shape in metric.sums
    ]
    value = metric.result([one.read_value() for one in sums])
    added = zip(sums, metric.update(*arguments))
    updated = metric.result([tf.identity(v1.assign_add(one, more)) for one, more in added])
    return tf.identity(value, name="value"), tf.identity(updated, name="update_op")
