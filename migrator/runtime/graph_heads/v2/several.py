"""The graph head of several heads, as `tf.estimator.MultiHead`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Optional

import tensorflow as tf

from migrator.runtime.graph_heads import multi
from migrator.runtime.graph_heads.metrics import measured
from migrator.runtime.graph_heads.v2.base import penalized, show, training
from migrator.runtime.heads import streaming
from migrator.runtime.hosting.modes import ModeKeys
from migrator.runtime.hosting.specs import EstimatorSpec

v1 = tf.compat.v1


class MultiHead(multi.MultiHead):
  """`tf.estimator.MultiHead`: heads of this module, each with a name."""

  @property
  def loss_reduction(self) -> str:
    """That of the heads.

    Raises:
      ValueError: if they have different ones.
    """
    self._check_reductions()
    return self._heads[0].loss_reduction

  def _check_reductions(self) -> None:
    found = [head.loss_reduction for head in self._heads]
    if len(set(found)) > 1:
      raise ValueError(f"The loss_reduction must be the same for different heads. Given: {found}")

  def _checked(self, logits: Any, labels: Any) -> Any:
    """Returns a dict of the heads' logits.

    Raises:
      ValueError: if logits or labels of a head are missing.
    """
    names = [head.name for head in self._heads]
    if labels is not None and not isinstance(labels, dict):
      raise ValueError(f"labels must be a dict. Given: {labels}")
    for what, values in (("logits", logits), ("labels", labels)):
      missing = [n for n in names if n not in values] if isinstance(values, dict) else []
      if missing:
        raise ValueError(f"{what} has missing values for head(s): {missing}")
    return self._parts(logits)

  def predictions(self, logits: Any, keys: Any = None) -> dict[Any, Any]:
    """Returns the predictions by (name of the head, key); `keys` has no meaning."""
    parts = self._checked(logits, None)
    with v1.name_scope("merge_pred"):
      return {
        (head.name, key): value
        for head in self._heads
        for key, value in head.predictions(parts[head.name]).items()
      }

  def loss(
    self,
    labels: Any,
    logits: Any,
    features: Any = None,
    mode: Any = None,
    regularization_losses: Optional[Sequence[Any]] = None,
  ) -> Any:
    """Returns the sum of the heads' losses, and of the others."""
    parts = self._checked(logits, labels)
    losses = [h.loss(labels[h.name], parts[h.name], features, mode) for h in self._heads]
    return penalized(self._sum(losses), regularization_losses)

  def metrics(self, regularization_losses: Optional[Sequence[Any]] = None) -> dict[str, Any]:
    """Returns what `update_metrics` takes: the metrics of the losses, by their keys."""
    mean = streaming.Mean()
    found = {f"loss/{head.name}": mean for head in self._heads}
    if regularization_losses is not None:
      found[f"regularization_loss/{self.name}"] = mean
    return found

  def update_metrics(
    self,
    eval_metrics: dict[str, Any],
    features: Any,
    logits: Any,
    labels: Any,
    regularization_losses: Optional[Sequence[Any]] = None,
  ) -> dict[str, Any]:
    """Returns the metrics of all heads as pairs of a value and an update; see the heads'."""
    parts = self._checked(logits, labels)
    result = dict(eval_metrics)
    if regularization_losses is not None:
      key = f"regularization_loss/{self.name}"
      result[key] = measured(eval_metrics[key], (tf.add_n(regularization_losses), 1.0), key)
    for head in self._heads:
      key, given = f"loss/{head.name}", (features, parts[head.name], labels[head.name])
      loss = head.loss(given[2], given[1], features)
      result[key] = measured(eval_metrics[key], (loss, 1.0), key)
      result.update(head.update_metrics(head.metrics(), *given))
    return result

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
    """Returns what a model_fn returns; see the heads'. The keys of the predictions are pairs."""
    with v1.name_scope(self.name, "multi_head"):
      parts = self._checked(logits, labels)
      specs = {
        head.name: head.create_estimator_spec(
          features=features,
          mode=mode,
          logits=parts[head.name],
          labels=labels[head.name] if labels else None,
          train_op_fn=lambda loss: tf.no_op(),
        )
        for head in self._heads
      }
      predictions = self.predictions(logits)
      if mode == ModeKeys.PREDICT:
        outputs = multi.merged_outputs(specs)
        return EstimatorSpec(mode, predictions=predictions, export_outputs=outputs)
      penalties = regularization_losses
      loss = self.loss(labels, logits, features, mode, penalties)
      if mode == ModeKeys.EVAL:
        found = self.metrics(penalties)
        ops = self.update_metrics(found, features, logits, labels, penalties)
        return EstimatorSpec(mode, predictions=predictions, loss=loss, eval_metric_ops=ops)
      self._check_reductions()
      train_op = training(loss, optimizer, train_op_fn, update_ops)
      show(loss, penalties, lambda key: key)
    return EstimatorSpec(ModeKeys.TRAIN, predictions=predictions, loss=loss, train_op=train_op)
