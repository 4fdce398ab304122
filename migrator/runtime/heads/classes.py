"""Heads of classifiers: two classes, several, and several at once."""

from __future__ import annotations

from typing import Any, Callable, Optional

import tensorflow as tf

from migrator.runtime.heads import checks, streaming
from migrator.runtime.heads.base import (
  CLASSIFY,
  PREDICT,
  REGRESS,
  Batch,
  Head,
  Measure,
  checked_range,
  column_labels,
)


class ClassHead(Head):
  """A head whose logits are about classes, which may have names."""

  label_vocabulary: Optional[list]
  thresholds: tuple = ()

  @property
  def classes(self) -> Optional[int]:
    """The number of classes, None if it is not known yet."""
    return self.logits_dimension

  def class_names(self, logits: tf.Tensor) -> tf.Tensor:
    """Returns the names of all classes for each example, string [batch, classes]."""
    count = tf.shape(logits)[-1] if self.classes is None else self.classes
    names = tf.strings.as_string(tf.range(count))
    if self.label_vocabulary:
      names = tf.constant(self.label_vocabulary)
    return tf.tile(names[tf.newaxis], [tf.shape(logits)[0], 1])

  def single_predictions(self, class_logits: tf.Tensor) -> dict:
    """Returns the predictions of one class, of logits for each of the classes."""
    count = tf.shape(class_logits)[-1] if self.classes is None else self.classes
    ids = tf.expand_dims(tf.argmax(class_logits, -1), -1)
    names = tf.strings.as_string(ids)
    if self.label_vocabulary:
      names = tf.gather(tf.constant(self.label_vocabulary), ids)
    return {
      "probabilities": tf.nn.softmax(class_logits),
      "class_ids": ids,
      "classes": names,
      "all_class_ids": tf.tile(tf.range(count)[tf.newaxis], [tf.shape(class_logits)[0], 1]),
      "all_classes": self.class_names(class_logits),
    }

  def lookup(self, labels: tf.Tensor) -> tf.Tensor:
    """Returns the places of labels in the vocabulary, int64 of the same shape.

    Raises:
      ValueError: if they are no strings.
      InvalidArgumentError: when it runs, for a label that is not in the vocabulary.
    """
    if labels.dtype != tf.string:
      raise ValueError(
        f"Labels dtype should be string if there is a vocabulary. Instead got {labels.dtype}"
      )
    known = tf.reshape(tf.constant(self.label_vocabulary), [1, -1])
    found = tf.equal(tf.reshape(labels, [-1, 1]), known)
    check = tf.debugging.Assert(
      tf.reduce_all(tf.reduce_any(found, 1)),
      [f"Labels must be in the label_vocabulary {self.label_vocabulary}. Given:", labels],
      summarize=20,
    )
    with tf.control_dependencies([check] if check is not None else []):
      return tf.reshape(tf.argmax(found, 1), tf.shape(labels))

  def at_thresholds(self, flavour: str, scores: Callable[[Batch], tf.Tensor]) -> dict:
    """Returns accuracy, precision and recall at each threshold."""
    measures = {}
    for threshold in self.thresholds:
      end = f"positive_threshold_{threshold:g}"

      def hits(batch: Batch, threshold: float = threshold) -> tuple:
        positive = streaming.above(flavour, scores(batch), threshold)
        equal = tf.equal(tf.cast(batch.labels, tf.float32), tf.cast(positive, tf.float32))
        if flavour == "v1":
          return equal, batch.weights
        # Keras gave an example the mean over its classes, and then its weight.
        return tf.reduce_mean(tf.cast(equal, tf.float32), -1, keepdims=True), batch.weights

      def all_scores(batch: Batch) -> tuple:
        return batch.labels, scores(batch), batch.weights

      epsilon = streaming.epsilon(flavour)
      measures[self.key(f"accuracy/{end}")] = Measure(streaming.Mean(), hits)
      measures[self.key(f"precision/{end}")] = Measure(
        streaming.Precision(threshold, epsilon), all_scores
      )
      measures[self.key(f"recall/{end}")] = Measure(
        streaming.Recall(threshold, epsilon), all_scores
      )
    return measures

  def mean_loss(self) -> dict[str, Measure]:
    """Returns the metric of the loss of an example."""
    return {
      self.key("average_loss"): Measure(streaming.Mean(), lambda b: (b.losses, b.weights)),
    }

  def get_config(self) -> dict:
    """Returns the arguments, for `.keras` files."""
    config = {**super().get_config(), "label_vocabulary": self.label_vocabulary}
    if self.thresholds:
      config["thresholds"] = list(self.thresholds)
    return config


@tf.keras.utils.register_keras_serializable("migrator")
class BinaryClassHead(ClassHead):
  """Two classes, one logit, as `tf.estimator.BinaryClassHead` and the canned classifiers of 2 classes."""

  def __init__(
    self,
    weight_column: Any = None,
    thresholds: Any = None,
    label_vocabulary: Any = None,
    loss_reduction: str = "sum_over_batch_size",
    loss_fn: Optional[Callable] = None,
    name: Optional[str] = None,
  ):
    """Makes the head.

    Args:
      weight_column: the key of the feature with the weights, or a numeric_column.
      thresholds: numbers between 0 and 1, for more metrics.
      label_vocabulary: the two labels, strings; without it labels are numbers in [0, 1].
      loss_reduction: "sum" (the default of `tf.compat.v1.estimator`), "sum_over_batch_size", "mean" or
        "sum_over_nonzero_weights".
      loss_fn: a function of (labels, logits), both float32 [batch, 1], that returns losses of that shape.
      name: with which the keys of metrics end.

    Raises:
      ValueError: for what `tf.estimator.BinaryClassHead` refuses.
      TypeError: for another weight column.
    """
    super().__init__(weight_column, loss_reduction, loss_fn, name)
    self.thresholds = checks.thresholds(thresholds)
    self.label_vocabulary = checks.vocabulary(label_vocabulary)

  @property
  def logits_dimension(self) -> int:
    return 1

  @property
  def classes(self) -> int:
    return 2

  def prepared_labels(self, labels: Any) -> tf.Tensor:
    labels = column_labels(labels, 1)
    if self.label_vocabulary is not None:
      labels = self.lookup(labels)
    elif labels.dtype == tf.string:
      raise ValueError("The labels are strings: the head needs a label_vocabulary.")
    return checked_range(tf.cast(labels, tf.float32), 2)

  def _losses(self, labels: tf.Tensor, logits: tf.Tensor) -> tf.Tensor:
    return tf.nn.sigmoid_cross_entropy_with_logits(tf.cast(labels, tf.float32), logits)

  def predictions(self, logits: Any) -> dict:
    logits = tf.cast(logits, tf.float32)
    both = tf.concat([tf.zeros_like(logits), logits], -1)
    return {"logits": logits, "logistic": tf.sigmoid(logits), **self.single_predictions(both)}

  def metrics(self, flavour: str) -> dict[str, Measure]:
    def classes(batch: Batch) -> tuple:
      # The first of two equal ones, as argmax: a logit of 0 is class 0.
      return batch.labels, tf.cast(batch.logits > 0, tf.float32), batch.weights

    def hits(batch: Batch) -> tuple:
      labels, predicted, weights = classes(batch)
      return tf.equal(tf.cast(labels, tf.float32), predicted), weights

    def scores(batch: Batch) -> tuple:
      return batch.labels, tf.sigmoid(batch.logits), batch.weights

    def labels(batch: Batch) -> tuple:
      return batch.labels, batch.weights

    measures = {
      "accuracy": Measure(streaming.Mean(), hits),
      "precision": Measure(streaming.Precision(0.5), classes),
      "recall": Measure(streaming.Recall(0.5), classes),
      "prediction/mean": Measure(streaming.Mean(), lambda b: scores(b)[1:]),
      "label/mean": Measure(streaming.Mean(), labels),
      "accuracy_baseline": Measure(streaming.Baseline(flavour), labels),
      "auc": Measure(streaming.auc(flavour, "ROC"), scores),
      "auc_precision_recall": Measure(streaming.auc(flavour, "PR"), scores),
    }
    return {
      **self.mean_loss(),
      **{self.key(name): measure for name, measure in measures.items()},
      **self.at_thresholds(flavour, lambda b: tf.sigmoid(b.logits)),
    }

  def signature_names(self) -> tuple[str, ...]:
    return ("serving_default", "classification", "regression", "predict")

  def export_outputs(self, logits: Any) -> dict:
    predictions = self.predictions(logits)
    scores = {"classes": predictions["all_classes"], "scores": predictions["probabilities"]}
    return {
      "serving_default": (CLASSIFY, scores),
      "classification": (CLASSIFY, scores),
      "regression": (REGRESS, {"outputs": predictions["logistic"]}),
      "predict": (PREDICT, predictions),
    }


@tf.keras.utils.register_keras_serializable("migrator")
class MultiClassHead(ClassHead):
  """Three or more classes, as `tf.estimator.MultiClassHead` and the canned classifiers."""

  def __init__(
    self,
    n_classes: int,
    weight_column: Any = None,
    label_vocabulary: Any = None,
    loss_reduction: str = "sum_over_batch_size",
    loss_fn: Optional[Callable] = None,
    name: Optional[str] = None,
  ):
    """Makes the head.

    Args:
      n_classes: the number of classes, 3 or more.
      weight_column: the key of the feature with the weights, or a numeric_column.
      label_vocabulary: the labels, strings; without it labels are integers from 0 to n_classes - 1.
      loss_reduction: as of BinaryClassHead.
      loss_fn: a function of (labels, logits), integers [batch, 1] and float32 [batch, n_classes], that
        returns losses, [batch, 1].
      name: with which the keys of metrics end.

    Raises:
      ValueError: for what `tf.estimator.MultiClassHead` refuses.
      TypeError: for another weight column.
    """
    if n_classes is None or n_classes <= 2:
      raise ValueError(f"n_classes must be > 2: {n_classes}.")
    super().__init__(weight_column, loss_reduction, loss_fn, name)
    self._n_classes: Optional[int] = int(n_classes)
    self.label_vocabulary = checks.vocabulary(label_vocabulary, self._n_classes)

  @property
  def logits_dimension(self) -> Optional[int]:
    return self._n_classes

  @property
  def labels_dimension(self) -> int:
    return 1

  def prepared_labels(self, labels: Any) -> tf.Tensor:
    labels = column_labels(labels, 1)
    if self.label_vocabulary is not None:
      return self.lookup(labels)
    if not labels.dtype.is_integer:
      raise ValueError(f"Labels dtype should be integer. Instead got {labels.dtype}.")
    return checked_range(labels, self._n_classes)

  def losses(self, labels: tf.Tensor, logits: tf.Tensor) -> tf.Tensor:
    if labels.dtype not in (tf.int32, tf.int64):
      labels = tf.cast(labels, tf.int64)
    return super().losses(labels, logits)

  def _losses(self, labels: tf.Tensor, logits: tf.Tensor) -> tf.Tensor:
    ids = tf.squeeze(labels, -1)
    losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=ids, logits=logits)
    return tf.expand_dims(losses, -1)

  def predictions(self, logits: Any) -> dict:
    logits = tf.cast(logits, tf.float32)
    return {"logits": logits, **self.single_predictions(logits)}

  def metrics(self, flavour: str) -> dict[str, Measure]:
    def hits(batch: Batch) -> tuple:
      ids = tf.expand_dims(tf.argmax(batch.logits, -1), -1)
      return tf.equal(tf.cast(batch.labels, tf.int64), ids), batch.weights

    return {**self.mean_loss(), self.key("accuracy"): Measure(streaming.Mean(), hits)}

  def signature_names(self) -> tuple[str, ...]:
    return ("serving_default", "classification", "predict")

  def export_outputs(self, logits: Any) -> dict:
    predictions = self.predictions(logits)
    scores = {"classes": predictions["all_classes"], "scores": predictions["probabilities"]}
    return {
      "serving_default": (CLASSIFY, scores),
      "classification": (CLASSIFY, scores),
      "predict": (PREDICT, predictions),
    }

  def get_config(self) -> dict:
    return {**super().get_config(), "n_classes": self._n_classes}
