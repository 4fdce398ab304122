"""The head of several objectives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Optional

import tensorflow as tf

from migrator.runtime.heads import streaming
from migrator.runtime.heads.base import PREDICT, Batch, Head, Measure


@tf.keras.utils.register_keras_serializable("migrator")
class MultiHead(Head):
  """Several heads that share the logits of a model, as `tf.estimator.MultiHead`.

  The labels, a dict by the names of the heads, are packed into one tensor by `prepare`, as are the weights:
  a Keras loss takes one for each output of the model.
  """

  def __init__(self, heads: Sequence[Head], head_weights: Optional[Sequence[float]] = None):
    """Makes the head.

    Args:
      heads: heads with names. The logits are theirs one behind the other, in this order.
      head_weights: must be None.

    Raises:
      ValueError: if there is no head, one lacks a name, or their loss reductions differ.
      NotImplementedError: for head_weights.
    """
    if not heads:
      raise ValueError(f"Must specify heads. Given: {heads}")
    if head_weights:
      raise NotImplementedError(
        f"MultiHead with head_weights={list(head_weights)} is not supported: only the plain sum of the "
        "losses is."
      )
    for head in heads:
      if head.head_name is None:
        raise ValueError(f"All given heads must have name specified. Given: {head}")
    reductions = [head.loss_reduction for head in heads]
    if len(set(reductions)) > 1:
      raise ValueError(
        f"The loss_reduction must be the same for different heads. Given: {reductions}"
      )
    self.heads = tuple(heads)
    super().__init__(None, reductions[0], None, None)
    self.name = "_".join(str(head.head_name) for head in heads)

  @property
  def logits_dimension(self) -> int:
    return sum(head.logits_dimension or 0 for head in self.heads)

  @property
  def labels_dimension(self) -> int:
    return sum(head.labels_dimension or 0 for head in self.heads)

  @property
  def losses_dimension(self) -> int:
    return sum(head.losses_dimension for head in self.heads)

  def prepared_labels(self, labels: Any) -> tf.Tensor:
    if not isinstance(labels, Mapping):
      raise ValueError(f"labels must be a dict. Given: {labels}")
    missing = [str(h.head_name) for h in self.heads if h.head_name not in labels]
    if missing:
      raise ValueError(f"labels has missing values for head(s): {missing}")
    # Numbers of classes are exact in float32 up to 2 ** 24.
    parts = [tf.cast(h.prepared_labels(labels[h.head_name]), tf.float32) for h in self.heads]
    return tf.concat(parts, -1)

  def prepared_weights(self, features: Any) -> Optional[tf.Tensor]:
    weights = [head.prepared_weights(features) for head in self.heads]
    given = [w for w in weights if w is not None]
    if not given:
      return None
    rows = tf.shape(given[0])[0]
    parts = []
    for head, own in zip(self.heads, weights):
      ones = tf.ones([rows, head.losses_dimension])
      parts.append(ones if own is None else own * ones)
    return tf.concat(parts, -1)

  def _split(self, batch: Batch) -> list[Batch]:
    """Returns the batches of the heads."""
    labels = tf.split(batch.labels, [h.labels_dimension for h in self.heads], -1)
    logits = tf.split(batch.logits, [h.logits_dimension for h in self.heads], -1)
    weights: list = [None] * len(self.heads)
    if isinstance(batch.weights, tf.Tensor):
      weights = tf.split(batch.weights, [h.losses_dimension for h in self.heads], -1)
    return [h.batch(*parts) for h, *parts in zip(self.heads, labels, logits, weights)]

  def batch(self, labels: Any, logits: Any, sample_weight: Any = None) -> Batch:
    """Returns a batch; see `Head.batch`. Its losses are those of all heads side by side."""
    logits = tf.cast(logits, tf.float32)
    if logits.shape[-1] not in (None, self.logits_dimension):
      raise ValueError(
        f"Could not split logits of shape {logits.shape} among the heads, which have "
        f"{[head.logits_dimension for head in self.heads]} logits."
      )
    weights: Any = 1.0 if sample_weight is None else tf.cast(sample_weight, tf.float32)
    given = Batch(tf.convert_to_tensor(labels), logits, weights, logits, tf.constant(0.0))
    parts = self._split(given)
    losses = tf.concat([part.losses for part in parts], -1)
    return given._replace(losses=losses, loss=tf.add_n([part.loss for part in parts]))

  def predictions(self, logits: Any) -> dict:
    """Returns the predictions by (name of the head, key)."""
    predictions = {}
    for head, part in self._parts(logits):
      for key, value in head.predictions(part).items():
        predictions[head.head_name, key] = value
    return predictions

  def _parts(self, logits: Any) -> list:
    """Returns (head, its logits) of each head."""
    logits = tf.cast(logits, tf.float32)
    return list(zip(self.heads, tf.split(logits, [h.logits_dimension for h in self.heads], -1)))

  def metrics(self, flavour: str) -> dict[str, Measure]:
    measures: dict[str, Measure] = {}
    for i, head in enumerate(self.heads):

      def loss(batch: Batch, i: int = i) -> tuple:
        return self._split(batch)[i].loss, 1.0

      measures[f"loss/{head.head_name}"] = Measure(streaming.Mean(), loss)
      for key, measure in head.metrics(flavour).items():

        def arguments(batch: Batch, i: int = i, measure: Measure = measure) -> tuple:
          return measure.arguments(self._split(batch)[i])

        measures[key] = Measure(measure.metric, arguments)
    return measures

  def signature_names(self) -> tuple[str, ...]:
    names = []
    for head in self.heads:
      for name in head.signature_names():
        names.append(_signature(head, name))
    return ("serving_default", *names, "predict")

  def export_outputs(self, logits: Any) -> dict:
    """Returns those of all heads; the first one's default is the default."""
    outputs: dict = {}
    predictions = {}
    for head, part in self._parts(logits):
      for name, (method, values) in head.export_outputs(part).items():
        if not outputs:
          outputs["serving_default"] = (method, values)
        outputs[_signature(head, name)] = (method, values)
        if name == "predict":
          predictions.update({f"{head.head_name}/{k}": v for k, v in values.items()})
    outputs["predict"] = (PREDICT, predictions)
    return outputs

  def get_config(self) -> dict:
    heads = [tf.keras.utils.serialize_keras_object(head) for head in self.heads]
    return {"heads": heads}

  @classmethod
  def from_config(cls, config: dict) -> Head:
    heads = [
      head if isinstance(head, Head) else tf.keras.utils.deserialize_keras_object(head)
      for head in config["heads"]
    ]
    return cls(heads)


def _signature(head: Head, name: str) -> str:
  """Returns the name that a head's signature has next to those of others."""
  return str(head.head_name) if name == "serving_default" else f"{head.head_name}/{name}"
