"""Fits what an input function yields to the inputs and the loss of a Keras model."""

from __future__ import annotations

from typing import Any, Callable, Optional

import tensorflow as tf

from migrator.runtime.columns.base import input_name
from migrator.runtime.input_values import Target, fit_value


def only_inputs(model: Any, loss_fn: Any = None) -> Callable:
  """Returns a function for `dataset.map` that makes the features fit the inputs of a model.

  It drops the features that the model has no input for, which Keras would refuse or silently take for
  another one, gives the others the shape of their inputs, and converts to the input's data type. A dense
  feature becomes sparse or ragged, and the other way round, as its input is, where that does not change
  what a feature column saw.

  The labels become what the loss takes, and a weight column the weights of the examples, as a head did
  it: see `heads.prepare`. Labels stay as they are for a loss that is neither a head nor stands for one.

  Args:
    model: a functional Keras model.
    loss_fn: a head or a Keras loss; by default that with which the model is compiled, if it is.

  Returns:
    A function of (features) or (features, labels) that returns as many values, or (features, labels,
    weights) for a head with a weight column.

  Raises:
    ValueError: when it is called, naming the feature, if it lacks one or cannot make it fit, or for a stock
      loss that only looks like the Estimator's: a sum of mean squared errors of several numbers.
    InvalidArgumentError: when the dataset runs, alike.
  """
  adapt = InputAdapter(model)

  # Functions of the program in it, as a normalizer_fn, were not converted in an Estimator either; and errors
  # stay what they are.
  @tf.autograph.experimental.do_not_convert
  def fit(features, *labels):
    if not labels:
      return adapt(features)
    if len(labels) > 1:
      return (adapt(features), *labels)
    head = _head(model, getattr(model, "loss", None) if loss_fn is None else loss_fn)
    prepared = (labels[0],) if head is None else head.prepare(features, labels[0])[1:]
    return (adapt(features), *prepared)

  return fit


class InputAdapter:
  """Makes what an input function yields into what a functional model takes.

  An Estimator ignored features that no column used, gave each the shape of its column, and converted
  numbers to float32.
  """

  def __init__(self, model: Any):
    inputs = getattr(model, "input", None)
    self._names = list(inputs) if isinstance(inputs, dict) else None
    flat = inputs if isinstance(inputs, dict) else dict(enumerate(tf.nest.flatten(inputs)))
    crossed, weights = _names_of(model, "raw_inputs"), _names_of(model, "weight_inputs")
    self._targets = {
      name: Target.of(name, tensor, input_name(tensor) in crossed, input_name(tensor) in weights)
      for name, tensor in flat.items()
    }

  def __call__(self, features: Any) -> Any:
    """Returns the inputs of the model.

    Raises:
      ValueError: if a feature of the model is missing, or cannot become what its input is.
    """
    if self._names is None:
      if isinstance(features, dict):
        features = list(features.values())
      flat = [fit_value(self._targets[i], v) for i, v in enumerate(tf.nest.flatten(features))]
      return flat[0] if len(flat) == 1 else flat
    missing = [name for name in self._names if name not in features]
    if missing:
      raise ValueError(
        f"The dataset lacks the feature {missing[0]!r} of the model; it has {sorted(features)}."
      )
    return {name: fit_value(self._targets[name], features[name]) for name in self._names}


def _names_of(model: Any, attribute: str) -> set:
  """Returns what the layers of a model, and of the models in it, have in an attribute."""
  found: set = set()
  for layer in getattr(model, "layers", ()):
    found.update(getattr(layer, attribute, ()))
    found.update(_names_of(layer, attribute))
  return found


def _head(model: Any, loss: Any) -> Optional[Any]:
  """Returns the head that makes the labels ready; None if there is none."""
  if not isinstance(loss, tf.keras.losses.Loss):
    return None
  from migrator.runtime import heads  # a loop of its own needs none

  if isinstance(loss, heads.Head):
    return loss
  shape = getattr(model, "output_shape", None)
  if not isinstance(shape, tuple) or len(shape) != 2 or isinstance(shape[0], tuple):
    return None
  try:
    return heads.of(loss, shape[-1])
  except heads.LossDiffers:
    raise
  except (TypeError, ValueError):
    # A loss that no canned Estimator had takes the labels of the program.
    return None
