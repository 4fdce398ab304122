"""The graph head of examples that have any number of classes."""

from __future__ import annotations

from typing import Any, Optional

import tensorflow as tf

from migrator.runtime.export.outputs import ClassificationOutput, PredictOutput
from migrator.runtime.graph_heads import metrics, tensors
from migrator.runtime.graph_heads.base import (
  CLASSIFY,
  PREDICT,
  SERVING,
  GraphHead,
  LossSpec,
  Reduction,
)
from migrator.runtime.graph_heads.classes import all_names, name_ids
from migrator.runtime.heads import checks

v1 = tf.compat.v1


class MultiLabelHead(GraphHead):
  """Any number of classes: sigmoid cross entropy, on average over the classes."""

  def __init__(
    self,
    n_classes: int,
    weight_column: Any = None,
    thresholds: Any = None,
    label_vocabulary: Any = None,
    loss_reduction: Any = Reduction.SUM_OVER_BATCH_SIZE,
    loss_fn: Any = None,
    classes_for_class_based_metrics: Any = None,
    name: Optional[str] = None,
  ):
    """Makes the head.

    Args:
      n_classes: the number of classes, more than 1.
      weight_column: the key of the examples' weights, a numeric column, or None.
      thresholds: where accuracy, precision and recall are measured.
      label_vocabulary: the names of the classes, if the labels are strings.
      loss_reduction: one of `tf.compat.v1.losses.Reduction`.
      loss_fn: a function of `labels`, `logits` and perhaps `features`.
      classes_for_class_based_metrics: numbers or names of the classes that are measured one by one, too.
      name: of the head.

    Raises:
      ValueError: if an argument is out of range.
    """
    if n_classes is None or n_classes < 2:
      raise ValueError(f"n_classes must be > 1 for multi-class classification. Given: {n_classes}")
    self._thresholds = checks.thresholds(thresholds)
    # Checked here, used as it is: its strings may be bytes.
    checks.vocabulary(label_vocabulary, n_classes)
    super().__init__(weight_column, loss_reduction, loss_fn, name)
    self._classes = n_classes
    self._vocabulary = label_vocabulary
    self._measured = _ids(classes_for_class_based_metrics, label_vocabulary, n_classes)

  @property
  def logits_dimension(self) -> int:
    """The number of classes."""
    return self._classes

  def _processed_labels(self, labels: Any, logits: Any) -> Any:
    if labels is None:
      raise ValueError(tensors.NO_LABELS)
    if isinstance(labels, tf.SparseTensor):
      labels = self._indicators(labels)
    else:
      message = "labels must be an integer indicator Tensor with values in [0, 1]"
      labels = tensors.in_range(labels, 2, message)
    return tensors.dense_labels(labels, logits, self._classes)

  def _indicators(self, labels: Any) -> Any:
    """Returns 1 for the classes that are among the sparse ones, int64 [D0, D1, ..., classes]."""
    if labels.dtype == tf.string:
      labels = tf.SparseTensor(
        labels.indices, name_ids(labels.values, self._vocabulary), labels.dense_shape
      )
      return tf.cast(tf.sparse.to_indicator(labels, self._classes), tf.int64)
    message = f"labels must be an integer SparseTensor with values in [0, {self._classes})"
    checked = [
      v1.debugging.assert_integer(labels.values, message=message),
      v1.debugging.assert_less(
        labels.values, tf.convert_to_tensor(self._classes, labels.dtype), message=message
      ),
      v1.debugging.assert_non_negative(labels.values, message=message),
    ]
    with tf.control_dependencies(checked):
      return tf.cast(tf.sparse.to_indicator(labels, self._classes), tf.int64)

  def _losses(self, labels: Any, logits: Any) -> Any:
    losses = v1.losses.sigmoid_cross_entropy(labels, logits, reduction=Reduction.NONE)
    return tf.reduce_mean(losses, axis=-1, keepdims=True)

  def _of_logits(self, logits: Any) -> dict[str, Any]:
    return {"logits": logits, "probabilities": tf.sigmoid(logits, name="probabilities")}

  def _export_outputs(self, predictions: dict[str, Any]) -> dict[str, Any]:
    scores = predictions["probabilities"]
    classified = ClassificationOutput(scores, all_names(scores, self._classes, self._vocabulary))
    return {SERVING: classified, CLASSIFY: classified, PREDICT: PredictOutput(predictions)}

  def _metrics(
    self, predictions: dict[str, Any], labels: Any, loss: LossSpec, penalty: Any
  ) -> dict:
    found, weights, key = loss.processed_labels, loss.weights, self._key
    shares = predictions["probabilities"]
    with v1.name_scope(None, "metrics", [found, shares, weights, loss.unreduced_loss, penalty]):
      result = {
        key("average_loss"): v1.metrics.mean(loss.unreduced_loss, weights, name="average_loss"),
        key("auc"): metrics.area(found, shares, weights, "auc", "ROC"),
        key("auc_precision_recall"): metrics.area(
          found, shares, weights, "auc_precision_recall", "PR"
        ),
        **self._penalty_metric(penalty),
      }
      for threshold in self._thresholds:
        more = metrics.at_threshold(found, shares, weights, threshold)
        result.update({key(metric): pair for metric, pair in more.items()})
      for number in self._measured:
        result.update(self._of_class(number, found, shares, weights))
    return result

  def _of_class(self, number: int, labels: Any, shares: Any, weights: Any) -> dict:
    """Returns the metrics of one class."""
    name = f"class{number}" if self._vocabulary is None else self._vocabulary[number]
    shares, labels = (tensor[..., number : number + 1] for tensor in (shares, labels))
    mean, roc, pr = (
      f"{kind}/{name}" for kind in ("probability_mean", "auc", "auc_precision_recall")
    )
    return {
      self._key(mean): metrics.mean_of(shares, weights, mean, "predictions_mean", "predictions"),
      self._key(roc): metrics.area(labels, shares, weights, roc, "ROC"),
      self._key(pr): metrics.area(labels, shares, weights, pr, "PR"),
    }


def _ids(wanted: Any, vocabulary: Any, classes: int) -> tuple[int, ...]:
  """Returns the numbers of classes that are given as numbers or names.

  Raises:
    ValueError: if there is no such class.
  """
  wanted = tuple(wanted or ())
  if wanted and isinstance(wanted[0], str):
    if not vocabulary:
      raise ValueError(
        "label_vocabulary must be provided when classes_for_class_based_metrics are strings."
      )
    return tuple(vocabulary.index(name) for name in wanted)
  for number in wanted:
    if number < 0 or number >= classes:
      raise ValueError(
        f"All classes_for_class_based_metrics must be in range [0, {classes - 1}]. Given: {number}"
      )
  return wanted
