"""A Sequential model of Keras 2 that knows its input."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Optional

import tensorflow as tf


def sequential(
  layers: Sequence[Any],
  input_shape: Sequence[Optional[int]],
  name: Optional[str] = None,
) -> tf.keras.Model:
  """Makes the model that `tf.keras.Sequential` made of layers whose first had an `input_shape`.

  In TF1's graph such a model called its layers at once, outside of its own scope, so that their variables were
  `dense/kernel`. In Keras 3 they would be `sequential/dense/kernel`.

  Args:
    layers: of the model, in order; none of them knows its input.
    input_shape: of the first layer, without the dimension of the batch.
    name: of the model.

  Returns:
    A model with one input, float32 of shape [batch, *input_shape].
  """
  inputs = outputs = tf.keras.Input(tuple(input_shape))
  for layer in layers:
    outputs = layer(outputs)
  return tf.keras.Model(inputs, outputs, name=name)
