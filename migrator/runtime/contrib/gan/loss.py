"""The losses of a model of `tf.contrib.gan`, with penalties and regularization."""

from __future__ import annotations

from typing import Any, Callable, Optional

import tensorflow as tf

from migrator.runtime.contrib.gan import losses
from migrator.runtime.contrib.gan.tuples import (
  ACGANModel,
  CycleGANLoss,
  CycleGANModel,
  GANLoss,
  GANModel,
  InfoGANModel,
)

v1 = tf.compat.v1

__all__ = ["cyclegan_loss", "gan_loss"]

_Loss = Callable[..., Any]


def gan_loss(
  model: Any,
  generator_loss_fn: _Loss = losses.wasserstein_generator_loss,
  discriminator_loss_fn: _Loss = losses.wasserstein_discriminator_loss,
  gradient_penalty_weight: Any = None,
  gradient_penalty_epsilon: float = 1e-10,
  gradient_penalty_target: float = 1.0,
  gradient_penalty_one_sided: bool = False,
  mutual_information_penalty_weight: Any = None,
  aux_cond_generator_weight: Any = None,
  aux_cond_discriminator_weight: Any = None,
  tensor_pool_fn: Optional[Callable[[tuple], Any]] = None,
  add_summaries: bool = True,
) -> GANLoss:
  """Returns the losses of a model, those of regularization added to each network's.

  Args:
    model: what a function of `models` returned, but for a `CycleGANModel`.
    generator_loss_fn: (model, add_summaries=...) -> a tensor [].
    discriminator_loss_fn: likewise.
    gradient_penalty_weight: a number or a tensor []; None and 0 for no penalty, as in what follows.
    gradient_penalty_epsilon: see `wasserstein_gradient_penalty`.
    gradient_penalty_target: likewise.
    gradient_penalty_one_sided: likewise.
    mutual_information_penalty_weight: for an `InfoGANModel` alone.
    aux_cond_generator_weight: for an `ACGANModel` alone.
    aux_cond_discriminator_weight: likewise.
    tensor_pool_fn: gets (generator inputs, generated data), of an `InfoGANModel` the structured inputs,
      too, and returns those that the discriminator's loss has instead.
    add_summaries: whether the losses become summaries.

  Raises:
    ValueError: if a weight is negative, or the model is not of the kind that a weight needs.
  """
  penalty = _checked(gradient_penalty_weight, "gradient_penalty_weight")
  information = _checked(mutual_information_penalty_weight, "mutual_information_penalty_weight")
  of_generator = _checked(aux_cond_generator_weight, "aux_cond_generator_weight")
  of_discriminator = _checked(aux_cond_discriminator_weight, "aux_cond_discriminator_weight")
  if _counts(information) and not isinstance(model, InfoGANModel):
    raise ValueError(f"mutual_information_penalty_weight needs an InfoGANModel, not {type(model)}.")
  if (_counts(of_generator) or _counts(of_discriminator)) and not isinstance(model, ACGANModel):
    raise ValueError(
      "aux_cond_generator_weight and aux_cond_discriminator_weight need an ACGANModel, not "
      f"{type(model)}."
    )
  pooled = _pooled(model, tensor_pool_fn) if tensor_pool_fn else model
  gen_loss = generator_loss_fn(model, add_summaries=add_summaries)
  dis_loss = discriminator_loss_fn(pooled, add_summaries=add_summaries)
  if _counts(penalty):
    dis_loss += penalty * losses.wasserstein_gradient_penalty(
      pooled,
      epsilon=gradient_penalty_epsilon,
      target=gradient_penalty_target,
      one_sided=gradient_penalty_one_sided,
      add_summaries=add_summaries,
    )
  if _counts(information):
    told = told_of_pooled = losses.mutual_information_penalty(model, add_summaries=add_summaries)
    if tensor_pool_fn is not None:
      told_of_pooled = losses.mutual_information_penalty(pooled, add_summaries=add_summaries)
    gen_loss += information * told
    dis_loss += information * told_of_pooled
  if _counts(of_generator):
    gen_loss += of_generator * losses.acgan_generator_loss(model, add_summaries=add_summaries)
  if _counts(of_discriminator):
    dis_loss += of_discriminator * losses.acgan_discriminator_loss(
      pooled, add_summaries=add_summaries
    )
  return GANLoss(
    gen_loss + _regularization(model.generator_scope),
    dis_loss + _regularization(model.discriminator_scope),
  )


def cyclegan_loss(
  model: CycleGANModel,
  generator_loss_fn: _Loss = losses.least_squares_generator_loss,
  discriminator_loss_fn: _Loss = losses.least_squares_discriminator_loss,
  cycle_consistency_loss_fn: _Loss = losses.cycle_consistency_loss,
  cycle_consistency_loss_weight: Any = 10.0,
  **kwargs: Any,
) -> CycleGANLoss:
  """Returns the losses of both directions, each generator's with that of the cycle.

  Args:
    model: both directions.
    generator_loss_fn: as for `gan_loss`.
    discriminator_loss_fn: likewise.
    cycle_consistency_loss_fn: (model, add_summaries=...) -> a tensor [].
    cycle_consistency_loss_weight: a number or a tensor [].
    **kwargs: handed on to `gan_loss`.

  Raises:
    ValueError: if the model is no `CycleGANModel`, or a weight is negative.
  """
  if not isinstance(model, CycleGANModel):
    raise ValueError(f"cyclegan_loss needs a CycleGANModel, not {type(model)}.")
  of_cycle = cycle_consistency_loss_fn(model, add_summaries=kwargs.get("add_summaries", True))
  weight = _checked(cycle_consistency_loss_weight, "cycle_consistency_loss_weight")
  added = weight * of_cycle
  found = []
  for name, one in (("x2y", model.model_x2y), ("y2x", model.model_y2x)):
    with v1.name_scope(f"cyclegan_loss_{name}"):
      of_one = gan_loss(
        one,
        generator_loss_fn=generator_loss_fn,
        discriminator_loss_fn=discriminator_loss_fn,
        **kwargs,
      )
      found.append(of_one._replace(generator_loss=of_one.generator_loss + added))
  return CycleGANLoss(*found)


def _checked(weight: Any, name: str) -> Any:
  """Returns the weight of a part of a loss, which must not be negative; tensors tell when they run."""
  if isinstance(weight, tf.Tensor):
    weight.shape.assert_is_compatible_with([])
    with tf.control_dependencies([v1.assert_greater_equal(weight, 0.0)]):
      return tf.identity(weight)
  if weight is not None and weight < 0:
    raise ValueError(f"{name} must not be negative: {weight}.")
  return weight


def _counts(weight: Any) -> bool:
  """Whether a part of a loss is built."""
  if weight is None:
    return False
  return isinstance(weight, tf.Tensor) or bool(weight > 0)


def _pooled(model: Any, pool: Callable[[tuple], Any]) -> Any:
  """Returns the model with the generated data of a pool, and what the discriminator makes of them.

  Raises:
    ValueError: if the model is of another kind.
  """
  if not isinstance(model, (GANModel, ACGANModel, InfoGANModel)):
    raise ValueError(f"tensor_pool_fn does not go with {type(model)}.")
  values = [model.generator_inputs, model.generated_data]
  if isinstance(model, InfoGANModel):
    inputs, data, structured = pool((*values, model.structured_generator_inputs))
    model = model._replace(structured_generator_inputs=structured)
    discriminator_fn = model.discriminator_and_aux_fn
  else:
    inputs, data = pool(tuple(values))
    discriminator_fn = model.discriminator_fn
  with v1.variable_scope(model.discriminator_scope, reuse=True):
    outputs = discriminator_fn(data, inputs)
  changed = {"generator_inputs": inputs, "generated_data": data}
  if isinstance(model, GANModel):
    return model._replace(discriminator_gen_outputs=outputs, **changed)
  outputs, other = outputs
  if isinstance(model, ACGANModel):
    changed["discriminator_gen_classification_logits"] = other
  else:
    changed["predicted_distributions"] = other
  return model._replace(discriminator_gen_outputs=outputs, **changed)


def _regularization(scope: Any) -> Any:
  return v1.losses.get_regularization_loss(scope.name) if scope else 0
