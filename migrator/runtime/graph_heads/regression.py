"""Graph heads of numbers."""

from __future__ import annotations

from typing import Any, Optional

import tensorflow as tf

from migrator.runtime.export.outputs import PredictOutput, RegressionOutput
from migrator.runtime.graph_heads import metrics, tensors
from migrator.runtime.graph_heads.base import (
  PREDICT,
  REGRESS,
  SERVING,
  GraphHead,
  LossSpec,
  Reduction,
)

v1 = tf.compat.v1


class RegressionHead(GraphHead):
  """Numbers: their squared errors, or the losses of another function."""

  _per_logit = True

  def __init__(
    self,
    weight_column: Any = None,
    label_dimension: int = 1,
    loss_reduction: Any = Reduction.SUM,
    loss_fn: Any = None,
    inverse_link_fn: Any = None,
    name: Optional[str] = None,
  ):
    """Makes the head.

    Args:
      weight_column: the key of the examples' weights, a numeric column, or None.
      label_dimension: how many numbers an example has.
      loss_reduction: one of `tf.compat.v1.losses.Reduction`.
      loss_fn: a function of `labels`, `logits` and perhaps `features`.
      inverse_link_fn: makes the predicted values of the logits.
      name: of the head.

    Raises:
      ValueError: if an argument is out of range.
    """
    super().__init__(weight_column, loss_reduction, loss_fn, name)
    if label_dimension < 1:
      raise ValueError(f"Invalid label_dimension {label_dimension}.")
    self._dimension = label_dimension
    self._inverse_link_fn = inverse_link_fn

  @property
  def logits_dimension(self) -> int:
    """How many numbers an example has."""
    return self._dimension

  @property
  def _losses_dimension(self) -> int:
    return self._dimension

  def _processed_labels(self, labels: Any, logits: Any) -> Any:
    return tf.cast(tensors.dense_labels(labels, logits, self._dimension), tf.float32)

  def _losses(self, labels: Any, logits: Any) -> Any:
    return v1.losses.mean_squared_error(labels, logits, reduction=Reduction.NONE)

  def _predictions(self, logits: Any) -> dict[str, Any]:
    return self._of_logits(tensors.checked_logits(logits, self._dimension))

  def _of_logits(self, logits: Any) -> dict[str, Any]:
    if self._inverse_link_fn is None:
      return {"predictions": logits}
    return {"predictions": self._inverse_link_fn(logits), "logits": logits}

  def _export_outputs(self, predictions: dict[str, Any]) -> dict[str, Any]:
    numbers = RegressionOutput(predictions["predictions"])
    return {SERVING: numbers, REGRESS: numbers, PREDICT: PredictOutput(predictions)}

  def _metrics(
    self, predictions: dict[str, Any], labels: Any, loss: LossSpec, penalty: Any
  ) -> dict:
    weights = loss.weights
    return {
      self._key("average_loss"): v1.metrics.mean(loss.unreduced_loss, weights),
      self._key("prediction/mean"): metrics.mean_of(
        predictions["predictions"], weights, "prediction/mean", "predictions_mean", "predictions"
      ),
      self._key("label/mean"): v1.metrics.mean(labels, weights),
      **self._penalty_metric(penalty),
    }


def poisson_losses(compute_full_loss: bool) -> Any:
  """Returns the loss function of counts: the negative log likelihood of a Poisson distribution."""

  def losses(labels: Any, logits: Any) -> Any:
    return tf.nn.log_poisson_loss(labels, logits, compute_full_loss=compute_full_loss)

  return losses


def logistic_losses(labels: Any, logits: Any) -> Any:
  """Returns the sigmoid cross entropy of shares between 0 and 1."""
  labels = tensors.in_range(labels, 2, "Labels must be in range [0, 1]")
  return tf.nn.sigmoid_cross_entropy_with_logits(labels=labels, logits=logits)
