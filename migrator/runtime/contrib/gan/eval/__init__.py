"""What shows how a model of `tf.contrib.gan` does."""

from migrator.runtime.contrib.gan.eval import eval_utils, summaries
from migrator.runtime.contrib.gan.eval.eval_utils import image_grid, image_reshaper
from migrator.runtime.contrib.gan.eval.summaries import (
  add_cyclegan_image_summaries,
  add_gan_model_image_summaries,
  add_gan_model_summaries,
  add_image_comparison_summaries,
  add_regularization_loss_summaries,
)

__all__ = [
  "add_cyclegan_image_summaries",
  "add_gan_model_image_summaries",
  "add_gan_model_summaries",
  "add_image_comparison_summaries",
  "add_regularization_loss_summaries",
  "eval_utils",
  "image_grid",
  "image_reshaper",
  "summaries",
]
