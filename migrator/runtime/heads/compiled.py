"""The head of a Keras model in an Estimator (`model_to_estimator`): what the model is compiled with."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Optional

import numpy as np
import tensorflow as tf

from migrator.runtime.heads.base import PREDICT, Head

_DEFAULT = "serving_default"


class CompiledHead(Head):
  """The model's own loss and metrics; its outputs are the predictions, by the names of its output layers.

  In place of a head or a loss where `runtime` asks for one. The model must be compiled.

  Attributes:
    metric_names_map: name of a compiled metric -> its key in evaluations; all of them, or None.
  """

  def __init__(self, metric_names_map: Optional[Mapping[str, str]] = None):
    super().__init__(None, "sum_over_batch_size", None, None)
    self.metric_names_map = dict(metric_names_map) if metric_names_map else None

  def get_config(self) -> dict:
    """Returns the argument."""
    return {"metric_names_map": self.metric_names_map}

  def outputs(self, model: Any, outputs: Any) -> dict[str, tf.Tensor]:
    """Returns the predictions: name of the output layer -> output.

    Args:
      model: the model.
      outputs: what it gives.
    """
    return dict(zip(output_names(model), tf.nest.flatten(outputs)))

  def exports(self, model: Any, outputs: Any) -> dict[str, tuple[str, dict]]:
    """Returns what an export of the Estimator gave: one signature with all outputs."""
    return {_DEFAULT: (PREDICT, self.outputs(model, outputs))}


def output_names(model: Any) -> list[str]:
  """Returns the names of the layers that give the outputs, as Keras 2 called them."""
  names = getattr(model, "output_names", None)
  if names:
    return list(names)
  if isinstance(model, tf.keras.Sequential):
    return [model.layers[-1].name]
  raise ValueError(
    f"The model {model.name} has no named outputs: it must be functional or sequential."
  )


class CompiledMeasures:
  """The loss and the metrics of a compiled model over the batches of an evaluation."""

  def __init__(self, model: Any, head: CompiledHead, inputs: Any):
    """Makes the metrics of the model begin anew.

    Args:
      model: a compiled model.
      head: its head.
      inputs: what makes (features, labels) what the model takes; see `model_inputs`.
    """
    self._model = model
    self._head = head
    self._inputs = inputs
    self._total, self._batches = np.float32(0.0), 0
    self._results: dict[str, Any] = {}
    model.reset_metrics()

  def batch(self, element: tuple) -> tuple:
    """Returns the loss, the outputs and the metrics so far, all tensors; for a `tf.function`."""
    x, y, *weights = self._inputs(*element)
    outputs = self._model(x, training=False)
    loss = self._model.compute_loss(x, y, outputs, *weights)
    results = self._model.compute_metrics(x, y, outputs, weights[0] if weights else None)
    return loss, outputs, {name: results[name] for name in results}

  def update(self, loss: Any, results: dict) -> None:
    """Takes down what `batch` returned.

    Args:
      loss: of the batch, float32.
      results: of the metrics.
    """
    # Each batch counts as one, as the Estimator's did, whatever its size.
    self._total, self._batches = self._total + np.float32(loss), self._batches + 1
    self._results = results

  def values(self) -> dict[str, np.float32]:
    """Returns the results of the compiled metrics, and `loss`.

    Raises:
      ValueError: if `metric_names_map` has not the names of all of them.
    """
    names = output_names(self._model)
    losses = {"loss", *(f"{name}_loss" for name in names if len(names) > 1)}
    values = {n: np.float32(v) for n, v in self._results.items() if n not in losses}
    renamed = self._head.metric_names_map
    if renamed is not None:
      if set(renamed) != set(values):
        raise ValueError(
          f"Invalid `metric_names_map`. Expected keys: {sorted(values)}, received: {sorted(renamed)}."
        )
      values = {renamed[name]: value for name, value in values.items()}
    return {**values, "loss": np.float32(self._total / np.float32(max(self._batches, 1)))}
