"""What the heads of the public classes of `tf.estimator` have in common."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Optional

import tensorflow as tf

from migrator.runtime.graph_heads import tensors
from migrator.runtime.graph_heads.base import GraphHead
from migrator.runtime.graph_heads.metrics import measured
from migrator.runtime.heads import checks, streaming
from migrator.runtime.heads.base import Batch, Measure
from migrator.runtime.hosting.modes import ModeKeys
from migrator.runtime.hosting.specs import EstimatorSpec

v1 = tf.compat.v1

MEAN = "sum_over_batch_size"


def training(
  loss: Any, optimizer: Any, train_op_fn: Optional[Callable[[Any], Any]], update_ops: Any
) -> Any:
  """Returns the operation of a training step.

  Args:
    loss: a scalar.
    optimizer: must be None.
    train_op_fn: makes the operation of the loss.
    update_ops: a list of operations that run with it, or None.

  Raises:
    ValueError: for an optimizer, without `train_op_fn`, or if the last one is no list.
  """
  if update_ops is not None and not isinstance(update_ops, (list, tuple)):
    raise ValueError(f"update_ops should be a list or a tuple. Given type: {type(update_ops)}.")
  with v1.name_scope(""), v1.name_scope("training"):
    if optimizer is not None and train_op_fn is not None:
      raise ValueError("train_op_fn and optimizer cannot both be set.")
    if optimizer is not None:
      raise ValueError(
        f"A head of tf.estimator takes optimizers of Keras only, and the variables of {optimizer} are in no "
        "checkpoint of a graph: give it train_op_fn, a function of the loss, with an optimizer of "
        "tf.compat.v1.train."
      )
    if train_op_fn is None:
      raise ValueError("train_op_fn and optimizer cannot both be None.")
    train_op = train_op_fn(loss)
    return tf.group(train_op, *update_ops) if update_ops is not None else train_op


def penalized(loss: Any, penalties: Optional[Sequence[Any]]) -> Any:
  """Returns a loss with the sum of others, which may be None."""
  return loss if penalties is None else loss + tf.add_n(penalties)


def show(loss: Any, penalties: Optional[Sequence[Any]], key: Callable[[str], str]) -> None:
  """Shows a loss and the sum of its penalties; `key` gives the names of the summaries."""
  with v1.name_scope(""):
    v1.summary.scalar(key("loss"), loss)
    if penalties is not None:
      v1.summary.scalar(key("regularization_loss"), tf.add_n(penalties))


class PublicHead(GraphHead):
  """What all of them have in common."""

  _reductions = ("auto", "sum", MEAN)
  # The Keras loss that has the same metrics.
  _measures: Any

  @property
  def loss_reduction(self) -> str:
    """How the loss of a batch is made of those of its examples."""
    return self._loss_reduction

  def predictions(self, logits: Any, keys: Optional[Sequence[str]] = None) -> dict[str, Any]:
    """Returns the predictions.

    Args:
      logits: a tensor [D0, D1, ..., logits_dimension].
      keys: which of them; None for all.

    Raises:
      ValueError: if there is no such key.
    """
    logits = tensors.checked_logits(logits, self.logits_dimension)
    with v1.name_scope(None, "predictions", (logits,)):
      found = self._of_logits(logits)
    for key in keys or ():
      if key not in found:
        raise ValueError(f"Prediction key must be one of {sorted(found)}, given: {key}.")
    return {key: value for key, value in found.items() if not keys or key in keys}

  def loss(
    self,
    labels: Any,
    logits: Any,
    features: Any = None,
    mode: Any = None,
    regularization_losses: Optional[Sequence[Any]] = None,
  ) -> Any:
    """Returns the loss of a batch, a scalar.

    Args:
      labels: a tensor [D0, D1, ...], with one axis more or without.
      logits: a tensor [D0, D1, ..., logits_dimension].
      features: dict of features.
      mode: has no meaning.
      regularization_losses: scalars that are added.

    Raises:
      ValueError: for labels, weights or losses of other types or shapes.
    """
    del mode
    return self._batch(features, logits, labels, regularization_losses)[0]

  def _batch(self, features: Any, logits: Any, labels: Any, penalties: Any) -> tuple[Any, Batch]:
    """Returns the loss with the penalties, and what metrics see of a batch."""
    with v1.name_scope(None, "losses", (logits,)):
      logits = tensors.checked_logits(logits, self.logits_dimension)
      labels, losses, weights = self._unreduced(features or {}, logits, labels)
      loss = checks.reduced(losses, weights, checks.reduction(self._loss_reduction))
      return penalized(loss, penalties), Batch(labels, logits, weights, losses, loss)

  def create_estimator_spec(  # type: ignore[override]
    self,
    features: Any,
    mode: Any,
    logits: Any,
    labels: Any = None,
    optimizer: Any = None,
    trainable_variables: Any = None,
    train_op_fn: Optional[Callable[[Any], Any]] = None,
    update_ops: Any = None,
    regularization_losses: Optional[Sequence[Any]] = None,
  ) -> EstimatorSpec:
    """Returns what a model_fn returns.

    Args:
      features: dict of features.
      mode: one of `ModeKeys`.
      logits: a tensor [D0, D1, ..., logits_dimension].
      labels: see `loss`; not for predictions.
      optimizer: must be None.
      trainable_variables: goes with an optimizer.
      train_op_fn: a function of the loss that returns an operation.
      update_ops: operations that run with a training step.
      regularization_losses: scalars that are added to the loss.

    Raises:
      ValueError: if a training has an optimizer, or no `train_op_fn`; see `loss`.
    """
    with v1.name_scope(self.name, "head"):
      predictions = self.predictions(logits)
      if mode == ModeKeys.PREDICT:
        outputs = self._export_outputs(predictions)
        return EstimatorSpec(mode, predictions=predictions, export_outputs=outputs)
      loss = self.loss(labels, logits, features, mode, regularization_losses)
      if mode == ModeKeys.EVAL:
        found = self.metrics(regularization_losses)
        ops = self.update_metrics(found, features, logits, labels, regularization_losses)
        return EstimatorSpec(mode, predictions=predictions, loss=loss, eval_metric_ops=ops)
      train_op = training(loss, optimizer, train_op_fn, update_ops)
    show(loss, regularization_losses, self._key)
    return EstimatorSpec(ModeKeys.TRAIN, predictions=predictions, loss=loss, train_op=train_op)

  def metrics(self, regularization_losses: Optional[Sequence[Any]] = None) -> dict[str, Measure]:
    """Returns what `update_metrics` takes: the metrics by their keys."""
    found = self._measures.metrics("v2")
    if regularization_losses is None:
      return found
    penalty = Measure(streaming.Mean(), lambda batch: (tf.add_n(regularization_losses), 1.0))
    return {**found, self._key("regularization_loss"): penalty}

  def update_metrics(
    self,
    eval_metrics: dict[str, Any],
    features: Any,
    logits: Any,
    labels: Any,
    regularization_losses: Optional[Sequence[Any]] = None,
  ) -> dict[str, Any]:
    """Returns the metrics of an evaluation as pairs of a value and an update, for an EstimatorSpec.

    Args:
      eval_metrics: what `metrics` gave; others that a program added stay as they are.
      features, logits, labels, regularization_losses: see `loss`.

    Raises:
      KeyError: if one of the head's metrics is missing.
    """
    _, batch = self._batch(features, logits, labels, regularization_losses)
    own = {key: eval_metrics[key] for key in self.metrics(regularization_losses)}
    return {
      **eval_metrics,
      **{key: measured(one.metric, one.arguments(batch), key) for key, one in own.items()},
    }
