"""The head of a classifier whose examples have any number of classes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Callable, Optional

import tensorflow as tf

from migrator.runtime.heads import checks, streaming
from migrator.runtime.heads.base import (
  CLASSIFY,
  PREDICT,
  Batch,
  Measure,
  checked_range,
  column_labels,
)
from migrator.runtime.heads.classes import ClassHead


@tf.keras.utils.register_keras_serializable("migrator")
class MultiLabelHead(ClassHead):
  """None, one or several of n classes, as `tf.estimator.MultiLabelHead`."""

  def __init__(
    self,
    n_classes: int,
    weight_column: Any = None,
    thresholds: Any = None,
    label_vocabulary: Any = None,
    loss_reduction: str = "sum_over_batch_size",
    loss_fn: Optional[Callable] = None,
    classes_for_class_based_metrics: Any = None,
    name: Optional[str] = None,
  ):
    """Makes the head.

    Args:
      n_classes: the number of classes, 2 or more.
      weight_column: the key of the feature with the weights, or a numeric_column.
      thresholds: numbers between 0 and 1, for more metrics.
      label_vocabulary: the names of the classes; with it labels are a string SparseTensor.
      loss_reduction: as of BinaryClassHead; an example's loss is the mean over its classes.
      loss_fn: a function of (labels, logits), numbers of 0 and 1 and float32, both [batch, n_classes],
        that returns losses, [batch, 1].
      classes_for_class_based_metrics: the numbers or names of classes that get metrics of their own.
      name: with which the keys of metrics end.

    Raises:
      ValueError: for what `tf.estimator.MultiLabelHead` refuses.
      TypeError: for another weight column.
    """
    if n_classes is None or n_classes < 2:
      raise ValueError(f"n_classes must be > 1 for multi-label classification. Given: {n_classes}")
    super().__init__(weight_column, loss_reduction, loss_fn, name)
    self._n_classes = int(n_classes)
    self.thresholds = checks.thresholds(thresholds)
    self.label_vocabulary = checks.vocabulary(label_vocabulary, self._n_classes)
    self._own = tuple(self._class_id(c) for c in classes_for_class_based_metrics or ())

  def _class_id(self, given: Any) -> int:
    """Returns the number of a class that has metrics of its own."""
    if isinstance(given, str):
      if not self.label_vocabulary:
        raise ValueError(
          "label_vocabulary must be provided when classes_for_class_based_metrics are strings."
        )
      if given not in self.label_vocabulary:
        raise ValueError(f"{given!r} is not in the label_vocabulary {self.label_vocabulary}.")
      return self.label_vocabulary.index(given)
    if given < 0 or given >= self._n_classes:
      raise ValueError(
        f"All classes_for_class_based_metrics must be in range [0, {self._n_classes - 1}]. "
        f"Given: {given}"
      )
    return int(given)

  @property
  def logits_dimension(self) -> int:
    return self._n_classes

  def prepared_labels(self, labels: Any) -> tf.Tensor:
    if isinstance(labels, Mapping) or not isinstance(labels, tf.SparseTensor):
      labels = column_labels(labels, self._n_classes)
      if labels.dtype == tf.string:
        raise ValueError("Labels that are strings must be a SparseTensor.")
      labels = checked_range(labels, 2, "The labels of an indicator Tensor")
      return tf.cast(labels, tf.float32)
    values = labels.values
    if values.dtype == tf.string:
      if not self.label_vocabulary:
        raise ValueError("The labels are strings: the head needs a label_vocabulary.")
      values = self.lookup(values)
    elif not values.dtype.is_integer:
      raise ValueError(f"Labels dtype should be integer. Instead got {values.dtype}.")
    values = tf.cast(checked_range(values, self._n_classes), tf.int64)
    indicator = tf.sparse.to_indicator(labels.with_values(values), self._n_classes)
    return tf.cast(tf.ensure_shape(indicator, [None, self._n_classes]), tf.float32)

  def _losses(self, labels: tf.Tensor, logits: tf.Tensor) -> tf.Tensor:
    labels = tf.cast(labels, tf.float32)
    losses = tf.nn.sigmoid_cross_entropy_with_logits(labels, logits)
    return tf.reduce_mean(losses, -1, keepdims=True)

  def predictions(self, logits: Any) -> dict:
    logits = tf.cast(logits, tf.float32)
    return {
      "logits": logits,
      "probabilities": tf.sigmoid(logits),
      "classes": self.class_names(logits),
    }

  def metrics(self, flavour: str) -> dict[str, Measure]:
    def scores(batch: Batch) -> tuple:
      return batch.labels, tf.sigmoid(batch.logits), batch.weights

    measures = {
      **self.mean_loss(),
      self.key("auc"): Measure(streaming.auc(flavour, "ROC"), scores),
      self.key("auc_precision_recall"): Measure(streaming.auc(flavour, "PR"), scores),
      **self.at_thresholds(flavour, lambda b: tf.sigmoid(b.logits)),
    }
    for number in self._own:
      name = self.label_vocabulary[number] if self.label_vocabulary else f"class{number}"

      def own(batch: Batch, number: int = number) -> tuple:
        labels, probabilities, weights = scores(batch)
        part = slice(number, number + 1)
        return labels[..., part], probabilities[..., part], weights

      def own_scores(batch: Batch, number: int = number) -> tuple:
        return own(batch, number)[1:]

      measures[self.key(f"probability_mean/{name}")] = Measure(streaming.Mean(), own_scores)
      measures[self.key(f"auc/{name}")] = Measure(streaming.auc(flavour, "ROC"), own)
      key = self.key(f"auc_precision_recall/{name}")
      measures[key] = Measure(streaming.auc(flavour, "PR"), own)
    return measures

  def signature_names(self) -> tuple[str, ...]:
    return ("serving_default", "classification", "predict")

  def export_outputs(self, logits: Any) -> dict:
    predictions = self.predictions(logits)
    scores = {"classes": predictions["classes"], "scores": predictions["probabilities"]}
    return {
      "serving_default": (CLASSIFY, scores),
      "classification": (CLASSIFY, scores),
      "predict": (PREDICT, predictions),
    }

  def get_config(self) -> dict:
    config = {**super().get_config(), "n_classes": self._n_classes}
    if self._own:
      config["classes_for_class_based_metrics"] = list(self._own)
    return config
