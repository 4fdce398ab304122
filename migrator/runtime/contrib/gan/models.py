"""The models of `tf.contrib.gan`: what the two networks give, and the variables of each."""

from __future__ import annotations

from typing import Any, Callable

import tensorflow as tf

from migrator.runtime.contrib.framework.variables import get_trainable_variables
from migrator.runtime.contrib.gan.tuples import (
  ACGANModel,
  CycleGANModel,
  GANModel,
  InfoGANModel,
)

v1 = tf.compat.v1

__all__ = ["acgan_model", "cyclegan_model", "gan_model", "infogan_model"]

_Network = Callable[..., Any]


def gan_model(
  generator_fn: _Network,
  discriminator_fn: _Network,
  real_data: Any,
  generator_inputs: Any,
  generator_scope: Any = "Generator",
  discriminator_scope: Any = "Discriminator",
  check_shapes: bool = True,
) -> GANModel:
  """Builds the generator, and the discriminator twice, of generated data first.

  Args:
    generator_fn: (generator_inputs) -> data.
    discriminator_fn: (data, generator_inputs) -> outputs.
    real_data: a tensor, or a list or dictionary of tensors when shapes are not checked.
    generator_inputs: a tensor, or a list or dictionary of tensors.
    generator_scope: a variable scope or its name.
    discriminator_scope: likewise.
    check_shapes: whether generated and real data have to have the same shape.

  Raises:
    ValueError: if shapes are checked and differ.
  """
  with v1.variable_scope(generator_scope) as gen_scope:
    generator_inputs = _tensors(generator_inputs)
    generated = generator_fn(generator_inputs)
  with v1.variable_scope(discriminator_scope) as dis_scope:
    of_generated = discriminator_fn(generated, generator_inputs)
  with v1.variable_scope(dis_scope, reuse=True):
    real_data = _tensors(real_data)
    of_real = discriminator_fn(real_data, generator_inputs)
  if check_shapes:
    _check_shapes(generated, real_data)
  return GANModel(
    generator_inputs,
    generated,
    get_trainable_variables(gen_scope),
    gen_scope,
    generator_fn,
    real_data,
    of_real,
    of_generated,
    get_trainable_variables(dis_scope),
    dis_scope,
    discriminator_fn,
  )


def infogan_model(
  generator_fn: _Network,
  discriminator_fn: _Network,
  real_data: Any,
  unstructured_generator_inputs: list,
  structured_generator_inputs: list,
  generator_scope: Any = "Generator",
  discriminator_scope: Any = "Discriminator",
) -> InfoGANModel:
  """Builds a model whose discriminator tells distributions of a part of the noise.

  Args:
    generator_fn: (unstructured + structured inputs) -> data.
    discriminator_fn: (data, inputs) -> (outputs, a distribution for each structured input).
    real_data: a tensor.
    unstructured_generator_inputs: a list of tensors.
    structured_generator_inputs: likewise.
    generator_scope: a variable scope or its name.
    discriminator_scope: likewise.

  Raises:
    ValueError: if shapes differ, or there are not as many distributions as structured inputs.
  """
  with v1.variable_scope(generator_scope) as gen_scope:
    unstructured = _tensors(unstructured_generator_inputs)
    structured = _tensors(structured_generator_inputs)
    inputs = unstructured + structured
    generated = generator_fn(inputs)
  with v1.variable_scope(discriminator_scope) as dis_scope:
    of_generated, distributions = discriminator_fn(generated, inputs)
  if not isinstance(distributions, (tuple, list)) or len(distributions) != len(structured):
    raise ValueError(
      "discriminator_fn must return a list of as many distributions as there are structured inputs: "
      f"{len(structured)}."
    )
  with v1.variable_scope(dis_scope, reuse=True):
    real_data = tf.convert_to_tensor(real_data)
    of_real, _ = discriminator_fn(real_data, inputs)
  _check_shapes(generated, real_data)
  return InfoGANModel(
    inputs,
    generated,
    get_trainable_variables(gen_scope),
    gen_scope,
    generator_fn,
    real_data,
    of_real,
    of_generated,
    get_trainable_variables(dis_scope),
    dis_scope,
    lambda data, given: discriminator_fn(data, given)[0],
    structured,
    distributions,
    discriminator_fn,
  )


def acgan_model(
  generator_fn: _Network,
  discriminator_fn: _Network,
  real_data: Any,
  generator_inputs: Any,
  one_hot_labels: Any,
  generator_scope: Any = "Generator",
  discriminator_scope: Any = "Discriminator",
  check_shapes: bool = True,
) -> ACGANModel:
  """Builds a model whose discriminator tells classes, too; see `gan_model`.

  Args:
    generator_fn: as for `gan_model`, like what is not told here.
    discriminator_fn: (data, generator_inputs) -> (outputs, logits of the classes).
    real_data: a tensor.
    generator_inputs: likewise.
    one_hot_labels: a tensor [batch, classes].
    generator_scope: likewise.
    discriminator_scope: likewise.
    check_shapes: likewise.

  Raises:
    ValueError: if shapes are checked and differ.
    TypeError: if the discriminator does not return a pair.
  """
  with v1.variable_scope(generator_scope) as gen_scope:
    generator_inputs = _tensors(generator_inputs)
    generated = generator_fn(generator_inputs)
  with v1.variable_scope(discriminator_scope) as dis_scope:  # noqa: SIM117
    with v1.name_scope(f"{dis_scope.name}/generated/"):
      of_generated, gen_logits = _pair(discriminator_fn(generated, generator_inputs))
  with v1.variable_scope(dis_scope, reuse=True):  # noqa: SIM117
    with v1.name_scope(f"{dis_scope.name}/real/"):
      real_data = tf.convert_to_tensor(real_data)
      of_real, real_logits = _pair(discriminator_fn(real_data, generator_inputs))
  if check_shapes:
    _check_shapes(generated, real_data)
  return ACGANModel(
    generator_inputs,
    generated,
    get_trainable_variables(gen_scope),
    gen_scope,
    generator_fn,
    real_data,
    of_real,
    of_generated,
    get_trainable_variables(dis_scope),
    dis_scope,
    discriminator_fn,
    one_hot_labels,
    real_logits,
    gen_logits,
  )


def cyclegan_model(
  generator_fn: _Network,
  discriminator_fn: _Network,
  data_x: Any,
  data_y: Any,
  generator_scope: Any = "Generator",
  discriminator_scope: Any = "Discriminator",
  model_x2y_scope: Any = "ModelX2Y",
  model_y2x_scope: Any = "ModelY2X",
  check_shapes: bool = True,
) -> CycleGANModel:
  """Builds a model for each direction, and takes the data there and back.

  Args:
    generator_fn: as for `gan_model`, like what is not told here.
    discriminator_fn: likewise.
    data_x: a tensor of the shape of the other one, as far as shapes are checked.
    data_y: the other one.
    generator_scope: likewise.
    discriminator_scope: likewise.
    model_x2y_scope: the variable scope of the model that makes y of x, or its name.
    model_y2x_scope: that of the other one.
    check_shapes: likewise.

  Raises:
    ValueError: if shapes are checked and differ.
  """
  models = []
  for scope, given, wanted in (
    (model_x2y_scope, data_x, data_y),
    (model_y2x_scope, data_y, data_x),
  ):
    with v1.variable_scope(scope):
      model = gan_model(
        generator_fn,
        discriminator_fn,
        wanted,
        given,
        generator_scope,
        discriminator_scope,
        check_shapes,
      )
    models.append(model)
  there, back = models
  with v1.variable_scope(back.generator_scope, reuse=True):
    x = back.generator_fn(there.generated_data)
  with v1.variable_scope(there.generator_scope, reuse=True):
    y = there.generator_fn(back.generated_data)
  return CycleGANModel(there, back, x, y)


def _tensors(value: Any) -> Any:
  """Makes tensors of a value, or of those of a list, tuple or dictionary."""
  if isinstance(value, (list, tuple)):
    return [tf.convert_to_tensor(one) for one in value]
  if isinstance(value, dict):
    return {key: tf.convert_to_tensor(one) for key, one in value.items()}
  return tf.convert_to_tensor(value)


def _check_shapes(generated: Any, real: Any) -> None:
  if not generated.shape.is_compatible_with(real.shape):
    raise ValueError(
      f"generator_fn returned data of the shape {generated.shape}, and real_data has {real.shape}: "
      "they must have the same."
    )


def _pair(outputs: Any) -> tuple:
  try:
    first, second = outputs
  except (TypeError, ValueError) as error:
    raise TypeError(
      "The discriminator_fn of acgan_model must return a pair: outputs, and logits of the classes."
    ) from error
  return first, second
