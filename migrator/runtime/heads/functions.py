"""The head of a Keras model that was the network of a model_fn: the program's own functions."""

from __future__ import annotations

import contextlib
import copy
from typing import Any, Callable, Optional


class FunctionHead:
  """What functions of a program make of the outputs of a Keras model.

  In place of a head or a loss where `runtime` evaluates, predicts and exports. It is not what the model is compiled
  with. The functions take what `runtime.Network` gives them: a parameter called `labels`, `features`,
  `losses` (the regularization losses of the model's layers), `variables` (those that are trained) or `params` gets
  these, another one the model's output.

  Attributes:
    loss_fn: returns the loss of a batch, a scalar.
    predictions_fn: returns the predictions, a tensor or a dict of tensors.
    metrics_fn: returns a dict of (value, update_op) pairs, as `tf.compat.v1.metrics` give them, or of Keras metrics.
    export_outputs_fn: returns a dict of `runtime.export.PredictOutput` and the like.
    params: a copy of what the functions get as `params`.
  """

  def __init__(
    self,
    loss_fn: Callable[..., Any],
    *,
    predictions_fn: Optional[Callable[..., Any]] = None,
    metrics_fn: Optional[Callable[..., dict]] = None,
    export_outputs_fn: Optional[Callable[..., dict]] = None,
    params: Any = None,
  ):
    """Makes the head.

    Args:
      loss_fn: as the attribute.
      predictions_fn: as the attribute; None: the model's output.
      metrics_fn: as the attribute; None for no metrics but the loss.
      export_outputs_fn: as the attribute; None: the predictions are exported.
      params: for the functions.
    """
    self.loss_fn = loss_fn
    self.predictions_fn = predictions_fn
    self.metrics_fn = metrics_fn
    self.export_outputs_fn = export_outputs_fn
    self.params = copy.deepcopy(params)

  def network(self, model: Any) -> ModelNetwork:
    """Returns the model in the form in which a `runtime.Network` is evaluated."""
    return ModelNetwork(model, self.params)


class ModelNetwork:
  """A Keras model with the interface of a `runtime.Network`.

  Attributes:
    model: the Keras model, which callbacks get.
    params: for the functions of its output.
    losses: the regularization losses after the last call.
  """

  def __init__(self, model: Any, params: Any):
    self.model = model
    self.params = params
    self.losses: list = []
    from migrator.runtime.keras_inputs import model_inputs  # which needs the heads itself

    self._inputs = model_inputs(model)

  def __call__(self, features: Any, labels: Any = None, training: bool = False) -> Any:
    """Returns the output for features as the input function gives them."""
    del labels
    outputs = self.model(self._inputs(features), training=training)
    self.losses = list(self.model.losses)
    return outputs

  @property
  def trainable_variables(self) -> list:
    """The weights that are trained."""
    return list(self.model.trainable_variables)

  def traced_anew(self) -> Any:
    """Returns a context, as the method of a Network: Keras runs the Python of its layers in each trace."""
    return contextlib.nullcontext([])
