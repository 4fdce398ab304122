"""What convolutions and their transposes share: layouts, names of variables and biases."""

from __future__ import annotations

import tensorflow as tf

from migrator.runtime.contrib.layers import utils
from migrator.runtime.contrib.layers.weights import weight

_LAYOUTS = {
  1: {False: "NWC", True: "NCW"},
  2: {False: "NHWC", True: "NCHW"},
  3: {False: "NDHWC", True: "NCDHW"},
}
RENAMED = {"bias": "biases", "kernel": "weights"}


def layout_of(spatial: int, data_format) -> str:
  """Returns the full name of a layout, for example "NHWC" for 2 dimensions and None."""
  return _LAYOUTS[spatial][bool(data_format) and data_format.startswith("NC")]


def channels_of(inputs, layout: str) -> int:
  """Returns the number of channels; ValueError if it is not known."""
  first = layout.startswith("NC")
  return utils.channel_dimension(inputs.shape, "channels_first" if first else "channels_last")


def with_biases(
  outputs, count, layout, initializer, regularizer, trainable, variables_collections, dtype
):
  """Returns the outputs plus a variable `biases` of [count]."""
  bias = weight(
    "bias", [count], dtype, initializer, regularizer, trainable, variables_collections, "biases"
  )
  # The short layouts are those of matrices for this operation.
  return tf.nn.bias_add(outputs, bias, data_format="NC..." if layout.startswith("NC") else "N...C")
