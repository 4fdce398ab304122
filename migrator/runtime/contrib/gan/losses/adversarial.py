"""Losses of the two networks by what the discriminator gives, in the order of TF1's operations and names."""

from __future__ import annotations

from typing import Any, Optional

import tensorflow as tf

v1 = tf.compat.v1
_LOSSES = v1.GraphKeys.LOSSES
_MEAN = v1.losses.Reduction.SUM_BY_NONZERO_WEIGHTS

__all__ = [
  "least_squares_discriminator_loss",
  "least_squares_generator_loss",
  "minimax_discriminator_loss",
  "minimax_generator_loss",
  "modified_discriminator_loss",
  "modified_generator_loss",
  "wasserstein_discriminator_loss",
  "wasserstein_generator_loss",
]


def wasserstein_generator_loss(
  discriminator_gen_outputs: Any,
  weights: Any = 1.0,
  scope: Optional[str] = None,
  loss_collection: Optional[str] = _LOSSES,
  reduction: str = _MEAN,
  add_summaries: bool = False,
) -> Any:
  """Returns -D(G(z)) (https://arxiv.org/abs/1701.07875).

  Args:
    discriminator_gen_outputs: a tensor [batch, ...], what the discriminator makes of generated data.
    weights: a number, or a tensor that broadcasts to the outputs.
    scope: the name scope.
    loss_collection: gets the loss; None for none.
    reduction: how the losses of the examples become one, of `tf.compat.v1.losses.Reduction`.
    add_summaries: whether the loss becomes a summary.
  """
  values = (discriminator_gen_outputs, weights)
  with v1.name_scope(scope, "generator_wasserstein_loss", values) as name:
    outputs = tf.cast(discriminator_gen_outputs, tf.float32)
    loss = v1.losses.compute_weighted_loss(-outputs, weights, name, loss_collection, reduction)
    if add_summaries:
      v1.summary.scalar("generator_wass_loss", loss)
  return loss


def wasserstein_discriminator_loss(
  discriminator_real_outputs: Any,
  discriminator_gen_outputs: Any,
  real_weights: Any = 1.0,
  generated_weights: Any = 1.0,
  scope: Optional[str] = None,
  loss_collection: Optional[str] = _LOSSES,
  reduction: str = _MEAN,
  add_summaries: bool = False,
) -> Any:
  """Returns D(G(z)) - D(x) (https://arxiv.org/abs/1701.07875).

  Args:
    discriminator_real_outputs: a tensor [batch, ...], what the discriminator makes of real data.
    discriminator_gen_outputs: likewise for generated data.
    real_weights: a number, or a tensor that broadcasts to the outputs.
    generated_weights: likewise.
    scope: see `wasserstein_generator_loss`, as for what is not told here.
    loss_collection: likewise.
    reduction: likewise.
    add_summaries: likewise.

  Raises:
    ValueError: if the outputs have different shapes.
  """
  values = (discriminator_real_outputs, discriminator_gen_outputs, real_weights, generated_weights)
  with v1.name_scope(scope, "discriminator_wasserstein_loss", values) as name:
    real, generated = _floats(discriminator_real_outputs, discriminator_gen_outputs)
    on_generated = v1.losses.compute_weighted_loss(
      generated, generated_weights, name, None, reduction
    )
    on_real = v1.losses.compute_weighted_loss(real, real_weights, name, None, reduction)
    loss = on_generated - on_real
    v1.losses.add_loss(loss, loss_collection)
    if add_summaries:
      _summarize("wass", on_generated, on_real, loss)
  return loss


def minimax_discriminator_loss(
  discriminator_real_outputs: Any,
  discriminator_gen_outputs: Any,
  label_smoothing: float = 0.25,
  real_weights: Any = 1.0,
  generated_weights: Any = 1.0,
  scope: Optional[str] = None,
  loss_collection: Optional[str] = _LOSSES,
  reduction: str = _MEAN,
  add_summaries: bool = False,
) -> Any:
  """Returns -log(sigmoid(D(x))) - log(1 - sigmoid(D(G(z)))) (https://arxiv.org/abs/1406.2661).

  Args:
    discriminator_real_outputs: a tensor [batch, ...] of logits.
    discriminator_gen_outputs: likewise.
    label_smoothing: how far the labels of real data move from 1 to 0.5.
    real_weights: see `wasserstein_discriminator_loss`, as for what is not told here.
    generated_weights: likewise.
    scope: likewise.
    loss_collection: likewise.
    reduction: likewise.
    add_summaries: likewise.
  """
  values = (
    discriminator_real_outputs,
    discriminator_gen_outputs,
    real_weights,
    generated_weights,
    label_smoothing,
  )
  with v1.name_scope(scope, "discriminator_minimax_loss", values) as name:
    on_real = v1.losses.sigmoid_cross_entropy(
      tf.ones_like(discriminator_real_outputs),
      discriminator_real_outputs,
      real_weights,
      label_smoothing,
      name,
      None,
      reduction,
    )
    on_generated = v1.losses.sigmoid_cross_entropy(
      tf.zeros_like(discriminator_gen_outputs),
      discriminator_gen_outputs,
      generated_weights,
      0,
      name,
      None,
      reduction,
    )
    loss = on_real + on_generated
    v1.losses.add_loss(loss, loss_collection)
    if add_summaries:
      _summarize("minimax", on_generated, on_real, loss)
  return loss


def minimax_generator_loss(
  discriminator_gen_outputs: Any,
  label_smoothing: float = 0.0,
  weights: Any = 1.0,
  scope: Optional[str] = None,
  loss_collection: Optional[str] = _LOSSES,
  reduction: str = _MEAN,
  add_summaries: bool = False,
) -> Any:
  """Returns what the discriminator loses, negative, where real data give logits of 1.

  It is the discriminator's part of it that goes to the collection, with the sign of the discriminator.
  Arguments are those of `minimax_discriminator_loss`.
  """
  with v1.name_scope(scope, "generator_minimax_loss") as name:
    loss = -minimax_discriminator_loss(
      tf.ones_like(discriminator_gen_outputs),
      discriminator_gen_outputs,
      label_smoothing,
      weights,
      weights,
      name,
      loss_collection,
      reduction,
    )
  if add_summaries:
    v1.summary.scalar("generator_minimax_loss", loss)
  return loss


def modified_discriminator_loss(
  discriminator_real_outputs: Any,
  discriminator_gen_outputs: Any,
  label_smoothing: float = 0.25,
  real_weights: Any = 1.0,
  generated_weights: Any = 1.0,
  scope: Optional[str] = None,
  loss_collection: Optional[str] = _LOSSES,
  reduction: str = _MEAN,
  add_summaries: bool = False,
) -> Any:
  """Returns `minimax_discriminator_loss` in another name scope."""
  return minimax_discriminator_loss(
    discriminator_real_outputs,
    discriminator_gen_outputs,
    label_smoothing,
    real_weights,
    generated_weights,
    scope or "discriminator_modified_loss",
    loss_collection,
    reduction,
    add_summaries,
  )


def modified_generator_loss(
  discriminator_gen_outputs: Any,
  label_smoothing: float = 0.0,
  weights: Any = 1.0,
  scope: Optional[str] = None,
  loss_collection: Optional[str] = _LOSSES,
  reduction: str = _MEAN,
  add_summaries: bool = False,
) -> Any:
  """Returns -log(sigmoid(D(G(z)))); arguments are those of `minimax_discriminator_loss`."""
  with v1.name_scope(scope, "generator_modified_loss", [discriminator_gen_outputs]) as name:
    loss = v1.losses.sigmoid_cross_entropy(
      tf.ones_like(discriminator_gen_outputs),
      discriminator_gen_outputs,
      weights,
      label_smoothing,
      name,
      loss_collection,
      reduction,
    )
    if add_summaries:
      v1.summary.scalar("generator_modified_loss", loss)
  return loss


def least_squares_generator_loss(
  discriminator_gen_outputs: Any,
  real_label: Any = 1,
  weights: Any = 1.0,
  scope: Optional[str] = None,
  loss_collection: Optional[str] = _LOSSES,
  reduction: str = _MEAN,
  add_summaries: bool = False,
) -> Any:
  """Returns (D(G(z)) - real_label)^2 / 2 (https://arxiv.org/abs/1611.04076).

  Arguments are those of `wasserstein_generator_loss`, and `real_label`, what real data should give.
  """
  with v1.name_scope(scope, "lsq_generator_loss", (discriminator_gen_outputs, real_label)) as name:
    outputs = tf.cast(discriminator_gen_outputs, tf.float32)
    squares = tf.math.squared_difference(outputs, real_label) / 2.0
    loss = v1.losses.compute_weighted_loss(squares, weights, name, loss_collection, reduction)
  if add_summaries:
    v1.summary.scalar("generator_lsq_loss", loss)
  return loss


def least_squares_discriminator_loss(
  discriminator_real_outputs: Any,
  discriminator_gen_outputs: Any,
  real_label: Any = 1,
  fake_label: Any = 0,
  real_weights: Any = 1.0,
  generated_weights: Any = 1.0,
  scope: Optional[str] = None,
  loss_collection: Optional[str] = _LOSSES,
  reduction: str = _MEAN,
  add_summaries: bool = False,
) -> Any:
  """Returns (D(x) - real_label)^2 / 2 + (D(G(z)) - fake_label)^2 / 2 (https://arxiv.org/abs/1611.04076).

  Arguments are those of `wasserstein_discriminator_loss`, and what real and generated data should give.
  """
  values = (discriminator_gen_outputs, real_label)
  with v1.name_scope(scope, "lsq_discriminator_loss", values) as name:
    real, generated = _floats(discriminator_real_outputs, discriminator_gen_outputs)
    of_real = tf.math.squared_difference(real, real_label) / 2.0
    of_generated = tf.math.squared_difference(generated, fake_label) / 2.0
    on_real = v1.losses.compute_weighted_loss(of_real, real_weights, name, None, reduction)
    on_generated = v1.losses.compute_weighted_loss(
      of_generated, generated_weights, name, None, reduction
    )
    loss = on_real + on_generated
    v1.losses.add_loss(loss, loss_collection)
  if add_summaries:
    _summarize("lsq", on_generated, on_real, loss)
  return loss


def _floats(real: Any, generated: Any) -> tuple:
  """Returns both as float32, which must have compatible shapes."""
  real, generated = tf.cast(real, tf.float32), tf.cast(generated, tf.float32)
  real.shape.assert_is_compatible_with(generated.shape)
  return real, generated


def _summarize(kind: str, on_generated: Any, on_real: Any, loss: Any) -> None:
  v1.summary.scalar(f"discriminator_gen_{kind}_loss", on_generated)
  v1.summary.scalar(f"discriminator_real_{kind}_loss", on_real)
  v1.summary.scalar(f"discriminator_{kind}_loss", loss)
