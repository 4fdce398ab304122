"""Fits what an input function yields to the inputs of a Keras model."""

from __future__ import annotations

from typing import Any, Callable

import tensorflow as tf


def only_inputs(model: Any) -> Callable:
  """Returns a function for `dataset.map` that makes the features fit the inputs of a model.

  It drops the features that the model has no input for, which Keras would refuse or silently take for
  another one, gives the others the shape of their inputs, and converts to the input's data type.

  Args:
    model: a functional Keras model.

  Returns:
    A function of (features) or (features, labels) that returns as many values.
  """
  adapt = InputAdapter(model)

  def fit(features, *labels):
    return (adapt(features), *labels) if labels else adapt(features)

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
    self._specs = {name: (tf.as_dtype(t.dtype), tuple(t.shape)) for name, t in flat.items()}

  def __call__(self, features: Any) -> Any:
    """Returns the inputs of the model.

    Raises:
      ValueError: if a feature of the model is missing.
    """
    if self._names is None:
      if isinstance(features, dict):
        features = list(features.values())
      flat = [self._fit(i, value) for i, value in enumerate(tf.nest.flatten(features))]
      return flat[0] if len(flat) == 1 else flat
    missing = [name for name in self._names if name not in features]
    if missing:
      raise ValueError(
        f"The dataset lacks the feature {missing[0]!r} of the model; it has {sorted(features)}."
      )
    return {name: self._fit(name, features[name]) for name in self._names}

  def _fit(self, name: Any, value: Any) -> tf.Tensor:
    """Returns one feature with the data type and shape of its input, as a numeric column did."""
    dtype, shape = self._specs[name]
    value = tf.convert_to_tensor(value)
    if value.dtype != dtype:
      value = tf.cast(value, dtype)
    if not value.shape[1:].is_compatible_with(shape[1:]) and None not in shape[1:]:
      # A numeric column reshaped its feature: [batch, 784] and [batch, 28, 28] are the same to it.
      value = tf.reshape(value, [tf.shape(value)[0], *shape[1:]])
    return tf.ensure_shape(value, [None, *shape[1:]])
