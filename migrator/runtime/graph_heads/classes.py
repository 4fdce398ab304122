"""Graph heads of classes: two, or more."""

from __future__ import annotations

from typing import Any, Optional

import tensorflow as tf

from migrator.runtime.export.outputs import ClassificationOutput, PredictOutput, RegressionOutput
from migrator.runtime.graph_heads import metrics, tensors
from migrator.runtime.graph_heads.base import (
  CLASSIFY,
  PREDICT,
  REGRESS,
  SERVING,
  GraphHead,
  LossSpec,
  Reduction,
)
from migrator.runtime.heads import checks

v1 = tf.compat.v1


def _tables() -> Any:
  from migrator.runtime.contrib import lookup  # whose package needs the heads itself

  return lookup


def all_ids(logits: Any, classes: int) -> Any:
  """Returns the numbers of the classes, int32 [batch, classes]."""
  return tf.tile(tf.expand_dims(tf.range(classes), 0), [v1.shape(logits)[0], 1])


def all_names(logits: Any, classes: int, vocabulary: Any) -> Any:
  """Returns the names of the classes, string [batch, classes]: their numbers without a vocabulary."""
  names = vocabulary if vocabulary else tf.strings.as_string(tf.range(classes))
  return tf.tile(tf.expand_dims(names, 0), [v1.shape(logits)[0], 1])


def name_ids(labels: Any, vocabulary: Any) -> Any:
  """Returns the positions of names in a vocabulary, int64, -1 for others."""
  return _tables().index_table_from_tensor(tuple(vocabulary), name="class_id_lookup").lookup(labels)


def best_ids(logits: Any) -> Any:
  """Returns the numbers of the classes with the greatest logits, int64 [D0, D1, ..., 1]."""
  return tf.expand_dims(v1.argmax(logits, axis=-1, name="class_ids"), -1)


def names_of(ids: Any, vocabulary: Any) -> Any:
  """Returns the names of classes: their numbers without a vocabulary."""
  if not vocabulary:
    return tf.strings.as_string(ids, name="str_classes")
  table = _tables().index_to_string_table_from_tensor(vocabulary, name="class_string_lookup")
  # By this name programs of TF1 fetch the classes.
  return table.lookup(ids, name="hash_table_Lookup")


class BinaryHead(GraphHead):
  """Two classes, of one logit: sigmoid cross entropy."""

  def __init__(
    self,
    weight_column: Any = None,
    thresholds: Any = None,
    label_vocabulary: Any = None,
    loss_reduction: Any = Reduction.SUM,
    loss_fn: Any = None,
    name: Optional[str] = None,
  ):
    """Makes the head.

    Args:
      weight_column: the key of the examples' weights, a numeric column, or None.
      thresholds: where accuracy, precision and recall are measured, too.
      label_vocabulary: the names of the classes, if the labels are strings.
      loss_reduction: one of `tf.compat.v1.losses.Reduction`.
      loss_fn: a function of `labels`, `logits` and perhaps `features`.
      name: of the head.

    Raises:
      TypeError: if the vocabulary is no list.
      ValueError: if another argument is out of range.
    """
    if label_vocabulary is not None and not isinstance(label_vocabulary, (list, tuple)):
      raise TypeError(
        f"label_vocabulary should be a list or tuple. Given type: {type(label_vocabulary)}"
      )
    self._thresholds = checks.thresholds(thresholds)
    self._vocabulary = label_vocabulary
    super().__init__(weight_column, loss_reduction, loss_fn, name)

  @property
  def logits_dimension(self) -> int:
    """1."""
    return 1

  def _processed_labels(self, labels: Any, logits: Any) -> Any:
    labels = tensors.dense_labels(labels, logits, 1)
    if self._vocabulary is not None:
      labels = name_ids(labels, self._vocabulary)
    return tensors.in_range(tf.cast(labels, tf.float32), 2)

  def _losses(self, labels: Any, logits: Any) -> Any:
    return tf.nn.sigmoid_cross_entropy_with_logits(labels=labels, logits=logits)

  def _predictions(self, logits: Any) -> dict[str, Any]:
    with v1.name_scope(None, "predictions", (logits,)):
      return self._of_logits(tensors.checked_logits(logits, 1))

  def _of_logits(self, logits: Any) -> dict[str, Any]:
    logistic = tf.sigmoid(logits, name="logistic")
    both = tf.concat((tf.zeros_like(logits), logits), -1, name="two_class_logits")
    probabilities = tf.nn.softmax(both, name="probabilities")
    ids = best_ids(both)
    every_id = all_ids(logits, 2)
    every_name = all_names(logits, 2, self._vocabulary)
    return {
      "logits": logits,
      "logistic": logistic,
      "probabilities": probabilities,
      "class_ids": ids,
      "classes": names_of(ids, self._vocabulary),
      "all_class_ids": every_id,
      "all_classes": every_name,
    }

  def _export_outputs(self, predictions: dict[str, Any]) -> dict[str, Any]:
    scores = predictions["probabilities"]
    classified = ClassificationOutput(scores, all_names(scores, 2, self._vocabulary))
    return {
      SERVING: classified,
      CLASSIFY: classified,
      REGRESS: RegressionOutput(predictions["logistic"]),
      PREDICT: PredictOutput(predictions),
    }

  def _metrics(
    self, predictions: dict[str, Any], labels: Any, loss: LossSpec, penalty: Any
  ) -> dict:
    found, weights = loss.processed_labels, loss.weights
    logistic, ids = predictions["logistic"], predictions["class_ids"]
    key = self._key
    values = (found, predictions["logits"], logistic, ids, weights, loss.unreduced_loss, penalty)
    with v1.name_scope(None, "metrics", values):
      share = metrics.mean_of(found, weights, "label/mean", "labels_mean", "labels")
      result = {
        key("average_loss"): v1.metrics.mean(loss.unreduced_loss, weights, name="average_loss"),
        key("accuracy"): v1.metrics.accuracy(found, ids, weights, name="accuracy"),
        key("precision"): v1.metrics.precision(found, ids, weights, name="precision"),
        key("recall"): v1.metrics.recall(found, ids, weights, name="recall"),
        key("prediction/mean"): metrics.mean_of(
          logistic, weights, "prediction/mean", "predictions_mean", "predictions"
        ),
        key("label/mean"): share,
        key("accuracy_baseline"): metrics.baseline(share),
        key("auc"): metrics.area(found, logistic, weights, "auc", "ROC"),
        key("auc_precision_recall"): metrics.area(
          found, logistic, weights, "auc_precision_recall", "PR"
        ),
        **self._penalty_metric(penalty),
      }
      for threshold in self._thresholds:
        more = metrics.at_threshold(found, logistic, weights, threshold)
        result.update({key(metric): pair for metric, pair in more.items()})
      return result


class MultiClassHead(GraphHead):
  """One of more than two classes: softmax cross entropy."""

  def __init__(
    self,
    n_classes: Any,
    weight_column: Any = None,
    label_vocabulary: Any = None,
    loss_reduction: Any = Reduction.SUM,
    loss_fn: Any = None,
    name: Optional[str] = None,
  ):
    """Makes the head.

    Args:
      n_classes: the number of classes, more than 2.
      weight_column, label_vocabulary, loss_reduction, loss_fn, name: as for `BinaryHead`.

    Raises:
      ValueError: if an argument is out of range.
    """
    if label_vocabulary is not None and not isinstance(label_vocabulary, (list, tuple)):
      raise ValueError(
        f"label_vocabulary should be a list or a tuple. Given type: {type(label_vocabulary)}"
      )
    self._vocabulary = label_vocabulary
    super().__init__(weight_column, loss_reduction, loss_fn, name)
    if n_classes is None:
      raise ValueError("n_classes cannot be None")
    if isinstance(n_classes, int) and n_classes <= 2:
      raise ValueError(f"n_classes must be > 2: {n_classes}.")
    # The number of a graph's operations decides the random numbers of later ones: these were there.
    check = v1.debugging.assert_greater(
      tf.convert_to_tensor(n_classes), 2, message="n_classes must be greater than 2"
    )
    with tf.control_dependencies([check]):
      tf.no_op()
    self._classes = n_classes

  @property
  def logits_dimension(self) -> Any:
    """The number of classes."""
    return self._classes

  def _processed_labels(self, labels: Any, logits: Any) -> Any:
    labels = tensors.dense_labels(labels, logits, 1)
    if self._vocabulary is None:
      if not labels.dtype.is_integer:
        raise ValueError(f"Labels dtype should be integer. Instead got {labels.dtype}.")
    elif labels.dtype != tf.string:
      raise ValueError(
        f"Labels dtype should be string if there is a vocabulary. Instead got {labels.dtype}"
      )
    else:
      labels = name_ids(labels, self._vocabulary)
    return tensors.in_range(labels, self._classes)

  def _losses(self, labels: Any, logits: Any) -> Any:
    losses = v1.losses.sparse_softmax_cross_entropy(labels, logits, reduction=Reduction.NONE)
    return tf.expand_dims(losses, -1)

  def _of_logits(self, logits: Any) -> dict[str, Any]:
    every_id = all_ids(logits, self._classes)
    every_name = all_names(logits, self._classes, self._vocabulary)
    ids = best_ids(logits)
    names = names_of(ids, self._vocabulary)
    return {
      "logits": logits,
      "probabilities": tf.nn.softmax(logits, name="probabilities"),
      "class_ids": ids,
      "classes": names,
      "all_class_ids": every_id,
      "all_classes": every_name,
    }

  def _export_outputs(self, predictions: dict[str, Any]) -> dict[str, Any]:
    scores = predictions["probabilities"]
    classified = ClassificationOutput(scores, all_names(scores, self._classes, self._vocabulary))
    return {SERVING: classified, CLASSIFY: classified, PREDICT: PredictOutput(predictions)}

  def _metrics(
    self, predictions: dict[str, Any], labels: Any, loss: LossSpec, penalty: Any
  ) -> dict:
    found, ids, weights = loss.processed_labels, predictions["class_ids"], loss.weights
    with v1.name_scope(None, "metrics", (found, ids, weights, loss.unreduced_loss, penalty)):
      return {
        self._key("average_loss"): v1.metrics.mean(
          loss.unreduced_loss, weights, name="average_loss"
        ),
        self._key("accuracy"): v1.metrics.accuracy(found, ids, weights, name="accuracy"),
        **self._penalty_metric(penalty),
      }
