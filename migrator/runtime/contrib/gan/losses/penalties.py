"""What is added to the losses of the two networks: penalties, and losses of classes and of cycles."""

from __future__ import annotations

from typing import Any, Optional

import tensorflow as tf

from migrator.runtime.contrib.framework.variables import get_trainable_variables

v1 = tf.compat.v1
_LOSSES = v1.GraphKeys.LOSSES
_MEAN = v1.losses.Reduction.SUM_BY_NONZERO_WEIGHTS

__all__ = [
  "acgan_discriminator_loss",
  "acgan_generator_loss",
  "combine_adversarial_loss",
  "cycle_consistency_loss",
  "mutual_information_penalty",
  "wasserstein_gradient_penalty",
]


def wasserstein_gradient_penalty(
  real_data: Any,
  generated_data: Any,
  generator_inputs: Any,
  discriminator_fn: Any,
  discriminator_scope: Any,
  epsilon: float = 1e-10,
  target: float = 1.0,
  one_sided: bool = False,
  weights: Any = 1.0,
  scope: Optional[str] = None,
  loss_collection: Optional[str] = _LOSSES,
  reduction: str = _MEAN,
  add_summaries: bool = False,
) -> Any:
  """Returns (norm / target - 1)^2 for the discriminator's gradient between real and generated data
  (https://arxiv.org/abs/1704.00028).

  Args:
    real_data: a tensor [batch, ...].
    generated_data: likewise; each example meets the real one of its place, at a random point between.
    generator_inputs: handed on to the discriminator.
    discriminator_fn: (data, generator_inputs) -> outputs, or a tuple that begins with them.
    discriminator_scope: the variable scope of the discriminator.
    epsilon: added to the squared norm.
    target: the wanted norm.
    one_sided: whether smaller norms cost nothing.
    weights: a number, or a tensor [batch].
    scope: the name scope.
    loss_collection: gets the penalty; None for none.
    reduction: how the penalties become one, of `tf.compat.v1.losses.Reduction`.
    add_summaries: whether the penalty becomes a summary.

  Raises:
    ValueError: if the rank of the data is not known.
  """
  values = (real_data, generated_data)
  with v1.name_scope(scope, "wasserstein_gradient_penalty", values) as name:
    real, generated = tf.convert_to_tensor(real_data), tf.convert_to_tensor(generated_data)
    for which, data in (("real_data", real), ("generated_data", generated)):
      if data.shape.ndims is None:
        raise ValueError(f"The rank of {which} must be known.")
    differences = generated - real
    size = tf.compat.dimension_value(differences.shape[0])
    batch = size or tf.shape(differences)[0]
    ones = [1] * (differences.shape.ndims - 1)
    between = real + tf.random.uniform([batch, *ones]) * differences
    # The discriminator is built in the name scope that it would have outside of the loss.
    with v1.name_scope(None):  # noqa: SIM117
      with v1.variable_scope(discriminator_scope, "gpenalty_dscope", reuse=v1.AUTO_REUSE):
        outputs = discriminator_fn(between, generator_inputs)
    if isinstance(outputs, tuple):
      outputs = outputs[0]
    gradient = tf.gradients(outputs, between)[0]
    squares = tf.reduce_sum(tf.square(gradient), axis=list(range(1, gradient.shape.ndims)))
    if size:
      squares.set_shape([size])
    penalties = tf.sqrt(squares + epsilon) / target - 1.0
    if one_sided:
      penalties = tf.maximum(0.0, penalties)
    penalty = v1.losses.compute_weighted_loss(
      tf.square(penalties), weights, name, loss_collection, reduction
    )
    if add_summaries:
      v1.summary.scalar("gradient_penalty_loss", penalty)
  return penalty


def acgan_discriminator_loss(
  discriminator_real_classification_logits: Any,
  discriminator_gen_classification_logits: Any,
  one_hot_labels: Any,
  label_smoothing: float = 0.0,
  real_weights: Any = 1.0,
  generated_weights: Any = 1.0,
  scope: Optional[str] = None,
  loss_collection: Optional[str] = _LOSSES,
  reduction: str = _MEAN,
  add_summaries: bool = False,
) -> Any:
  """Returns the cross entropy of the classes of real and of generated data
  (https://arxiv.org/abs/1610.09585).

  Args:
    discriminator_real_classification_logits: a tensor [batch, classes].
    discriminator_gen_classification_logits: likewise.
    one_hot_labels: likewise.
    label_smoothing: of the labels of real data only.
    real_weights: a number, or a tensor [batch].
    generated_weights: likewise.
    scope: see `wasserstein_gradient_penalty`, as for what is not told here.
    loss_collection: likewise.
    reduction: likewise.
    add_summaries: likewise.
  """
  real, generated = (
    discriminator_real_classification_logits,
    discriminator_gen_classification_logits,
  )
  values = (real, generated, one_hot_labels)
  with v1.name_scope(scope, "acgan_discriminator_loss", values) as name:
    on_generated = v1.losses.softmax_cross_entropy(
      one_hot_labels, generated, generated_weights, 0, name, None, reduction
    )
    on_real = v1.losses.softmax_cross_entropy(
      one_hot_labels, real, real_weights, label_smoothing, name, None, reduction
    )
    loss = on_generated + on_real
    v1.losses.add_loss(loss, loss_collection)
    if add_summaries:
      v1.summary.scalar("discriminator_gen_ac_loss", on_generated)
      v1.summary.scalar("discriminator_real_ac_loss", on_real)
      v1.summary.scalar("discriminator_ac_loss", loss)
  return loss


def acgan_generator_loss(
  discriminator_gen_classification_logits: Any,
  one_hot_labels: Any,
  weights: Any = 1.0,
  scope: Optional[str] = None,
  loss_collection: Optional[str] = _LOSSES,
  reduction: str = _MEAN,
  add_summaries: bool = False,
) -> Any:
  """Returns the cross entropy of the classes of generated data; see `acgan_discriminator_loss`."""
  values = (discriminator_gen_classification_logits, one_hot_labels)
  with v1.name_scope(scope, "acgan_generator_loss", values) as name:
    loss = v1.losses.softmax_cross_entropy(
      one_hot_labels,
      discriminator_gen_classification_logits,
      weights,
      0,
      name,
      loss_collection,
      reduction,
    )
    if add_summaries:
      v1.summary.scalar("generator_ac_loss", loss)
  return loss


def mutual_information_penalty(
  structured_generator_inputs: Any,
  predicted_distributions: Any,
  weights: Any = 1.0,
  scope: Optional[str] = None,
  loss_collection: Optional[str] = _LOSSES,
  reduction: str = _MEAN,
  add_summaries: bool = False,
) -> Any:
  """Returns how improbable the noise is for what the discriminator tells of it
  (https://arxiv.org/abs/1606.03657).

  It is the log-probability that goes to the collection, which has the other sign.

  Args:
    structured_generator_inputs: a list of tensors.
    predicted_distributions: for each of them something with a method `log_prob`.
    weights: a number, or a tensor.
    scope: see `wasserstein_gradient_penalty`, as for what is not told here.
    loss_collection: likewise.
    reduction: likewise.
    add_summaries: likewise.

  Raises:
    ValueError: if there are not as many distributions as inputs, or they are no distributions.
  """
  if not isinstance(predicted_distributions, (list, tuple)) or not all(
    callable(getattr(one, "log_prob", None)) for one in predicted_distributions
  ):
    raise ValueError("predicted_distributions must be a list of distributions with a `log_prob`.")
  if len(structured_generator_inputs) != len(predicted_distributions):
    raise ValueError(
      f"There are {len(predicted_distributions)} predicted_distributions for "
      f"{len(structured_generator_inputs)} structured_generator_inputs."
    )
  with v1.name_scope(scope, "mutual_information_loss") as name:
    pairs = zip(predicted_distributions, structured_generator_inputs)
    logs = [tf.reduce_mean(known.log_prob(noise)) for known, noise in pairs]
    loss = -1 * v1.losses.compute_weighted_loss(logs, weights, name, loss_collection, reduction)
    if add_summaries:
      v1.summary.scalar("mutual_information_penalty", loss)
  return loss


def cycle_consistency_loss(
  data_x: Any,
  reconstructed_data_x: Any,
  data_y: Any,
  reconstructed_data_y: Any,
  scope: Optional[str] = None,
  add_summaries: bool = False,
) -> Any:
  """Returns the mean of both absolute differences to what came back (https://arxiv.org/abs/1703.10593).

  Each of them, not their mean, goes to the collection LOSSES.
  """
  values = [data_x, reconstructed_data_x, data_y, reconstructed_data_y]
  with v1.name_scope(scope, "cycle_consistency_loss", values):
    of_x = v1.losses.absolute_difference(data_x, reconstructed_data_x)
    of_y = v1.losses.absolute_difference(data_y, reconstructed_data_y)
    loss = (of_x + of_y) / 2.0
    if add_summaries:
      v1.summary.scalar("cycle_consistency_loss_x2x", of_x)
      v1.summary.scalar("cycle_consistency_loss_y2y", of_y)
      v1.summary.scalar("cycle_consistency_loss", loss)
  return loss


def combine_adversarial_loss(
  main_loss: Any,
  adversarial_loss: Any,
  weight_factor: Any = None,
  gradient_ratio: Any = None,
  gradient_ratio_epsilon: float = 1e-6,
  variables: Any = None,
  scalar_summaries: bool = True,
  gradient_summaries: bool = True,
  scope: Optional[str] = None,
) -> Any:
  """Returns the sum of two losses, the second with a weight or as its gradients have to be.

  Args:
    main_loss: a tensor [].
    adversarial_loss: likewise.
    weight_factor: the weight; this or the next one has to be given.
    gradient_ratio: how many times the norm of the second one's gradients that of the first one's is.
    gradient_ratio_epsilon: added to the norm of the second one's.
    variables: those of the gradients; by default the trainable ones.
    scalar_summaries: whether the losses become summaries.
    gradient_summaries: whether the norms do.
    scope: the name scope.

  Raises:
    ValueError: if neither or both are given, or a loss is not of the shape [].
  """
  for loss in (main_loss, adversarial_loss):
    loss.shape.assert_is_compatible_with([])
  if (weight_factor is None) == (gradient_ratio is None):
    raise ValueError("Give one of weight_factor and gradient_ratio.")
  if variables is None:
    variables = get_trainable_variables()
  with v1.name_scope(scope, "adversarial_loss", [main_loss, adversarial_loss]):
    if gradient_summaries or gradient_ratio is not None:
      main = _norm(tf.gradients(main_loss, variables))
      adversarial = _norm(tf.gradients(adversarial_loss, variables))
    if scalar_summaries:
      v1.summary.scalar("main_loss", main_loss)
      v1.summary.scalar("adversarial_loss", adversarial_loss)
    if gradient_summaries:
      v1.summary.scalar("main_loss_gradients", main)
      v1.summary.scalar("adversarial_loss_gradients", adversarial)
    given = gradient_ratio if weight_factor is None else weight_factor
    if tf.get_static_value(tf.convert_to_tensor(given)) == 0:
      return main_loss
    if weight_factor is not None:
      return main_loss + tf.stop_gradient(weight_factor) * adversarial_loss
    factor = main / (adversarial + gradient_ratio_epsilon) / gradient_ratio
    v1.summary.scalar("adversarial_coefficient", factor)
    return main_loss + tf.stop_gradient(factor) * adversarial_loss


def _norm(gradients: list) -> Any:
  """Returns the global norm, of numbers that are divided by the greatest one so that none overflows."""
  known = [one for one in gradients if one is not None]
  if not known:
    return 0.0
  greatest = tf.reduce_max([tf.reduce_max(tf.abs(one)) for one in known])
  return greatest * tf.linalg.global_norm([one / greatest for one in known])
