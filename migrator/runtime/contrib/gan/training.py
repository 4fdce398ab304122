"""What trains a model of `tf.contrib.gan`: operations, and hooks that run them."""

from __future__ import annotations

from typing import Any, Callable

import tensorflow as tf

from migrator.runtime.contrib import training
from migrator.runtime.contrib.gan.tuples import (
  CycleGANModel,
  GANTrainOps,
  GANTrainSteps,
)

v1 = tf.compat.v1
_UPDATES = v1.GraphKeys.UPDATE_OPS
_ONE_EACH = GANTrainSteps(1, 1)

__all__ = [
  "RunTrainOpsHook",
  "gan_train_ops",
  "get_joint_train_hooks",
  "get_sequential_train_hooks",
]


def gan_train_ops(
  model: Any,
  loss: Any,
  generator_optimizer: Any,
  discriminator_optimizer: Any,
  check_for_unused_update_ops: bool = True,
  is_chief: bool = True,
  **kwargs: Any,
) -> GANTrainOps:
  """Returns what trains each network, and what counts a step: training a network counts none.

  Args:
    model: what a function of `models` returned.
    loss: what `gan_loss` or `cyclegan_loss` returned for it.
    generator_optimizer: a `tf.compat.v1.train.Optimizer`.
    discriminator_optimizer: likewise.
    check_for_unused_update_ops: whether update operations have to be in the scope of a network.
    is_chief: says nothing without the optimizer of several workers.
    **kwargs: handed on to `contrib.training.create_train_op`. `update_ops` by default are those of
      UPDATE_OPS; each network's train operation runs those that are in its scope and in UPDATE_OPS.

  Raises:
    ValueError: if update operations are in the scope of neither network and are checked for, or an optimizer
      synchronizes workers.
  """
  if isinstance(model, CycleGANModel):
    return _both_directions(
      model,
      loss,
      generator_optimizer=generator_optimizer,
      discriminator_optimizer=discriminator_optimizer,
      check_for_unused_update_ops=check_for_unused_update_ops,
      is_chief=is_chief,
      **kwargs,
    )
  for optimizer in (generator_optimizer, discriminator_optimizer):
    if isinstance(optimizer, v1.train.SyncReplicasOptimizer):
      raise ValueError(
        "gan_train_ops trains in one worker, which needs no SyncReplicasOptimizer: give the optimizer "
        "inside of it."
      )
  count = _count()
  given = list(kwargs.pop("update_ops", v1.get_collection(_UPDATES)))
  scopes = [model.generator_scope.name, model.discriminator_scope.name]
  inside = [v1.get_collection(_UPDATES, scope) for scope in scopes]
  if check_for_unused_update_ops:
    unused = [one for one in given if not any(_among(one, some) for some in inside)]
    if unused:
      raise ValueError(
        "There are unused update ops: they are in the scope of neither network: "
        f"{', '.join(one.name for one in unused)}."
      )
  trained = []
  for name, total, optimizer, variables, updates in (
    ("generator", loss.generator_loss, generator_optimizer, model.generator_variables, inside[0]),
    (
      "discriminator",
      loss.discriminator_loss,
      discriminator_optimizer,
      model.discriminator_variables,
      inside[1],
    ),
  ):
    with v1.name_scope(f"{name}_train"):
      trained.append(
        training.create_train_op(
          total,
          optimizer,
          None,
          [one for one in updates if _among(one, given)],
          variables,
          **kwargs,
        )
      )
  of_generator, of_discriminator = trained
  return GANTrainOps(of_generator, of_discriminator, count, [])


def _both_directions(model: CycleGANModel, loss: Any, **kwargs: Any) -> GANTrainOps:
  """Returns what trains both directions, as pairs."""
  with v1.name_scope("cyclegan_x2y_train"):
    there = gan_train_ops(model.model_x2y, loss.loss_x2y, **kwargs)
  with v1.name_scope("cyclegan_y2x_train"):
    back = gan_train_ops(model.model_y2x, loss.loss_y2x, **kwargs)
  return GANTrainOps(
    (there.generator_train_op, back.generator_train_op),
    (there.discriminator_train_op, back.discriminator_train_op),
    _count(),
  )


def _count() -> Any:
  """Returns a tensor that is the global step after counting one."""
  return tf.convert_to_tensor(v1.train.get_or_create_global_step().assign_add(1))


def _among(one: Any, some: list) -> bool:
  # Tensors of TF2 compare element by element.
  return any(one is other for other in some)


class RunTrainOpsHook(tf.compat.v1.train.SessionRunHook):
  """Runs train operations in front of each step."""

  def __init__(self, train_ops: Any, train_steps: int):
    """Makes the hook.

    Args:
      train_ops: one, or a list of those that run together.
      train_steps: how many times they run.
    """
    self._train_ops = train_ops if isinstance(train_ops, (list, tuple)) else [train_ops]
    self._train_steps = train_steps

  def before_run(self, run_context: Any) -> None:
    """Runs them."""
    for _ in range(self._train_steps):
      run_context.session.run(self._train_ops)


_Hooks = Callable[[GANTrainOps], list]


def get_sequential_train_hooks(train_steps: GANTrainSteps = _ONE_EACH) -> _Hooks:
  """Returns a function (train operations) -> hooks that train one network after the other.

  Args:
    train_steps: how many steps of each network a step has.
  """

  def hooks(train_ops: GANTrainOps) -> list:
    return [
      RunTrainOpsHook(train_ops.generator_train_op, train_steps.generator_train_steps),
      RunTrainOpsHook(train_ops.discriminator_train_op, train_steps.discriminator_train_steps),
      *train_ops.train_hooks,
    ]

  return hooks


def get_joint_train_hooks(train_steps: GANTrainSteps = _ONE_EACH) -> _Hooks:
  """Returns a function (train operations) -> hooks that train both at once, and then the one with more steps.

  Args:
    train_steps: how many steps of each network a step has.
  """
  of_generator, of_discriminator = train_steps
  both = min(of_generator, of_discriminator)

  def hooks(train_ops: GANTrainOps) -> list:
    first, second = train_ops.generator_train_op, train_ops.discriminator_train_op
    return [
      RunTrainOpsHook([first, second], both),
      RunTrainOpsHook(first, of_generator - both),
      RunTrainOpsHook(second, of_discriminator - both),
      *train_ops.train_hooks,
    ]

  return hooks
