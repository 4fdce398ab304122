"""What heads have in common that make the EstimatorSpec of a model_fn, in its graph."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Optional

import tensorflow as tf

from migrator.runtime.graph_heads import metrics, tensors
from migrator.runtime.hosting.modes import ModeKeys
from migrator.runtime.hosting.specs import EstimatorSpec

v1 = tf.compat.v1
Reduction = v1.losses.Reduction

SERVING = tf.saved_model.DEFAULT_SERVING_SIGNATURE_DEF_KEY
CLASSIFY = "classification"
REGRESS = "regression"
PREDICT = "predict"


class LossSpec(NamedTuple):
  """The loss of a batch.

  Attributes:
    training_loss: a scalar.
    unreduced_loss: the losses, not weighted, [D0, D1, ..., 1 or logits_dimension].
    weights: of the examples.
    processed_labels: the labels as the loss took them.
  """

  training_loss: Any
  unreduced_loss: Any
  weights: Any
  processed_labels: Any


class GraphHead:
  """What a model_fn makes of its logits: predictions, loss, metrics, a training operation, signatures.

  Unlike the heads in `migrator.runtime.heads`, which are Keras losses, these add operations to the graph of a
  model_fn that `runtime.ModelFn` calls, under the names that `tf.estimator` gave them.

  Attributes:
    name: ends the keys of metrics and summaries, and is the scope of operations; None for none.
  """

  # Whether each logit may have a weight of its own.
  _per_logit = False
  _reductions: tuple = tuple(r for r in Reduction.all() if r != Reduction.NONE)

  def __init__(self, weight_column: Any, loss_reduction: Any, loss_fn: Any, name: Optional[str]):
    if loss_reduction not in self._reductions:
      raise ValueError(f"Invalid loss_reduction: {loss_reduction}")
    self.name = name
    self._weight_column = weight_column
    self._loss_reduction = loss_reduction
    self._loss_fn = tensors.checked_loss_fn(loss_fn)

  @property
  def logits_dimension(self) -> Any:
    """The size of the logits' last axis."""
    raise NotImplementedError

  @property
  def _losses_dimension(self) -> int:
    return 1

  def _processed_labels(self, labels: Any, logits: Any) -> Any:
    """Returns labels as the loss takes them."""
    raise NotImplementedError

  def _losses(self, labels: Any, logits: Any) -> Any:
    """Returns losses, not weighted, [D0, D1, ..., losses_dimension]."""
    raise NotImplementedError

  def _of_logits(self, logits: Any) -> dict[str, Any]:
    """Returns the predictions of float32 logits; these are "logits", or else "predictions"."""
    raise NotImplementedError

  def _predictions(self, logits: Any) -> dict[str, Any]:
    """Returns the predictions, in their name scope."""
    logits = tensors.checked_logits(logits, self.logits_dimension)
    with v1.name_scope(None, "predictions", (logits,)):
      return self._of_logits(logits)

  def _export_outputs(self, predictions: dict[str, Any]) -> dict[str, Any]:
    """Returns the outputs of the signatures, the default one first."""
    raise NotImplementedError

  def _metrics(
    self, predictions: dict[str, Any], labels: Any, loss: LossSpec, penalty: Any
  ) -> dict:
    """Returns the metrics of an evaluation.

    Args:
      predictions: of the batch.
      labels: as the input function gave them.
      loss: of the batch.
      penalty: the sum of the regularization losses, or None.
    """
    raise NotImplementedError

  def _key(self, metric: str) -> str:
    return metrics.key_of(metric, self.name)

  def _penalty_metric(self, penalty: Any) -> dict:
    if penalty is None:
      return {}
    name = "regularization_loss"
    return {self._key(name): v1.metrics.mean(penalty, name=name)}

  def create_loss(self, features: Any, mode: Any, logits: Any, labels: Any) -> LossSpec:
    """Returns the loss of a batch.

    Args:
      features: dict of features.
      mode: has no meaning.
      logits: a tensor [D0, D1, ..., logits_dimension].
      labels: a tensor [D0, D1, ...], with one axis more or without.

    Raises:
      ValueError: for labels, weights or losses of other types or shapes.
    """
    del mode
    labels, losses, weights = self._unreduced(features, tf.convert_to_tensor(logits), labels)
    loss = v1.losses.compute_weighted_loss(losses, weights=weights, reduction=self._loss_reduction)
    return LossSpec(loss, losses, weights, labels)

  def _unreduced(self, features: Any, logits: Any, labels: Any) -> tuple[Any, Any, Any]:
    """Returns the labels as the loss takes them, the losses, not weighted, and the weights."""
    labels = self._processed_labels(labels, logits)
    if self._loss_fn is None:
      losses = self._losses(labels, logits)
    else:
      losses = tensors.called(self._loss_fn, labels, logits, features, self._losses_dimension)
    return (
      labels,
      losses,
      tensors.weights_of(features, self._weight_column, logits, self._per_logit),
    )

  def create_estimator_spec(
    self,
    features: Any,
    mode: Any,
    logits: Any,
    labels: Any = None,
    optimizer: Any = None,
    train_op_fn: Optional[Callable[[Any], Any]] = None,
    regularization_losses: Optional[Sequence[Any]] = None,
  ) -> EstimatorSpec:
    """Returns what a model_fn returns.

    Args:
      features: dict of features.
      mode: one of `ModeKeys`.
      logits: a tensor [D0, D1, ..., logits_dimension].
      labels: see `create_loss`; not for predictions.
      optimizer: a `tf.compat.v1.train.Optimizer` that minimizes the loss in trainings. The operations in
        `UPDATE_OPS` run with it.
      train_op_fn: instead of it, a function of the loss that returns an operation.
      regularization_losses: scalars that are added to the loss.

    Raises:
      ValueError: if a training has both or none of `optimizer` and `train_op_fn`; see `create_loss`.
    """
    with v1.name_scope(self.name, "head"):
      predictions = self._predictions(logits)
      if mode == ModeKeys.PREDICT:
        outputs = self._export_outputs(predictions)
        return EstimatorSpec(mode, predictions=predictions, export_outputs=outputs)
      logits = predictions.get("logits", predictions.get("predictions"))
      found = self.create_loss(features, mode, logits, labels)
      penalty, loss = None, found.training_loss
      if regularization_losses:
        penalty = tf.add_n(regularization_losses)
        loss = tf.add_n([loss, penalty])
      if mode != ModeKeys.EVAL:
        train_op = with_updates(training(loss, optimizer, train_op_fn))
        shown = {"loss": loss, **self._mean_loss(found)}
    if mode == ModeKeys.EVAL:
      ops = self._metrics(predictions, labels, found, penalty)
      return EstimatorSpec(mode, predictions=predictions, loss=loss, eval_metric_ops=ops)
    if penalty is not None:
      shown["regularization_loss"] = penalty
    with v1.name_scope(""):
      for metric, value in shown.items():
        v1.summary.scalar(self._key(metric), value)
    return EstimatorSpec(ModeKeys.TRAIN, predictions=predictions, loss=loss, train_op=train_op)

  def _mean_loss(self, loss: LossSpec) -> dict[str, Any]:
    """Returns the loss of an example on average, which is shown where the loss is a sum."""
    if self._loss_reduction != Reduction.SUM:
      return {}
    count = tf.reduce_sum(loss.weights * tf.ones_like(loss.unreduced_loss))
    return {"average_loss": loss.training_loss / count}


def training(loss: Any, optimizer: Any, train_op_fn: Any) -> Any:
  """Returns the operation of a training step.

  Args:
    loss: a scalar.
    optimizer: minimizes it and counts the step.
    train_op_fn: makes the operation of the loss.

  Raises:
    ValueError: with the Estimator's messages, if both or none of them is given.
  """
  if optimizer is not None:
    if train_op_fn is not None:
      raise ValueError("train_op_fn and optimizer cannot both be set.")
    return optimizer.minimize(loss, global_step=v1.train.get_global_step())
  if train_op_fn is None:
    raise ValueError("train_op_fn and optimizer cannot both be None.")
  return train_op_fn(loss)


def with_updates(train_op: Any) -> Any:
  """Returns an operation that runs those of the collection `UPDATE_OPS`, too."""
  updates = v1.get_collection(v1.GraphKeys.UPDATE_OPS)
  return tf.group(train_op, *updates) if updates else train_op
