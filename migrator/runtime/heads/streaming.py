"""The metrics of the Estimator's heads, as sums over batches, in float32.

A metric here has no variables: `update` gives what a batch adds to its sums, in a graph or eagerly, and
`result` makes the value out of the sums. Those of the flavour "v1" give what `tf.compat.v1.metrics` gave,
those of "v2" what `tf.keras.metrics` of TensorFlow 2.15 gave: later ones differ in places.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf

_POINTS = 200  # Thresholds of an AUC.
_OUTSIDE = 1e-7  # How far the first and the last of them lie outside of [0, 1].


def _total(values: tf.Tensor) -> tf.Tensor:
  return tf.reduce_sum(values)


def _spread(weights: Any, values: tf.Tensor) -> tf.Tensor:
  """Returns weights as float32, of the shape of the values."""
  return tf.cast(weights, tf.float32) * tf.ones_like(values)


class Mean:
  """A weighted mean."""

  sums = ((), ())

  def update(self, values: Any, weights: Any) -> tuple:
    """Returns (the sum of the weighted values, the sum of the weights).

    Args:
      values: numbers, [batch, ...].
      weights: numbers that broadcast to the values.
    """
    values = tf.cast(values, tf.float32)
    weights = _spread(weights, values)
    return _total(values * weights), _total(weights)

  def result(self, sums: Any) -> tf.Tensor:
    """Returns the mean, 0 without data."""
    return tf.math.divide_no_nan(sums[0], tf.maximum(sums[1], 0.0))


class Baseline(Mean):
  """The accuracy of always giving the more frequent of two labels."""

  def __init__(self, flavour: str):
    self._flavour = flavour

  def result(self, sums: Any) -> tf.Tensor:
    """Returns the accuracy; without data 1 as in TF1, or 0."""
    total, count = sums
    if self._flavour == "v1":
      mean = super().result(sums)
      return tf.maximum(mean, 1.0 - mean)
    return tf.math.divide_no_nan(tf.maximum(total, count - total), count)


class _Confusion:
  """Counts, above each threshold, of positive and negative labels, and below it."""

  def __init__(self, thresholds: Any):
    self._thresholds = np.asarray(thresholds, np.float32)
    self.sums = ((len(self._thresholds),),) * 4

  def update(self, labels: Any, predictions: Any, weights: Any) -> tuple:
    """Returns true positives, false negatives, true negatives and false positives, [thresholds].

    Args:
      labels: [batch, ...]; what is not 0 is positive.
      predictions: numbers in [0, 1], of the same shape.
      weights: numbers that broadcast to it.
    """
    predictions = tf.cast(predictions, tf.float32)
    weights = tf.reshape(_spread(weights, predictions), [1, -1])
    positive = tf.cast(tf.reshape(tf.cast(labels, tf.bool), [1, -1]), tf.float32)
    above = tf.reshape(predictions, [1, -1]) > tf.reshape(self._thresholds, [-1, 1])
    above = tf.cast(above, tf.float32)
    return tuple(
      tf.reduce_sum(label * prediction * weights, 1)
      for label, prediction in (
        (positive, above),
        (positive, 1.0 - above),
        (1.0 - positive, 1.0 - above),
        (1.0 - positive, above),
      )
    )


class Precision(_Confusion):
  """The share of the examples above a threshold that are positive."""

  def __init__(self, threshold: float, epsilon: float = 0.0):
    super().__init__([threshold])
    self._epsilon = epsilon

  def result(self, sums: Any) -> tf.Tensor:
    """Returns the precision, 0 if nothing is above the threshold."""
    found, _, _, wrong = sums
    return tf.math.divide_no_nan(found, self._epsilon + found + wrong)[0]


class Recall(_Confusion):
  """The share of the positive examples that are above a threshold."""

  def __init__(self, threshold: float, epsilon: float = 0.0):
    super().__init__([threshold])
    self._epsilon = epsilon

  def result(self, sums: Any) -> tf.Tensor:
    """Returns the recall, 0 if nothing is positive."""
    found, missed, _, _ = sums
    return tf.math.divide_no_nan(found, self._epsilon + found + missed)[0]


def _inner_thresholds() -> list:
  return [(i + 1) * 1.0 / (_POINTS - 1) for i in range(_POINTS - 2)]


class OldAuc(_Confusion):
  """The area under the ROC or precision-recall curve as TF1 computed it, by trapezoids."""

  def __init__(self, curve: str):
    """Makes the metric; `curve` is "ROC" or "PR"."""
    super().__init__([-_OUTSIDE, *_inner_thresholds(), 1.0 + _OUTSIDE])
    self._curve = curve

  def result(self, sums: Any) -> tf.Tensor:
    """Returns the area. The epsilons are TF1's: without data it is 0 (ROC) or 0 (PR)."""
    epsilon = 1e-6
    tp, fn, tn, fp = (tf.convert_to_tensor(s) for s in sums)
    recall = (tp + epsilon) / (tp + fn + epsilon)
    if self._curve == "ROC":
      x, y = fp / (fp + tn + epsilon), recall
    else:
      x, y = recall, (tp + epsilon) / (tp + fp + epsilon)
    return tf.reduce_sum((x[:-1] - x[1:]) * ((y[:-1] + y[1:]) / 2.0))


class Auc:
  """The area under the ROC or precision-recall curve as Keras 2.15 computed it."""

  sums = ((_POINTS,),) * 4

  def __init__(self, curve: str):
    """Makes the metric; `curve` is "ROC" or "PR"."""
    self._curve = curve

  def update(self, labels: Any, predictions: Any, weights: Any) -> tuple:
    """Returns true positives, false negatives, true negatives and false positives, [thresholds].

    Args:
      labels: [batch, ...]; what is not 0 is positive.
      predictions: numbers in [0, 1], of the same shape.
      weights: numbers that broadcast to it.
    """
    predictions = tf.cast(predictions, tf.float32)
    weights = tf.reshape(_spread(weights, predictions), [-1])
    positive = tf.cast(tf.reshape(tf.cast(labels, tf.bool), [-1]), tf.float32)
    predictions = tf.reshape(tf.clip_by_value(predictions, 0.0, 1.0), [-1])
    # The thresholds are even: a prediction is above those up to its own place. One at a threshold is
    # put where the rounding of this product puts it, which comparing would not do.
    place = tf.nn.relu(tf.math.ceil(predictions * (_POINTS - 1)) - 1)
    place = tf.cast(place, tf.int32)
    true, false = positive * weights, (1.0 - positive) * weights
    tp = tf.cumsum(tf.math.unsorted_segment_sum(true, place, _POINTS), reverse=True)
    fp = tf.cumsum(tf.math.unsorted_segment_sum(false, place, _POINTS), reverse=True)
    return tp, tf.reduce_sum(true) - tp, tf.reduce_sum(false) - fp, fp

  def result(self, sums: Any) -> tf.Tensor:
    """Returns the area, 0 without data."""
    tp, fn, tn, fp = (tf.convert_to_tensor(s) for s in sums)
    if self._curve == "PR":
      return _interpolated_area(tp, fn, fp)
    recall = tf.math.divide_no_nan(tp, tp + fn)
    fall_out = tf.math.divide_no_nan(fp, fp + tn)
    return tf.reduce_sum((fall_out[:-1] - fall_out[1:]) * ((recall[:-1] + recall[1:]) / 2.0))


def _interpolated_area(tp: tf.Tensor, fn: tf.Tensor, fp: tf.Tensor) -> tf.Tensor:
  """Returns the area under a precision-recall curve, interpolated after Davis and Goadrich (2006)."""
  positive = tp + fp
  step = tp[:-1] - tp[1:]
  slope = tf.math.divide_no_nan(step, tf.maximum(positive[:-1] - positive[1:], 0.0))
  intercept = tp[1:] - slope * positive[1:]
  ratio = tf.where(
    (positive[:-1] > 0) & (positive[1:] > 0),
    tf.math.divide_no_nan(positive[:-1], tf.maximum(positive[1:], 0.0)),
    tf.ones_like(positive[1:]),
  )
  area = slope * (step + intercept * tf.math.log(ratio))
  return tf.reduce_sum(tf.math.divide_no_nan(area, tf.maximum(tp[1:] + fn[1:], 0.0)))


def auc(flavour: str, curve: str) -> Any:
  """Returns the AUC metric of a flavour."""
  return OldAuc(curve) if flavour == "v1" else Auc(curve)


def above(flavour: str, predictions: tf.Tensor, threshold: float) -> tf.Tensor:
  """Returns which predictions an accuracy at a threshold counts as positive; bool, the same shape."""
  limit = tf.cast(threshold, tf.float32)
  return predictions >= limit if flavour == "v1" else predictions > limit


def epsilon(flavour: str) -> float:
  """Returns what precision and recall at a threshold add to the divisor."""
  return 1e-7 if flavour == "v1" else 0.0
