"""What the steps of `tf.contrib.gan` hand on to each other, with TF1's fields in TF1's order."""

from __future__ import annotations

from typing import Any, NamedTuple

__all__ = [
  "ACGANModel",
  "CycleGANLoss",
  "CycleGANModel",
  "GANLoss",
  "GANModel",
  "GANTrainOps",
  "GANTrainSteps",
  "InfoGANModel",
]


class GANModel(NamedTuple):
  """Two networks that train against each other.

  Attributes:
    generator_inputs: a tensor, or a list or dictionary of tensors.
    generated_data: a tensor [batch, ...].
    generator_variables: the trainable variables of the generator.
    generator_scope: the variable scope that they are in.
    generator_fn: what built it.
    real_data: a tensor of the shape of the generated data.
    discriminator_real_outputs: what the discriminator makes of real data.
    discriminator_gen_outputs: what it makes of generated data.
    discriminator_variables: its trainable variables.
    discriminator_scope: the variable scope that they are in.
    discriminator_fn: what built it.
  """

  generator_inputs: Any
  generated_data: Any
  generator_variables: Any
  generator_scope: Any
  generator_fn: Any
  real_data: Any
  discriminator_real_outputs: Any
  discriminator_gen_outputs: Any
  discriminator_variables: Any
  discriminator_scope: Any
  discriminator_fn: Any


class InfoGANModel(NamedTuple):
  """A `GANModel` whose discriminator tells distributions of a part of the noise, too.

  Attributes are those of `GANModel`, and:
    structured_generator_inputs: a list of tensors.
    predicted_distributions: a distribution for each of them.
    discriminator_and_aux_fn: the discriminator, which returns (outputs, distributions).
  """

  generator_inputs: Any
  generated_data: Any
  generator_variables: Any
  generator_scope: Any
  generator_fn: Any
  real_data: Any
  discriminator_real_outputs: Any
  discriminator_gen_outputs: Any
  discriminator_variables: Any
  discriminator_scope: Any
  discriminator_fn: Any
  structured_generator_inputs: Any
  predicted_distributions: Any
  discriminator_and_aux_fn: Any


class ACGANModel(NamedTuple):
  """A `GANModel` whose discriminator tells classes, too.

  Attributes are those of `GANModel`, and:
    one_hot_labels: a tensor [batch, classes].
    discriminator_real_classification_logits: a tensor [batch, classes], for real data.
    discriminator_gen_classification_logits: likewise for generated data.
  """

  generator_inputs: Any
  generated_data: Any
  generator_variables: Any
  generator_scope: Any
  generator_fn: Any
  real_data: Any
  discriminator_real_outputs: Any
  discriminator_gen_outputs: Any
  discriminator_variables: Any
  discriminator_scope: Any
  discriminator_fn: Any
  one_hot_labels: Any
  discriminator_real_classification_logits: Any
  discriminator_gen_classification_logits: Any


class CycleGANModel(NamedTuple):
  """Two models that map data of two kinds to each other.

  Attributes:
    model_x2y: a `GANModel` that makes y of x.
    model_y2x: the other way.
    reconstructed_x: x there and back.
    reconstructed_y: y there and back.
  """

  model_x2y: Any
  model_y2x: Any
  reconstructed_x: Any
  reconstructed_y: Any


class GANLoss(NamedTuple):
  """The losses of a model.

  Attributes:
    generator_loss: a tensor [].
    discriminator_loss: likewise.
  """

  generator_loss: Any
  discriminator_loss: Any


class CycleGANLoss(NamedTuple):
  """The losses of a `CycleGANModel`.

  Attributes:
    loss_x2y: a `GANLoss`.
    loss_y2x: likewise.
  """

  loss_x2y: Any
  loss_y2x: Any


class GANTrainOps(NamedTuple):
  """What trains a model.

  Attributes:
    generator_train_op: trains the generator for a step, and gives its loss.
    discriminator_train_op: likewise for the discriminator.
    global_step_inc_op: counts a step: the other two count none.
    train_hooks: hooks that training needs.
  """

  generator_train_op: Any
  discriminator_train_op: Any
  global_step_inc_op: Any
  train_hooks: Any = ()


class GANTrainSteps(NamedTuple):
  """How many steps of each network make a step of training.

  Attributes:
    generator_train_steps: those of the generator.
    discriminator_train_steps: those of the discriminator.
  """

  generator_train_steps: Any
  discriminator_train_steps: Any
