"""Summaries of a model of `tf.contrib.gan`: its images, variables and regularization."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from migrator.runtime.contrib.gan.eval.eval_utils import image_grid, image_reshaper
from migrator.runtime.contrib.gan.tuples import CycleGANModel, GANModel

v1 = tf.compat.v1

__all__ = [
  "add_cyclegan_image_summaries",
  "add_gan_model_image_summaries",
  "add_gan_model_summaries",
  "add_image_comparison_summaries",
  "add_regularization_loss_summaries",
]


def add_gan_model_image_summaries(
  gan_model: GANModel, grid_size: int = 4, model_summaries: bool = True
) -> None:
  """Adds a summary of real and one of generated images.

  Args:
    gan_model: its data are images [batch, height, width, channels].
    grid_size: how many rows and columns of images.
    model_summaries: whether the variables become summaries, too.

  Raises:
    ValueError: if the data are no images of known sizes, or the model is a `CycleGANModel`.
  """
  if isinstance(gan_model, CycleGANModel):
    raise ValueError("A CycleGANModel has add_cyclegan_image_summaries.")
  named = {"real_data": gan_model.real_data, "generated_data": gan_model.generated_data}
  for images in named.values():
    _check_images(images)
  for name, images in named.items():
    height, width, channels = images.shape.as_list()[1:]
    shape = (grid_size, grid_size)
    grid = image_grid(images[: grid_size**2], shape, (height, width), channels)
    v1.summary.image(name, grid, max_outputs=1)
  if model_summaries:
    add_gan_model_summaries(gan_model)


def add_cyclegan_image_summaries(cyclegan_model: CycleGANModel) -> None:
  """Adds a summary of one image of each kind, of what becomes of it and of what comes back.

  Raises:
    ValueError: if the model is no `CycleGANModel`, or its data are no images of known sizes.
  """
  if not isinstance(cyclegan_model, CycleGANModel):
    raise ValueError(f"cyclegan_model must be a CycleGANModel, not {type(cyclegan_model)}.")
  ways = (
    ("x2y", cyclegan_model.model_x2y, cyclegan_model.reconstructed_x),
    ("y2x", cyclegan_model.model_y2x, cyclegan_model.reconstructed_y),
  )
  for _, model, back in ways:
    for images in (model.generator_inputs, model.generated_data, back):
      _check_images(images)
  for name, model, back in ways:
    with v1.name_scope(f"{name}_image_comparison_summaries"):
      _compare([model.generator_inputs[:1], model.generated_data[:1], back[:1]], 3)


def add_image_comparison_summaries(
  gan_model: GANModel, num_comparisons: int = 2, display_diffs: bool = False
) -> None:
  """Adds a summary of what goes into the generator, what it makes of it and of real images.

  Args:
    gan_model: its inputs and data are images [batch, height, width, channels] of one shape.
    num_comparisons: how many of each.
    display_diffs: whether the differences of the last two are shown, too.

  Raises:
    ValueError: if they are no images of known sizes.
  """
  inputs, generated, real = (
    gan_model.generator_inputs,
    gan_model.generated_data,
    gan_model.real_data,
  )
  for images in (inputs, generated, real):
    _check_images(images)
  generated.shape.assert_is_compatible_with(inputs.shape)
  real.shape.assert_is_compatible_with(generated.shape)
  rows = [images[:num_comparisons] for images in (inputs, generated, real)]
  if display_diffs:
    made, wanted = (tf.cast(images, tf.float32) for images in rows[1:])
    rows.append(tf.abs(made - wanted))
  _compare(rows, num_comparisons)


def add_gan_model_summaries(gan_model: Any) -> None:
  """Adds a histogram of each variable of the networks."""
  if isinstance(gan_model, CycleGANModel):
    _both(gan_model, "summaries", add_gan_model_summaries)
    return
  for name, variables in (
    ("generator_variables", gan_model.generator_variables),
    ("discriminator_variables", gan_model.discriminator_variables),
  ):
    with v1.name_scope(name):
      for variable in variables:
        v1.summary.histogram(variable.name, variable)


def add_regularization_loss_summaries(gan_model: Any) -> None:
  """Adds a scalar of the regularization of each network."""
  if isinstance(gan_model, CycleGANModel):
    _both(gan_model, "regularization_loss_summaries", add_regularization_loss_summaries)
    return
  for name, scope in (
    ("generator", gan_model.generator_scope),
    ("discriminator", gan_model.discriminator_scope),
  ):
    if scope:
      loss = v1.losses.get_regularization_loss(scope.name)
      v1.summary.scalar(f"{name}_regularization_loss", loss)


def _both(model: CycleGANModel, name: str, add: Any) -> None:
  for way, one in (("x2y", model.model_x2y), ("y2x", model.model_y2x)):
    with v1.name_scope(f"cyclegan_{way}_{name}"):
      add(one)


def _check_images(images: Any) -> None:
  images.shape.assert_has_rank(4)
  images.shape[1:].assert_is_fully_defined()


def _compare(rows: list, columns: int) -> None:
  images = [image for some in rows for image in tf.unstack(some)]
  v1.summary.image("image_comparison", image_reshaper(images, columns), max_outputs=1)
