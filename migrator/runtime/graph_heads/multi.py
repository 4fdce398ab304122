"""The graph head of several heads, each with a part of the logits and its own labels."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Optional

import tensorflow as tf

from migrator.runtime.export.outputs import PredictOutput
from migrator.runtime.graph_heads.base import PREDICT, SERVING, LossSpec, training
from migrator.runtime.graph_heads.metrics import key_of
from migrator.runtime.hosting.modes import ModeKeys
from migrator.runtime.hosting.specs import EstimatorSpec

v1 = tf.compat.v1


class MultiHead:
  """Several heads with names; their losses are added.

  Attributes:
    name: the heads' names, joined by "_".
    logits_dimension: the sum of the heads' dimensions.
  """

  def __init__(self, heads: Sequence[Any], head_weights: Optional[Sequence[float]] = None):
    """Makes the head.

    Args:
      heads: each with a name, the key of its labels.
      head_weights: the factor of each head's loss.

    Raises:
      ValueError: if there are no heads, one has no name, or there are other numbers of weights.
    """
    if head_weights and len(head_weights) != len(heads):
      raise ValueError(
        f"heads and head_weights must have the same size. Given len(heads): {len(heads)}. Given "
        f"len(head_weights): {len(head_weights)}."
      )
    if not heads:
      raise ValueError(f"Must specify heads. Given: {heads}")
    for head in heads:
      if not head.name:
        raise ValueError(f"All given heads must have name specified. Given: {head}")
    self._heads = tuple(heads)
    self._weights = tuple(head_weights or ())
    self.name = "_".join(head.name for head in self._heads)
    self.logits_dimension = sum(head.logits_dimension for head in self._heads)

  def create_loss(self, features: Any, mode: Any, logits: Any, labels: Any) -> LossSpec:
    """Returns the sum of the heads' losses, and a dict of the heads' for everything else.

    Args:
      features: dict of features.
      mode: has no meaning.
      logits: a tensor [D0, D1, ..., logits_dimension], or a dict of the heads'.
      labels: a dict of the heads' labels.
    """
    parts = self._parts(logits)
    found = {
      head.name: head.create_loss(features, mode, parts[head.name], labels[head.name])
      for head in self._heads
    }
    factors = dict(zip(found, self._weights))

    def weighted(field: str) -> dict:
      values = {name: getattr(one, field) for name, one in found.items()}
      if not factors:
        return values
      return {name: tf.multiply(value, factors[name]) for name, value in values.items()}

    return LossSpec(
      self._sum([one.training_loss for one in found.values()]),
      weighted("unreduced_loss"),
      weighted("weights"),
      {name: one.processed_labels for name, one in found.items()},
    )

  def create_estimator_spec(
    self,
    features: Any,
    mode: Any,
    logits: Any,
    labels: Any = None,
    optimizer: Any = None,
    train_op_fn: Optional[Callable[[Any], Any]] = None,
  ) -> EstimatorSpec:
    """Returns what a model_fn returns.

    The keys of the predictions are pairs: the name of a head, and a key of its own. The operations in `UPDATE_OPS`
    do not run with the training, as they did not in TF1.

    Args:
      features: dict of features.
      mode: one of `ModeKeys`.
      logits: a tensor [D0, D1, ..., logits_dimension], or a dict of the heads'.
      labels: a dict of the heads' labels; not for predictions.
      optimizer: minimizes the sum of the losses.
      train_op_fn: instead of it, a function of the loss that returns an operation.

    Raises:
      ValueError: if the labels are no dict, or a training has both or none of the last two; see the heads.
    """
    parts = self._parts(logits)
    if labels and not isinstance(labels, dict):
      raise ValueError(f"labels must be a dict. Given: {labels}")
    specs = {}
    for head in self._heads:
      specs[head.name] = head.create_estimator_spec(
        features=features,
        mode=mode,
        logits=parts[head.name],
        labels=labels[head.name] if labels else None,
        train_op_fn=lambda loss: tf.no_op(),
      )
    predictions = {
      (name, key): value for name, spec in specs.items() for key, value in spec.predictions.items()
    }
    if mode == ModeKeys.PREDICT:
      outputs = merged_outputs(specs)
      return EstimatorSpec(mode, predictions=predictions, export_outputs=outputs)
    losses = [spec.loss for spec in specs.values()]
    if mode == ModeKeys.EVAL:
      metrics: dict = {}
      with v1.name_scope("merge_eval"):
        for name, spec in specs.items():
          key = key_of("loss", name)
          metrics.update({key: v1.metrics.mean(spec.loss, name=key), **spec.eval_metric_ops})
        loss = self._sum(losses)
      return EstimatorSpec(mode, predictions=predictions, loss=loss, eval_metric_ops=metrics)
    if mode != ModeKeys.TRAIN:
      raise ValueError(f"mode={mode} unrecognized")
    loss = self._sum(losses)
    train_op = training(loss, optimizer, train_op_fn)
    spec = EstimatorSpec(mode, predictions=predictions, loss=loss, train_op=train_op)
    with v1.name_scope(""):
      v1.summary.scalar("loss", spec.loss)
    return spec

  def _sum(self, losses: Sequence[Any]) -> Any:
    with v1.name_scope("merge_losses", values=[*losses, *self._weights]):
      if self._weights:
        losses = [tf.multiply(loss, weight) for loss, weight in zip(losses, self._weights)]
      return tf.add_n(losses)

  def _parts(self, logits: Any) -> Any:
    """Returns a dict of the heads' logits.

    Raises:
      ValueError: if the last axis has not the size of all of them.
    """
    if isinstance(logits, dict):
      return logits
    sizes = [head.logits_dimension for head in self._heads]
    with v1.name_scope(None, "split_logits", [logits]):
      logits = tf.convert_to_tensor(logits)
      if logits.shape[-1] not in (None, self.logits_dimension):
        raise ValueError(
          f"Could not split logits of shape {logits.shape.as_list()} among the heads with individual "
          f"logits dimensions: {sizes}. The last dimension of the logits tensor should equal "
          f"{self.logits_dimension} but is {logits.shape[-1]}."
        )
      result, start = {}, 0
      for head, size in zip(self._heads, sizes):
        rank = len(logits.shape)
        result[head.name] = tf.slice(logits, [0] * (rank - 1) + [start], [-1] * (rank - 1) + [size])
        start += size
      return result


def merged_outputs(specs: dict[str, EstimatorSpec]) -> dict[str, Any]:
  """Returns the outputs of all heads, by their names, and all predictions in one signature."""
  first = next(iter(specs.values())).export_outputs
  result = {SERVING: first[SERVING] if len(first) > 1 else next(iter(first.values()))}
  merged = {}
  for name, spec in specs.items():
    for key, output in spec.export_outputs.items():
      result[name if key == SERVING else f"{name}/{key}"] = output
      if key == PREDICT and isinstance(output, PredictOutput):
        merged.update({f"{name}/{one}": value for one, value in output.outputs.items()})
  result[PREDICT] = PredictOutput(merged)
  return result
