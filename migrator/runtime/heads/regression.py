"""Heads of regressors: the mean squared error, the logistic and the Poisson loss."""

from __future__ import annotations

from typing import Any, Callable, Optional

import tensorflow as tf

from migrator.runtime.heads import streaming
from migrator.runtime.heads.base import (
  PREDICT,
  REGRESS,
  Batch,
  Head,
  Measure,
  checked_range,
  column_labels,
)


@tf.keras.utils.register_keras_serializable("migrator")
class RegressionHead(Head):
  """Numbers, as `tf.estimator.RegressionHead` and the canned regressors."""

  def __init__(
    self,
    label_dimension: int = 1,
    weight_column: Any = None,
    loss_reduction: str = "sum_over_batch_size",
    loss_fn: Optional[Callable] = None,
    inverse_link_fn: Optional[Callable] = None,
    name: Optional[str] = None,
  ):
    """Makes the head.

    Args:
      label_dimension: how many numbers a label has.
      weight_column: the key of the feature with the weights, [batch], [batch, 1] or
        [batch, label_dimension], or a numeric_column.
      loss_reduction: "sum" (the default of `tf.compat.v1.estimator`), "sum_over_batch_size", "mean" or
        "sum_over_nonzero_weights": of all values, not of examples.
      loss_fn: a function of (labels, logits), both float32 [batch, label_dimension], that returns losses
        of that shape; the squared error by default.
      inverse_link_fn: makes predictions of logits; by default they are the logits.
      name: with which the keys of metrics end.

    Raises:
      ValueError: for what `tf.estimator.RegressionHead` refuses.
      TypeError: for another weight column.
    """
    if label_dimension < 1:
      raise ValueError(f"Invalid label_dimension {label_dimension}.")
    super().__init__(weight_column, loss_reduction, loss_fn, name)
    self._label_dimension = int(label_dimension)
    self.inverse_link_fn = inverse_link_fn

  @property
  def logits_dimension(self) -> int:
    return self._label_dimension

  @property
  def losses_dimension(self) -> int:
    return self._label_dimension

  def prepared_labels(self, labels: Any) -> tf.Tensor:
    labels = column_labels(labels, self._label_dimension)
    if labels.dtype == tf.string:
      raise ValueError("The labels are strings: a regression needs numbers.")
    return tf.cast(labels, tf.float32)

  def _losses(self, labels: tf.Tensor, logits: tf.Tensor) -> tf.Tensor:
    return tf.math.squared_difference(logits, tf.cast(labels, tf.float32))

  def predictions(self, logits: Any) -> dict:
    logits = tf.cast(logits, tf.float32)
    if self.inverse_link_fn is None:
      return {"predictions": logits}
    return {"predictions": self.inverse_link_fn(logits), "logits": logits}

  def metrics(self, flavour: str) -> dict[str, Measure]:
    def predicted(batch: Batch) -> tuple:
      return self.predictions(batch.logits)["predictions"], batch.weights

    return {
      self.key("average_loss"): Measure(streaming.Mean(), lambda b: (b.losses, b.weights)),
      self.key("prediction/mean"): Measure(streaming.Mean(), predicted),
      self.key("label/mean"): Measure(streaming.Mean(), lambda b: (b.labels, b.weights)),
    }

  def signature_names(self) -> tuple[str, ...]:
    return ("serving_default", "regression", "predict")

  def export_outputs(self, logits: Any) -> dict:
    predictions = self.predictions(logits)
    value = {"outputs": predictions["predictions"]}
    return {
      "serving_default": (REGRESS, value),
      "regression": (REGRESS, value),
      "predict": (PREDICT, predictions),
    }

  def get_config(self) -> dict:
    config = {**super().get_config(), "label_dimension": self._label_dimension}
    if self.inverse_link_fn is not None:
      config["inverse_link_fn"] = tf.keras.utils.serialize_keras_object(self.inverse_link_fn)
    return config


@tf.keras.utils.register_keras_serializable("migrator")
class LogisticRegressionHead(RegressionHead):
  """A probability, as `tf.estimator.LogisticRegressionHead`: labels are numbers in [0, 1]."""

  def __init__(
    self,
    weight_column: Any = None,
    loss_reduction: str = "sum_over_batch_size",
    name: Optional[str] = None,
  ):
    """Makes the head; the arguments are those of RegressionHead."""
    super().__init__(
      weight_column=weight_column,
      loss_reduction=loss_reduction,
      inverse_link_fn=tf.sigmoid,
      name=name,
    )

  def prepared_labels(self, labels: Any) -> tf.Tensor:
    return checked_range(super().prepared_labels(labels), 2)

  def _losses(self, labels: tf.Tensor, logits: tf.Tensor) -> tf.Tensor:
    return tf.nn.sigmoid_cross_entropy_with_logits(tf.cast(labels, tf.float32), logits)

  def get_config(self) -> dict:
    return Head.get_config(self)


@tf.keras.utils.register_keras_serializable("migrator")
class PoissonRegressionHead(RegressionHead):
  """Counts, as `tf.estimator.PoissonRegressionHead`: the logits are logarithms of the predictions."""

  def __init__(
    self,
    label_dimension: int = 1,
    weight_column: Any = None,
    loss_reduction: str = "sum_over_batch_size",
    compute_full_loss: bool = True,
    name: Optional[str] = None,
  ):
    """Makes the head.

    Args:
      label_dimension: as of RegressionHead.
      weight_column: as of RegressionHead.
      loss_reduction: as of RegressionHead.
      compute_full_loss: whether to add Stirling's approximation of log(label!) to the loss.
      name: as of RegressionHead.
    """
    super().__init__(
      label_dimension=label_dimension,
      weight_column=weight_column,
      loss_reduction=loss_reduction,
      inverse_link_fn=tf.exp,
      name=name,
    )
    self._compute_full_loss = compute_full_loss

  def _losses(self, labels: tf.Tensor, logits: tf.Tensor) -> tf.Tensor:
    return tf.nn.log_poisson_loss(
      targets=tf.cast(labels, tf.float32),
      log_input=logits,
      compute_full_loss=self._compute_full_loss,
    )

  def get_config(self) -> dict:
    return {
      **Head.get_config(self),
      "label_dimension": self._label_dimension,
      "compute_full_loss": self._compute_full_loss,
    }
