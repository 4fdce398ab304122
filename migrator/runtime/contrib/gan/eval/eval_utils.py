"""Images beside each other in one image."""

from __future__ import annotations

import math
from typing import Any, Optional

import tensorflow as tf

__all__ = ["image_grid", "image_reshaper"]


def image_grid(
  input_tensor: Any, grid_shape: Any, image_shape: Any = (32, 32), num_channels: int = 3
) -> Any:
  """Returns the images of a batch in a grid, as one image [1, height, width, channels].

  Args:
    input_tensor: a tensor [batch, height, width, channels], or the same as [batch, numbers].
    grid_shape: how many rows and columns of images; as many as the batch has.
    image_shape: height and width of an image.
    num_channels: the channels of an image.

  Raises:
    ValueError: if the sizes do not go together.
  """
  rows, columns = grid_shape
  sizes = [tf.compat.dimension_value(one) for one in input_tensor.shape]
  if rows * columns != sizes[0]:
    raise ValueError(f"A grid of {tuple(grid_shape)} is none of a batch of {sizes[0]} images.")
  wanted = [*image_shape, num_channels]
  if len(sizes) == 2:
    wanted = [math.prod(wanted)]
  elif len(sizes) != 4:
    raise ValueError(f"Images have 2 or 4 axes, and not the shape {input_tensor.shape}.")
  if sizes[1:] != wanted:
    raise ValueError(f"Each image should have the shape {wanted}, and has {sizes[1:]}.")
  height, width = image_shape
  images = tf.reshape(input_tensor, [rows, columns, height, width, num_channels])
  images = tf.transpose(images, [0, 2, 1, 3, 4])
  return tf.reshape(images, [1, rows * height, columns * width, num_channels])


def image_reshaper(images: Any, num_cols: Optional[int] = None) -> Any:
  """Returns images beside each other, as one image [1, height, width, channels]; black ones fill the last row.

  Args:
    images: a tensor [batch, height, width, channels], or a list of images, of 1 or 3 channels.
    num_cols: how many stand in a row; by default as many as there are rows, or one more.

  Raises:
    ValueError: if an image has other axes or channels.
  """
  images = tf.unstack(images) if isinstance(images, tf.Tensor) else list(images)
  for image in images:
    image.shape.assert_has_rank(3)
    image.shape.assert_is_fully_defined()
    if image.shape[-1] not in (1, 3):
      raise ValueError(f"Images have 1 or 3 channels, and not the shape {image.shape}.")
  columns = num_cols or math.ceil(math.sqrt(len(images)))
  images += [tf.zeros_like(images[-1])] * (-len(images) % columns)
  rows = [tf.concat(images[i : i + columns], 1) for i in range(0, len(images), columns)]
  return tf.expand_dims(tf.concat(rows, 0), 0)
