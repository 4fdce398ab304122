"""The losses with a model as argument; those of tensors are in `wargs`."""

from __future__ import annotations

import functools
import inspect
from typing import Any, Callable, Optional

from migrator.runtime.contrib.gan.losses import wargs
from migrator.runtime.contrib.gan.tuples import CycleGANModel, GANLoss, GANModel

__all__ = [
  "acgan_discriminator_loss",
  "acgan_generator_loss",
  "combine_adversarial_loss",
  "cycle_consistency_loss",
  "least_squares_discriminator_loss",
  "least_squares_generator_loss",
  "minimax_discriminator_loss",
  "minimax_generator_loss",
  "modified_discriminator_loss",
  "modified_generator_loss",
  "mutual_information_penalty",
  "wargs",
  "wasserstein_discriminator_loss",
  "wasserstein_generator_loss",
  "wasserstein_gradient_penalty",
]


def _of_model(loss_fn: Callable[..., Any]) -> Callable[..., Any]:
  """Returns a function (gan_model, **others) that takes what the model has from the model.

  Like TF1's it means the default where an argument is None, be it one that None says something for, as
  `loss_collection`.
  """
  parameters = inspect.signature(loss_fn).parameters

  @functools.wraps(loss_fn)
  def of_model(gan_model: Any, **kwargs: Any) -> Any:
    given = gan_model._asdict()
    twice = sorted(set(given) & set(kwargs))
    if twice:
      raise ValueError(f"{loss_fn.__name__} takes {', '.join(twice)} from the model.")
    for name, parameter in parameters.items():
      if parameter.default is inspect.Parameter.empty and name not in given:
        if name not in kwargs:
          raise ValueError(f"{loss_fn.__name__} needs {name}, which the model does not have.")
      elif name in given:
        kwargs[name] = given[name]
      if kwargs.get(name) is None and parameter.default is not inspect.Parameter.empty:
        kwargs[name] = parameter.default
    return loss_fn(**kwargs)

  of_model.__doc__ = f"The loss `wargs.{loss_fn.__name__}` of a model."
  # Its arguments are a model and others by name.
  del of_model.__wrapped__
  return of_model


acgan_discriminator_loss = _of_model(wargs.acgan_discriminator_loss)
acgan_generator_loss = _of_model(wargs.acgan_generator_loss)
least_squares_discriminator_loss = _of_model(wargs.least_squares_discriminator_loss)
least_squares_generator_loss = _of_model(wargs.least_squares_generator_loss)
minimax_discriminator_loss = _of_model(wargs.minimax_discriminator_loss)
minimax_generator_loss = _of_model(wargs.minimax_generator_loss)
modified_discriminator_loss = _of_model(wargs.modified_discriminator_loss)
modified_generator_loss = _of_model(wargs.modified_generator_loss)
mutual_information_penalty = _of_model(wargs.mutual_information_penalty)
wasserstein_discriminator_loss = _of_model(wargs.wasserstein_discriminator_loss)
wasserstein_generator_loss = _of_model(wargs.wasserstein_generator_loss)
wasserstein_gradient_penalty = _of_model(wargs.wasserstein_gradient_penalty)


def cycle_consistency_loss(
  cyclegan_model: CycleGANModel, scope: Optional[str] = None, add_summaries: bool = False
) -> Any:
  """Returns `wargs.cycle_consistency_loss` of a model.

  Raises:
    ValueError: if the model is no `CycleGANModel`.
  """
  if not isinstance(cyclegan_model, CycleGANModel):
    raise ValueError(f"cycle_consistency_loss needs a CycleGANModel, not {type(cyclegan_model)}.")
  return wargs.cycle_consistency_loss(
    cyclegan_model.model_x2y.generator_inputs,
    cyclegan_model.reconstructed_x,
    cyclegan_model.model_y2x.generator_inputs,
    cyclegan_model.reconstructed_y,
    scope,
    add_summaries,
  )


def combine_adversarial_loss(
  gan_loss: GANLoss,
  gan_model: GANModel,
  non_adversarial_loss: Any,
  weight_factor: Any = None,
  gradient_ratio: Any = None,
  gradient_ratio_epsilon: float = 1e-6,
  scalar_summaries: bool = True,
  gradient_summaries: bool = True,
) -> GANLoss:
  """Returns the losses, that of the generator combined with another: `wargs.combine_adversarial_loss`."""
  combined = wargs.combine_adversarial_loss(
    non_adversarial_loss,
    gan_loss.generator_loss,
    weight_factor,
    gradient_ratio,
    gradient_ratio_epsilon,
    gan_model.generator_variables,
    scalar_summaries,
    gradient_summaries,
  )
  return gan_loss._replace(generator_loss=combined)
